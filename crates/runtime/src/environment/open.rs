//! An environment, opened for one run: its lease, what is stored of it, and the program with all objects in a world.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;
use sexton_client::Kinds;
use sexton_client::Place;
use sexton_client::resources::{ListAsk, text};
use sexton_collector::modules::{Locked, Tools, WorkLease};
use sexton_lifecycle::FuseLimits;
use sexton_model::bulk::Epoch;
use sexton_model::class::MAX_SOURCE;
use sexton_model::environment::{CLASSES_GROUP, ProgramSpec, environment_name, plural_of};
use sexton_model::names;

use super::OpenError;
use super::burial::{Grave, release};
use super::keeper::{Keeping, Kept};
use super::record::Record;
use super::save::recover;
use crate::gc::{Preview, Scope, Settings};
use crate::lua::{Grants, Host, Limits, Output, Program, ProgramError, Source};
use crate::model::Model;
use crate::stored::{Shelf, is_destroyed};
use crate::world::{Handle, ObjectId, World};

/// What is to be run, and how.
#[derive(Clone)]
pub struct Ask {
    /// The environment.
    pub environment: String,
    /// The program.
    pub program: ProgramSpec,
    /// The incoming model; without one, that which is stored.
    pub model: Option<Model>,
    /// How much the program may use.
    pub limits: Limits,
    /// How much of what is stored may be destroyed at once.
    pub fuse: FuseLimits,
    /// Where its words go.
    pub output: Rc<dyn Output>,
    /// Whether what happens to objects is told there, too.
    pub trace: bool,
    /// Whether nothing may be written.
    pub preview: bool,
    /// Whether nobody else can be at work, because the store is in this process: then a lease is a dead one's.
    pub alone: bool,
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
    /// Objects that the model does not have any more, or whose destruction was interrupted.
    pub removed: Vec<ObjectId>,
    /// What leads nowhere, in words.
    pub dangling: Vec<String>,
    /// Whether a model that somebody else had begun to store was finished.
    pub recovered: bool,
    /// How many objects were stored before.
    pub stored: usize,
    /// Whether this is not the program that was asked for, but the stored one: some of what is to be destroyed first has
    /// classes that only that one knows. After it is done, the environment has to be opened again.
    pub predecessor: bool,
}

