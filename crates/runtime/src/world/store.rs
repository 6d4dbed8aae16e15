//! All objects of a world, by slot and by id. Slots of objects that left are used again, with another turn.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::object::ObjectState;
use super::{Object, ObjectId, ObjectKey};

/// The objects.
#[derive(Default)]
pub(crate) struct Store {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_id: HashTable<u32>,
    hasher: DefaultHashBuilder,
    last_sequence: u64,
    /// How many are destroyed or never came to be.
    inert: usize,
    /// Objects of which something that is stored was changed, while that is noted.
    changed: Option<BTreeSet<ObjectKey>>,
}

struct Slot {
    generation: u32,
    object: Option<Object>,
}

impl Store {
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many are neither destroyed nor stillborn.
    pub(crate) fn live_count(&self) -> usize {
        self.len() - self.inert
    }

    /// How many slots there are, empty ones included.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The number of the next object.
    pub(crate) fn next_sequence(&mut self) -> u64 {
        self.last_sequence += 1;
        self.last_sequence
    }

    pub(crate) fn find(&self, id: &ObjectId) -> Option<ObjectKey> {
        self.find_text(id.as_str())
    }

    /// The object whose id is a text.
    pub(crate) fn find_text(&self, id: &str) -> Option<ObjectKey> {
        let same = |slot: &u32| self.at(*slot).is_some_and(|object| object.id.as_str() == id);
        let slot = *self.by_id.find(self.hasher.hash_one(id), same)?;
        Some(self.key(slot))
    }

    /// Puts an object in, whose id is not there.
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

    /// Takes an object out.
    pub(crate) fn remove(&mut self, key: ObjectKey) -> Option<Object> {
        self.get(key)?;
        self.forget_id(key);
        self.inert -= usize::from(self.get(key).is_some_and(Object::is_inert));
        let slot = &mut self.slots[key.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.slot);
        slot.object.take()
    }

    /// Notes from now on which objects are changed, or no longer.
    pub(crate) fn note_changes(&mut self, note: bool) {
        self.changed = note.then(BTreeSet::new);
    }

    /// Something was changed that is stored with an object: a persistable property, or a subscription.
    pub(crate) fn note_change(&mut self, key: ObjectKey) {
        if let Some(changed) = &mut self.changed {
            changed.insert(key);
        }
    }

    /// The objects that were changed since this was asked last, while that is noted.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<ObjectKey> {
        self.changed.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// It is destroyed: only to be read from now on.
    pub(crate) fn destroyed(&mut self, key: ObjectKey) {
        self.set_state(key, ObjectState::Destroyed);
    }

    /// It has come so far.
    pub(crate) fn set_state(&mut self, key: ObjectKey, state: ObjectState) {
        let Some(object) = self.get_mut(key) else { return };
        let before = object.is_inert();
        object.state = state;
        let now = object.is_inert();
        self.inert = self.inert + usize::from(now) - usize::from(before);
    }

    /// Nobody finds the object by its id any more.
    pub(crate) fn forget_id(&mut self, key: ObjectKey) {
        let Some(object) = self.get(key) else { return };
        let hash = self.hasher.hash_one(object.id.as_str());
        if let Ok(found) = self.by_id.find_entry(hash, |slot| *slot == key.slot) {
            found.remove();
        }
    }

    pub(crate) fn get(&self, key: ObjectKey) -> Option<&Object> {
        let slot = self.slots.get(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        slot.object.as_ref()
    }

    pub(crate) fn get_mut(&mut self, key: ObjectKey) -> Option<&mut Object> {
        let slot = self.slots.get_mut(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        slot.object.as_mut()
    }

    /// The object in a slot.
    pub(crate) fn at(&self, slot: u32) -> Option<&Object> {
        self.slots.get(slot as usize)?.object.as_ref()
    }

    /// The key of whoever is in a slot.
    pub(crate) fn key(&self, slot: u32) -> ObjectKey {
        ObjectKey { slot, generation: self.slots[slot as usize].generation }
    }

    /// All objects, by slot.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (ObjectKey, &Object)> {
        let numbered = (0..).zip(&self.slots);
        numbered.filter_map(|(slot, place): (u32, &Slot)| {
            Some((ObjectKey { slot, generation: place.generation }, place.object.as_ref()?))
        })
    }
}
