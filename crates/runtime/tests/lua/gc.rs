//! The collector in the hands of programs: `GC`, native code that holds objects, and programs that do it wrong.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use sexton_runtime::lua::{Grants, Host, Limits};
use sexton_runtime::world::{
    Args, Behavior, Call, ClassSpec, CodeError, CodeErrorKind, ObjectId, Value, World,
};

use crate::harness::{
    Ran, block_on, check, deploy, refused, run, run_in, run_with, run_within, short, tight,
};

const THING: &str = r#"
local Thing = class("Thing", {
    properties = { label = { usage = "In", type = "string" }, other = "InOut", mood = "Runtime" },
    destroy = function(self)
        log("destroy", self.label)
        if self.mood == "broken" then error("it is stuck") end
        if self.mood == "endless" then while true do end end
        if self.mood == "slow" then sleep(0.01) log("slowly") end
    end,
    watch = function(self, other, handler) GC.subscribe(other, handler) end,
    unwatch = function(self, other, handler) GC.unsubscribe(other, handler) end,
    hear = function(self, gc, other)
        log(self.label, gc.phase, other.label)
        if self.mood == "deaf" then error("cannot hear") end
        if self.mood == "collects" then log(pcall(GC.collect)) end
        if self.mood == "slow" then sleep(0.01) end
        if self.mood == "makes" and gc.phase == "destroyed" then new("Thing", { label = "made by a handler" }) end
    end,
    hello = function(self) return "hello from " .. self.label end,
})
local function thing(label, mood, owner)
    local made = new(Thing, { label = label }, owner)
    made.mood = mood
    return made
end
"#;

fn things(body: &str) -> Ran {
    run(&program(body))
}

fn program(body: &str) -> String {
    format!("format \"1.4\"\n{THING}\nfunction deploy(env)\n{body}\nend\n")
}

/// A cycle through Lua tables, closures and results of threads: they hold objects as long as they are referenced.
#[test]
fn tables_and_closures_hold_what_they_hold() {
    check("tables.luau", false);
}

/// REQ-MUR-30, REQ-MUR-31, REQ-MUR-32, REQ-MUR-33, REQ-MUR-34, REQ-MUR-38: what a handler refers to too late stays,
/// destroyed, with all that only it refers to; none of it can be called, owned by or subscribed to, all can be read.
#[test]
fn destroyed_objects_can_be_read() {
    check("destroyed.luau", false);
}

/// REQ-MUR-70: programs of an older format, or of none, have no collector.
#[test]
fn older_formats_have_no_collector() {
    for (first, has) in [("", "1.0"), ("format \"1.0\"", "1.0"), ("format \"1.3\"", "1.3")] {
        for call in ["GC.collect()", "GC.isDestroyed(env)", "GC.subscribe(env)", "GC.unsubscribe(env)"] {
            let error = run(&format!("{first}\nfunction deploy(env)\n{call}\nend")).error();
            let what = &call[..call.find('(').unwrap()];
            let words = format!(
                "test.luau:3: {what} needs format 1.4, and this program has format {has}: \
                write `format \"1.4\"` as its first line"
            );
            assert!(error.starts_with(&words), "{error}");
        }
    }
    let ran = run("function deploy(env) log('fine') end");
    assert_eq!(ran.said(), "fine", "and need nothing of it");
    assert_eq!(ran.loaded.program.format().to_string(), "1.0");
}

