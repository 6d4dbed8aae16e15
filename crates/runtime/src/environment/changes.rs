//! Changes that handlers and destructors make in other objects. They are stored before the resources of the destroyed
//! objects are removed: a run that is killed afterwards has lost nothing; one that is killed before destroys these
//! objects again, and their subscribers are told again.
//!
//! ```text
//! destroy ─► tell subscribers ─► store changed objects (recorded first) ─► remove destroyed objects
//! ```
//!
//! Changes by `deploy` itself are stored after it has ended, by `finish.rs`.

use std::collections::{BTreeMap, BTreeSet};

use sexton_client::resources::{ListAsk, text};
use sexton_collector::hooks::place_of;
use sexton_model::Uid;
use sexton_model::environment::ChangedProperties;

use super::keeper::{Keeping, Kept, failed};
use super::kinds::{classes_of, ensure};
use super::predecessor::note_object;
use super::save::save;
use crate::gc::RecorderError;
use crate::model::{HEADER, ModelObject, ModelValue, gather_some};
use crate::stored::changes;
use crate::world::{Handle, ObjectId, ObjectKey, World};

/// Up to this many written resources are read again one by one; more of them by listing their kinds.
const MAX_SINGLE_READS: usize = 32;

/// Objects as an incoming model has them, by id: what they are when no handler has changed anything.
pub(super) type Baseline = BTreeMap<ObjectId, ModelObject>;

/// The objects of a world that are stored, as they are now.
pub(super) fn baseline(world: &World, ids: impl Iterator<Item = ObjectId>) -> Baseline {
    let keys = ids.filter_map(|id| world.find(&id)).map(|object| object.key());
    let keys: Vec<ObjectKey> = keys.collect();
    gather_some(world, keys).into_iter().map(|object| (object.id.clone(), object)).collect()
}

impl Keeping {
    /// Stores the changes of stored objects, with new objects that they refer to. Returns those of `ending`, which are
    /// destroyed, to which changed objects refer: they are stored as destroyed objects, and must not be removed.
    ///
    /// # Errors
    /// If the changes are not stored; they are tried again with the next changes.
    pub(super) async fn store_changes(
        &self,
        world: &World,
        kept: &mut Kept,
        ending: &[ObjectId],
    ) -> Result<BTreeSet<ObjectId>, RecorderError> {
        let changed = world.write(|store| store.take_changed());
        let found = self.changed_objects(world, kept, &changed, ending);
        if found.objects.is_empty() {
            return Ok(BTreeSet::new());
        }
        let stored = self.store_found(world, kept, &found).await;
        if stored.is_err() {
            world.write(|store| changed.into_iter().for_each(|key| store.note_change(key)));
        }
        stored.map(|()| found.destroyed)
    }

    fn changed_objects(
        &self,
        world: &World,
        kept: &Kept,
        changed: &BTreeSet<ObjectKey>,
        ending: &[ObjectId],
    ) -> Found {
        let mut found = Found::default();
        let is_over = |object: &Handle| object.is_destroyed() || object.init_failed();
        let lives = |key: &ObjectKey| world.handle(*key).is_some_and(|object| !is_over(&object));
        let now = gather_some(world, changed.iter().copied().filter(lives));
        let mut open: Vec<ObjectId> = Vec::new();
        for now in now {
            let Some(stored) = kept.shelf.object(&now.id) else { continue };
            let baseline = self.baseline.borrow();
            let before = baseline.get(&now.id).unwrap_or(&stored);
            let mut names = BTreeMap::new();
            note_object(&mut names, before, &now);
            let Some(names) = names.remove(now.id.as_str()) else { continue };
            let mut object = stored.clone();
            for name in names {
                let value = now.properties.get(&name).cloned().unwrap_or_default();
                if name == HEADER {
                    object.dependencies.clone_from(&now.dependencies);
                } else if refers_to(&value, |id| is_unborn(world, id)) {
                    // It is kept by the store after the deployment: until then there is nothing it could refer to.
                    continue;
                } else {
                    value.visit(&mut |id| open.push(id.clone()));
                    match value {
                        ModelValue::Null => _ = object.properties.remove(&name),
                        value => _ = object.properties.insert(name.clone(), value),
                    }
                }
                found.changed.entry(now.id.to_string()).or_default().insert(name);
            }
            found.objects.push(object);
        }
        found.follow(world, kept, open, ending);
        found
    }

