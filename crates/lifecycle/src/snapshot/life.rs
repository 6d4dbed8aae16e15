//! One life as the snapshot keeps it: small, with what is rare in a box of its own.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use sexton_model::accusation::Accusation;
use sexton_model::subscription::Subscription;
use sexton_model::{Policy, Revision};

use super::words::{Id, Word};

/// A life in a snapshot. Valid until that life is removed; a later life never gets the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LifeId {
    pub(crate) index: u32,
    pub(crate) turn: u32,
}

impl Hash for LifeId {
    /// In one piece: judging is mostly looking up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.turn) << 32 | u64::from(self.index));
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) uid: Id,
    pub(crate) revision: Revision,
    pub(crate) created: i64,
    pub(crate) owners: Box<[Ref]>,
    pub(crate) rare: Option<Box<Rare>>,
    pub(crate) kind: u32,
    pub(crate) namespace: Word,
    pub(crate) name: Word,
    /// All finalizers in one text, one per line: there are few different ones.
    pub(crate) finalizers: Word,
    /// The policy that they record.
    pub(crate) recorded: Option<Policy>,
    /// As far as it fits; nothing is changed four billion times.
    pub(crate) generation: u32,
}

/// A reference to an owner, in 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ref {
    pub(crate) uid: Id,
    pub(crate) name: Word,
    /// The number of the kind, and two bits above it.
    packed: u32,
}

const CONTROLLER: u32 = 1 << 31;
const BLOCKS: u32 = 1 << 30;

impl Ref {
    pub(crate) fn new(uid: Id, name: Word, kind: u32) -> Ref {
        Ref { uid, name, packed: kind }
    }

    pub(crate) fn kind(&self) -> u32 {
        self.packed & !(CONTROLLER | BLOCKS)
    }

    pub(crate) fn controller(&self) -> bool {
        self.packed & CONTROLLER != 0
    }

    pub(crate) fn blocks(&self) -> bool {
        self.packed & BLOCKS != 0
    }

    /// Adds what one more writing of the same reference says.
    pub(crate) fn also(&mut self, controller: bool, blocks: bool) {
        self.packed |= if controller { CONTROLLER } else { 0 } | if blocks { BLOCKS } else { 0 };
    }
}

/// What few lives have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rare {
    pub(crate) deleted: Option<i64>,
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) protect: Option<String>,
    pub(crate) journal: Option<String>,
    pub(crate) deleted_by: Option<String>,
    pub(crate) approved: Option<String>,
    pub(crate) collection: Option<String>,
    pub(crate) destroyed: bool,
    pub(crate) order: Option<i64>,
    pub(crate) manager: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) request: Option<String>,
    pub(crate) accusation: Option<Arc<Accused>>,
}

/// An accusation as it is written, and as it is read.
#[derive(Debug, PartialEq, Eq)]
pub struct Accused {
    /// The annotation.
    pub text: String,
    /// What it says.
    pub said: Accusation,
}

impl Life {
    pub(crate) fn marked(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.deleted.is_some())
    }

    pub(crate) fn accused(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.accusation.is_some())
    }

    pub(crate) fn approved(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.approved.is_some())
    }
}

/// All lives, by number. The numbers of removed lives are used again, with another turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lives {
    places: Vec<(u32, Option<Life>)>,
    free: Vec<u32>,
}

impl Lives {
    pub(crate) fn insert(&mut self, life: Life) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.places[index as usize].1 = Some(life);
                index
            }
            None => {
                self.places.push((0, Some(life)));
                (self.places.len() - 1) as u32
            }
        }
    }

    pub(crate) fn remove(&mut self, index: u32) -> Option<Life> {
        let place = &mut self.places[index as usize];
        place.0 = place.0.wrapping_add(1);
        self.free.push(index);
        place.1.take()
    }

    pub(crate) fn replace(&mut self, index: u32, life: Life) {
        self.places[index as usize].1 = Some(life);
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(crate) fn indexes(&self) -> impl Iterator<Item = u32> + '_ {
        let present = self.places.iter().enumerate().filter(|(_, place)| place.1.is_some());
        present.map(|(index, _)| index as u32)
    }

    pub(crate) fn get(&self, index: u32) -> &Life {
        match &self.places[index as usize].1 {
            Some(life) => life,
            None => unreachable!("the indexes name only lives that are there"),
        }
    }

    pub(crate) fn id(&self, index: u32) -> LifeId {
        LifeId { index, turn: self.places[index as usize].0 }
    }

    pub(crate) fn find(&self, id: LifeId) -> Option<&Life> {
        match self.places.get(id.index as usize) {
            Some((turn, Some(life))) if *turn == id.turn => Some(life),
            _ => None,
        }
    }
}

/// The policy that finalizers record. Where they contradict each other, the least destructive one counts.
pub(crate) fn recorded<'a>(finalizers: impl Iterator<Item = &'a str>) -> Option<Policy> {
    let mut found = None;
    for policy in finalizers.filter_map(Policy::recorded_by) {
        found = match (found, policy) {
            (Some(Policy::Orphan), _) | (_, Policy::Orphan) => Some(Policy::Orphan),
            (Some(Policy::Cascade), _) | (_, Policy::Cascade) => Some(Policy::Cascade),
            _ => Some(policy),
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There are millions of them. Measured with all indexes and words: about 260 bytes per life with one owner.
    #[test]
    fn lives_are_small() {
        assert!(size_of::<Life>() <= 80, "{}", size_of::<Life>());
        assert!(size_of::<Ref>() <= 24, "{}", size_of::<Ref>());
        assert!(size_of::<(u32, Option<Life>)>() <= 88);
    }

    #[test]
    fn references_keep_their_bits() {
        let mut reference =
            Ref::new(crate::snapshot::words::Words::default().take_uid(&sexton_model::Uid("u".into())), 0, 7);
        assert!(!reference.controller() && !reference.blocks());
        reference.also(true, false);
        reference.also(false, true);
        assert_eq!((reference.kind(), reference.controller(), reference.blocks()), (7, true, true));
    }
}
