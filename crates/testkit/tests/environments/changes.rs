//! What runs keep of what handlers change, and what they do not keep: objects that never came to be, and references to
//! objects whose destruction was interrupted.

use std::rc::Rc;

use serde_json::{Value, json};
use sexton_runtime::environment::{Ask, Opened};
use sexton_runtime::gc::Report;
use sexton_runtime::lua::Lines;
use sexton_runtime::model::Model;
use sexton_testkit::World;
use sexton_testkit::line::{Fate, Line};

use crate::common::*;

/// Watchers that hear of things. What a watcher does when it hears is its mood.
const WATCHERS: &str = r#"format "1.4"
local Watcher = class("Watcher", {
    properties = {
        name = { usage = "In", type = "string" },
        mood = { usage = "InOut", type = "string", default = "" },
        heard = { usage = "InOut", type = "list", default = {} },
        things = { usage = "InOut", type = "list", default = {} },
        kept = "InOut",
    },
    watch = function(self, thing) GC.subscribe(thing, "hear") end,
    hear = function(self, gc, thing)
        local heard = table.clone(self.heard)
        table.insert(heard, gc.phase .. " " .. thing.name)
        self.heard = heard
        if self.mood == "cancel " .. gc.phase then gc:cancel("it is needed") end
        if self.mood == "keep " .. gc.phase then self.kept = thing end
        if self.mood == "make " .. gc.phase then self.kept = new("Watcher", { name = "made" }) end
        if self.mood == "watch " .. gc.phase then GC.subscribe(self.kept, "hear") end
    end,
})
"#;
const THING: &str = r#"
local Thing = class("Thing", {
    properties = { name = { usage = "In", type = "string" }, mood = { usage = "InOut", type = "string" } },
    destroy = function(self)
        log("destroy " .. self.name)
        if self.mood == "stuck" then error("it is stuck") end
    end,
})
"#;

/// A program that knows things, and one that does not.
fn with_things(deploy: &str) -> String {
    format!("{WATCHERS}{THING}function deploy(env)\n{deploy}\nend")
}

fn without_things(deploy: &str) -> String {
    format!("{WATCHERS}function deploy(env)\n{deploy}\nend")
}

const MAKE_BOTH: &str = r#"
    local watcher = new(Watcher, { name = "watcher", mood = MOOD }, env)
    local thing = new(Thing, { name = "thing" }, env)
    watcher:watch(thing)
    watcher.things = { thing }
    env.applications = { watcher, thing }
"#;

/// Makes both, and gives back the model without the thing.
async fn dropped_thing(world: &World, mood: &str) -> Value {
    let made = run(world, &with_things(&MAKE_BOTH.replace("MOOD", &format!("{mood:?}")))).await;
    assert_eq!(made.failed, None);
    let mut model: Value = serde_json::from_str(&made.finished.model).unwrap();
    let all = model.pointer_mut("/Objects/applications").unwrap().as_array_mut().unwrap();
    all.retain(|object| object["name"] == "watcher");
    all[0]["things"] = json!([]);
    model
}

/// Runs a program whose predecessor goes first. What the removal came to, and what the run itself did, if it came so far.
async fn after_predecessor(world: &World, program: &str, model: &Value) -> (Report, Option<Ran>) {
    let words = Rc::new(Lines::default());
    let asked = Ask { model: Some(Model::parse(&model.to_string()).unwrap()), ..ask(program, &words) };
    let tools = tools(world, world.kube(), "tests");
    let mut first = Opened::open(&tools, asked.clone()).await.unwrap();
    assert!(first.predecessor);
    let removed = first.remove().await.unwrap();
    first.finish(None).await.unwrap();
    if !removed.is_complete() {
        return (removed, None);
    }
    words.take();
    let second = Opened::open(&tools, asked).await.unwrap();
    assert!(!second.predecessor);
    let mut ran = to_the_end(second).await;
    ran.words = words.take();
    (removed, Some(ran))
}