    async fn store_found(&self, world: &World, kept: &mut Kept, found: &Found) -> Result<(), RecorderError> {
        let epoch = self.epoch()?;
        let Kept { shelf, record } = kept;
        let resources = &self.tools.resources;
        if found.has_new {
            let classes = classes_of(world, &found.objects);
            ensure(resources, &shelf.environment, &classes).await.map_err(failed)?;
        }
        if !self.baseline.borrow().is_empty() {
            for (id, names) in &found.changed {
                record.status.changed.entry(id.clone()).or_default().extend(names.iter().cloned());
            }
        }
        let mut written: BTreeMap<String, (ObjectId, String, String)> = BTreeMap::new();
        let writes = changes(shelf, &found.objects, || Uid(uuid::Uuid::new_v4().to_string()));
        let noted = writes.inspect(|change| {
            if let Ok(change) = change {
                let named = (change.id.clone(), change.kind.clone(), change.name.clone());
                written.insert(change.uid.clone(), named);
            }
        });
        save(&self.tools, epoch, record, noted).await.map_err(failed)?;
        self.read_again(kept, &written).await
    }

    /// Reads the written resources again: the next writes are based on their versions.
    async fn read_again(
        &self,
        kept: &mut Kept,
        written: &BTreeMap<String, (ObjectId, String, String)>,
    ) -> Result<(), RecorderError> {
        let resources = &self.tools.resources;
        let environment = kept.shelf.environment.clone();
        let mut now = Vec::new();
        if written.len() <= MAX_SINGLE_READS {
            for (_, kind, name) in written.values() {
                let place = place_of(kind, &environment);
                now.extend(resources.find(&place, name).await.map_err(failed)?);
            }
        } else {
            let kinds: BTreeSet<&str> = written.values().map(|(_, kind, _)| kind.as_str()).collect();
            for kind in kinds {
                let place = place_of(kind, &environment);
                now.extend(resources.list(&place, &ListAsk::default()).await.map_err(failed)?.found);
            }
        }
        for resource in now {
            if let Some((id, ..)) = written.get(text(&resource, "/metadata/uid")) {
                kept.shelf.put(id, resource);
                self.note_stored(std::iter::once(id.clone()));
            }
        }
        Ok(())
    }
}

/// What is to be stored.
#[derive(Default)]
struct Found {
    /// Changed objects, and what they refer to that is not stored as it is now.
    objects: Vec<ModelObject>,
    /// Which properties of which objects were changed.
    changed: ChangedProperties,
    /// Objects that are destroyed, and that changed ones refer to.
    destroyed: BTreeSet<ObjectId>,
    /// Whether some of the objects were never stored.
    has_new: bool,
}

impl Found {
    /// Adds what is referred to and not stored: new objects with what they refer to, and destroyed ones.
    fn follow(&mut self, world: &World, kept: &Kept, mut open: Vec<ObjectId>, ending: &[ObjectId]) {
        let ending: BTreeSet<&ObjectId> = ending.iter().collect();
        let mut seen: BTreeSet<ObjectId> = BTreeSet::new();
        while let Some(id) = open.pop() {
            let is_ending = ending.contains(&id);
            if !seen.insert(id.clone()) || (kept.shelf.get(&id).is_some() && !is_ending) {
                continue;
            }
            let Some(key) = world.find(&id).map(|object| object.key()) else { continue };
            for object in gather_some(world, [key]) {
                if is_ending {
                    self.destroyed.insert(id.clone());
                } else {
                    self.has_new = true;
                    object.properties.values().for_each(|value| value.visit(&mut |id| open.push(id.clone())));
                }
                self.objects.push(object);
            }
        }
    }
}

/// Whether an object came with the model, and its `init` has not run.
fn is_unborn(world: &World, id: &ObjectId) -> bool {
    world.find(id).is_some_and(|object| !object.is_initialized() && !object.is_destroyed())
}

fn refers_to(value: &ModelValue, is: impl Fn(&ObjectId) -> bool) -> bool {
    let mut found = false;
    value.visit(&mut |id| found |= is(id));
    found
}
