//! The recorder of destructions for the stored objects of an environment: protection, the intent before `destroy`,
//! removal after it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use futures::lock::Mutex;
use serde_json::Value;
use sexton_client::resources::text;
use sexton_collector::hooks::place_of;
use sexton_collector::modules::Tools;
use sexton_lifecycle::DeletionLimit;
use sexton_model::bulk::{Action, Annotations, Epoch};
use sexton_model::marks;

use super::burial::{Reasons, bury, item, send};
use super::changes::Baseline;
use super::open::Why;
use super::record::Record;
use crate::gc::{DestructionRecorder, Intent, ObjectJournal, Permit, RecorderError};
use crate::stored::StoredObjects;
use crate::world::{Handle, ObjectId, World};

/// The maximum number of tombstones that a run leaves. A run that destroys more objects does so on purpose.
const TOMBSTONES: usize = 1_000;

/// The stored state of an environment while a program runs in it.
pub(super) struct Kept {
    pub(super) shelf: StoredObjects,
    pub(super) record: Record,
}

/// Records the destruction of the stored objects of one environment.
pub(super) struct Keeping {
    pub(super) tools: Tools,
    /// The lease under which it writes. Nothing may be written without one (previews have none).
    pub(super) epoch: Option<Epoch>,
    pub(super) limits: DeletionLimit,
    pub(super) kept: Mutex<Kept>,
    why: Why,
    /// Objects that an interrupted run had begun to destroy.
    begun: BTreeSet<ObjectId>,
    ids: RefCell<BTreeSet<ObjectId>>,
    /// Objects that were stored before the run. Only these count for the deletion limit.
    before: BTreeSet<ObjectId>,
    /// The message about the deletion limit, if it was exceeded.
    pub(super) fused: RefCell<Option<String>>,
    /// The reasons for the tombstones of objects with a recorded intent; for at most [`TOMBSTONES`] objects.
    reasons: RefCell<Reasons>,
    told: Cell<usize>,
    /// The stored objects as the incoming model has them. Empty without an incoming model.
    pub(super) baseline: RefCell<Baseline>,
}

impl Keeping {
    pub(super) fn new(
        tools: Tools,
        epoch: Option<Epoch>,
        limits: DeletionLimit,
        kept: Kept,
        why: Why,
    ) -> Keeping {
        let before: BTreeSet<ObjectId> = kept.shelf.resources().map(|(id, _)| id.clone()).collect();
        let begun = kept.record.status.destroying.iter().filter_map(|uid| kept.shelf.id_of(uid));
        let begun = begun.cloned().collect();
        Keeping {
            tools,
            epoch,
            limits,
            kept: Mutex::new(kept),
            why,
            begun,
            ids: RefCell::new(before.clone()),
            before,
            fused: RefCell::default(),
            reasons: RefCell::default(),
            told: Cell::new(0),
            baseline: RefCell::default(),
        }
    }

    /// The lease under which it writes.
    ///
    /// # Errors
    /// For previews, which have none.
    pub(super) fn epoch(&self) -> Result<&Epoch, RecorderError> {
        self.epoch.as_ref().ok_or_else(|| RecorderError("nothing is written by a preview".into()))
    }

    /// Notes that objects are stored now.
    pub(super) fn note_stored(&self, ids: impl Iterator<Item = ObjectId>) {
        self.ids.borrow_mut().extend(ids);
    }

    /// The message if the deletion limit is exceeded.
    fn too_many(&self, doomed: usize, scope: usize) -> Option<String> {
        if !self.limits.is_exceeded(doomed, scope) {
            return None;
        }
        let why = format!("{doomed} of {scope} stored objects would be destroyed");
        *self.fused.borrow_mut() = Some(why.clone());
        Some(why)
    }

    async fn may_die(&self, objects: &[Handle]) -> Vec<Permit> {
        let kept = self.kept.lock().await;
        let doomed = objects.iter().filter(|object| self.before.contains(&object.id())).count();
        let scope = kept.shelf.resources().filter(|(id, _)| self.before.contains(*id)).count();
        let fused = self.too_many(doomed, scope);
        let permit = |object: &Handle| match kept.shelf.get(&object.id()) {
            None => Permit::Granted,
            Some(resource) => {
                let fused = fused.clone().filter(|_| self.before.contains(&object.id()));
                protection(resource).or(fused).map_or(Permit::Granted, Permit::Refused)
            }
        };
        objects.iter().map(permit).collect()
    }

    async fn record_intent(&self, ids: &[ObjectId]) -> Result<Vec<Permit>, RecorderError> {
        let epoch = self.epoch()?;
        let mut kept = self.kept.lock().await;
        let mut items = Vec::new();
        for resource in ids.iter().filter_map(|id| kept.shelf.get(id)) {
            let mut same = item(resource, Action::annotate(Annotations::new()));
            same.resource_version = Some(text(resource, "/metadata/resourceVersion").to_owned());
            same.unprotected = true;
            items.push(same);
        }
        let found = send(&self.tools, epoch, items).await.map_err(failed)?;
        let mut permits = Vec::new();
        let mut going = Vec::new();
        for (id, result) in ids.iter().zip(found) {
            let permit = if result.code < 300 {
                Permit::Granted
            } else {
                self.look_again(&mut kept.shelf, id).await?
            };
            if permit == Permit::Granted {
                going.extend(kept.shelf.get(id).map(|resource| text(resource, "/metadata/uid").to_owned()));
            }
            permits.push(permit);
        }
        kept.record.status.destroying.extend(going);
        kept.record.write(&self.tools.resources).await.map_err(failed)?;
        Ok(permits)
    }

