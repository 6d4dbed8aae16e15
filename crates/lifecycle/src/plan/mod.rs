//! Plans: in which order the doomed objects are destroyed, and what had to be given up for it.
//!
//! A plan is a list of *waves*, each a set of *groups*, each one object or a cycle of objects. Whatever is in one wave
//! may be destroyed at the same time; the members of a group take each step together. For `App/shop`, which owns two
//! machines and a network that subscribes to both:
//!
//! ```text
//!   App/shop ◀── Vm/a, Vm/b, Net/n       owner references
//!   Net/n subscribes to Vm/a and Vm/b    destruction dependencies
//!
//!   wave 0   Vm/a  Vm/b
//!   wave 1   Net/n
//!   wave 2   App/shop
//! ```
//!
//! "X before Y" has four sources, from the strongest to the weakest:
//!
//! 1. Destruction dependencies are *hard*: a target before its subscriber, the objects of a kind before its class. They
//!    always hold. A cycle of them is one group.
//! 2. Ownership is *soft*: a dependent before its owner, contents before their namespace or definition. An edge that
//!    contradicts a hard one is dropped, and the plan lists it. A cycle of owners is one group. Ownership is
//!    transitive, also over a dropped edge: what an object owns still goes before the owner of that object (see
//!    `families.rs`).
//! 3. Background deletions ask for the opposite, owner before dependent, and give way to 1 and 2.
//! 4. StepIndex in the order of a module give way to all of these.
//!
//! [`make`] builds a plan, and [`verify`] checks it with other code. Both cost as much as there are doomed objects and
//! edges between them. The same input gives the same bytes, and the same [`Plan::digest`].
//!
//! A plan decides nothing about what is doomed, and does not know how an object is deleted.

mod edges;
mod families;
mod levels;
mod make;
mod order;
mod progress;
#[cfg(test)]
mod tests;
mod text;
mod verify;

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use sexton_model::{Key, Uid};

use crate::detect::{Exclusion, Finding, Strip};
use crate::snapshot::NodeId;

pub use make::make;
pub use progress::PlanProgress;
pub use text::{digest_matches, policy_name};
pub use verify::{Flaw, verify};

/// What is destroyed, and in which order. Made by [`make`]; immutable. It is executed only after [`verify`] accepted
/// it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// In the order of execution.
    pub waves: Vec<Wave>,
    /// Survivors that lose references to owners. By key.
    pub strips: Vec<Strip>,
    /// Edges that do not hold because a stronger one contradicts them. By the keys of both objects.
    pub dropped: Vec<DroppedEdge>,
    /// Objects that are not destroyed at their place in their module, because a stronger edge demands it. By key.
    pub out_of_order: Vec<NodeId>,
    /// Conditions between many objects and many others, without an edge for each pair.
    pub barriers: Vec<Barrier>,
    /// Objects that would be doomed, and are protected or were not approved. By key.
    pub exclusions: Vec<Exclusion>,
    /// The beginning of the hash of [`Plan::text`], in hexadecimal digits.
    pub digest: String,
    index: StepIndex,
    text: String,
}

/// Groups that may be destroyed at the same time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wave {
    /// By the keys of their first members.
    pub groups: Vec<Group>,
}

/// One object, or a cycle of objects that take each step of their destruction together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// By key.
    pub members: Vec<Step>,
}

/// The destruction of one object.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The object.
    pub node: NodeId,
    /// Its key.
    pub key: Key,
    /// The name of its kind.
    pub kind: String,
    /// Its uid: tells it from a successor with the same key.
    pub uid: Uid,
    /// Why it is doomed, and with which policy it is deleted.
    pub finding: Finding,
    /// Objects outside of its group that have to be gone before, by key. [`Plan::barriers`] add to these.
    pub after: Vec<NodeId>,
}

/// Everything in `before` has to be gone before anything in `after` is destroyed. Separates the levels of a module, and
/// families from the owners above them where an edge of a head was dropped.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Barrier {
    /// By key.
    pub before: Vec<NodeId>,
    /// By key.
    pub after: Vec<NodeId>,
    /// Indexes of barriers that have to be open before this one is.
    pub follows: Vec<usize>,
}