/// REQ-MUR-51, REQ-MUR-53, REQ-MUR-54, REQ-MUR-56: `GC` has static methods; the caller of subscribe is the object with
/// the running method, also in the threads that it begins; a handler is a method of the caller (EXT-28).
#[test]
fn subscribing_is_for_methods() {
    for (body, words) in [
        ("GC.subscribe(env)", "GC.subscribe is for methods: the object whose method runs is the caller"),
        ("GC.unsubscribe(env)", "GC.unsubscribe is for methods"),
        ("thing('a'):watch(env, 'nothing')", "class Thing has no method nothing that could hear of it"),
        ("thing('a'):watch(env, 'destroy')", "class Thing has no method destroy that could hear of it"),
        ("thing('a'):unwatch(env, 'nothing')", "class Thing has no method nothing that could hear of it"),
        ("thing('a'):watch(env, 1)", "a handler is named by a text, the name of a method, not a number"),
        ("thing('a'):watch(nil)", "an object was expected, not a nil"),
        ("GC.isDestroyed('a')", "an object was expected, not a string"),
    ] {
        let error = things(body).error();
        assert!(error.starts_with("test.luau:") && error.contains(words), "{body}: {error}");
    }
    let body = "
        local a = thing('a')
        join(spawn(function() a:watch(thing('b'), 'hear') end))
        GC.collect()";
    assert_eq!(things(body).said(), "a warning b\na notifying b\ndestroy b\na destroyed b");
    let error = run(&deploy("GC:collect()\nGC.nothing()")).error();
    assert!(error.contains("test.luau:4: attempt to call a nil value"), "{error}");
}

