//! How fast programs create and destroy objects: `cargo run --profile quick -p sexton-runtime --example lua_figures`.
//!
//! The number of objects can be given as an argument.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sexton_runtime::gc::Scope;
use sexton_runtime::lua::{Host, Limits, Lines, Program, Source};
use sexton_runtime::world::World;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TEXT: &str = r#"
format "1.4"
local Plain = class("Plain", { properties = { label = { usage = "In", type = "string" }, next = "InOut" } })
local WithInit = class("WithInit", {
    properties = { label = { usage = "In", type = "string" } },
    init = function(self) self._ready = true end,
})
local WithDestroy = class("WithDestroy", {
    properties = { label = { usage = "In", type = "string" }, next = "InOut" },
    destroy = function(self, gc) self._gone = gc.phase end,
})
local Counter = class("Counter", {
    properties = { count = { usage = "InOut", type = "number", default = 0 } },
    add = function(self, n) self.count = self.count + n end,
})
function deploy(env)
    local step, count = env.applications[1], env.applications[2]
    if step == "plain" then
        for i = 1, count do new(Plain, { label = "x" }) end
    elseif step == "init" then
        for i = 1, count do new(WithInit, { label = "x" }) end
    elseif step == "chained" then
        local last
        for i = 1, count do last = new(Plain, { label = "x", next = last }) end
    elseif step == "destroy" then
        for i = 1, count do new(WithDestroy, { label = "x" }) end
    elseif step == "method" then
        local counter = new(Counter, {})
        for i = 1, count do counter:add(1) end
    elseif step == "loop" then
        local sum = 0
        for i = 1, count * 100 do sum = sum + i end
    end
end
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for (step, what) in [
        ("plain", "objects created"),
        ("init", "objects created with init"),
        ("chained", "objects created in a chain"),
        ("destroy", "objects created that have destroy"),
        ("method", "methods called"),
        ("loop", "hundreds of turns of a loop"),
    ] {
        runtime.block_on(measure(step, what, count))?;
    }
    Ok(())
}

async fn measure(step: &str, what: &str, count: usize) -> Result<(), Box<dyn Error>> {
    let world = World::new();
    let limits = Limits { without_pause: Duration::from_secs(60), memory: 2 << 30, ..Limits::default() };
    let host = Host { output: Rc::new(Lines::default()), limits, ..Host::default() };
    let source = Source { name: "figures.luau".to_owned(), text: TEXT.to_owned() };
    let program = Program::load(&world, &source, host)?;
    let environment = program.new_environment("figures").await?;
    environment.set("applications", vec![step.into(), (count as f64).into()].into())?;
    let begun = Instant::now();
    program.run(&environment).await?;
    say(what, count, begun.elapsed());
    let objects = world.len() - 1;
    if objects > 1 {
        let begun = Instant::now();
        let report = program.collect(Scope::Unreachable).await??;
        say("  of them destroyed", report.destroyed.len(), begun.elapsed());
        assert!(report.is_complete(), "something is left");
    }
    Ok(())
}

fn say(what: &str, count: usize, took: Duration) {
    let each = count as f64 / took.as_secs_f64();
    println!("{what:<36} {count:>9} in {:>8.3} s: {each:>10.0} per second", took.as_secs_f64());
}
