//! What all functions of one program share.
//!
//! The script engine owns it through its functions, and it must not own the script engine: what it keeps of it is weak.

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

/// What a program is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramStage {
    /// Its text runs, for the first and only time.
    Declaring,
    /// Its code may be called.
    Working,
    /// One method of it is called, in a collection that happens elsewhere.
    SingleCall,
}

/// The parts of a program.
pub(super) struct Engine {
    pub(super) world: World,
    pub(super) gc: Gc,
    pub(super) limits: Limits,
    pub(super) grants: Grants,
    pub(super) allowance: Option<Allowance>,
    /// What an operator did not allow last.
    pub(super) refused: RefCell<Option<NotAllowed>>,
    pub(super) memory: Memory,
    pub(super) clock: RunClock,
    pub(super) current: CurrentContext,
    pub(super) threads: Threads,
    pub(super) output: BoundedOutput,
    pub(super) weight: WorldWeight,
    pub(super) stage: Cell<ProgramStage>,
    pub(super) format: Cell<Option<Format>>,
    /// The classes that are written in the script, by name.
    pub(super) classes: RefCell<HashMap<Rc<str>, Rc<ScriptClass>>>,
    /// The methods that can be called with a number: the class that has it, and its name.
    pub(super) methods: RefCell<Vec<(Class, Rc<str>)>>,
    /// Makes methods; of the prelude.
    pub(super) method: OnceCell<Function>,
    /// Makes methods that are not written in a script; of the prelude.
    pub(super) native: OnceCell<Function>,
    /// Those that were made, by name.
    pub(super) natives: RefCell<HashMap<Rc<str>, Function>>,
    /// Runs a function as a thread; of the prelude.
    pub(super) thread: OnceCell<Function>,
    /// One collection at a time; others wait.
    pub(super) collection_lock: tokio::sync::Mutex<()>,
    /// What collections came to.
    pub(super) reports: RefCell<Vec<Report>>,
    /// Where it was when its time was up.
    pub(super) stopped_at: RefCell<Option<String>>,
    /// What scripts hold of objects, by slot. It keeps nothing alive.
    pub(super) userdata_by_slot: Table,
}

impl Engine {
    /// Remembers what an operator does not allow, and says it.
    pub(super) fn refuse(&self, refused: NotAllowed) -> String {
        let words = refused.to_string();
        self.refused.replace(Some(refused));
        words
    }

    /// An object as scripts hold it: the same thing for the same object as long as anybody holds it.
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

    /// The class of a name, if it is written in the script.
    pub(super) fn script_class(&self, name: &str) -> Option<Rc<ScriptClass>> {
        self.classes.borrow().get(name).cloned()
    }
}
