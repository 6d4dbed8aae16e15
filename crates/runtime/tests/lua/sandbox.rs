//! Hostile programs: each ends soon, with an error that says what was wrong, and can harm nothing outside of it.

use std::time::{Duration, Instant};

use sexton_runtime::lua::{Grants, Host, Limits};
use sexton_runtime::world::CodeErrorKind;

use crate::harness::{Ran, deploy, refused, run, run_with, run_within, short, tight};

fn hostile(body: &str) -> Ran {
    hostile_within(body, &short())
}

fn hostile_within(body: &str, limits: &Limits) -> Ran {
    let begun = Instant::now();
    let ran = run_within(&deploy(body), limits, &Grants::default());
    assert!(begun.elapsed() < Duration::from_secs(120), "it ran for {:?}: {body}", begun.elapsed());
    ran
}

fn stopped(body: &str) {
    let ran = hostile(body);
    let error = ran.error();
    assert!(error.contains("it did not pause for 0.2 seconds, so it was stopped"), "{body}: {error}");
    assert_eq!(ran.result.as_ref().unwrap_err().kind(), CodeErrorKind::Deadline, "{body}");
    // Nothing of it runs any more.
    let again = crate::harness::block_on(ran.loaded.program.run(&ran.environment)).unwrap_err();
    assert_eq!(again.kind(), CodeErrorKind::Deadline);
}

#[test]
fn endless_loops_end() {
    stopped("while true do end");
    stopped("local function f() return f() end\nwhile true do pcall(f) end");
    stopped("while true do pcall(function() while true do end end) end");
    stopped("while true do xpcall(function() while true do end end, function(e) return e end) end");
    stopped("while true do xpcall(function() error('x') end, function(e) while true do end end) end");
    stopped(
        "pcall(function() pcall(function() while true do end end) while true do end end) while true do end",
    );
    stopped("local t = spawn(function() while true do end end) join(t)");
    stopped("spawn(function() pcall(function() while true do end end) end) sleep(60)");
    stopped("table.sort({3, 2, 1, 5, 4}, function(a, b) while true do end end)");
    stopped("string.gsub('a', 'a', function() while true do end end)");
    stopped("local t = setmetatable({}, { __index = function(t, k) while true do end end }) return t.x");
    stopped("for _ in function() return 1 end do end");
}

#[test]
fn the_place_of_an_endless_loop_is_told() {
    let body = "local x = 1 log('begun')\nwhile true do\n  x += 1\nend";
    // With more time if the machine was too busy to come to the loop at all.
    let mut runs = [200, 5_000, 60_000].into_iter().map(|pause| {
        hostile_within(body, &Limits { without_pause: Duration::from_millis(pause), ..short() })
    });
    let ran = runs.find(|ran| ran.said == ["begun"]).expect("the loop begins");
    let error = ran.error();
    assert!(error.starts_with("test.luau:5: ") || error.starts_with("test.luau:4: "), "{error}");
}

#[test]
fn patterns_that_backtrack_end() {
    stopped("local s = string.rep('a', 40)\nwhile true do string.find(s, string.rep('a*', 30) .. 'b') end");
    stopped("pcall(string.find, string.rep('a', 100000), '.-.-.-.-.-b') while true do end");
}

#[test]
fn a_whole_run_ends() {
    let limits = Limits { whole_run: Duration::from_millis(100), ..Limits::default() };
    for body in ["while true do sleep(0) end", "sleep(3600)", "join(spawn(function() sleep(3600) end))"] {
        let ran = run_within(&deploy(body), &limits, &Grants::default());
        let error = ran.error();
        assert!(error.ends_with("it ran for 0.1 seconds, so it was stopped"), "{body}: {error}");
    }
}

#[test]
fn memory_bombs_do_not_go_off() {
    for body in [
        "local t = {} for i = 1, 1e9 do t[i] = {i} end",
        "local s = 'x' while true do s = s .. s end",
        "return string.rep('x', 1e9)",
        "local s = string.rep('x', 1e6) local t = {} for i = 1, 1000 do t[i] = s end return table.concat(t)",
        "return table.create(1e9, 0)",
        "return buffer.create(1e9)",
        "local f = function() local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end end f()",
        "local threads = {} while true do threads[#threads + 1] = spawn(function(x) sleep(1) end, {}) end",
        "local s = string.rep('x', 1e6) local function f(...) return f(s, ...) end return f()",
        "local full = {} pcall(function() while true do full[#full + 1] = {} end end) \
         for i = 1, 10000 do pcall(spawn, function() end) end while true do end",
    ] {
        let ran = hostile(body);
        let error = ran.error();
        let told = [
            "memory",
            "table overflow",
            "stack overflow",
            "too large",
            "threads",
            "invalid argument",
            "stopped",
        ];
        assert!(told.iter().any(|word| error.contains(word)), "{body}: {error}");
        let used = ran.loaded.program.used_memory();
        assert!(used <= 16 << 20, "{body}: {used} bytes, {error}");
    }
}

#[test]
fn a_caught_memory_bomb_ends_in_time() {
    let ran = hostile("while true do pcall(function() local s = 'x' while true do s = s .. s end end) end");
    assert!(ran.error().contains("stopped"), "{}", ran.error());
}

#[test]
fn memory_that_is_free_again_can_be_used() {
    let body = "local ok, problem = pcall(function() return string.rep('x', 1e9) end)\nlog(ok)\n\
        for i = 1, 40 do local s = string.rep('x', 1e6) .. i end\nlog('fine')";
    assert_eq!(hostile_within(body, &tight()).said(), "false\nfine");
}

