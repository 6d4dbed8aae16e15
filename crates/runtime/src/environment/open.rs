//! An environment, opened for one run: its lease, what is stored of it, and the program with all objects in a world.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;
use sexton_client::Kinds;
use sexton_client::Place;
use sexton_client::resources::{ListAsk, text};
use sexton_collector::modules::{LeaseGiver, Locked, Tools, WorkLease};
use sexton_lifecycle::DeletionLimit;
use sexton_model::bulk::Epoch;
use sexton_model::class::MAX_SOURCE;
use sexton_model::environment::{CLASSES_GROUP, ProgramSpec, environment_name};
use sexton_model::hook::Allowance;

use super::OpenError;
use super::belonging::tell_apart;
use super::burial::{Grave, release};
use super::checks::{check_model, check_namespace, check_program};
use super::import::{Going, Imported, import};
use super::keeper::{Keeping, Kept};
use super::predecessor;
use super::record::Record;
use super::save::recover;
use crate::gc::{Preview, Reason, Scope, Settings};
use crate::lua::{Grants, Host, Limits, Output, Program, ProgramError, Source};
use crate::model::Model;
use crate::stored::{StoredObjects, is_destroyed, label};
use crate::world::{Handle, ObjectId, World};

/// What is to be run, and how.
#[derive(Clone)]
pub struct Ask {
    /// The environment.
    pub environment: String,
    /// The program.
    pub program: ProgramSpec,
    /// Grants of earlier runs that are taken back. All others are kept.
    pub revoked: Grants,
    /// The incoming model; without one, that which is stored.
    pub model: Option<Model>,
    /// Whether an incoming model without objects is meant, though objects are stored.
    pub allow_empty: bool,
    /// How much the program may use.
    pub limits: Limits,
    /// How much of what is stored may be destroyed at once.
    pub fuse: DeletionLimit,
    /// Where its words go.
    pub output: Rc<dyn Output>,
    /// Whether what happens to objects is told there, too.
    pub trace: bool,
    /// Whether nothing may be written.
    pub preview: bool,
    /// Whether no other process can use the environment, because the store is in this process: an existing lease
    /// belongs to a process that has ended.
    pub alone: bool,
    /// What a program may start and ask on this machine, where other users of a server can store grants, too.
    pub here: Here,
}

/// What a program may start and ask on this machine.
#[derive(Debug, Clone, Default)]
pub enum Here {
    /// What it was granted by any run: the store has no other users.
    #[default]
    Granted,
    /// Only what this run names.
    Named(Grants),
    /// What it was granted, as far as the user of this machine allows it.
    Allowed(Allowance),
}

/// An environment that is open.
pub struct Opened {
    pub(super) keeping: Rc<Keeping>,
    pub(super) locked: Option<Locked>,
    pub(super) program: Program,
    pub(super) spec: ProgramSpec,
    /// The object from which all others are reached, if there is one yet.
    pub(super) root: Option<Handle>,
    /// Objects that came with the model and were never here before.
    pub(super) fresh: Vec<ObjectId>,
    /// Objects that are missing in the incoming model, or were being destroyed by an interrupted run.
    pub removed: Vec<ObjectId>,
    pub(super) why: Why,
    /// References to missing objects, as messages.
    pub dangling: Vec<String>,
    /// Resources in the namespace of the environment that are not its objects: they are left alone.
    pub foreign: Vec<String>,
    /// Grants of earlier runs that this one did not name and has: programs, then hosts.
    pub kept_grants: Grants,
    /// Whether opening finished the storing of a model that an interrupted run had begun.
    pub recovered: bool,
    /// How many objects were stored before.
    pub stored: usize,
    /// Whether this is not the program that was asked for, but the stored one: some of what is to be destroyed first
    /// has classes that only that one knows. After it is done, the environment has to be opened again.
    pub predecessor: bool,
    /// For the stored program: its objects as they were before it destroyed any.
    pub(super) survivors: Option<Model>,
    /// Whether a model came in.
    pub(super) has_model: bool,
    /// Whether not all is destroyed that has to be before the deployment.
    pub(super) incomplete: bool,
}

