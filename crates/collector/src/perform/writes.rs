//! Writes in order, and whom each is about. What several in a row have in common is said once.
//!
//! It must not know what is written; only when two lives may share an item.

use sexton_lifecycle::{Cause, Finding, LifeId, Snapshot};
use sexton_model::bulk::Item;
use sexton_model::{Policy, Uid};

/// As many lives share an item: requests are divided between items.
const TOGETHER: usize = 500;

/// Writes in the order in which they are made.
#[derive(Debug, Default)]
pub(crate) struct Writes<'a> {
    pub(crate) items: Vec<Item>,
    /// In the order of the results.
    pub(crate) lives: Vec<LifeId>,
    /// Where a stage begins: what is in one stage does not depend on anything else in it.
    pub(crate) stages: Vec<usize>,
    /// The last life and on what its item rests, if others may share it.
    last: Option<(LifeId, Basis<'a>)>,
}

/// All that an item is made from, besides where its life is and who owns it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Basis<'a> {
    /// The deletion of what follows from this.
    Deletion(&'a Finding),
    /// The removal, without a mark before it, of what follows from this.
    Straight(&'a Finding),
    /// The loss of references to these.
    Strip(&'a [Uid]),
    /// The release of somebody to whom nobody refers, and who goes alone.
    Release(Policy),
}

impl Basis<'_> {
    /// Whether two lives, with their own, come to the same item.
    fn is_same(&self, other: &Basis<'_>, snapshot: &Snapshot, one: LifeId, another: LifeId) -> bool {
        let same = match (self, other) {
            (Basis::Deletion(a), Basis::Deletion(b)) | (Basis::Straight(a), Basis::Straight(b)) => {
                let Finding { life: _, detector, cause, policy, marked, root, initiator } = a;
                // Those who are accused of the same end in the same collection, each from itself.
                let same_root = root == &b.root || matches!(cause, Cause::Accused { .. });
                (detector, policy, marked) == (&b.detector, &b.policy, &b.marked)
                    && (cause, initiator) == (&b.cause, &b.initiator)
                    && same_root
                    && snapshot.have_same_owners(one, another)
            }
            (Basis::Strip(a), Basis::Strip(b)) => a == b && snapshot.have_same_owners(one, another),
            (Basis::Release(a), Basis::Release(b)) => a == b && snapshot.have_same_finalizers(one, another),
            _ => false,
        };
        same && snapshot.are_in_same_place(one, another)
    }
}

impl<'a> Writes<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What comes now may depend on what was there before.
    pub(crate) fn next_stage(&mut self) {
        if self.stages.last().copied().unwrap_or(0) < self.items.len() {
            self.stages.push(self.items.len());
            self.last = None;
        }
    }

    /// A write that nobody shares.
    pub(crate) fn alone(&mut self, life: LifeId, item: Item) {
        self.items.push(item);
        self.lives.push(life);
        self.last = None;
    }

    /// A write that is the same for whoever has the same basis.
    pub(crate) fn share(
        &mut self,
        snapshot: &Snapshot,
        life: LifeId,
        basis: Basis<'a>,
        make: impl FnOnce() -> Item,
    ) {
        let fits = |(last, shared): &(LifeId, Basis<'_>)| shared.is_same(&basis, snapshot, *last, life);
        let shared = self.last.as_ref().is_some_and(fits);
        match self.items.last_mut().filter(|item| shared && item.count() < TOGETHER) {
            Some(item) => {
                let (name, uid) = (snapshot.name(life).to_owned(), snapshot.uid(life).0);
                if cfg!(debug_assertions) {
                    // Wherever speed does not matter it is made for each of them all the same, and compared.
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

    /// Everybody with the item that is about them.
    pub(crate) fn each(&self) -> impl Iterator<Item = (LifeId, &Item)> {
        let items = self.items.iter().flat_map(|item| std::iter::repeat_n(item, item.count()));
        self.lives.iter().copied().zip(items)
    }
}
