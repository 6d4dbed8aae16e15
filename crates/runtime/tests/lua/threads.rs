//! Green threads: turns, results, errors, and threads that would wait for each other for ever.

use crate::harness::{deploy, run, run_timeless};

#[test]
fn threads_take_turns_when_they_pause() {
    let body = "
        local function count(name)
            for i = 1, 3 do log(name, i) sleep(0) end
            return name, nil, 'end'
        end
        local a, b = spawn(count, 'a'), spawn(count, 'b')
        log('both begun')
        log(join(a))
        log(join(b))
        log(join(a))";
    let said = run(&deploy(body)).said();
    assert_eq!(said, "both begun\na 1\nb 1\na 2\nb 2\na 3\nb 3\na nil end\nb nil end\na nil end");
}

#[test]
fn sleeping_takes_time_in_order() {
    let body = "
        spawn(function() sleep(0.03) log('second') end)
        spawn(function() sleep(0.01) log('first') end)
        log('begun')";
    let said = run_timeless(&deploy(body)).said();
    assert_eq!(said, "begun\nfirst\nsecond", "and a run waits for all of its threads");
}

#[test]
fn an_error_is_heard_by_whoever_joins() {
    let body = "
        local t = spawn(function() error('broken') end)
        log(pcall(join, t))
        log(pcall(join, t))";
    let said = run(&deploy(body)).said();
    assert_eq!(said, "false test.luau:4: broken\nfalse test.luau:4: broken");
}

/// `join` raises the very value that the thread failed with: a table, an object, a text to its last byte, nothing.
#[test]
fn join_raises_the_same_value() {
    let body = r#"
        local function joined(f, ...)
            local t = spawn(f, ...)
            local ok, first = pcall(join, t)
            local again = select(2, pcall(join, t))
            assert(not ok and rawequal(first, again))
            return first
        end
        local problem = setmetatable({ code = 7 }, { __tostring = function() return "problem 7" end })
        assert(joined(function() error(problem) end) == problem)
        assert(joined(function() sleep(0) error(problem) end) == problem)
        assert(joined(function() join(spawn(error, problem)) end) == problem, "through two threads")
        assert(joined(function() error(env) end) == env, "an object")
        assert(joined(function() error(nil) end) == nil)
        assert(joined(function() error(false) end) == false)
        assert(joined(function() error(12.5, 0) end) == 12.5)
        assert(joined(function() error("text \n", 0) end) == "text \n")
        local long = string.rep("x", 10000)
        assert(joined(function() error(long, 0) end) == long)
        local ok, caught = pcall(function() join(spawn(function() error({ 1, 2 }) end)) end)
        log(ok, #caught, joined(function(a, b) return a.nothing.at(b) end, {}, 2))"#;
    let said = run_timeless(&deploy(body)).said();
    assert_eq!(said, "false 2 test.luau:23: attempt to index nil with 'at'");
}

/// What a thread failed with lives as long as the thread can be joined; its arguments as long as its function has them.
#[test]
fn what_a_thread_failed_with_is_kept_by_it() {
    let text = r#"format "1.4"
        local Thing = class("Thing", {
            properties = { label = { usage = "In", type = "string" } },
            destroy = function(self) log("destroy", self.label) end,
        })
        function deploy(env)
            local thread = spawn(function() error({ new(Thing, { label = "in an error" }) }) end)
            sleep(0)
            GC.collect()
            log(select(2, pcall(join, thread))[1].label)
            thread = nil
            GC.collect()
            local other = spawn(function(thing) log("got", thing.label) thing = nil sleep(0.01) log("end") end,
                new(Thing, { label = "argument" }))
            sleep(0)
            GC.collect()
            join(other)
        end"#;
    let said = run_timeless(text).said();
    assert_eq!(said, "in an error\ndestroy in an error\ngot argument\ndestroy argument\nend");
}

/// The calls that led to an error are told, also after the thread slept.
#[test]
fn an_error_of_a_thread_says_where_it_was() {
    let body = "
        local function deep() error('broken') end
        spawn(function() sleep(0.01) deep() end)";
    let error = run_timeless(&deploy(body)).error();
    assert!(error.contains("thread 1: test.luau:4: broken"), "{error}");
    assert!(error.contains("test.luau:4: in function 'deep'"), "{error}");
    assert!(error.contains("test.luau:5: in function"), "{error}");
}

#[test]
fn errors_that_nobody_heard_are_told_in_the_end() {
    let body = "
        spawn(function() sleep(0.01) error('late') end)
        spawn(function() error('early') end)
        join(spawn(function() return 1 end))
        log('done')";
    let ran = run(&deploy(body));
    let error = ran.error();
    assert!(error.starts_with("nobody joined what failed: thread 2: test.luau:5: early"), "{error}");
    assert!(error.contains("thread 1: test.luau:4: late"), "{error}");
    assert_eq!(ran.said, ["done"]);
}

#[test]
fn nobody_waits_for_the_threads_of_a_failed_run() {
    let body = "
        local gone = setmetatable({}, { __index = function() log('asked') end })
        spawn(function() sleep(3600) log(gone.x) end)
        sleep(0)
        error('failed')";
    let ran = run(&deploy(body));
    assert!(ran.error().starts_with("test.luau:7: failed"), "{}", ran.error());
    assert!(ran.said.is_empty());
    let again = crate::harness::block_on(ran.loaded.program.run(&ran.environment)).unwrap_err();
    assert!(again.to_string().starts_with("test.luau:7: failed"), "and it can be run again: {again}");
}

#[test]
fn waiting_for_each_other_is_an_error() {
    let body = "local t t = spawn(function() sleep(0) join(t) end) join(t)";
    assert!(run(&deploy(body)).error().contains("test.luau:3: a thread cannot wait for itself"));
    let body = "
        local a, b
        a = spawn(function() sleep(0) join(b) end)
        b = spawn(function() sleep(0) join(a) end)
        join(a)";
    let error = run(&deploy(body)).error();
    let words =
        "these threads would wait for each other for ever: thread 2 waits for thread 1 waits for thread 2";
    assert!(error.contains(words), "{error}");
}

#[test]
fn threads_are_counted() {
    let limits = sexton_runtime::lua::Limits { threads: 3, ..Default::default() };
    let host = sexton_runtime::lua::Host { limits, ..Default::default() };
    let body = "for i = 1, 4 do spawn(function() sleep(10) end) end";
    let ran = crate::harness::run_with(&deploy(body), host);
    assert!(ran.error().contains("more than 3 threads at the same time"), "{}", ran.error());
}

#[test]
fn wrong_things_are_refused() {
    for (body, words) in [
        ("spawn(1)", "spawn wants a function, not a"),
        ("join({})", "join wants a thread that spawn gave, not a table"),
        ("sleep('long')", "sleep wants seconds, not a string"),
        ("sleep(-1)", "sleep wants 0 to 86400 seconds, not -1"),
        ("sleep(0/0)", "sleep wants 0 to 86400 seconds, not NaN"),
    ] {
        let error = run(&deploy(body)).error();
        assert!(error.starts_with(&format!("test.luau:3: {words}")), "{error}");
    }
    assert_eq!(run(&deploy("log(tostring(spawn(function() end)))")).said(), "thread 1");
}

#[test]
fn a_program_needs_an_entry() {
    let error = run("local x = 1").error();
    assert_eq!(error, "test.luau has no function deploy: write `function deploy(environment) … end`");
    assert_eq!(run("deploy = function(env) log(typeof(env)) end").said(), "object");
}
