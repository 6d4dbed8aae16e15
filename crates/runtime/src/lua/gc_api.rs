//! `GC` as scripts see it: collect, subscribe, unsubscribe, isDestroyed.
//!
//! It must not know how a collection goes.

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

/// Puts `GC` in place.
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

/// Whether the program's format gives it the collector.
fn allowed(lua: &Lua, engine: &Engine, what: &str) -> mlua::Result<()> {
    let format = engine.format.get().unwrap_or(Format::FIRST);
    if format < Format::WITH_GC {
        let needed = Format::WITH_GC;
        let words = format!("{what} needs format {needed}, and this program has format {format}");
        return Err(raise(lua, format!("{words}: write `format \"{needed}\"` as its first line")));
    }
    engine.check_stage(lua, what)
}

fn caller(lua: &Lua, engine: &Engine, name: &str) -> mlua::Result<Handle> {
    allowed(lua, engine, &format!("GC.{name}"))?;
    let nobody =
        || raise(lua, format!("GC.{name} is for methods: the object whose method runs is the caller"));
    engine.current.caller().ok_or_else(nobody)
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

/// As long as it lives, others know who collects.
struct CollectingGuard<'e>(&'e Engine);

impl Drop for CollectingGuard<'_> {
    fn drop(&mut self) {
        self.0.threads.set_collecting(None);
    }
}

/// Makes a collection when nobody else does, and lets others know who does.
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
        // Called by the session itself, which refuses it.
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
            let told = told(&lua, &report)?;
            engine.reports.borrow_mut().push(report);
            Ok(told)
        }
        Err(error @ CollectError::Inside) => Err(raise(&lua, error)),
        Err(error) => Err(raise(&lua, format!("nothing was collected: {error}"))),
    }
}

/// What a script is told of a collection: ids and texts, so that it keeps nobody alive.
fn told(lua: &Lua, report: &Report) -> mlua::Result<Table> {
    let told = lua.create_table()?;
    told.raw_set("destroyed", report.destroyed.len())?;
    told.raw_set("rescued", report.rescued.len())?;
    told.raw_set("rounds", report.rounds)?;
    if let Some(cancelled) = &report.cancelled {
        told.raw_set("cancelled", cancelled.reason.as_str())?;
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
    told.raw_set("failed", failed)?;
    told.raw_set("waiting", report.waiting.len())?;
    told.set_readonly(true);
    Ok(told)
}
