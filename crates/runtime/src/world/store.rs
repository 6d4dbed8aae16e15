//! All objects of a world, by slot and by id. Slots of removed objects are used again, with the next generation.
//!
//! ```text
//! insert a, insert b   slots: [a gen 0] [b gen 0]          keys: a = (0, 0), b = (1, 0)
//! remove a             slots: [– gen 1] [b gen 0]          free: [0]; the key (0, 0) finds nothing any more
//! insert c             slots: [c gen 1] [b gen 0]          keys: c = (0, 1)
//! ```

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::object::ObjectState;
use super::{Object, ObjectId, ObjectKey};

/// The objects of a world.
#[derive(Default)]
pub(crate) struct Store {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_id: HashTable<u32>,
    hasher: DefaultHashBuilder,
    last_sequence: u64,
    /// The number of inert objects: destroyed, or with a failed `init`.
    inert: usize,
    /// The objects with changes that have to be stored; none while changes are not tracked.
    changed: Option<BTreeSet<ObjectKey>>,
}

struct Slot {
    generation: u32,
    object: Option<Object>,
}

impl Store {
    /// The number of objects, inert ones included.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The number of objects that are not inert.
    pub(crate) fn live_count(&self) -> usize {
        self.len() - self.inert
    }

    /// The number of slots, including empty ones.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The creation number for the next object.
    pub(crate) fn next_sequence(&mut self) -> u64 {
        self.last_sequence += 1;
        self.last_sequence
    }

    /// The key of the object with an id.
    pub(crate) fn find(&self, id: &ObjectId) -> Option<ObjectKey> {
        self.find_text(id.as_str())
    }

    /// The key of the object with this text as its id.
    pub(crate) fn find_text(&self, id: &str) -> Option<ObjectKey> {
        let same = |slot: &u32| self.at(*slot).is_some_and(|object| object.id.as_str() == id);
        let slot = *self.by_id.find(self.hasher.hash_one(id), same)?;
        Some(self.key(slot))
    }

    /// Inserts an object. No object in the store may have the same id.
    pub(crate) fn insert(&mut self, object: Object) -> ObjectKey {
        let hash = self.hasher.hash_one(object.id.as_str());
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize].object = Some(object);
                slot
            }
            None => {
                self.slots.push(Slot { generation: 0, object: Some(object) });
                (self.slots.len() - 1) as u32
            }
        };
        let Store { slots, by_id, hasher, .. } = self;
        let hash_of = |slot: &u32| {
            slots[*slot as usize].object.as_ref().map_or(0, |object| hasher.hash_one(object.id.as_str()))
        };
        by_id.insert_unique(hash, slot, hash_of);
        self.key(slot)
    }

    /// Removes an object and frees its slot.
    pub(crate) fn remove(&mut self, key: ObjectKey) -> Option<Object> {
        self.get(key)?;
        self.forget_id(key);
        self.inert -= usize::from(self.get(key).is_some_and(Object::is_inert));
        let slot = &mut self.slots[key.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.slot);
        slot.object.take()
    }

    /// Begins or ends the tracking of changes.
    pub(crate) fn note_changes(&mut self, note: bool) {
        self.changed = note.then(BTreeSet::new);
    }

    /// Notes a change of an object that has to be stored: of a persistable property or a subscription. Ignored while
    /// changes are not tracked.
    pub(crate) fn note_change(&mut self, key: ObjectKey) {
        if let Some(changed) = &mut self.changed {
            changed.insert(key);
        }
    }

    /// The objects that were changed since the last call.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<ObjectKey> {
        self.changed.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Marks an object as destroyed.
    pub(crate) fn destroyed(&mut self, key: ObjectKey) {
        self.set_state(key, ObjectState::Destroyed);
    }

    /// Sets the state of an object.
    pub(crate) fn set_state(&mut self, key: ObjectKey, state: ObjectState) {
        let Some(object) = self.get_mut(key) else { return };
        let before = object.is_inert();
        object.state = state;
        let now = object.is_inert();
        self.inert = self.inert + usize::from(now) - usize::from(before);
    }

    /// Removes the object from the index by id. It can still be read by its key.
    pub(crate) fn forget_id(&mut self, key: ObjectKey) {
        let Some(object) = self.get(key) else { return };
        let hash = self.hasher.hash_one(object.id.as_str());
        if let Ok(found) = self.by_id.find_entry(hash, |slot| *slot == key.slot) {
            found.remove();
        }
    }

    /// The object with a key, unless it was removed.
    pub(crate) fn get(&self, key: ObjectKey) -> Option<&Object> {
        let slot = self.slots.get(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        slot.object.as_ref()
    }

    /// The object with a key, to change it.
    pub(crate) fn get_mut(&mut self, key: ObjectKey) -> Option<&mut Object> {
        let slot = self.slots.get_mut(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        slot.object.as_mut()
    }

    /// The object in a slot, of any generation.
    pub(crate) fn at(&self, slot: u32) -> Option<&Object> {
        self.slots.get(slot as usize)?.object.as_ref()
    }

    /// The key of the object in a slot.
    pub(crate) fn key(&self, slot: u32) -> ObjectKey {
        ObjectKey { slot, generation: self.slots[slot as usize].generation }
    }

    /// All objects, in the order of slots.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (ObjectKey, &Object)> {
        let numbered = (0..).zip(&self.slots);
        numbered.filter_map(|(slot, place): (u32, &Slot)| {
            Some((ObjectKey { slot, generation: place.generation }, place.object.as_ref()?))
        })
    }
}
