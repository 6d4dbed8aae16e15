//! The table `GC` in scripts: `collect`, `subscribe`, `unsubscribe`, `isDestroyed`.
//!
//! It must not know how a collection works.

use std::future::Future;
use std::rc::Rc;

use mlua::{Lua, Table, Value as Script};

use super::engine::{Engine, ProgramStage};
use super::fault::raise;
use super::format::Format;
use super::threads::WaitTarget;
use super::{object, thread_api, values};
use crate::gc::{CollectError, Report};
use crate::world::Handle;

/// Defines `GC`.
pub(super) fn install(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    let gc = lua.create_table()?;
    let of_collect = engine.clone();
    let collect = move |lua: Lua, ()| collect(lua, of_collect.clone());
    gc.raw_set("collect", lua.create_async_function(collect)?)?;
    let of_destroyed = engine.clone();
    let is_destroyed = move |lua: &Lua, target: Script| {
        allowed(lua, &of_destroyed, "GC.isDestroyed")?;
        Ok(of_destroyed.gc.is_destroyed(&object::given(lua, &target)?))
    };
    gc.raw_set("isDestroyed", lua.create_function(is_destroyed)?)?;
    for (name, subscribes) in [("subscribe", true), ("unsubscribe", false)] {
        let engine = engine.clone();
        let change = move |lua: &Lua, (target, handler): (Script, Script)| {
            let caller = caller(lua, &engine, name)?;
            let target = object::given(lua, &target)?;
            let handler = handler_name(lua, &handler)?;
            let done = match subscribes {
                true => engine.gc.subscribe(&caller, &target, handler.as_deref()),
                false => engine.gc.unsubscribe(&caller, &target, handler.as_deref()),
            };
            done.map_err(|error| raise(lua, error))
        };
        gc.raw_set(name, lua.create_function(change)?)?;
    }
    lua.globals().raw_set("GC", gc)
}

/// Checks that the program's format has the collector, and that code may run.
fn allowed(lua: &Lua, engine: &Engine, what: &str) -> mlua::Result<()> {
    let format = engine.format.get().unwrap_or(Format::FIRST);
    if format < Format::WITH_GC {
        let needed = Format::WITH_GC;
        let words = format!("{what} needs format {needed}, and this program has format {format}");
        return Err(raise(lua, format!("{words}: write `format \"{needed}\"` as its first line")));
    }
    engine.check_stage(lua, what)
}

/// The object with the running method.
fn caller(lua: &Lua, engine: &Engine, name: &str) -> mlua::Result<Handle> {
    allowed(lua, engine, &format!("GC.{name}"))?;
    let no_caller =
        || raise(lua, format!("GC.{name} is for methods: the object whose method runs is the caller"));
    engine.current.caller().ok_or_else(no_caller)
}

fn handler_name(lua: &Lua, handler: &Script) -> mlua::Result<Option<String>> {
    match handler {
        Script::Nil => Ok(None),
        Script::String(name) => Ok(Some(name.to_string_lossy())),
        other => {
            let what = values::kind(other);
            Err(raise(lua, format!("a handler is named by a text, the name of a method, not a {what}")))
        }
    }
}

/// Notes that no thread collects any more when it is dropped.
struct CollectingGuard<'e>(&'e Engine);

impl Drop for CollectingGuard<'_> {
    fn drop(&mut self) {
        self.0.threads.set_collecting(None);
    }
}

/// Runs a collection after those of other threads have ended, and notes the collecting thread, for the detection of
/// deadlocks.
pub(super) async fn exclusively<T>(engine: &Engine, collection: impl Future<Output = T>) -> T {
    let _lock = engine.collection_lock.lock().await;
    engine.threads.set_collecting(Some(engine.current.thread()));
    let _collecting = CollectingGuard(engine);
    collection.await
}

async fn collect(lua: Lua, engine: Rc<Engine>) -> mlua::Result<Table> {
    allowed(&lua, &engine, "GC.collect")?;
    if engine.stage.get() == ProgramStage::SingleCall {
        return Err(raise(&lua, CollectError::Inside));
    }
    let me = engine.current.thread();
    let report = if engine.threads.collecting() == Some(me) {
        // This call comes from inside the session, and `Gc::collect` refuses it.
        engine.gc.collect().await
    } else {
        let wait = engine.threads.wait(me, WaitTarget::Collection);
        let wait = wait.map_err(|deadlock| raise(&lua, thread_api::words(&deadlock)))?;
        let collection = async {
            drop(wait);
            engine.gc.collect().await
        };
        exclusively(&engine, collection).await
    };
    match report {
        Ok(report) => {
            let table = report_table(&lua, &report)?;
            engine.reports.borrow_mut().push(report);
            Ok(table)
        }
        Err(error @ CollectError::Inside) => Err(raise(&lua, error)),
        Err(error) => Err(raise(&lua, format!("nothing was collected: {error}"))),
    }
}

/// The report of a collection as a table: ids and texts only, so that it keeps no object alive.
fn report_table(lua: &Lua, report: &Report) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("destroyed", report.destroyed.len())?;
    table.raw_set("rescued", report.rescued.len())?;
    table.raw_set("rounds", report.rounds)?;
    if let Some(cancelled) = &report.cancelled {
        table.raw_set("cancelled", cancelled.reason.as_str())?;
    }
    let failed = lua.create_table()?;
    for (at, failure) in report.failed.iter().enumerate() {
        let one = lua.create_table()?;
        one.raw_set("id", failure.id.as_str())?;
        one.raw_set("class", &*failure.class)?;
        one.raw_set("phase", failure.phase.word())?;
        one.raw_set("message", failure.error.as_str())?;
        one.set_readonly(true);
        failed.raw_set(at + 1, one)?;
    }
    failed.set_readonly(true);
    table.raw_set("failed", failed)?;
    table.raw_set("waiting", report.waiting.len())?;
    table.set_readonly(true);
    Ok(table)
}
