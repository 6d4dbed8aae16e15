//! Removals that were seen: key, requester and policy of removed objects, for as long as dependents refer to them.

use std::collections::{BTreeMap, VecDeque};

use sexton_model::{Policy, Revision};

use super::interner::{CompactUid, Symbol};

/// How many of the latest removals are remembered although no object refers to them: a late event may.
const MAX_RECENT_REMOVALS: usize = 1_024;

/// An object whose removal was seen.
#[derive(Debug, Clone)]
pub(crate) struct RemovedObject {
    pub(crate) kind: u32,
    pub(crate) namespace: Symbol,
    pub(crate) name: Symbol,
    /// The revision of the removal: events up to it are outdated.
    pub(crate) at: Revision,
    pub(crate) by: Option<String>,
    /// The policy of its deletion: `Orphan` if its dependents survive, else `Background`.
    pub(crate) policy: Policy,
    is_recent: bool,
}

impl RemovedObject {
    pub(crate) fn new(kind: u32, namespace: Symbol, name: Symbol, at: Revision) -> RemovedObject {
        RemovedObject { kind, namespace, name, at, by: None, policy: Policy::Background, is_recent: true }
    }
}

/// Removed objects: the most recent ones, and those to which dependents still refer.
#[derive(Debug, Clone, Default)]
pub(crate) struct RemovalMemory {
    all: BTreeMap<CompactUid, RemovedObject>,
    is_recent: VecDeque<CompactUid>,
}

impl RemovalMemory {
    pub(crate) fn get(&self, id: CompactUid) -> Option<&RemovedObject> {
        self.all.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = CompactUid> + '_ {
        self.all.keys().copied()
    }

    /// Remembers a removal. `needed` tells whether dependents refer to a uid. Returns the removal that is forgotten
    /// instead.
    pub(crate) fn insert(
        &mut self,
        id: CompactUid,
        gone: RemovedObject,
        needed: impl Fn(CompactUid) -> bool,
    ) -> Option<(CompactUid, RemovedObject)> {
        self.all.insert(id, gone);
        self.is_recent.push_back(id);
        if self.is_recent.len() <= MAX_RECENT_REMOVALS {
            return None;
        }
        let oldest = self.is_recent.pop_front()?;
        if needed(oldest) {
            self.all.get_mut(&oldest)?.is_recent = false;
            return None;
        }
        Some((oldest, self.all.remove(&oldest)?))
    }

    /// It objects after all: the uid was seen again, later than its removal.
    pub(crate) fn revive(&mut self, id: CompactUid) -> Option<RemovedObject> {
        self.all.remove(&id)
    }

    /// The last dependent is gone. Returns the removal if it is forgotten now.
    pub(crate) fn release(&mut self, id: CompactUid) -> Option<RemovedObject> {
        if self.all.get(&id)?.is_recent { None } else { self.all.remove(&id) }
    }
}
