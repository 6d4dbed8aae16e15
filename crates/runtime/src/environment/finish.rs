//! The end of a run: what `deploy` made is stored, then what is not reached any more is destroyed, then the changes
//! that this made are stored.
//!
//! ```text
//! store (also what is about to be destroyed) ─► destroy what is not reached ─► store what changed
//! ```
//!
//! The first store comes before the first `destroy`: a run that is killed while it destroys leaves the new model, and
//! the next run destroys the rest. Without anything to destroy there is one store.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;
use sexton_client::resources::{ListAsk, text};
use sexton_collector::hooks::place_of;
use sexton_collector::modules::Tools;
use sexton_model::Uid;
use sexton_model::bulk::Epoch;
use sexton_model::environment::EnvironmentPhase;

use super::keeper::Kept;
use super::kinds::{classes_of, ensure};
use super::open::Opened;
use super::save::save;
use super::{FinishError, RunError, burial, predecessor};
use crate::gc::{Report, Scope};
use crate::model::{Model, ModelObject, export, gather, model_object};
use crate::stored::{StoredObjects, changes};
use crate::world::{Handle, ObjectId};

/// What is stored after a run.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    /// What was destroyed after the deployment, or why not.
    pub report: Report,
    /// Objects that are stored now.
    pub objects: usize,
    /// The number of objects with resources that were written.
    pub written: usize,
    /// The model as JSON.
    pub model: String,
    /// Why too many stored objects were to be destroyed at once, if they were.
    pub fused: Option<String>,
}

/// What became of a run of which nothing is left to be done.
const DONE: &str = "done";

impl Opened {
    /// Stores what the run made, destroys what is not reached any more, and stores what changed by that. `failed` says
    /// why the run failed, if it did: what it made is stored nevertheless, so that nothing is lost.
    ///
    /// # Errors
    /// See [`FinishError`]: if the first store failed, the model that was stored before is still there, and nothing was
    /// destroyed.
    pub async fn finish(mut self, failed: Option<&RunError>) -> Result<Finished, FinishError> {
        self.root = None;
        let mut finished = Finished::default();
        let stored = self.store_and_collect(failed, &mut finished).await;
        finished.fused = self.fused();
        let outcome = match (&stored, failed) {
            (Err(error), _) => format!("not stored: {error}"),
            (Ok(()), Some(error)) => format!("failed: {error}"),
            (Ok(()), None) if self.incomplete => {
                "deploy did not run: not all is destroyed that has to be before".to_owned()
            }
            (Ok(()), None) => undestroyed(&finished.report).unwrap_or_else(|| DONE.to_owned()),
        };
        let phase = if outcome == DONE { EnvironmentPhase::Idle } else { EnvironmentPhase::Failed };
        let noted = self.note(phase, outcome.lines().next().unwrap_or_default()).await;
        self.close().await;
        stored?;
        noted.map_err(FinishError::from)?;
        Ok(finished)
    }

    async fn store_and_collect(
        &mut self,
        failed: Option<&RunError>,
        finished: &mut Finished,
    ) -> Result<(), FinishError> {
        self.discard_unborn();
        let mut stored = Stored { done: failed.is_none() && !self.incomplete, ..Stored::default() };
        let mut collected = Ok(());
        let model = self.reached();
        // After its deadline no code runs any more; the next run finds what is garbage. What should have gone before
        // the deployment is tried again by the next run as well, which deploys then.
        let runs_on = !failed.is_some_and(RunError::is_final) && !self.incomplete;
        let collects = runs_on && model.root.is_some() && self.has_unreached(&model);
        self.store(model, &mut stored).await?;
        if collects {
            self.reload(&mut stored).await?;
            match self.collect_noting(Scope::NotPersistable).await {
                Ok(Ok(report)) => finished.report = report,
                Ok(Err(error)) => collected = Err(error.into()),
                Err(_) => {}
            }
            let mut model = self.reached();
            model.objects.retain(|object| !stored.vanished.contains(&object.id));
            self.store(model, &mut stored).await?;
        }
        let world = self.program.world();
        finished.model = export(world, world.roots().first())?;
        (finished.objects, finished.written) = (stored.objects, stored.written.len());
        collected
    }

