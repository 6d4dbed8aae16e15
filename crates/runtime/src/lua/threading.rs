//! `spawn`, `join` and `sleep` as scripts see them.
//!
//! A thread is a table that nobody can write; when the thread is at its end its results are in it, so that they live as
//! long as somebody can ask for them and no longer.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use mlua::{AnyUserData, Function, Lua, MultiValue, Table, UserData, Value};

use super::context::{Story, ThreadId, Told};
use super::engine::{Engine, Stage};
use super::fault::{Fault, raise};
use super::threads::{Deadlock, For, Standing};
use super::values;

/// Nobody sleeps longer in one go.
const MAX_SLEEP: f64 = 86_400.0;

/// Where a thread's own knowledge of itself is, and its results.
const OWN: i64 = 1;
const RESULTS: i64 = 2;

struct Own {
    id: ThreadId,
    standing: Rc<Standing>,
}

impl UserData for Own {}

/// Puts the functions in place.
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
    let of_join = engine.clone();
    let join = move |lua: Lua, thread: Value| join(lua, of_join.clone(), thread);
    globals.raw_set("join", lua.create_async_function(join)?)?;
    let of_sleep = engine.clone();
    let sleep = move |lua: Lua, seconds: Value| sleep(lua, of_sleep.clone(), seconds);
    globals.raw_set("sleep", lua.create_async_function(sleep)?)
}

fn own(thread: &Value) -> Option<(ThreadId, Rc<Standing>, Table)> {
    let table = thread.as_table()?;
    let own: AnyUserData = table.raw_get(OWN).ok()?;
    let own = own.borrow::<Own>().ok()?;
    Some((own.id, own.standing.clone(), table.clone()))
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
    let (id, standing) = (engine.threads.next(), Rc::new(Standing::default()));
    let thread = lua.create_table()?;
    thread.raw_set(OWN, lua.create_userdata(Own { id, standing: standing.clone() })?)?;
    thread.set_metatable(Some(shape.clone()))?;
    thread.set_readonly(true);
    // A thread that a method begins goes on in the name of its object.
    let story = Story { thread: id, callers: engine.current.caller().into_iter().collect() };
    let call = function.call_async::<MultiValue>(args);
    let (of_end, results, lua) = (engine.clone(), thread.clone(), lua.weak());
    let run = async move {
        let ended = Told::new(of_end.clone(), story, call).await;
        let kept = ended.and_then(|values| match lua.try_upgrade() {
            Some(lua) => keep(&lua, &results, values),
            None => Ok(()),
        });
        of_end.threads.end(id, kept.err().map(|error| Fault::of(&error)));
    };
    engine.threads.begin(id, standing, Box::pin(run));
    Ok(thread)
}

fn keep(lua: &Lua, thread: &Table, values: MultiValue) -> mlua::Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    let results = lua.create_table()?;
    results.raw_set("n", values.len())?;
    for (at, value) in values.into_iter().enumerate() {
        results.raw_set(at + 1, value)?;
    }
    results.set_readonly(true);
    thread.set_readonly(false);
    let kept = thread.raw_set(RESULTS, results);
    thread.set_readonly(true);
    kept
}

async fn join(lua: Lua, engine: Rc<Engine>, thread: Value) -> mlua::Result<MultiValue> {
    let Some((id, standing, table)) = own(&thread) else {
        return Err(raise(
            &lua,
            format!("join wants a thread that spawn gave, not a {}", values::kind(&thread)),
        ));
    };
    standing.join();
    {
        let me = engine.current.thread();
        let wait = engine.threads.wait(me, For::Thread(id));
        let _wait = wait.map_err(|deadlock| raise(&lua, words(&deadlock)))?;
        standing.over().await;
    }
    if let Some(fault) = standing.fault() {
        return Err(mlua::Error::external(fault));
    }
    let mut values = MultiValue::new();
    if let Some(results) = table.raw_get::<Option<Table>>(RESULTS)? {
        for at in 1..=results.raw_get::<usize>("n")? {
            values.push_back(results.raw_get(at)?);
        }
    }
    Ok(values)
}

/// Why waiting would never end.
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
    if !(0.0..=MAX_SLEEP).contains(&seconds) {
        return Err(raise(&lua, format!("sleep wants 0 to {MAX_SLEEP} seconds, not {seconds}")));
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
    /// Whether the program is at work, and not only declaring what it consists of.
    pub(super) fn check_stage(&self, lua: &Lua, what: &str) -> mlua::Result<()> {
        match self.stage.get() {
            Stage::Declaring => Err(raise(
                lua,
                format!("{what} can be used in deploy and in methods, not while classes are declared"),
            )),
            Stage::Working | Stage::Alone if !self.threads.is_driven() && what == "spawn" => {
                Err(raise(lua, "nobody gives turns to threads here"))
            }
            Stage::Working | Stage::Alone => Ok(()),
        }
    }
}