impl Opened {
    /// Opens an environment. Nothing is written except its lease, and the rest of a model that an
    /// interrupted run had begun to store.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(tools: &Tools, ask: Ask) -> Result<Opened, OpenError> {
        Opened::open_for(tools, ask, false).await
    }

    /// The same; `ends` if all of it is to be destroyed.
    pub(super) async fn open_for(tools: &Tools, ask: Ask, ends: bool) -> Result<Opened, OpenError> {
        let name = ask.environment.as_str();
        if ask.program.source.len() > MAX_SOURCE {
            return Err(OpenError::Program(ProgramError::TooLong { limit: MAX_SOURCE }));
        }
        environment_name(name)
            .map_err(|why| OpenError::Name { name: name.to_owned(), why: why.to_string() })?;
        let locked = if ask.preview { None } else { Some(lock(tools, name, ask.alone).await?) };
        let opened = Opened::under_lease(tools, (ask, ends), locked.as_ref()).await;
        match (opened, locked) {
            (Ok(opened), locked) => Ok(Opened { locked, ..opened }),
            (Err(error), Some(locked)) => {
                locked.release().await;
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn under_lease(
        tools: &Tools,
        (mut ask, ends): (Ask, bool),
        locked: Option<&Locked>,
    ) -> Result<Opened, OpenError> {
        if !ends {
            check_namespace(tools, &ask.environment).await?;
        }
        let (mut record, recovered) = settled(tools, &ask.environment, locked).await?;
        let kept_grants = keep_grants(&mut ask.program, &record.spec.program, &ask.revoked);
        let kinds = Kinds::discover(tools.resources.client()).await;
        let kinds = kinds.map_err(|error| OpenError::Call(error.0))?;
        let resources = load(tools, &kinds, &ask.environment).await?;
        if let Some(locked) = locked {
            finish_burial(tools, locked.epoch(), &record, &resources).await?;
        }
        let (mut shelf, foreign) = shelve(&ask.environment, resources, &record)?;
        record.status.destroying.retain(|uid| shelf.id_of(uid).is_some());
        let root = ObjectId::new(&record.status.root).ok();
        let before = shelf.model(root);
        let incoming = incoming(&ask, &before, &record)?;
        let (removed, begun) = removed(&incoming, &before, &record, &shelf);
        let has_model = ask.model.is_some();
        let (mut spec, former) = (ask.program.clone(), record.spec.program.clone());
        let changes = former != spec && !former.source.is_empty();
        let predecessor = changes && predecessor::is_needed(&ask, &incoming, &before, &removed)?;
        if predecessor {
            spec = former;
        }
        let (stored, mut dangling) = (shelf.len(), shelf.dangling.clone());
        let epoch = locked.map(|locked| locked.epoch().clone());
        let why = Why { begun, ends };
        let kept = Kept { shelf, record };
        let keeping = Rc::new(Keeping::new(tools.clone(), epoch, ask.fuse, kept, why.clone()));
        let host = host_of(ask, &spec, keeping.clone());
        let world = World::new();
        let program = Program::load(&world, &source_of(&spec), host)?;
        check_program(&program, &kinds, !ends && !predecessor)?;
        let going = Going { removed: &removed, begun: &why.begun };
        let Imported { root, fresh, survivors, dangling: more } =
            import(&world, (&incoming, &before), &going, predecessor)?;
        dangling.extend(more);
        Ok(Opened {
            keeping,
            locked: None,
            program,
            spec,
            root,
            fresh,
            removed,
            why,
            dangling,
            foreign,
            kept_grants,
            recovered,
            stored,
            predecessor,
            survivors,
            has_model,
            incomplete: false,
        })
    }

    /// What would be destroyed before the deployment, in which order and why.
    ///
    /// # Errors
    /// If the plan cannot be made.
    pub async fn preview(&self) -> Result<Preview, crate::gc::CollectError> {
        let mut preview = self.program.gc().preview(Scope::Removed(self.removed.clone())).await?;
        preview.doomed.iter_mut().for_each(|one| self.why.say(&one.id, &mut one.reasons));
        Ok(preview)
    }

    /// Why too many stored objects were to be destroyed at once, if they were.
    pub fn fused(&self) -> Option<String> {
        self.keeping.fused.borrow().clone()
    }

    /// The world of its objects.
    pub fn world(&self) -> &World {
        self.program.world()
    }

    /// A way to give the lease back though the run was broken off; nothing for a preview.
    pub fn lease(&self) -> Option<LeaseGiver> {
        self.locked.as_ref().map(Locked::giver)
    }

    /// Gives the lease back, if nothing is to be run after all.
    pub async fn close(mut self) {
        if let Some(locked) = self.locked.take() {
            locked.release().await;
        }
        self.program.world().close();
    }
}

/// Takes the lease of an environment. `alone`: no other process can be at work, so a lease is that of a dead one.
pub(super) async fn lock(tools: &Tools, name: &str, alone: bool) -> Result<Locked, OpenError> {
    let lease = WorkLease::of_environment(tools, name);
    if alone {
        lease.break_it().await?;
    }
    Ok(lease.take().await?)
}

pub(super) fn source_of(spec: &ProgramSpec) -> Source {
    Source { name: spec.name.clone(), text: spec.source.clone() }
}

/// The record of an environment, after its last model was completely stored, and whether that had to be finished now.
async fn settled(
    tools: &Tools,
    environment: &str,
    locked: Option<&Locked>,
) -> Result<(Record, bool), OpenError> {
    let mut record = Record::read(&tools.resources, environment).await?;
    let recovered = match locked {
        Some(locked) => recover(tools, locked.epoch(), &mut record).await?,
        None if record.status.pending.is_some() => {
            return Err(OpenError::HalfStored(environment.to_owned()));
        }
        None => false,
    };
    Ok((record, recovered))
}

/// Why objects go before the deployment, if it is not that the model does not have them any more.
#[derive(Debug, Clone, Default)]
pub(super) struct Why {
    /// Objects that the model still has: an interrupted run had begun to destroy them.
    begun: BTreeSet<ObjectId>,
    /// Whether the environment ends with all its objects.
    ends: bool,
}

impl Why {
    /// Says the true reason.
    pub(super) fn say(&self, id: &ObjectId, reasons: &mut [Reason]) {
        let truth = match (self.ends, self.begun.contains(id)) {
            (true, _) => Reason::EnvironmentEnds,
            (false, true) => Reason::Interrupted,
            (false, false) => return,
        };
        for reason in reasons.iter_mut().filter(|reason| **reason == Reason::Removed) {
            *reason = truth.clone();
        }
    }
}

/// The configuration that a program runs with: the grants of its stored or incoming specification, as far as they hold on
/// this machine.
fn host_of(ask: Ask, spec: &ProgramSpec, recorder: Rc<Keeping>) -> Host {
    let mut grants = Grants { exec: spec.exec.clone(), http: spec.http.clone() };
    let mut allowance = None;
    match ask.here {
        Here::Granted => {}
        Here::Named(named) => {
            grants.exec.retain(|one| named.exec.contains(one));
            grants.http.retain(|one| named.http.contains(one));
        }
        Here::Allowed(allowed) => allowance = Some(allowed),
    }
    Host {
        limits: ask.limits,
        grants,
        allowance,
        output: ask.output,
        trace: ask.trace,
        gc: Settings { recorder, ..Settings::default() },
    }
}

/// Gives a program the grants that earlier runs were given, but for those that are taken back. Says which it would not
/// have had.
fn keep_grants(program: &mut ProgramSpec, former: &ProgramSpec, revoked: &Grants) -> Grants {
    let keep = |own: &mut Vec<String>, former: &[String], revoked: &[String]| {
        let kept: Vec<String> =
            former.iter().filter(|one| !own.contains(one) && !revoked.contains(one)).cloned().collect();
        own.extend(kept.iter().cloned());
        kept
    };
    Grants {
        exec: keep(&mut program.exec, &former.exec, &revoked.exec),
        http: keep(&mut program.http, &former.http, &revoked.http),
    }
}

/// The objects of the environment, and what else is in its namespace, in words. Names that are taken by that, or by
/// what is on its way out, are not free.
fn shelve(
    environment: &str,
    resources: Vec<Value>,
    record: &Record,
) -> Result<(StoredObjects, Vec<String>), OpenError> {
    let terminates = |resource: &Value| !resource["metadata"]["deletionTimestamp"].is_null();
    let (terminating, resources): (Vec<Value>, Vec<Value>) = resources.into_iter().partition(terminates);
    let belonging = tell_apart(resources, &record.status);
    let mut shelf = StoredObjects::new(environment, belonging.own)?;
    belonging.foreign.iter().chain(&terminating).for_each(|resource| shelf.reserve(resource));
    Ok((shelf, belonging.foreign.iter().map(label).collect()))
}

/// The incoming model; without one, that which is stored. With what handlers of the stored program changed.
fn incoming(ask: &Ask, before: &Model, record: &Record) -> Result<Model, OpenError> {
    let Some(mut incoming) = ask.model.clone() else { return Ok(before.clone()) };
    check_model(&incoming, before, ask.allow_empty)?;
    predecessor::keep(ask, &mut incoming, before, &record.status.changed)?;
    Ok(incoming)
}

/// The objects to destroy before the deployment: those that are missing in the incoming model, and those that an
/// interrupted run had begun to destroy (the second set). Without objects that are destroyed already: removing their
/// resources needs no class.
fn removed(
    incoming: &Model,
    before: &Model,
    record: &Record,
    shelf: &StoredObjects,
) -> (Vec<ObjectId>, BTreeSet<ObjectId>) {
    let over: BTreeSet<&ObjectId> =
        before.objects.iter().filter(|object| object.destroyed).map(|object| &object.id).collect();
    let mut removed = incoming.removed_since(before);
    removed.retain(|id| !over.contains(id));
    let mut begun = interrupted(record, shelf, &removed);
    begun.retain(|id| !over.contains(id));
    removed.extend(begun.iter().cloned());
    (removed, begun.into_iter().collect())
}

/// All resources of the kinds of classes.
async fn load(tools: &Tools, kinds: &Kinds, environment: &str) -> Result<Vec<Value>, OpenError> {
    let mut resources: Vec<Value> = Vec::new();
    for kind in kinds.preferred().filter(|kind| kind.resource.group == CLASSES_GROUP) {
        let place = Place::new(kind, Some(environment));
        resources.extend(tools.resources.list(&place, &ListAsk::default()).await?.found);
    }
    Ok(resources)
}

/// Releases the resources of objects that an interrupted run destroyed.
async fn finish_burial(
    tools: &Tools,
    epoch: &Epoch,
    record: &Record,
    resources: &[Value],
) -> Result<(), OpenError> {
    let begun = |resource: &&Value| {
        let uid = text(resource, "/metadata/uid");
        is_destroyed(resource)
            && !resource["metadata"]["deletionTimestamp"].is_null()
            && record.status.destroying.iter().any(|one| one == uid)
    };
    let waiting = resources.iter().filter(begun).map(|resource| Grave { resource, stone: None });
    Ok(release(tools, epoch, waiting.collect()).await?)
}

/// The objects that an interrupted run had begun to destroy, without those in `removed`. They are destroyed even if the
/// model contains them.
fn interrupted(record: &Record, shelf: &StoredObjects, removed: &[ObjectId]) -> Vec<ObjectId> {
    let begun = record.status.destroying.iter().filter_map(|uid| shelf.id_of(uid));
    begun.filter(|id| !removed.contains(id)).cloned().collect()
}