    /// Discards objects of the model with an `init` that failed or never ran. They are not stored, so they are new
    /// again in the next run with that model.
    fn discard_unborn(&self) {
        let world = self.program.world();
        let is_unborn = |object: &Handle| !object.is_initialized() && !object.is_destroyed();
        let unborn: Vec<Handle> =
            self.fresh.iter().filter_map(|id| world.find(id)).filter(is_unborn).collect();
        if !unborn.is_empty() {
            world.discard(&unborn);
        }
    }

    /// What the root reaches over persistable properties.
    fn reached(&self) -> Model {
        let world = self.program.world();
        world.roots().first().map(|root| gather(world, root)).unwrap_or_default()
    }

    /// Whether any object lives that a model does not have.
    fn has_unreached(&self, model: &Model) -> bool {
        let known: HashSet<&ObjectId> = model.ids().collect();
        let is_over = |object: &Handle| object.is_destroyed() || object.init_failed();
        let world = self.program.world();
        let mut others = world.objects().into_iter().filter(|id| !known.contains(id));
        others.any(|id| world.find(&id).is_some_and(|object| !is_over(&object)))
    }

    /// Stores a model, and with it what should be destroyed and is not.
    async fn store(&mut self, mut model: Model, stored: &mut Stored) -> Result<(), FinishError> {
        self.add_undestroyed(&mut model);
        let keeping = self.keeping.clone();
        let epoch = keeping.epoch().map_err(FinishError::Keeper)?;
        let mut kept = keeping.kept.lock().await;
        let Kept { shelf, record } = &mut *kept;
        bury_unreferenced(&keeping.tools, epoch, shelf, &model).await?;
        let environment = shelf.environment.clone();
        let classes = classes_of(self.program.world(), &model.objects);
        ensure(&keeping.tools.resources, &environment, &classes).await?;
        let known: HashSet<&ObjectId> = model.ids().collect();
        let besides = shelf.resources().filter(|(id, _)| !known.contains(id)).count();
        stored.objects = model.objects.len() + besides;
        let before = record.clone();
        record.spec.program = self.spec.clone();
        record.status.objects = stored.objects;
        if model.root.is_some() || !self.incomplete {
            record.status.root = model.root.as_ref().map(ObjectId::to_string).unwrap_or_default();
        }
        match &self.survivors {
            Some(before) => predecessor::note(&mut record.status.changed, before, &model),
            None if stored.done => record.status.changed.clear(),
            None => {}
        }
        let writes = changes(shelf, &model.objects, || Uid(uuid::Uuid::new_v4().to_string()));
        let noted = writes.inspect(|change| {
            if let Ok(change) = change {
                stored.kinds.insert(change.kind.clone());
                stored.written.insert(change.id.clone(), change.uid.clone());
            }
        });
        let saved = save(&keeping.tools, epoch, record, noted).await;
        if saved.is_err() && record.status.pending.is_none() {
            // Nothing of it is stored: the objects are those of the model and the program before.
            *record = before;
        }
        Ok(saved.map(drop)?)
    }

    /// Takes in the resources that were written, as the server has them now: what is destroyed and stored next rests on
    /// their versions. An object that was deleted meanwhile is not stored again.
    async fn reload(&self, stored: &mut Stored) -> Result<(), FinishError> {
        let mut kept = self.keeping.kept.lock().await;
        let uids: BTreeMap<&str, &ObjectId> =
            stored.written.iter().map(|(id, uid)| (uid.as_str(), id)).collect();
        let mut found: BTreeSet<ObjectId> = BTreeSet::new();
        for kind in &stored.kinds {
            let place = place_of(kind, &kept.shelf.environment);
            let listed = self.keeping.tools.resources.list(&place, &ListAsk::default()).await?;
            for resource in listed.found {
                let terminates = !resource["metadata"]["deletionTimestamp"].is_null();
                if let (Some(id), false) = (uids.get(text(&resource, "/metadata/uid")), terminates) {
                    found.insert((*id).clone());
                    kept.shelf.put(id, resource);
                }
            }
        }
        self.keeping.note_stored(found.iter().cloned());
        stored.vanished = stored.written.keys().filter(|id| !found.contains(*id)).cloned().collect();
        Ok(())
    }

