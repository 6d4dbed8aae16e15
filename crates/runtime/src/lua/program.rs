//! A program: loaded from its text, run with an environment, and collected.
//!
//! Everything that runs code of a program goes through [`Program::drive`]: it gives turns to the program's green
//! threads and enforces its time limits.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use mlua::{Function, Lua, Value as Script};
use sexton_model::hook::Allowance;

use super::clock::RunClock;
use super::context::{CallContext, CurrentContext, InContext};
use super::engine::{Engine, ProgramStage};
use super::error::ProgramError;
use super::fault::Fault;
use super::format::Format;
use super::limits::{Grants, Limits};
use super::memory::Memory;
use super::output::{BoundedOutput, Output, Silent};
use super::threads::Threads;
use super::trace::{Trace, WorldTrace};
use super::weight::WorldWeight;
use super::{class_value, create, declare, exec, gc_api, http, object, sandbox, scheduler, thread_api};
use crate::gc::{CollectError, Gc, Report, Scope, Settings};
use crate::world::{ClassSpec, Contract, Handle, NewError, NewObject, NoCode, Property, Usage, World};

/// The name of the class of environments. A program may declare it; otherwise a default class is declared.
pub const ENVIRONMENT: &str = "Environment";
/// The name of the function that is run.
pub const ENTRY: &str = "deploy";

/// The text of a program.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name in error messages.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The configuration that a program runs with.
pub struct Host {
    /// Its limits.
    pub limits: Limits,
    /// What it may use outside of its sandbox.
    pub grants: Grants,
    /// Which of the grants the operator allows; all of them if there is none.
    pub allowance: Option<Allowance>,
    /// Receives its output.
    pub output: Rc<dyn Output>,
    /// Whether its output also receives traces.
    pub trace: bool,
    /// The settings of its collector.
    pub gc: Settings,
}

impl Default for Host {
    fn default() -> Host {
        Host {
            limits: Limits::default(),
            grants: Grants::default(),
            allowance: None,
            output: Rc::new(Silent),
            trace: false,
            gc: Settings::default(),
        }
    }
}

/// A loaded program. Its objects stay in their world after it is dropped, but their methods cannot be called any more.
pub struct Program {
    name: String,
    lua: Lua,
    pub(super) engine: Rc<Engine>,
}

impl Program {
    /// Loads a program: runs its text once, which declares its classes in a world.
    ///
    /// # Errors
    /// If the text has a syntax error, fails, or declares something wrong. The world must not be used then: some
    /// classes may be declared.
    pub fn load(world: &World, source: &Source, host: Host) -> Result<Program, ProgramError> {
        if source.text.len() > host.limits.source {
            return Err(ProgramError::TooLong { limit: host.limits.source });
        }
        let broken = |error: mlua::Error| ProgramError::Engine(error.to_string());
        let lua = sandbox::bare(host.limits.memory).map_err(broken)?;
        let engine = engine(&lua, world, host).map_err(broken)?;
        install(&lua, &engine).map_err(broken)?;
        let program = Program { name: source.name.clone(), lua, engine };
        program.declare(source)?;
        Ok(program)
    }

    fn declare(&self, source: &Source) -> Result<(), ProgramError> {
        let ran = sandbox::run_text(&self.lua, &self.engine, &source.name, &source.text);
        if let Some(why) = self.engine.clock.over() {
            return Err(self.stopped(why));
        }
        ran.map_err(|error| ProgramError::Text(Fault::of(&error)))?;
        let world = &self.engine.world;
        if world.class(ENVIRONMENT).is_none() {
            let applications = Property::new(Usage::InOut, Contract::List(Box::new(Contract::Any)));
            let properties = BTreeMap::from([("applications".to_owned(), applications)]);
            let (name, behavior) = (ENVIRONMENT.to_owned(), Rc::new(NoCode));
            let spec = ClassSpec { name, extends: None, properties, behavior };
            world.declare(spec).map_err(ProgramError::Environment)?;
        }
        if let Some(problem) = declare::undeclared_type(&self.engine) {
            return Err(ProgramError::UndeclaredType(problem));
        }
        self.engine.stage.set(ProgramStage::Working);
        Ok(())
    }

    /// The world of its objects.
    pub fn world(&self) -> &World {
        &self.engine.world
    }

    /// Its collector. Collections run code, so they have to be driven by [`Program::drive`]; [`Program::collect`] does
    /// both.
    pub fn gc(&self) -> &Gc {
        &self.engine.gc
    }

    /// The format that its text names.
    pub fn format(&self) -> Format {
        self.engine.format.get().unwrap_or(Format::FIRST)
    }

    /// The names of the classes that its text declares, in order.
    pub fn classes(&self) -> Vec<String> {
        let classes = self.engine.classes.borrow();
        let all = self.engine.world.classes();
        let own = all.iter().filter(|class| classes.contains_key(class.name()));
        own.map(|class| class.name().to_owned()).collect()
    }

    /// Checks that the program has the function [`ENTRY`].
    ///
    /// # Errors
    /// If it has none.
    pub fn check_entry(&self) -> Result<(), ProgramError> {
        self.entry().map(drop)
    }

    fn entry(&self) -> Result<Function, ProgramError> {
        let missing = |_| ProgramError::NoEntry { program: self.name.clone(), entry: ENTRY.to_owned() };
        self.lua.globals().get::<Function>(ENTRY).map_err(missing)
    }

