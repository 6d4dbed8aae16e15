//! `spawn`, `join` and `sleep` in scripts.
//!
//! A thread is a read-only table in scripts. When the thread ends, its results, or the value that it failed with, are
//! put into that table, so that they stay alive exactly as long as the thread can be joined.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use mlua::{AnyUserData, Function, Lua, MultiValue, Table, UserData, Value};

use super::context::{CallContext, InContext, ThreadId};
use super::engine::{Engine, ProgramStage};
use super::fault::{Fault, raise};
use super::threads::{Deadlock, ThreadState, WaitTarget};
use super::values;

/// The longest time of one `sleep` in seconds.
const MAX_SLEEP_SECONDS: f64 = 86_400.0;

/// Indexes in a thread's table: its [`ThreadHandle`]; its results; and the value that it failed with, unless its
/// [`Fault`] contains that completely.
const HANDLE_INDEX: i64 = 1;
const RESULTS_INDEX: i64 = 2;
const RAISED_INDEX: i64 = 3;

/// The host's part of a thread's table.
struct ThreadHandle {
    id: ThreadId,
    state: Rc<ThreadState>,
}

impl UserData for ThreadHandle {}

/// Defines `spawn` and `sleep`; `join` is part of the prelude.
pub(super) fn install(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    let globals = lua.globals();
    let shape = lua.create_table()?;
    shape.raw_set("__metatable", "thread")?;
    shape.raw_set("__tostring", lua.create_function(name)?)?;
    shape.set_readonly(true);
    let of_spawn = engine.clone();
    let spawn = move |lua: &Lua, (function, args): (Value, MultiValue)| match function {
        Value::Function(function) => begin(lua, &of_spawn, &shape, function, args),
        other => Err(raise(lua, format!("spawn wants a function, not a {}", values::kind(&other)))),
    };
    globals.raw_set("spawn", lua.create_function(spawn)?)?;
    let of_sleep = engine.clone();
    let sleep = move |lua: Lua, seconds: Value| sleep(lua, of_sleep.clone(), seconds);
    globals.raw_set("sleep", lua.create_async_function(sleep)?)
}

/// The host's functions about threads for the prelude.
pub(super) fn host(lua: &Lua, engine: &Rc<Engine>, host: &Table) -> mlua::Result<()> {
    let of_failed = engine.clone();
    let failed = move |lua: &Lua, args: (Table, Value, String)| failed(lua, &of_failed, args);
    host.raw_set("failed", lua.create_function(failed)?)?;
    let of_join = engine.clone();
    let ended = move |lua: Lua, thread: Value| ended(lua, of_join.clone(), thread);
    host.raw_set("ended", lua.create_async_function(ended)?)
}

fn own(thread: &Value) -> Option<(ThreadId, Rc<ThreadState>, Table)> {
    let table = thread.as_table()?;
    let own: AnyUserData = table.raw_get(HANDLE_INDEX).ok()?;
    let own = own.borrow::<ThreadHandle>().ok()?;
    Some((own.id, own.state.clone(), table.clone()))
}

fn name(_: &Lua, thread: Value) -> mlua::Result<String> {
    Ok(own(&thread).map_or_else(|| "thread".to_owned(), |(id, ..)| format!("thread {id}")))
}

fn begin(
    lua: &Lua,
    engine: &Rc<Engine>,
    shape: &Table,
    function: Function,
    args: MultiValue,
) -> mlua::Result<Table> {
    engine.check_stage(lua, "spawn")?;
    if engine.threads.count() >= engine.limits.threads {
        return Err(raise(lua, format!("more than {} threads at the same time", engine.limits.threads)));
    }
    let (id, state) = (engine.threads.next(), Rc::new(ThreadState::default()));
    let thread = lua.create_table()?;
    thread.raw_set(HANDLE_INDEX, lua.create_userdata(ThreadHandle { id, state: state.clone() })?)?;
    thread.set_metatable(Some(shape.clone()))?;
    thread.set_readonly(true);
    // The caller of a thread is the object with the method that started it.
    let context = CallContext { thread: id, callers: engine.current.caller().into_iter().collect() };
    let Some(run) = engine.thread.get() else { return Err(raise(lua, "there are no threads here")) };
    let call = run.call_async::<MultiValue>((&thread, function, packed(lua, engine, args)?));
    let (of_end, results, lua) = (engine.clone(), thread.clone(), lua.weak());
    let run = async move {
        let ended = InContext::new(of_end.clone(), context, call).await;
        let kept = match lua.try_upgrade() {
            Some(lua) => {
                // A thread that fails before its first step was not interrupted, so memory was not checked.
                of_end.memory.relieve(&lua);
                ended.and_then(|values| keep(&lua, &of_end, &results, values))
            }
            None => ended.map(|_| ()),
        };
        of_end.threads.end(id, kept.err().map(|error| Fault::of(&error)));
    };
    engine.threads.begin(id, state, Box::pin(run));
    Ok(thread)
}

/// Stores the results of a thread in its table.
fn keep(lua: &Lua, engine: &Engine, thread: &Table, values: MultiValue) -> mlua::Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    note(thread, RESULTS_INDEX, packed(lua, engine, values)?)
}

