//! The state that all functions of one program share.
//!
//! Functions in the script engine own the [`Engine`], so it must not own the script engine: that would be a leak.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use mlua::{AnyUserData, Function, Lua, Table};
use sexton_collector::hooks::allowance::NotAllowed;
use sexton_model::hook::Allowance;

use super::clock::RunClock;
use super::code::ScriptClass;
use super::context::CurrentContext;
use super::format::Format;
use super::limits::{Grants, Limits};
use super::memory::Memory;
use super::object::ObjectValue;
use super::output::BoundedOutput;
use super::threads::Threads;
use super::weight::WorldWeight;
use crate::gc::{Gc, Report};
use crate::world::{Class, Handle, World};

/// The stages of a program, which decide what its code may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramStage {
    /// Its text runs and declares classes.
    Declaring,
    /// Its `deploy` and methods run.
    Working,
    /// A single method is called for a collection in another process; `GC.collect` is refused.
    SingleCall,
}

/// The parts of a program, apart from the script engine.
pub(super) struct Engine {
    pub(super) world: World,
    pub(super) gc: Gc,
    pub(super) limits: Limits,
    pub(super) grants: Grants,
    pub(super) allowance: Option<Allowance>,
    /// The last thing that the operator did not allow.
    pub(super) refused: RefCell<Option<NotAllowed>>,
    pub(super) memory: Memory,
    pub(super) clock: RunClock,
    pub(super) current: CurrentContext,
    pub(super) threads: Threads,
    pub(super) output: BoundedOutput,
    pub(super) weight: WorldWeight,
    pub(super) stage: Cell<ProgramStage>,
    pub(super) format: Cell<Option<Format>>,
    /// The classes that the program declares, by name.
    pub(super) classes: RefCell<HashMap<Rc<str>, Rc<ScriptClass>>>,
    /// The wrapped methods, each with its class and name. The prelude refers to a method by its index.
    pub(super) methods: RefCell<Vec<(Class, Rc<str>)>>,
    /// Wraps a function as a method; from the prelude.
    pub(super) method: OnceCell<Function>,
    /// Wraps a method that is not written in a script; from the prelude.
    pub(super) native: OnceCell<Function>,
    /// The wrapped methods that are not written in a script, by name.
    pub(super) natives: RefCell<HashMap<Rc<str>, Function>>,
    /// Runs a function as a thread; from the prelude.
    pub(super) thread: OnceCell<Function>,
    /// Held during a collection; other threads wait for it.
    pub(super) collection_lock: tokio::sync::Mutex<()>,
    /// The reports of collections that the program asked for.
    pub(super) reports: RefCell<Vec<Report>>,
    /// Where the program was when it reached a time limit.
    pub(super) stopped_at: RefCell<Option<String>>,
    /// The script values of objects, by slot; a weak table, which keeps nothing alive.
    pub(super) userdata_by_slot: Table,
}

impl Engine {
    /// Remembers what the operator does not allow, and returns the message.
    pub(super) fn refuse(&self, refused: NotAllowed) -> String {
        let words = refused.to_string();
        self.refused.replace(Some(refused));
        words
    }

    /// The script value of an object: the same value for the same object as long as a script holds it.
    pub(super) fn userdata_of(&self, lua: &Lua, object: &Handle) -> mlua::Result<AnyUserData> {
        let place = i64::from(object.key().slot) + 1;
        if let Some(known) = self.userdata_by_slot.raw_get::<Option<AnyUserData>>(place)?
            && known.borrow::<ObjectValue>().is_ok_and(|known| known.0 == *object)
        {
            return Ok(known);
        }
        let made = lua.create_any_userdata(ObjectValue(object.clone()))?;
        self.userdata_by_slot.raw_set(place, &made)?;
        Ok(made)
    }

    /// The class with a name, if the program declares it.
    pub(super) fn script_class(&self, name: &str) -> Option<Rc<ScriptClass>> {
        self.classes.borrow().get(name).cloned()
    }
}