    /// Creates an empty environment and makes it the root.
    ///
    /// # Errors
    /// If `init` of its class fails, or the class has required properties.
    pub async fn new_environment(&self, name: &str) -> Result<Handle, NewError> {
        let new = NewObject { name: Some(name.to_owned()), ..NewObject::default() };
        let made = self.drive(self.engine.world.new_object(ENVIRONMENT, new)).await;
        let environment = made.map_err(|error| NewError::Init {
            class: ENVIRONMENT.to_owned(),
            error: crate::world::CodeError { message: error.to_string(), kind: error.kind() },
        })??;
        self.engine.world.set_root(&environment);
        Ok(environment)
    }

    /// Runs `deploy` with an environment until it and all threads that it starts have ended.
    ///
    /// # Errors
    /// If there is no `deploy`, or it fails, or a thread fails that is not joined. Effects before that are not undone.
    pub async fn run(&self, environment: &Handle) -> Result<(), ProgramError> {
        let function = self.entry()?;
        let failed = |error: mlua::Error| ProgramError::Code(Fault::of(&error));
        let environment = self.engine.userdata_of(&self.lua, environment).map_err(failed)?;
        let call = function.call_async::<Script>(environment);
        let work = async {
            let ran = InContext::new(self.engine.clone(), CallContext::default(), call).await;
            if ran.is_err() {
                self.engine.threads.give_up();
            }
            ran
        };
        let ran = self.drive(work).await;
        ran.and_then(|ran| ran.map(|_| ()).map_err(failed))
    }

    /// Drives some work that runs code of this program until it and all threads that it starts have ended.
    ///
    /// # Errors
    /// If a time limit is reached: none of the program's code runs any more. If a thread fails that is not joined.
    pub async fn drive<T>(&self, work: impl Future<Output = T>) -> Result<T, ProgramError> {
        let done = scheduler::run(&self.engine, work).await.map_err(|why| self.stopped(why))?;
        let failures = self.engine.threads.unjoined_failures();
        if failures.is_empty() { Ok(done) } else { Err(ProgramError::Threads(failures)) }
    }

    /// Runs a collection with a scope, like `GC.collect` in a script.
    ///
    /// # Errors
    /// The outer error as [`Program::drive`], the inner one if no collection is possible.
    pub async fn collect(&self, scope: Scope) -> Result<Result<Report, CollectError>, ProgramError> {
        let collection = gc_api::exclusively(&self.engine, self.engine.gc.run(scope));
        self.drive(InContext::new(self.engine.clone(), CallContext::default(), collection)).await
    }

    /// The reports of collections that its code asked for; removes them.
    pub fn take_reports(&self) -> Vec<Report> {
        self.engine.reports.take()
    }

    /// Collects the script engine's garbage, which may hold handles.
    pub fn settle(&self) {
        settle(&self.lua);
    }

    /// The bytes that its script uses now.
    pub fn used_memory(&self) -> usize {
        self.lua.used_memory()
    }

    fn stopped(&self, why: super::clock::TimeIsUp) -> ProgramError {
        ProgramError::TimeIsUp { why, place: self.engine.stopped_at.borrow().clone() }
    }
}

fn settle(lua: &Lua) {
    if let Err(error) = lua.gc_collect() {
        tracing::warn!(%error, "the script engine could not collect its own garbage");
    }
}

/// The engine of a new program, with a collector that settles its script engine.
fn engine(lua: &Lua, world: &World, host: Host) -> mlua::Result<Rc<Engine>> {
    let mut gc = host.gc;
    let (weak, then) = (lua.weak(), gc.settle.clone());
    gc.settle = Rc::new(move || {
        if let Some(lua) = weak.try_upgrade() {
            settle(&lua);
        }
        then();
    });
    if host.trace {
        world.observe(Rc::new(WorldTrace { output: host.output.clone() }));
        gc.observer = Rc::new(Trace { output: host.output.clone(), next: gc.observer });
    }
    let (userdata_by_slot, weak) = (lua.create_table()?, lua.create_table()?);
    weak.raw_set("__mode", "vs")?;
    userdata_by_slot.set_metatable(Some(weak))?;
    Ok(Rc::new(Engine {
        world: world.clone(),
        gc: Gc::new(world, gc),
        memory: Memory::new(host.limits.memory),
        clock: RunClock::new(&host.limits),
        output: BoundedOutput::new(host.output, host.limits.output),
        weight: WorldWeight::new(host.limits.world),
        limits: host.limits,
        grants: host.grants,
        allowance: host.allowance,
        refused: RefCell::default(),
        current: CurrentContext::default(),
        threads: Threads::default(),
        stage: Cell::new(ProgramStage::Declaring),
        format: Cell::new(None),
        classes: RefCell::default(),
        methods: RefCell::default(),
        method: OnceCell::new(),
        native: OnceCell::new(),
        natives: RefCell::default(),
        thread: OnceCell::new(),
        collection_lock: tokio::sync::Mutex::new(()),
        reports: RefCell::default(),
        stopped_at: RefCell::default(),
        userdata_by_slot,
    }))
}

fn install(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    let host = create::host(lua, engine)?;
    thread_api::host(lua, engine, &host)?;
    let prelude = sandbox::prelude(lua, engine, &host)?;
    // Set for the first time.
    let _ = engine.method.set(prelude.method);
    let _ = engine.native.set(prelude.native);
    let _ = engine.thread.set(prelude.thread);
    object::install(lua, engine)?;
    class_value::install(lua, engine)?;
    declare::install(lua, engine)?;
    create::install_log(lua, engine)?;
    thread_api::install(lua, engine)?;
    gc_api::install(lua, engine)?;
    exec::install(lua, engine)?;
    http::install(lua, engine)?;
    sandbox::close(lua, engine)
}