/// Values as a table with their number in `n`.
fn packed(lua: &Lua, engine: &Engine, values: MultiValue) -> mlua::Result<Table> {
    let packed = lua.create_table()?;
    packed.raw_set("n", values.len())?;
    for (at, value) in values.into_iter().enumerate() {
        engine.memory.relieve(lua);
        packed.raw_set(at + 1, value)?;
    }
    Ok(packed)
}

/// Writes into the read-only table of a thread.
fn note(thread: &Table, place: i64, values: Table) -> mlua::Result<()> {
    values.set_readonly(true);
    thread.set_readonly(false);
    let noted = thread.raw_set(place, values);
    thread.set_readonly(true);
    noted
}

/// The host's error for the value that a thread failed with. The value itself is kept in the thread's table, for `join`
/// to raise it again, unless it is an error of the host or a text that the error contains.
fn failed(
    lua: &Lua,
    engine: &Engine,
    (thread, problem, trace): (Table, Value, String),
) -> mlua::Result<Value> {
    let text = match &problem {
        Value::Error(_) => return Ok(problem),
        Value::String(text) => text.to_string_lossy(),
        other => other.to_string().unwrap_or_else(|_| values::kind(other).to_owned()),
    };
    let calls: Vec<String> = trace.lines().map(frame).collect();
    let error = mlua::Error::RuntimeError(format!("{text}\nstack traceback:\n{}", calls.join("\n")));
    let message = Fault::of(&error).message;
    let is_in_message = matches!(&problem, Value::String(text) if *text.as_bytes() == *message.as_bytes());
    if !is_in_message {
        note(&thread, RAISED_INDEX, packed(lua, engine, MultiValue::from_vec(vec![problem]))?)?;
    }
    Ok(Value::Error(Box::new(error)))
}

/// A line of a traceback in the host's form: `file:1: in function 'name'` for `file:1 function name`.
fn frame(line: &str) -> String {
    match line.split_once(" function ") {
        Some((place, name)) => format!("{place}: in function '{name}'"),
        None => format!("{line}: in function <anonymous>"),
    }
}

/// Waits for the end of a thread. Returns true and its results, or false and the value that it failed with.
async fn ended(lua: Lua, engine: Rc<Engine>, thread: Value) -> mlua::Result<MultiValue> {
    let Some((id, state, table)) = own(&thread) else {
        return Err(raise(
            &lua,
            format!("join wants a thread that spawn gave, not a {}", values::kind(&thread)),
        ));
    };
    state.join();
    {
        let me = engine.current.thread();
        let wait = engine.threads.wait(me, WaitTarget::Thread(id));
        let _wait = wait.map_err(|deadlock| raise(&lua, words(&deadlock)))?;
        state.over().await;
    }
    if let Some(fault) = state.fault() {
        let Some(raised) = table.raw_get::<Option<Table>>(RAISED_INDEX)? else {
            return Err(mlua::Error::external(fault));
        };
        return Ok(MultiValue::from_vec(vec![Value::Boolean(false), raised.raw_get(1)?]));
    }
    let mut values = MultiValue::from_vec(vec![Value::Boolean(true)]);
    if let Some(results) = table.raw_get::<Option<Table>>(RESULTS_INDEX)? {
        for at in 1..=results.raw_get::<usize>("n")? {
            values.push_back(results.raw_get(at)?);
        }
    }
    Ok(values)
}

/// The message about a deadlock.
pub(super) fn words(deadlock: &Deadlock) -> String {
    match deadlock.0.as_slice() {
        [_, _] => "a thread cannot wait for itself".to_owned(),
        chain => {
            let chain: Vec<String> = chain.iter().map(|id| format!("thread {id}")).collect();
            format!("these threads would wait for each other for ever: {}", chain.join(" waits for "))
        }
    }
}

async fn sleep(lua: Lua, engine: Rc<Engine>, seconds: Value) -> mlua::Result<()> {
    engine.check_stage(&lua, "sleep")?;
    let seconds = match seconds {
        Value::Nil => 0.0,
        Value::Integer(whole) => whole as f64,
        Value::Number(seconds) => seconds,
        other => return Err(raise(&lua, format!("sleep wants seconds, not a {}", values::kind(&other)))),
    };
    if !(0.0..=MAX_SLEEP_SECONDS).contains(&seconds) {
        return Err(raise(&lua, format!("sleep wants 0 to {MAX_SLEEP_SECONDS} seconds, not {seconds}")));
    }
    if seconds == 0.0 {
        let mut waited = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    } else {
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    }
    Ok(())
}

impl Engine {
    /// Checks that the program's stage allows a function.
    pub(super) fn check_stage(&self, lua: &Lua, what: &str) -> mlua::Result<()> {
        match self.stage.get() {
            ProgramStage::Declaring => Err(raise(
                lua,
                format!("{what} can be used in deploy and in methods, not while classes are declared"),
            )),
            ProgramStage::Working | ProgramStage::SingleCall
                if !self.threads.is_driven() && what == "spawn" =>
            {
                Err(raise(lua, "nobody gives turns to threads here"))
            }
            ProgramStage::Working | ProgramStage::SingleCall => Ok(()),
        }
    }
}
