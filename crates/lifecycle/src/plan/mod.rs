//! Plans: who dies, in which order, and what had to be given up for it.
//!
//! "X dies before Y" comes from four sources. Destruction dependencies (the target before its subscriber, the objects
//! of a kind before its class) are *hard*: they always hold, and a circle of them is one group whose members take each
//! step together. Ownership (the owned before the owner, contents before their namespace or definition; but whoever
//! follows owners in the background after them) is *soft*: where it contradicts the hard ones it is dropped, and
//! the plan says so; a circle of owners is one group. Both count transitively, also over an edge that was dropped: what
//! belongs to the one still goes before the other. A place in a module's order gives way to both.
//!
//! A plan does not change. [`make`] builds it, [`check`] proves it with other code. Both cost as much as what dies and
//! its edges, however much lives on. The same input gives the same bytes, and the same [`Plan::digest`].
//!
//! It must not know how anything is deleted, and it decides nothing about who dies.

mod check;
mod families;
mod make;
mod order;
mod progress;
mod ranks;
mod relations;
#[cfg(test)]
mod tests;
mod text;

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use sexton_model::{Key, Uid};

use crate::detect::{Finding, Hold, Strip};
use crate::snapshot::LifeId;

pub use check::{Flaw, check};
pub use make::make;
pub use progress::Progress;
pub use text::{digest_matches, policy_name};

/// Who dies and in which order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// One after the other; what is in one wave may go at the same time.
    pub waves: Vec<Wave>,
    /// Who lives on and loses references. By key.
    pub strips: Vec<Strip>,
    /// What does not hold, because something stronger forbids it. By the keys of both.
    pub dropped: Vec<DroppedEdge>,
    /// Who goes out of the order of its module, because something stronger demands it. By key.
    pub out_of_order: Vec<LifeId>,
    /// What holds many back for the sake of many, without an edge for each pair.
    pub barriers: Vec<Barrier>,
    /// Who would die but must not. By key.
    pub holds: Vec<Hold>,
    /// The beginning of the hash of [`Plan::text`], in hexadecimal digits.
    pub digest: String,
    places: Places,
    text: String,
}

/// What may go at the same time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wave {
    /// By the keys of their first members.
    pub groups: Vec<Group>,
}

/// One life, or a circle of lives that take each step together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// By key.
    pub members: Vec<Step>,
}

/// The death of one life.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The life.
    pub life: LifeId,
    /// Its slot.
    pub key: Key,
    /// The name of its kind.
    pub kind: String,
    /// Which life of the slot.
    pub uid: Uid,
    /// Why it dies, and how.
    pub finding: Finding,
    /// Who has to be gone before, by key; [`Plan::barriers`] say more. Members of its own group are not named.
    pub after: Vec<LifeId>,
}

/// Everything in `before` has to be gone before anything in `after` goes: the levels of a module, and whole families
/// one of whose heads goes in another order than its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Barrier {
    /// By key.
    pub before: Vec<LifeId>,
    /// By key.
    pub after: Vec<LifeId>,
    /// Other barriers that have to be open as well.
    pub follows: Vec<usize>,
}

/// Why one life dies before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// The second subscribes to the first.
    Subscription,
    /// The second gives code to the kind of the first.
    Class,
    /// The second owns the first.
    Owner,
    /// The second follows the first, whose deletion waits for nobody.
    Background,
    /// The second is the namespace of the first.
    Namespace,
    /// The second defines the kind of the first.
    Definition,
}

impl Relation {
    /// Whether it always holds.
    pub fn is_hard(self) -> bool {
        matches!(self, Relation::Subscription | Relation::Class)
    }
}

/// The first should have died before the second, and does not have to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DroppedEdge {
    /// Who should have gone first.
    pub first: LifeId,
    /// Who should have gone after it.
    pub second: LifeId,
    /// Why.
    pub relation: Relation,
}

/// Where a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    wave: u32,
    group: u32,
    member: u32,
}

/// Where the steps are, by uid. It follows from them, so it makes no difference between plans.
#[derive(Debug, Clone, Default)]
struct Places {
    table: HashTable<Place>,
    hasher: DefaultHashBuilder,
}

impl PartialEq for Places {
    fn eq(&self, _: &Places) -> bool {
        true
    }
}

impl Plan {
    /// How many die.
    pub fn len(&self) -> usize {
        self.places.table.len()
    }

    /// Whether nobody dies.
    pub fn is_empty(&self) -> bool {
        self.places.table.is_empty()
    }

    /// All steps in the order of death.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.groups().flat_map(|group| &group.members)
    }

    /// All groups in the order of death.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.waves.iter().flat_map(|wave| &wave.groups)
    }

    /// The death of the life with a uid.
    pub fn step_of(&self, uid: &Uid) -> Option<&Step> {
        self.place_of(uid).and_then(|place| self.at(place))
    }

    /// The wave in which the life with a uid dies, counted from 0.
    pub fn wave_of(&self, uid: &Uid) -> Option<usize> {
        self.place_of(uid).map(|place| place.wave as usize)
    }

    /// The group in which the life with a uid dies.
    pub fn group_of(&self, uid: &Uid) -> Option<&Group> {
        let place = self.place_of(uid)?;
        self.waves.get(place.wave as usize)?.groups.get(place.group as usize)
    }

    /// Whether the life with a uid dies.
    pub fn is_doomed(&self, uid: &Uid) -> bool {
        self.place_of(uid).is_some()
    }

    /// Whether everybody who dies here dies in the approved plan, too.
    pub fn contains_only(&self, approved: &Plan) -> bool {
        self.steps().all(|step| approved.is_doomed(&step.uid))
    }

    fn place_of(&self, uid: &Uid) -> Option<Place> {
        let Places { table, hasher } = &self.places;
        let same = |place: &Place| self.at(*place).is_some_and(|step| step.uid == *uid);
        table.find(hasher.hash_one(uid), same).copied()
    }

    fn at(&self, place: Place) -> Option<&Step> {
        let group = self.waves.get(place.wave as usize)?.groups.get(place.group as usize)?;
        group.members.get(place.member as usize)
    }

    /// Notes where everybody is.
    fn indexed(mut self) -> Plan {
        let hasher = DefaultHashBuilder::default();
        let mut table = HashTable::with_capacity(self.groups().map(|group| group.members.len()).sum());
        let hash = |place: &Place| self.at(*place).map_or(0, |step| hasher.hash_one(&step.uid));
        for (wave, in_wave) in (0..).zip(&self.waves) {
            for (group, in_group) in (0..).zip(&in_wave.groups) {
                for (member, step) in (0..).zip(&in_group.members) {
                    let place = Place { wave, group, member };
                    table.insert_unique(hasher.hash_one(&step.uid), place, hash);
                }
            }
        }
        self.places = Places { table, hasher };
        self
    }
}