impl Opened {
    /// Opens an environment. Nothing is written but its lease, and what somebody else left half stored.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(tools: &Tools, ask: Ask) -> Result<Opened, OpenError> {
        let name = ask.environment.as_str();
        if ask.program.source.len() > MAX_SOURCE {
            return Err(OpenError::Program(ProgramError::TooLong { limit: MAX_SOURCE }));
        }
        environment_name(name)
            .map_err(|why| OpenError::Name { name: name.to_owned(), why: why.to_string() })?;
        let lease =
            WorkLease::new(tools, format!("the environment {name}"), format!("sexton-environment-{name}"));
        if ask.alone && !ask.preview {
            lease.break_it().await?;
        }
        let locked = if ask.preview { None } else { Some(lease.take().await?) };
        let opened = Opened::under_lease(tools, ask, locked.as_ref()).await;
        match (opened, locked) {
            (Ok(opened), locked) => Ok(Opened { locked, ..opened }),
            (Err(error), Some(locked)) => {
                locked.release().await;
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn under_lease(tools: &Tools, ask: Ask, locked: Option<&Locked>) -> Result<Opened, OpenError> {
        let mut record = Record::read(&tools.resources, &ask.environment).await?;
        let recovered = match locked {
            Some(locked) => recover(tools, locked.epoch(), &mut record).await?,
            None if record.status.pending.is_some() => return Err(OpenError::HalfStored(ask.environment)),
            None => false,
        };
        let resources = load(tools, &ask.environment).await?;
        if let Some(locked) = locked {
            finish_burial(tools, locked.epoch(), &record, &resources).await?;
        }
        let mut shelf = Shelf::new(&ask.environment, resources)?;
        record.status.destroying.retain(|uid| shelf.id_of(uid).is_some());
        let root = ObjectId::new(&record.status.root).ok();
        let before = shelf.model(root);
        let mut dangling = shelf.dangling.clone();
        let mut incoming = ask.model.clone().unwrap_or_else(|| before.clone());
        let mut removed = incoming.removed_since(&before);
        removed.extend(interrupted(&record, &shelf, &removed));
        // Whoever was destroyed goes without further ado, and needs no class for it.
        let over: BTreeSet<&ObjectId> =
            before.objects.iter().filter(|object| object.destroyed).map(|object| &object.id).collect();
        removed.retain(|id| !over.contains(id));
        let stored = shelf.len();
        let (mut spec, former) = (ask.program.clone(), record.spec.program.clone());
        let predecessor =
            former != spec && !former.source.is_empty() && lacks_classes(&ask, &before, &removed)?;
        if predecessor {
            (spec, incoming) = (former, before.clone());
        }
        let fresh = before.removed_since(&incoming);

        let keeping = Keeping::new(
            tools.clone(),
            locked.map(|locked| locked.epoch().clone()),
            ask.fuse,
            Kept { shelf, record },
        );
        let keeping = Rc::new(keeping);
        let host = Host {
            limits: ask.limits,
            grants: Grants { exec: spec.exec.clone(), http: spec.http.clone() },
            output: ask.output,
            trace: ask.trace,
            gc: Settings { keeper: keeping.clone(), ..Settings::default() },
        };
        let world = World::new();
        let program = Program::load(&world, &source_of(&spec), host)?;
        check_classes(&program)?;
        let (root, more) = import(&world, &incoming, &before, &removed, &fresh)?;
        dangling.extend(more);
        Ok(Opened {
            keeping,
            locked: None,
            program,
            spec,
            root,
            fresh,
            removed,
            dangling,
            recovered,
            stored,
            predecessor,
        })
    }

    /// What would be destroyed before the deployment, in which order and why.
    ///
    /// # Errors
    /// If the plan cannot be made.
    pub async fn preview(&self) -> Result<Preview, crate::gc::CollectError> {
        self.program.gc().preview(Scope::Removed(self.removed.clone())).await
    }

    /// Why too many stored objects were to be destroyed at once, if they were.
    pub fn fused(&self) -> Option<String> {
        self.keeping.fused.borrow().clone()
    }

    /// The world of its objects.
    pub fn world(&self) -> &World {
        self.program.world()
    }

    /// Gives the lease back, if nothing is to be run after all.
    pub async fn close(mut self) {
        if let Some(locked) = self.locked.take() {
            locked.release().await;
        }
        self.program.world().close();
    }
}

fn source_of(spec: &ProgramSpec) -> Source {
    Source { name: spec.name.clone(), text: spec.source.clone() }
}

/// Objects are resources of kinds that are called like their classes: not every class can be one.
fn check_classes(program: &Program) -> Result<(), OpenError> {
    let mut plurals: BTreeMap<String, String> = BTreeMap::new();
    for class in program.classes() {
        if let Err(why) = names::dns1035_label(&class.to_lowercase()) {
            return Err(OpenError::Class { class, why: why.to_string() });
        }
        if let Some(other) = plurals.insert(plural_of(&class), class.clone()) {
            let why = format!("{other} would be called {} as well", plural_of(&class));
            return Err(OpenError::Class { class, why });
        }
    }
    Ok(())
}

/// Whether some of what is to be destroyed has classes that the program does not know.
fn lacks_classes(ask: &Ask, before: &Model, removed: &[ObjectId]) -> Result<bool, OpenError> {
    let world = World::new();
    let host = Host { limits: ask.limits.clone(), ..Host::default() };
    let _program = Program::load(&world, &source_of(&ask.program), host)?;
    let unknown = before.only(removed).objects.iter().any(|object| world.class(&object.class).is_none());
    world.close();
    Ok(unknown)
}

/// All resources of the kinds of classes.
async fn load(tools: &Tools, environment: &str) -> Result<Vec<Value>, OpenError> {
    let kinds = Kinds::discover(tools.resources.client()).await.map_err(|error| OpenError::Call(error.0))?;
    let mut resources: Vec<Value> = Vec::new();
    for kind in kinds.preferred().filter(|kind| kind.resource.group == CLASSES_GROUP) {
        let place = Place::new(kind, Some(environment));
        resources.extend(tools.resources.list(&place, &ListAsk::default()).await?.found);
    }
    Ok(resources)
}

/// Those who were destroyed by a run that did not come back, and only wait to be let go.
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

/// Those whose `destroy` was begun by a run that did not come back. They are destroyed, whatever the model says.
fn interrupted(record: &Record, shelf: &Shelf, removed: &[ObjectId]) -> Vec<ObjectId> {
    let begun = record.status.destroying.iter().filter_map(|uid| shelf.id_of(uid));
    begun.filter(|id| !removed.contains(id)).cloned().collect()
}

/// Everything that is stored or comes in, as objects: what is in both is one object, as it comes in.
fn import(
    world: &World,
    incoming: &Model,
    before: &Model,
    removed: &[ObjectId],
    fresh: &[ObjectId],
) -> Result<(Option<Handle>, Vec<String>), OpenError> {
    let mut all = incoming.clone();
    let known: BTreeSet<&ObjectId> = incoming.ids().collect();
    let missing: Vec<ObjectId> = removed.iter().filter(|id| !known.contains(id)).cloned().collect();
    let gone = before.only(&missing);
    all.lenient.extend(gone.lenient);
    all.objects.extend(gone.objects);
    let imported = all.import(world)?;
    let fresh: BTreeSet<&ObjectId> = fresh.iter().collect();
    for object in imported.objects.iter().filter(|object| !fresh.contains(&object.id())) {
        world.assume_initialized(object);
    }
    let root = imported.root.clone().filter(|root| !removed.contains(&root.id()));
    if let Some(root) = &root {
        world.set_root(root);
    }
    let words = imported.dangling.iter().map(|one| format!("{}: {} ({})", one.path, one.why, one.target));
    Ok((root, words.collect()))
}
