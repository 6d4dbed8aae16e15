//! The stored form of an object: small, with rarely used fields in a box.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{ObjectId, StoredValue};

/// Identifies an object of a world without keeping it alive. When an object is removed its slot is used again with
/// another generation, so that old keys find nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// An object in the store.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) id: ObjectId,
    /// Its number in creation order, counted per world.
    pub(crate) sequence: u64,
    pub(crate) class: u32,
    pub(crate) owner: Option<ObjectKey>,
    pub(crate) state: ObjectState,
    /// Whether a property referred to it before its `init` was done.
    pub(crate) referenced: bool,
    /// The values of declared properties, in the order of the class's layout.
    pub(crate) fields: Box<[StoredValue]>,
    pub(crate) rare: Option<Box<RareFields>>,
}

/// The stages of an object's existence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectState {
    /// Its `init` has not run, or is running.
    Created,
    /// Its `init` has run.
    Initialized,
    /// Its `init` failed, or will never run: none of its methods can be called.
    InitFailed,
    /// It was destroyed: its methods cannot be called, its properties can be read.
    Destroyed,
}

/// Fields that few objects have.
#[derive(Debug, Default)]
pub(crate) struct RareFields {
    pub(crate) name: Option<Rc<str>>,
    /// Private properties, which the class does not declare.
    pub(crate) private: BTreeMap<Rc<str>, StoredValue>,
    /// The objects that are subscribed to its destruction.
    pub(crate) subscribers: BTreeMap<ObjectKey, Subscriber>,
    /// The objects that it is subscribed to: the other end of each entry in `subscribers`.
    pub(crate) targets: BTreeSet<ObjectKey>,
    /// How many classes of its ancestry, counted from its own upwards, have run their `destroy`.
    pub(crate) destroyed_classes: usize,
}

/// A subscription, stored at its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subscriber {
    pub(crate) handler: Option<Rc<str>>,
    pub(crate) count: u32,
}

impl Object {
    /// The rare fields, created if there are none.
    pub(crate) fn rare_mut(&mut self) -> &mut RareFields {
        self.rare.get_or_insert_default()
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.state == ObjectState::Destroyed
    }

    /// Whether it was destroyed or its `init` failed: it has no behavior, and collections ignore it.
    pub(crate) fn is_inert(&self) -> bool {
        matches!(self.state, ObjectState::Destroyed | ObjectState::InitFailed)
    }

    /// The objects that are subscribed to it, with their subscriptions.
    pub(crate) fn subscribers(&self) -> impl Iterator<Item = (ObjectKey, &Subscriber)> {
        let all = self.rare.as_ref().map(|rare| &rare.subscribers);
        all.into_iter().flatten().map(|(key, subscriber)| (*key, subscriber))
    }

    /// The subscription of another object to this one.
    pub(crate) fn subscriber(&self, key: ObjectKey) -> Option<&Subscriber> {
        self.rare.as_ref()?.subscribers.get(&key)
    }

    /// The objects that it is subscribed to.
    pub(crate) fn targets(&self) -> impl Iterator<Item = ObjectKey> {
        let all = self.rare.as_ref().map(|rare| &rare.targets);
        all.into_iter().flatten().copied()
    }

    /// Removes references to `gone` objects from its properties.
    pub(crate) fn forget_references(&mut self, gone: &impl Fn(ObjectKey) -> bool) {
        self.fields.iter_mut().for_each(|field| field.forget(gone));
        if let Some(rare) = &mut self.rare {
            rare.private.values_mut().for_each(|value| value.forget(gone));
        }
    }

    /// Visits every reference in its properties.
    pub(crate) fn visit_references(&self, found: &mut impl FnMut(ObjectKey)) {
        self.fields.iter().for_each(|field| field.visit(found));
        if let Some(rare) = &self.rare {
            rare.private.values().for_each(|value| value.visit(found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_small() {
        assert!(size_of::<Object>() <= 80, "{}", size_of::<Object>());
        assert!(size_of::<StoredValue>() <= 24, "{}", size_of::<StoredValue>());
    }
}