/// REQ-MUR-50, REQ-MUR-19: what handlers change while the stored program destroys objects of a class that the new program
/// does not have is in the new model, whatever the incoming one says; the rest is as that says.
#[tokio::test]
async fn changes_made_for_the_predecessor_are_kept() {
    let world = World::new().await;
    let mut model = dropped_thing(&world, "").await;
    model["Objects"]["applications"][0]["heard"] = json!(["from the model"]);
    model["Objects"]["applications"][0]["mood"] = json!("new mood");
    let look = r#"local w = env.applications[1]
        log(#env.applications .. " " .. w.mood .. ": " .. table.concat(w.heard, ", ") .. " " .. #w.things)"#;
    let (removed, ran) = after_predecessor(&world, &without_things(look), &model).await;
    assert_eq!(removed.destroyed.len(), 1);
    let heard = "from the model, warning thing, notifying thing, destroyed thing";
    assert_eq!(ran.unwrap().words, [format!("1 new mood: {heard} 0")]);
    assert_eq!(run(&world, &without_things(look)).await.words, [format!("1 new mood: {heard} 0")]);
    assert!(record(&world).await["status"]["changed"].is_null());
}

/// REQ-MUR-50: so are objects that handlers made and subscriptions. A reference to an object of a class that is gone is not.
#[tokio::test]
async fn what_handlers_make_for_the_predecessor_is_kept() {
    let look = r#"log(tostring(env.applications[1].kept and env.applications[1].kept.name))"#;
    for (mood, expected) in [("make notifying", "made"), ("keep notifying", "nil"), ("keep destroyed", "nil")]
    {
        let world = World::new().await;
        let model = dropped_thing(&world, mood).await;
        let (removed, ran) = after_predecessor(&world, &without_things(look), &model).await;
        assert_eq!(removed.destroyed.len(), 1, "{mood}");
        assert_eq!(ran.unwrap().words, [expected], "{mood}");
        assert_eq!(run(&world, &without_things(look)).await.words, [expected], "{mood}");
        assert_eq!(names(&world, "things").await, Vec::<String>::new(), "{mood}");
    }
}

/// REQ-MUR-50: a run that dies between the two programs loses nothing: the next one has the changes.
#[tokio::test]
async fn changes_survive_between_the_programs() {
    let world = World::new().await;
    let model = dropped_thing(&world, "").await;
    let look = r#"log(#env.applications[1].heard)"#;
    let words = Rc::new(Lines::default());
    let parsed = || Some(Model::parse(&model.to_string()).unwrap());
    let asked = Ask { model: parsed(), ..ask(&without_things(look), &words) };
    let mut first = Opened::open(&tools(&world, world.kube(), "tests"), asked).await.unwrap();
    first.remove().await.unwrap();
    first.finish(None).await.unwrap();
    let broken = run_with(&world, &without_things("error('not yet')"), parsed()).await;
    assert!(broken.failed.unwrap().contains("not yet"));
    assert_eq!(run_with(&world, &without_things(look), parsed()).await.words, ["3"]);
}

/// REQ-MUR-92, REQ-MUR-93: a handler that cancels before the deployment ends the run there: nothing is destroyed, nothing is
/// lost, whichever program it is of, and it is not asked twice.
#[tokio::test]
async fn a_cancelled_removal_ends_the_run() {
    for mood in ["cancel warning", "cancel notifying"] {
        let world = World::new().await;
        let model = dropped_thing(&world, mood).await;
        let (removed, ran) = after_predecessor(&world, &without_things("log('deploy')"), &model).await;
        let cancelled = removed.cancelled.unwrap();
        assert_eq!((&*cancelled.class, cancelled.name.as_deref()), ("Watcher", Some("watcher")), "{mood}");
        assert_eq!((cancelled.reason.as_str(), ran.is_none()), ("it is needed", true), "{mood}");
        assert_eq!(living(&world, "things").await, ["thing"], "{mood}");

        let world = World::new().await;
        let model = dropped_thing(&world, mood).await;
        let incoming = Model::parse(&model.to_string()).unwrap();
        let ran = run_with(&world, &with_things("log('deploy')"), Some(incoming)).await;
        assert_eq!((ran.removed.cancelled.is_some(), ran.words.len()), (true, 0), "{mood}");
        assert_eq!(ran.finished.report, Report::default(), "{mood}: it is not collected once more");
        assert_eq!(living(&world, "things").await, ["thing"], "{mood}");
        let heard = objects(&world, "watchers").await[0]["spec"]["heard"].clone();
        assert_eq!(heard.as_array().unwrap().len(), if mood == "cancel warning" { 1 } else { 2 }, "{mood}");
    }
}

/// A destructor that fails before the deployment is called once in that run.
#[tokio::test]
async fn a_failing_removal_is_tried_once() {
    let world = World::new().await;
    run(
        &world,
        &with_things(r#"env.applications = { new(Thing, { name = "thing", mood = "stuck" }, env) }"#),
    )
    .await;
    let id = objects(&world, "environments").await[0]["metadata"]["uid"].clone();
    let model = json!({"Objects": {"?": {"type": "Environment", "id": id}, "applications": []}});
    let incoming = Model::parse(&model.to_string()).unwrap();
    let ran = run_with(&world, &with_things("log('deploy')"), Some(incoming)).await;
    assert_eq!((ran.words, ran.removed.failed.len()), (vec!["destroy thing".to_owned()], 1));
    assert_eq!(living(&world, "things").await, ["thing"]);
}

const STARTED: &str = r#"format "1.4"
    local Part = class("Part", {
        properties = { name = { usage = "In", type = "string" } },
        destroy = function(self) log("destroy " .. self.name) end,
    })
    local Started = class("Started", {
        properties = {
            name = { usage = "In", type = "string" },
            broken = { usage = "In", type = "boolean" },
            part = { usage = "InOut", type = Part },
            started = { usage = "Out", type = "boolean" },
        },
        init = function(self)
            self.part = new(Part, { name = "part of " .. self.name }, self)
            if self.broken then error("no luck with " .. self.name) end
            self.started = true
        end,
        destroy = function(self) log("destroy " .. self.name) end,
    })
    function deploy(env)
        for _, one in env.applications or {} do log(one.name .. " " .. tostring(one.started)) end
        env.applications = env.applications or {}
    end"#;

/// REQ-MUR-6, REQ-MUR-7: an object of the model whose `init` fails is not stored, nor are those whose `init` did not run any
/// more; what it made is destroyed. With the next run they are new again.
#[tokio::test]
async fn objects_whose_init_failed_are_not_stored() {
    let world = World::new().await;
    run(&world, STARTED).await;
    let id = objects(&world, "environments").await[0]["metadata"]["uid"].clone();
    let model = |broken: bool| {
        let one = |name: &str, broken: bool| json!({"?": {"type": "Started", "id": name}, "name": name, "broken": broken});
        let all = json!({"?": {"type": "Environment", "id": id},
            "applications": [one("first", false), one("second", broken), one("third", false)]});
        Model::parse(&json!({"Objects": all}).to_string()).unwrap()
    };
    let ran = run_with(&world, STARTED, Some(model(true))).await;
    assert!(ran.failed.unwrap().contains("no luck with second"));
    assert_eq!(ran.words, ["destroy part of second"]);
    assert_eq!(names(&world, "starteds").await, ["first"]);
    assert_eq!(run(&world, STARTED).await.words, ["first true"]);
    let ran = run_with(&world, STARTED, Some(model(false))).await;
    assert_eq!(
        (ran.failed, ran.words),
        (
            None,
            ["destroy part of first", "first nil", "second true", "third true"].map(str::to_owned).to_vec()
        )
    );
}

/// REQ-MUR-6: likewise of an object that put itself into the environment before its `init` failed.
#[tokio::test]
async fn an_object_whose_init_failed_is_not_reached() {
    let program = |deploy: &str| {
        STARTED.replace(
            "if self.broken then",
            "local env = Object.owner(self) if env then env.applications = { self } end if self.broken then",
        ) + &format!("\nfunction deploy(env)\n{deploy}\nend")
    };
    let world = World::new().await;
    let made = run(&world, &program("new('Started', { name = 'bad', broken = true }, env)")).await;
    assert!(made.failed.unwrap().contains("no luck with bad"));
    assert_eq!(made.words, ["destroy part of bad"]);
    assert_eq!(run(&world, &program("log(#env.applications)")).await.words, ["0"]);
    assert_eq!(names(&world, "starteds").await, Vec::<String>::new());
}

/// An object whose `destroy` was begun by a run that died is in no list of the next one, whoever refers to it: the stored
/// model is older than that. Nothing rescues it any more.
#[tokio::test]
async fn what_an_interrupted_run_began_to_destroy_is_in_no_list() {
    for mood in ["", "keep warning"] {
        let world = World::new().await;
        run(&world, &with_things(&MAKE_BOTH.replace("MOOD", "''"))).await;
        // It dies when the destroyed object is to be removed: the first write after the intent.
        let drop_it = r#"env.applications[1].things = {}
            env.applications = { env.applications[1] } GC.collect()"#;
        let mut died = false;
        for number in 1..20 {
            let line = Line::at_write(&world, number, Fate::Hangs);
            let words = Rc::new(Lines::default());
            let running = async {
                let tools = tools(&world, line.client(), "dying");
                let opened = Opened::open(&tools, ask(&with_things(drop_it), &words)).await.unwrap();
                to_the_end(opened).await
            };
            tokio::select! { _ = running => panic!("it did not die"), () = line.hangs() => {} }
            world.nature().pass(31);
            if words.take().contains(&"destroy thing".to_owned()) {
                died = true;
                break;
            }
        }
        assert!(died && living(&world, "things").await == ["thing"], "{mood}: it died after destroy");
        let watcher = "/apis/classes.sexton.dev/v1/namespaces/prod/watchers/watcher";
        world.merge(watcher, &json!({"spec": {"mood": mood}})).await.expect(200);
        let look = r#"local w = env.applications[1]
            log(#env.applications .. " " .. #w.things .. " " .. tostring(w.kept and GC.isDestroyed(w.kept)))"#;
        let next = run(&world, &with_things(look)).await;
        let kept = if mood.is_empty() { "nil" } else { "true" };
        assert_eq!(
            next.words,
            ["destroy thing".to_owned(), format!("1 0 {kept}")],
            "{mood}: {:?}",
            next.failed
        );
        let last = run(&world, &with_things(look)).await;
        assert_eq!(last.words, [format!("1 0 {kept}")], "{mood}");
    }
}