    /// Decides again after a resource was changed by another client.
    async fn look_again(&self, shelf: &mut StoredObjects, id: &ObjectId) -> Result<Permit, RecorderError> {
        let Some(before) = shelf.get(id) else { return Ok(Permit::Granted) };
        let place = place_of(text(before, "/kind"), &shelf.environment);
        let found =
            self.tools.resources.find(&place, text(before, "/metadata/name")).await.map_err(failed)?;
        let same = found.filter(|now| now["metadata"]["uid"] == before["metadata"]["uid"]);
        let Some(now) = same else { return Ok(Permit::Refused("it is gone already".into())) };
        if !now["metadata"]["deletionTimestamp"].is_null() {
            return Ok(Permit::Refused("somebody else is deleting it".into()));
        }
        let permit = protection(&now).map_or(Permit::Granted, Permit::Refused);
        shelf.put(id, now);
        Ok(permit)
    }

    async fn forget_intent(&self, ids: &[ObjectId]) -> Result<(), RecorderError> {
        let mut kept = self.kept.lock().await;
        let Kept { shelf, record } = &mut *kept;
        let uids: BTreeSet<&str> = ids
            .iter()
            .filter_map(|id| shelf.get(id))
            .map(|resource| text(resource, "/metadata/uid"))
            .collect();
        record.status.destroying.retain(|uid| !uids.contains(uid.as_str()));
        record.write(&self.tools.resources).await.map_err(failed)
    }

    async fn end(&self, world: &World, ids: &[ObjectId]) -> Result<(), RecorderError> {
        let epoch = self.epoch()?;
        let mut kept = self.kept.lock().await;
        let stay = self.store_changes(world, &mut kept, ids).await?;
        let uids: BTreeSet<String> = ids
            .iter()
            .filter_map(|id| kept.shelf.get(id))
            .map(|resource| text(resource, "/metadata/uid").to_owned())
            .collect();
        let reasons: Reasons = {
            let mut all = self.reasons.borrow_mut();
            ids.iter().filter_map(|id| all.remove_entry(id)).collect()
        };
        let gone: Vec<ObjectId> = ids.iter().filter(|id| !stay.contains(*id)).cloned().collect();
        bury(&self.tools, epoch, &mut kept.shelf, &gone, &reasons).await.map_err(failed)?;
        kept.record.status.destroying.retain(|uid| !uids.contains(uid));
        let mut stored = self.ids.borrow_mut();
        gone.iter().for_each(|id| _ = stored.remove(id));
        Ok(())
    }
}

pub(super) fn failed(error: impl std::error::Error) -> RecorderError {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    RecorderError(format!("{error}{cause}"))
}

/// Why a resource must not be destroyed, if it must not.
fn protection(resource: &Value) -> Option<String> {
    let annotations = resource.pointer("/metadata/annotations");
    match annotations.and_then(|all| all.get(marks::PROTECT)).and_then(Value::as_str) {
        None | Some("" | "false") => None,
        Some("true") => Some("it is protected".to_owned()),
        Some(reason) => Some(format!("it is protected: {reason}")),
    }
}

fn ids(objects: &[Handle]) -> Vec<ObjectId> {
    objects.iter().map(Handle::id).collect()
}

impl DestructionRecorder for Keeping {
    fn is_stored(&self, object: &Handle) -> bool {
        self.ids.borrow().contains(&object.id())
    }

    fn was_begun(&self, object: &Handle) -> bool {
        self.begun.contains(&object.id())
    }

    fn permits<'a>(
        &'a self,
        objects: &'a [Handle],
    ) -> LocalBoxFuture<'a, Result<Vec<Permit>, RecorderError>> {
        self.may_die(objects).map(Ok).boxed_local()
    }

    fn record_intents<'a>(
        &'a self,
        batch: &'a [Intent<'a>],
    ) -> LocalBoxFuture<'a, Result<Vec<Permit>, RecorderError>> {
        let ids: Vec<ObjectId> = batch.iter().map(|intent| intent.object.id()).collect();
        for intent in batch.iter().take(TOMBSTONES.saturating_sub(self.told.get())) {
            let mut reasons = intent.reasons.to_vec();
            self.why.say(&intent.object.id(), &mut reasons);
            let words: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            self.reasons.borrow_mut().insert(intent.object.id(), words.join(", "));
            self.told.set(self.told.get() + 1);
        }
        async move { self.record_intent(&ids).await }.boxed_local()
    }

    fn record_withdrawals<'a>(
        &'a self,
        objects: &'a [Handle],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>> {
        let ids = ids(objects);
        async move { self.forget_intent(&ids).await }.boxed_local()
    }

    /// Writes nothing for destroyed objects: their intents stay recorded until their resources are removed. Takes back
    /// the intents of objects that could not be destroyed: they live on, and a later collection finds them again.
    fn record_outcomes<'a>(
        &'a self,
        batch: &'a [ObjectJournal<'a>],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>> {
        let alive = batch.iter().filter(|ended| !ended.state.is_destroyed());
        let ids: Vec<ObjectId> = alive.map(|ended| ended.object.id()).collect();
        match ids.is_empty() {
            true => std::future::ready(Ok(())).boxed_local(),
            false => async move { self.forget_intent(&ids).await }.boxed_local(),
        }
    }

    fn record_releases<'a>(
        &'a self,
        batch: &'a [ObjectJournal<'a>],
    ) -> LocalBoxFuture<'a, Result<(), RecorderError>> {
        let gone = batch.iter().filter(|ended| ended.state.is_destroyed());
        let ids: Vec<ObjectId> = gone.map(|ended| ended.object.id()).collect();
        let world = batch.first().map(|ended| ended.object.world().clone());
        async move {
            match world {
                Some(world) => self.end(&world, &ids).await,
                None => Ok(()),
            }
        }
        .boxed_local()
    }
}