#[test]
fn deep_recursion_ends() {
    let ran = hostile_within("local function f(x) return 1 + f(x) end f(1)", &tight());
    assert!(ran.error().contains("stack overflow"), "{}", ran.error());
    let ran = hostile_within("local t = {} for i = 1, 100 do t = {t} end log(#t)", &tight());
    assert_eq!(ran.said(), "1");
    let ran = hostile_within("return string.rep('(', 10000):match(string.rep('(', 10000))", &tight());
    assert!(ran.error().contains("too many captures"), "{}", ran.error());
}

#[test]
fn the_host_is_out_of_reach() {
    let names = "io os require loadstring load dofile debug coroutine getfenv setfenv collectgarbage gcinfo newproxy \
        package module vector";
    for name in names.split_whitespace() {
        let ran = run(&deploy(&format!("log(tostring({name}))")));
        assert_eq!(ran.said(), "nil", "{name}");
    }
    assert_eq!(run(&deploy("log(tostring(string.dump))")).said(), "nil");
}

#[test]
fn nothing_of_the_host_can_be_changed() {
    for body in [
        "string.rep = nil",
        "table.concat = function() end",
        "GC.collect = function() end",
        "Object.id = 1",
        "math.pi = 3",
        "getmetatable('').__index = {}",
        "getmetatable('').__metatable = nil",
        "rawset(string, 'rep', nil)",
        "rawset(_G, 'pcall', nil)",
        "_G.pcall = nil",
        "table.clear(GC)",
        "setmetatable(string, {})",
        "local t = spawn(function() end) t[1] = nil",
        "local t = spawn(function() end) rawset(t, 1, nil)",
        "setmetatable(spawn(function() end), {})",
        "getmetatable(env).__index = nil",
        "setmetatable(env, {})",
        "rawset(env, 'x', 1)",
    ] {
        let ran = run(&deploy(body));
        assert!(ran.error().contains("test.luau:3"), "{body}: {}", ran.error());
    }
    let own = "pcall = function() return 'mine' end\nlog(pcall())";
    assert_eq!(run(&deploy(own)).said(), "mine", "its own globals are its own");
    assert_eq!(run(&deploy("log(pcall(function() return 1 end))")).said(), "true 1", "and only its own");
}

#[test]
fn bytecode_is_refused() {
    let error = refused("\u{1b}Luau\0\0");
    assert!(error.contains("test.luau:1"), "{error}");
}

#[test]
fn errors_have_a_place_and_the_calls_that_led_there() {
    let text = "local function inner()\n  local x = nil\n  return x.y\nend\n\
        local function outer()\n  inner()\nend\nfunction deploy(env)\n  outer()\nend";
    let error = run(text).error();
    assert_eq!(
        error,
        "test.luau:3: attempt to index nil with 'y'\n  test.luau:3: in function 'inner'\n  \
        test.luau:6: in function 'outer'\n  test.luau:9: in function 'deploy'"
    );
    assert!(refused("local x = = 1").starts_with("test.luau:1: "), "{}", refused("local x = = 1"));
    let error = run(&deploy("local t = {}\nerror('bad thing')")).error();
    assert!(error.starts_with("test.luau:4: bad thing"), "{error}");
    let error = run(&deploy("join(1)")).error();
    assert!(error.starts_with("test.luau:3: join wants a thread that spawn gave, not a"), "{error}");
    let error = run(&deploy("error({code = 1})")).error();
    assert!(error.contains("table"), "{error}");
}

#[test]
fn caught_errors_are_texts() {
    let body = "local ok, problem = pcall(function() join(1) end)\nlog(ok, type(problem), problem)";
    assert_eq!(
        run(&deploy(body)).said(),
        "false string test.luau:3: join wants a thread that spawn gave, not a number"
    );
    let body = "log(pcall(error, 'x', 0))\nlog(xpcall(function() error('y', 0) end, function(e) return e .. '!' end))";
    assert_eq!(run(&deploy(body)).said(), "false x\nfalse y!");
    assert_eq!(run(&deploy("log(select('#', pcall(function() return 1, nil, nil end)))")).said(), "4");
}

#[test]
fn output_is_bounded() {
    let limits = Limits { output: 100, ..Limits::default() };
    let ran = run_with(&deploy("while true do log('hello') end"), Host { limits, ..Host::default() });
    assert!(ran.error().contains("a program may write 100 bytes"), "{}", ran.error());
    assert_eq!(ran.said.len(), 16);
}

#[test]
fn output_gives_no_orders_to_terminals() {
    let said = run(&deploy("log('a\\27[2Jb\\tc\\nd\\0')")).said();
    assert_eq!(said, "a\u{fffd}[2Jb\tc\nd\u{fffd}");
}

#[test]
fn a_text_has_a_length() {
    let limits = Limits { source: 10, ..Limits::default() };
    let host = Host { limits, ..Host::default() };
    let loaded = crate::harness::load(&sexton_runtime::world::World::new(), "-- a long text", host);
    assert_eq!(loaded.err().unwrap().to_string(), "the program is longer than 10 bytes");
}

#[test]
fn a_text_only_declares() {
    for text in
        ["exec{}", "http{}", "sleep(1)", "spawn(function() end)", "format '1.4' GC.collect()", "new('X', {})"]
    {
        let error = refused(text);
        assert!(error.contains("not while classes are declared"), "{text}: {error}");
    }
    let loaded = crate::harness::load(
        &sexton_runtime::world::World::new(),
        "while true do end",
        Host { limits: short(), ..Host::default() },
    );
    let error = loaded.err().unwrap();
    assert!(error.to_string().contains("it did not pause"), "a text ends, too: {error}");
    assert_eq!(error.kind(), CodeErrorKind::Deadline);
}
