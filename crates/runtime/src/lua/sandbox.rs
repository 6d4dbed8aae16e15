//! The sandbox of a script: its libraries, its limits of memory and time, and that it can neither reach nor change
//! anything of the host.

use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, LuaOptions, StdLib, Table, Value, VmState};

use super::engine::Engine;
use super::fault::{Fault, place};
use super::memory::Memory;

/// Globals of the script engine that programs do not get: loading code, inspecting functions, controlling the script
/// engine's memory, and coroutines outside of the scheduler.
const REMOVED: [&str; 11] = [
    "collectgarbage",
    "coroutine",
    "debug",
    "gcinfo",
    "getfenv",
    "loadstring",
    "newproxy",
    "os",
    "require",
    "setfenv",
    "vector",
];

/// The number of ended coroutines that are kept for reuse by calls of methods.
const COROUTINE_POOL_SIZE: usize = 64;

/// A script engine with the harmless libraries and a memory limit, and nothing of the host.
pub(super) fn bare(memory: usize) -> mlua::Result<Lua> {
    let libraries = StdLib::COROUTINE
        | StdLib::TABLE
        | StdLib::STRING
        | StdLib::UTF8
        | StdLib::BIT
        | StdLib::DEBUG
        | StdLib::MATH
        | StdLib::BUFFER;
    let lua = Lua::new_with(libraries, LuaOptions::new().thread_pool_size(COROUTINE_POOL_SIZE))?;
    lua.set_memory_limit(Memory::bound(memory))?;
    Ok(lua)
}

/// The functions that the prelude returns.
pub(super) struct Prelude {
    /// Wraps a function as a method: its object is the caller while it runs.
    pub(super) method: Function,
    /// Wraps a method that is not written in a script, by name.
    pub(super) native: Function,
    /// Runs a function as a thread.
    pub(super) thread: Function,
}

/// Runs the prelude. Among others it replaces `pcall` and `xpcall`: programs must not catch a reached time limit.
pub(super) fn prelude(lua: &Lua, engine: &Rc<Engine>, host: &Table) -> mlua::Result<Prelude> {
    let of_mark = engine.clone();
    host.raw_set("mark", lua.create_function(move |_, ()| Ok(of_mark.current.mark()))?)?;
    let of_back = engine.clone();
    let back = move |_: &Lua, mark: usize| {
        of_back.current.back_to(mark);
        of_back.clock.over().map_or(Ok(()), |why| Err(mlua::Error::external(why)))
    };
    host.raw_set("back", lua.create_function(back)?)?;
    let text = |lua: &Lua, problem: Value| match problem {
        Value::Error(error) => Ok(Value::String(lua.create_string(Fault::of(&error).message)?)),
        other => Ok(other),
    };
    host.raw_set("text", lua.create_function(text)?)?;
    let chunk = lua.load(include_str!("prelude.luau")).set_name("=[sexton]").set_mode(ChunkMode::Text);
    let (globals, method, native, thread): (Table, Function, Function, Function) = chunk.call(host)?;
    for pair in globals.pairs::<String, Function>() {
        let (name, function) = pair?;
        lua.globals().raw_set(name, function)?;
    }
    Ok(Prelude { method, native, thread })
}

/// Removes globals that no program gets, installs the interrupt, and makes all globals read-only. Globals that are
/// defined afterwards belong to the program.
pub(super) fn close(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    for name in REMOVED {
        lua.globals().raw_remove(name)?;
    }
    let of_clock = engine.clone();
    lua.set_interrupt(move |lua| match of_clock.clock.tick() {
        Ok(()) => {
            of_clock.memory.relieve(lua);
            Ok(VmState::Continue)
        }
        Err(why) => {
            of_clock.stopped_at.borrow_mut().get_or_insert_with(|| place(lua).unwrap_or_default());
            Err(mlua::Error::external(why))
        }
    });
    lua.sandbox(true)
}

/// Runs the text of a program.
pub(super) fn run_text(lua: &Lua, engine: &Rc<Engine>, name: &str, text: &str) -> mlua::Result<()> {
    engine.clock.begin_slice();
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let chunk = lua.load(text).set_name(format!("={name}")).set_mode(ChunkMode::Text);
    let function = chunk.into_function()?;
    function.call::<()>(())
}