/// Why one object is destroyed before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// The second subscribes to the first.
    Subscription,
    /// The second is the class of the kind of the first: it has the code.
    Class,
    /// The second owns the first.
    Owner,
    /// The first owns the second, and is deleted in the background: before its dependents.
    Background,
    /// The second is the namespace of the first.
    Namespace,
    /// The second defines the kind of the first.
    Definition,
}

impl Relation {
    /// Whether an edge with this reason always holds, and may not be dropped.
    pub fn is_hard(self) -> bool {
        matches!(self, Relation::Subscription | Relation::Class)
    }
}

/// An edge that does not hold: `first` should have been destroyed before `second`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DroppedEdge {
    /// The object that should have been destroyed first.
    pub first: NodeId,
    /// The object that should have been destroyed after it.
    pub second: NodeId,
    /// The reason for that order.
    pub relation: Relation,
}

/// Indexes of a step: wave, group in it, member of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StepPosition {
    wave: u32,
    group: u32,
    member: u32,
}

/// The positions of all steps by uid. Derived from the waves, so it is left out of comparisons between plans.
#[derive(Debug, Clone, Default)]
struct StepIndex {
    table: HashTable<StepPosition>,
    hasher: DefaultHashBuilder,
}

impl PartialEq for StepIndex {
    fn eq(&self, _: &StepIndex) -> bool {
        true
    }
}

impl Plan {
    /// The number of steps.
    pub fn len(&self) -> usize {
        self.index.table.len()
    }

    /// Whether there is nothing to destroy.
    pub fn is_empty(&self) -> bool {
        self.index.table.is_empty()
    }

    /// All steps, in the order of execution.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.groups().flat_map(|group| &group.members)
    }

    /// All groups, in the order of execution.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.waves.iter().flat_map(|wave| &wave.groups)
    }

    /// The step of the object with a uid.
    pub fn step_of(&self, uid: &Uid) -> Option<&Step> {
        self.position_of(uid).and_then(|position| self.at(position))
    }

    /// The wave of the object with a uid, counted from 0.
    pub fn wave_of(&self, uid: &Uid) -> Option<usize> {
        self.position_of(uid).map(|position| position.wave as usize)
    }

    /// The group of the object with a uid.
    pub fn group_of(&self, uid: &Uid) -> Option<&Group> {
        let position = self.position_of(uid)?;
        self.waves.get(position.wave as usize)?.groups.get(position.group as usize)
    }

    /// Whether the object with a uid is destroyed by this plan.
    pub fn is_doomed(&self, uid: &Uid) -> bool {
        self.position_of(uid).is_some()
    }

    /// Whether every object of this plan is in the approved plan, too.
    pub fn contains_only(&self, approved: &Plan) -> bool {
        self.steps().all(|step| approved.is_doomed(&step.uid))
    }

    fn position_of(&self, uid: &Uid) -> Option<StepPosition> {
        let StepIndex { table, hasher } = &self.index;
        let same = |position: &StepPosition| self.at(*position).is_some_and(|step| step.uid == *uid);
        table.find(hasher.hash_one(uid), same).copied()
    }

    fn at(&self, position: StepPosition) -> Option<&Step> {
        let group = self.waves.get(position.wave as usize)?.groups.get(position.group as usize)?;
        group.members.get(position.member as usize)
    }

    /// Builds the index of positions.
    fn indexed(mut self) -> Plan {
        let hasher = DefaultHashBuilder::default();
        let mut table = HashTable::with_capacity(self.groups().map(|group| group.members.len()).sum());
        let hash = |position: &StepPosition| self.at(*position).map_or(0, |step| hasher.hash_one(&step.uid));
        for (wave, in_wave) in (0..).zip(&self.waves) {
            for (group, in_group) in (0..).zip(&in_wave.groups) {
                for (member, step) in (0..).zip(&in_group.members) {
                    let position = StepPosition { wave, group, member };
                    table.insert_unique(hasher.hash_one(&step.uid), position, hash);
                }
            }
        }
        self.index = StepIndex { table, hasher };
        self
    }
}
