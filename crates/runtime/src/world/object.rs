//! One object as the store keeps it: small, with what is rare in a box of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{ObjectId, StoredValue};

/// Which object of a world, for as long as it is there; a later object never gets the same one. It keeps nothing alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// An object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) id: ObjectId,
    /// Counted through all objects of a world.
    pub(crate) sequence: u64,
    pub(crate) class: u32,
    pub(crate) owner: Option<ObjectKey>,
    pub(crate) state: ObjectState,
    /// Whether a property was set to it before its `init` was done.
    pub(crate) referenced: bool,
    /// What its class declares, in the order of the class.
    pub(crate) fields: Box<[StoredValue]>,
    pub(crate) rare: Option<Box<RareFields>>,
}

/// How far an object has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectState {
    /// Its `init` has not run, or is running.
    Created,
    /// It is as it should be.
    Initialized,
    /// Its `init` failed: it never was anything, and no code of it runs.
    InitFailed,
    /// Only to be read.
    Destroyed,
}

/// What few objects have.
#[derive(Debug, Default)]
pub(crate) struct RareFields {
    pub(crate) name: Option<Rc<str>>,
    /// Properties that no class declares.
    pub(crate) private: BTreeMap<Rc<str>, StoredValue>,
    /// Who wants to be told of its destruction.
    pub(crate) subscribers: BTreeMap<ObjectKey, Subscriber>,
    /// Of whose destruction it wants to be told: the other end of each subscription.
    pub(crate) targets: BTreeSet<ObjectKey>,
    /// How many classes of its ancestry, counted from its own upwards, have run their `destroy`.
    pub(crate) destroyed_classes: usize,
}

/// Somebody who wants to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subscriber {
    pub(crate) handler: Option<Rc<str>>,
    pub(crate) count: u32,
}

impl Object {
    pub(crate) fn rare_mut(&mut self) -> &mut RareFields {
        self.rare.get_or_insert_default()
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.state == ObjectState::Destroyed
    }

    /// Whether there is nothing left to be done about it.
    pub(crate) fn is_inert(&self) -> bool {
        matches!(self.state, ObjectState::Destroyed | ObjectState::InitFailed)
    }

    pub(crate) fn subscribers(&self) -> impl Iterator<Item = (ObjectKey, &Subscriber)> {
        let all = self.rare.as_ref().map(|rare| &rare.subscribers);
        all.into_iter().flatten().map(|(who, subscriber)| (*who, subscriber))
    }

    /// The subscription that somebody has to it.
    pub(crate) fn subscriber(&self, who: ObjectKey) -> Option<&Subscriber> {
        self.rare.as_ref()?.subscribers.get(&who)
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = ObjectKey> {
        let all = self.rare.as_ref().map(|rare| &rare.targets);
        all.into_iter().flatten().copied()
    }

    /// Removes what its properties say of some objects.
    pub(crate) fn forget_references(&mut self, gone: &impl Fn(ObjectKey) -> bool) {
        self.fields.iter_mut().for_each(|field| field.forget(gone));
        if let Some(rare) = &mut self.rare {
            rare.private.values_mut().for_each(|value| value.forget(gone));
        }
    }

    /// Everything that any property refers to.
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