    /// Adds what should be destroyed and is not: it is stored with all that it refers to, its owners and what it is
    /// subscribed to, so that a later run can destroy it in the same order.
    fn add_undestroyed(&self, model: &mut Model) {
        let world = self.program.world();
        let mut known: HashSet<ObjectId> = model.ids().cloned().collect();
        let is_told_of = |object: &Handle| object.read(|one| one.subscribers().next().is_some());
        let lives = |object: &Handle| !object.is_destroyed() && object.is_initialized();
        let has_code =
            |object: &Handle| object.class().has_destroy() || is_told_of(object).unwrap_or_default();
        let left = world.objects().into_iter().filter(|id| !known.contains(id));
        let left = left.filter_map(|id| world.find(&id));
        let mut open: Vec<Handle> = left.filter(|object| lives(object) && has_code(object)).collect();
        while let Some(object) = open.pop() {
            if known.insert(object.id()) {
                let class = object.class();
                for (name, _) in class.properties().filter(|(_, property)| property.usage.is_persistable()) {
                    open.extend(object.get(name).objects().into_iter().cloned());
                }
                let targets = object.read(|one| one.targets().collect::<Vec<_>>()).unwrap_or_default();
                let ordered = targets.into_iter().filter_map(|key| world.handle(key)).chain(object.owner());
                open.extend(ordered.filter(lives));
                model.objects.push(model_object(self.program.gc(), &object));
            }
        }
    }
}

/// What lives on after a collection though it should be destroyed, in a line; nothing if nothing does.
fn undestroyed(report: &Report) -> Option<String> {
    if report.is_complete() {
        return None;
    }
    if let Some(cancelled) = &report.cancelled {
        let name = cancelled.name.as_deref().unwrap_or(cancelled.by.as_str());
        return Some(format!("{} {name} cancelled the collection: {}", cancelled.class, cancelled.reason));
    }
    let count = report.failed.len() + report.waiting.len() + report.held.len() + report.left;
    let first = report.failed.first().map(|one| {
        let name = one.name.as_deref().unwrap_or(one.id.as_str());
        format!(", {} {name}: {}", one.class, one.error)
    });
    let why = first.or_else(|| Some(format!(": {}", report.held.first()?.reason)));
    Some(format!("{count} not destroyed{}", why.unwrap_or_default()))
}

/// What the stores of one run wrote.
#[derive(Default)]
struct Stored {
    /// Whether the run did all that it should.
    done: bool,
    /// Objects that are stored now.
    objects: usize,
    /// The uids of the resources that were written, by object.
    written: BTreeMap<ObjectId, String>,
    /// Their kinds.
    kinds: BTreeSet<String>,
    /// Objects that were written and deleted from outside before the run ended.
    vanished: HashSet<ObjectId>,
}

/// Destroyed objects that nothing refers to any more go away without further ado.
pub(super) async fn bury_unreferenced(
    tools: &Tools,
    epoch: &Epoch,
    shelf: &mut StoredObjects,
    model: &Model,
) -> Result<(), FinishError> {
    let known: HashSet<&ObjectId> = model.ids().collect();
    let destroyed = |object: &ModelObject| object.destroyed && !known.contains(&object.id);
    let all = shelf.model(None).objects;
    let gone: Vec<ObjectId> = all.into_iter().filter(destroyed).map(|object| object.id).collect();
    Ok(burial::bury(tools, epoch, shelf, &gone, &burial::Reasons::new()).await?)
}
