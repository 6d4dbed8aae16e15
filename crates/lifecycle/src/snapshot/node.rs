//! The record of one object in the snapshot: small, with rare metadata in a box of its own.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use sexton_model::accusation::Accusation;
use sexton_model::subscription::Subscription;
use sexton_model::{Policy, Revision};

use super::interner::{CompactUid, Symbol};

/// The index of an object in a [`super::Snapshot`]. Valid until the object is removed; no later object gets an equal
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId {
    pub(crate) index: u32,
    pub(crate) reuse: u32,
}

impl Hash for NodeId {
    /// One write instead of two: detection mostly looks up nodes.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.reuse) << 32 | u64::from(self.index));
    }
}

/// An object. 80 bytes without its indexes: strings are interned, uids compact.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) uid: CompactUid,
    pub(crate) revision: Revision,
    pub(crate) created: i64,
    pub(crate) owners: Box<[PackedOwnerRef]>,
    pub(crate) rare: Option<Box<RareMetadata>>,
    pub(crate) kind: u32,
    pub(crate) namespace: Symbol,
    pub(crate) name: Symbol,
    /// All finalizers in one text, one per line: there are few different ones.
    pub(crate) finalizers: Symbol,
    /// The policy that they record.
    pub(crate) recorded_policy: Option<Policy>,
    /// Clamped to 32 bits: no object is changed four billion times.
    pub(crate) generation: u32,
}

/// An owner reference in 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedOwnerRef {
    pub(crate) uid: CompactUid,
    pub(crate) name: Symbol,
    /// The row of the kind in [`super::kinds::Kinds`], and two flags in the highest bits.
    packed: u32,
}

const CONTROLLER: u32 = 1 << 31;
const BLOCKS: u32 = 1 << 30;

impl PackedOwnerRef {
    pub(crate) fn new(uid: CompactUid, name: Symbol, kind: u32) -> PackedOwnerRef {
        PackedOwnerRef { uid, name, packed: kind }
    }

    pub(crate) fn kind(&self) -> u32 {
        self.packed & !(CONTROLLER | BLOCKS)
    }

    pub(crate) fn is_controller(&self) -> bool {
        self.packed & CONTROLLER != 0
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.packed & BLOCKS != 0
    }

    /// Adds the flags of another copy of the same reference.
    pub(crate) fn also(&mut self, is_controller: bool, is_blocking: bool) {
        self.packed |= if is_controller { CONTROLLER } else { 0 } | if is_blocking { BLOCKS } else { 0 };
    }
}

/// Metadata that few objects have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RareMetadata {
    pub(crate) terminating_since: Option<i64>,
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) protect: Option<String>,
    pub(crate) journal: Option<String>,
    pub(crate) requester: Option<String>,
    pub(crate) approved: Option<String>,
    pub(crate) collection: Option<String>,
    pub(crate) is_destroyed: bool,
    pub(crate) order: Option<i64>,
    pub(crate) manager: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) request: Option<String>,
    pub(crate) candidate_record: Option<Arc<CandidateRecord>>,
}

/// The record that makes an object a candidate: the annotation `sexton.dev/accused`.
#[derive(Debug, PartialEq, Eq)]
pub struct CandidateRecord {
    /// The value of the annotation.
    pub text: String,
    /// Its content.
    pub accusation: Accusation,
}

impl Node {
    pub(crate) fn is_terminating(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.terminating_since.is_some())
    }

    pub(crate) fn is_candidate(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.candidate_record.is_some())
    }

    pub(crate) fn is_approved(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.approved.is_some())
    }
}

/// All objects by index. The index of a removed object is used again, with a higher reuse count.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeTable {
    slots: Vec<(u32, Option<Node>)>,
    free: Vec<u32>,
}

impl NodeTable {
    pub(crate) fn insert(&mut self, node: Node) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize].1 = Some(node);
                index
            }
            None => {
                self.slots.push((0, Some(node)));
                (self.slots.len() - 1) as u32
            }
        }
    }

    pub(crate) fn remove(&mut self, index: u32) -> Option<Node> {
        let slot = &mut self.slots[index as usize];
        slot.0 = slot.0.wrapping_add(1);
        self.free.push(index);
        slot.1.take()
    }

    pub(crate) fn replace(&mut self, index: u32, node: Node) {
        self.slots[index as usize].1 = Some(node);
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn indexes(&self) -> impl Iterator<Item = u32> + '_ {
        let present = self.slots.iter().enumerate().filter(|(_, slot)| slot.1.is_some());
        present.map(|(index, _)| index as u32)
    }

    pub(crate) fn get(&self, index: u32) -> &Node {
        match &self.slots[index as usize].1 {
            Some(node) => node,
            None => unreachable!("every index entry is removed with its object"),
        }
    }

    pub(crate) fn id(&self, index: u32) -> NodeId {
        NodeId { index, reuse: self.slots[index as usize].0 }
    }

    pub(crate) fn find(&self, id: NodeId) -> Option<&Node> {
        match self.slots.get(id.index as usize) {
            Some((reuse, Some(node))) if *reuse == id.reuse => Some(node),
            _ => None,
        }
    }
}

/// The policy that finalizers record. If they contradict each other, the least destructive one counts.
pub(crate) fn recorded_policy<'a>(finalizers: impl Iterator<Item = &'a str>) -> Option<Policy> {
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

    /// A snapshot holds millions. Measured with all indexes and strings: about 260 bytes per object with one owner.
    #[test]
    fn objects_are_small() {
        assert!(size_of::<Node>() <= 80, "{}", size_of::<Node>());
        assert!(size_of::<PackedOwnerRef>() <= 24, "{}", size_of::<PackedOwnerRef>());
        assert!(size_of::<(u32, Option<Node>)>() <= 88);
    }

    #[test]
    fn references_keep_their_bits() {
        let mut reference = PackedOwnerRef::new(
            crate::snapshot::interner::Interner::default().intern_uid(&sexton_model::Uid("u".into())),
            0,
            7,
        );
        assert!(!reference.is_controller() && !reference.is_blocking());
        reference.also(true, false);
        reference.also(false, true);
        assert_eq!((reference.kind(), reference.is_controller(), reference.is_blocking()), (7, true, true));
    }
}
