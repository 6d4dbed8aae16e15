//! An ordered list of writes, and the object that each result is about. Consecutive objects with equal items share
//! one item, so that a condition which holds for thousands is sent once.
//!
//! It must not know what is written; only when two objects may share an item.

use sexton_lifecycle::{Cause, Finding, NodeId, Snapshot};
use sexton_model::bulk::Item;
use sexton_model::{Policy, Uid};

/// The most objects in one item: requests are divided between items.
const TOGETHER: usize = 500;

/// Writes in the order in which they are made.
#[derive(Debug, Default)]
pub(crate) struct Writes<'a> {
    pub(crate) items: Vec<Item>,
    /// In the order of the results.
    pub(crate) lives: Vec<NodeId>,
    /// Where a stage begins: what is in one stage does not depend on anything else in it.
    pub(crate) stages: Vec<usize>,
    /// The last object, and the basis of its item, if the next object may share it.
    last: Option<(NodeId, Basis<'a>)>,
}

/// All that an item is made from, besides the namespace, kind and owners of its object. Two objects with the same
/// basis may share an item.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Basis<'a> {
    /// The deletion that follows from this finding.
    Deletion(&'a Finding),
    /// The removal, without a termination before it, that follows from this finding.
    Straight(&'a Finding),
    /// The removal of references to these owners.
    Strip(&'a [Uid]),
    /// The release of an object that has no dependents and is in a group of its own.
    Release(Policy),
}

impl Basis<'_> {
    /// Whether two objects, each with its basis, come to the same item.
    fn is_same(&self, other: &Basis<'_>, snapshot: &Snapshot, one: NodeId, another: NodeId) -> bool {
        let same = match (self, other) {
            (Basis::Deletion(a), Basis::Deletion(b)) | (Basis::Straight(a), Basis::Straight(b)) => {
                let Finding {
                    node: _,
                    detector,
                    cause,
                    policy,
                    is_terminating: marked,
                    root,
                    requester: initiator,
                } = a;
                // Candidates of one accusation end in the same collection, although each is its own root.
                let same_root = root == &b.root || matches!(cause, Cause::Candidate { .. });
                (detector, policy, marked) == (&b.detector, &b.policy, &b.is_terminating)
                    && (cause, initiator) == (&b.cause, &b.requester)
                    && same_root
                    && snapshot.have_same_owners(one, another)
            }
            (Basis::Strip(a), Basis::Strip(b)) => a == b && snapshot.have_same_owners(one, another),
            (Basis::Release(a), Basis::Release(b)) => a == b && snapshot.have_same_finalizers(one, another),
            _ => false,
        };
        same && snapshot.have_same_kind_and_namespace(one, another)
    }
}

impl<'a> Writes<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Begins a stage: writes from here on may depend on the writes before.
    pub(crate) fn next_stage(&mut self) {
        if self.stages.last().copied().unwrap_or(0) < self.items.len() {
            self.stages.push(self.items.len());
            self.last = None;
        }
    }

    /// Adds a write with an item of its own.
    pub(crate) fn alone(&mut self, life: NodeId, item: Item) {
        self.items.push(item);
        self.lives.push(life);
        self.last = None;
    }

    /// Adds a write that joins the last item if the basis is the same, or else makes its own.
    pub(crate) fn share(
        &mut self,
        snapshot: &Snapshot,
        life: NodeId,
        basis: Basis<'a>,
        make: impl FnOnce() -> Item,
    ) {
        let fits = |(last, shared): &(NodeId, Basis<'_>)| shared.is_same(&basis, snapshot, *last, life);
        let shared = self.last.as_ref().is_some_and(fits);
        match self.items.last_mut().filter(|item| shared && item.count() < TOGETHER) {
            Some(item) => {
                let (name, uid) = (snapshot.name(life).to_owned(), snapshot.uid(life).0);
                if cfg!(debug_assertions) {
                    // Debug builds make every item and compare it with the shared one.
                    let also = std::mem::take(&mut item.also);
                    let own = Item { name: name.clone(), uid: uid.clone(), ..item.clone() };
                    assert_eq!(own, make(), "what is shared is the same");
                    item.also = also;
                }
                item.also.push((name, uid));
            }
            None => self.items.push(make()),
        }
        self.lives.push(life);
        self.last = Some((life, basis));
    }

    /// Each object with the item that it is part of, in the order of the results.
    pub(crate) fn each(&self) -> impl Iterator<Item = (NodeId, &Item)> {
        let items = self.items.iter().flat_map(|item| std::iter::repeat_n(item, item.count()));
        self.lives.iter().copied().zip(items)
    }
}