/// EXT-25, EXT-29, EXT-30: a failing destructor leaves its object and what must come after it; a subscription keeps
/// no object alive; garbage that code makes goes in the same session.
#[test]
fn failures_are_told_and_nothing_is_lost() {
    let body = "
        local parent = thing('parent')
        local child = thing('child', 'broken', parent)
        thing('unrelated')
        parent, child = nil, nil
        local report = GC.collect()
        log(report.destroyed, #report.failed, report.waiting, report.failed[1].phase, report.failed[1].class)
        log(report.failed[1].message)";
    let ran = things(body);
    assert_eq!(
        ran.said().split("\n  ").next().unwrap(),
        "destroy child\ndestroy unrelated\n1 1 1 destroying Thing\ntest.luau:7: it is stuck"
    );
    let child = ran.loaded.world.find(&ObjectId::new("3").unwrap()).unwrap();
    assert!(!child.is_destroyed(), "what fails is not destroyed");
    child.set("mood", Value::Null).unwrap();
    drop(child);
    let program = &ran.loaded.program;
    let report = block_on(program.drive(program.gc().collect())).unwrap().unwrap();
    assert_eq!(report.destroyed.len(), 2, "and is tried again: {report:?}");
    assert_eq!(ran.loaded.lines.take(), ["destroy child", "destroy parent"]);

    let body = "
        local deaf = thing('deaf', 'deaf')
        deaf:watch(thing('b'), 'hear')
        thing('unrelated')
        local report = GC.collect()
        log(report.destroyed, #report.failed, report.failed[1].phase)";
    assert_eq!(things(body).said(), "deaf warning b\ndestroy unrelated\n1 1 warning");

    let body = "
        local maker = thing('maker', 'makes')
        maker:watch(thing('b'), 'hear')
        log(GC.collect().destroyed)";
    let said = things(body).said();
    assert!(said.ends_with("destroy made by a handler\n2"), "{said}");
}

/// REQ-MUR-92, REQ-MUR-93: only the handler that is asked can cancel: a thread that it began cannot once it has ended,
/// whatever the collection does meanwhile.
#[test]
fn a_handler_that_has_ended_does_not_cancel() {
    let text = r#"format "1.4"
        local B = class("B", { destroy = function(self) sleep(0.03) log("destroyed") end })
        local A = class("A", {
            watch = function(self, b) GC.subscribe(b, "hear") end,
            hear = function(self, gc)
                if gc.phase ~= "warning" then return end
                spawn(function() sleep(0.01) log(pcall(function() gc:cancel("late") end)) end)
            end,
        })
        function deploy(env)
            local a = new(A, {})
            a:watch(new(B, {}))
            local report = GC.collect()
            log(report.destroyed, #report.failed, report.cancelled)
        end"#;
    let said = run(text).said();
    let late = "false test.luau:7: a collection can be cancelled by a handler, before that has ended";
    assert_eq!(said, format!("{late}\ndestroyed\n1 0 nil"));
}

/// A collection within a handler or destructor is refused; one from another thread waits for its turn.
#[test]
fn one_collection_at_a_time() {
    let body = "
        local a = thing('a', 'collects')
        a:watch(thing('b'), 'hear')
        log(GC.collect().destroyed)";
    let said = things(body).said();
    let words = "false test.luau:16: a collection is under way, and this is called by it: collect again when it is over";
    assert_eq!(said.matches(words).count(), 3, "{said}");
    assert!(said.ends_with("\n1"), "{said}");

    let body = "
        local a = thing('a', 'slow')
        a:watch(thing('b', 'slow'), 'hear')
        local other = spawn(function() sleep(0) thing('c') log('second collection:', GC.collect().destroyed) end)
        log('first collection:', GC.collect().destroyed)
        join(other)";
    let said = things(body).said();
    let (first, second) = (said.find("first collection"), said.find("second collection"));
    assert!(first.is_some() && first < second, "{said}");
    let total: usize =
        said.lines().filter_map(|line| line.split("collection: ").nth(1)?.parse::<usize>().ok()).sum();
    assert_eq!(total, 2, "{said}");
}

/// A handler that waits for a thread which waits for the collection is an error, not the end of time.
#[test]
fn waiting_in_circles_through_a_collection_is_an_error() {
    let text = r#"
        format "1.4"
        local other
        local A = class("A", {
            watch = function(self, b) GC.subscribe(b, "hear") end,
            hear = function(self, gc, b) if gc.phase == "warning" then log(pcall(join, other)) end end,
        })
        local B = class("B", {})
        function deploy(env)
            local a = new(A, {})
            a:watch(new(B, {}))
            other = spawn(function() GC.collect() end)
            log(GC.collect().destroyed)
        end"#;
    let said = run(text).said();
    assert!(said.contains("these threads would wait for each other for ever"), "{said}");
}

/// An endless `destroy` ends the program, and the object is not destroyed.
#[test]
fn an_endless_destructor_is_stopped() {
    let text = program("thing('a', 'endless') GC.collect()");
    // With more time if the machine was too busy to come to the destructor at all.
    let mut runs = [200, 5_000, 60_000].into_iter().map(Duration::from_millis).map(|pause| {
        let limits = Limits { without_pause: pause, ..short() };
        (pause, run_within(&text, &limits, &Grants::default()))
    });
    let (pause, ran) = runs.find(|(_, ran)| ran.said == ["destroy a"]).expect("the destructor begins");
    let words = format!("it did not pause for {} seconds", pause.as_secs_f64());
    assert!(ran.error().contains(&words), "{}", ran.error());
    let thing = ran.loaded.world.find(&ObjectId::new("2").unwrap()).unwrap();
    assert!(!thing.is_destroyed());
    assert_eq!(thing.get("label"), "a".into(), "the world is intact");
    let error = block_on(thing.call("hello", Vec::new())).unwrap_err().to_string();
    assert!(error.contains("it did not pause"), "nothing of the program runs on: {error}");
}

/// A memory bomb in a method leaves the world as it was.
#[test]
fn a_memory_bomb_leaves_the_world_intact() {
    let host = Host { limits: tight(), ..Host::default() };
    let body = "
        local a = thing('a')
        env.applications = { a }
        log(pcall(function() a.other = string.rep('x', 1e9) end))
        log(a.other, a:hello(), GC.collect().destroyed)";
    let said = run_with(&program(body), host).said();
    assert!(said.ends_with("\nnil hello from a 0"), "{said}");
}

/// Keeps what it is given: code that is written in Rust.
#[derive(Default)]
struct StoredObjects(RefCell<Vec<Value>>);

impl Behavior for StoredObjects {
    fn has(&self, method: &str) -> bool {
        matches!(method, "put" | "clear" | "fail")
    }

    fn call<'a>(&'a self, call: Call) -> LocalBoxFuture<'a, Result<Value, CodeError>> {
        Box::pin(async move {
            let Args::Plain(given) = call.args else { return Ok(Value::Null) };
            match &*call.method {
                "put" => self.0.borrow_mut().extend(given),
                "clear" => self.0.borrow_mut().clear(),
                _ => return Err(CodeError { message: "native trouble".into(), kind: CodeErrorKind::Failed }),
            }
            tokio::task::yield_now().await;
            Ok(Value::Number(self.0.borrow().len() as f64))
        })
    }
}

/// REQ-MUR-80, REQ-MUR-84, REQ-MUR-46: what native code holds is not collected; what it let go of is.
#[test]
fn native_code_holds_what_it_holds() {
    let world = World::numbered();
    let shelf = Rc::new(StoredObjects::default());
    let spec = ClassSpec {
        name: "StoredObjects".into(),
        extends: None,
        properties: Default::default(),
        behavior: shelf.clone(),
    };
    world.declare(spec).unwrap();
    let body = "
        local shelf = new('StoredObjects', {})
        log(shelf:put(thing('kept')))
        log(GC.collect().destroyed)
        log(shelf:put({ deep = { thing('kept in a table') } }))
        log(GC.collect().destroyed)
        log(shelf:clear())
        log(GC.collect().destroyed)
        log(pcall(function() shelf:fail() end))
        log(pcall(function() shelf:put(print) end))";
    let ran = run_in(&world, &program(body), Host::default());
    assert_eq!(
        ran.said(),
        "1\n0\n2\n0\n0\ndestroy kept\ndestroy kept in a table\n2\nfalse test.luau:37: native trouble\n\
        false test.luau:38: a function cannot be kept in an object"
    );
    world.close();
}

/// REQ-MUR-46, REQ-MUR-80: a handle that only Rust holds keeps its object, and lets it go when it is dropped.
#[test]
fn a_handle_in_rust_is_enough() {
    let ran = things("env.applications = { thing('a') }");
    let id = ObjectId::new("2").unwrap();
    let held = ran.loaded.world.find(&id).unwrap();
    ran.environment.set("applications", Value::List(Vec::new())).unwrap();
    let program = &ran.loaded.program;
    let collect = || block_on(program.drive(program.gc().collect())).unwrap().unwrap().destroyed.len();
    assert_eq!(collect(), 0);
    assert_eq!(block_on(held.call("hello", Vec::new())).unwrap(), "hello from a".into());
    drop(held);
    assert_eq!(collect(), 1);
    assert_eq!(ran.loaded.world.find(&id), None);
}

/// REQ-MUR-1, REQ-MUR-2, REQ-MUR-28: `destroy` of every class runs, the actual one first; `init` the other way round.
#[test]
fn every_class_of_an_object_begins_and_ends_it() {
    let text = r#"
        format "1.4"
        local function of(name, base)
            return class(name, {
                extends = base,
                init = function(self) log("init", name) end,
                destroy = function(self) log("destroy", name) end,
            })
        end
        local Top = of("Top", of("Middle", of("Base")))
        function deploy(env) new(Top, {}) GC.collect() end"#;
    let said = run(text).said();
    assert_eq!(said, "init Base\ninit Middle\ninit Top\ndestroy Top\ndestroy Middle\ndestroy Base");
}

/// A class that names what is not there is refused when it is declared, with its line.
#[test]
fn wrong_declarations_name_their_line() {
    let error = refused("format \"1.4\"\n\nclass(\"A\", {\n  properties = { x = \"Sometimes\" },\n})");
    assert!(error.starts_with("test.luau:3: property x of class A: \"Sometimes\" is no usage"), "{error}");
}
