//! The memory of removals: for a while it is known who a removed life was and who asked for its removal.

use std::collections::{BTreeMap, VecDeque};

use sexton_model::{Policy, Revision};

use super::words::{Id, Word};

/// So many removals are remembered even if nobody refers to them: late events may.
const RECENT: usize = 1_024;

/// A life whose removal was seen.
#[derive(Debug, Clone)]
pub(crate) struct Gone {
    pub(crate) kind: u32,
    pub(crate) namespace: Word,
    pub(crate) name: Word,
    /// Events up to here are older than the removal.
    pub(crate) at: Revision,
    pub(crate) by: Option<String>,
    /// What its dependents were to do: follow, or live on.
    pub(crate) policy: Policy,
    recent: bool,
}

impl Gone {
    pub(crate) fn new(kind: u32, namespace: Word, name: Word, at: Revision) -> Gone {
        Gone { kind, namespace, name, at, by: None, policy: Policy::Background, recent: true }
    }
}

/// Removed lives: the most recent ones, and those that somebody still refers to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    all: BTreeMap<Id, Gone>,
    recent: VecDeque<Id>,
}

impl Memory {
    pub(crate) fn get(&self, id: Id) -> Option<&Gone> {
        self.all.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Id> + '_ {
        self.all.keys().copied()
    }

    /// Remembers one more; `needed` says who is still referred to. Gives back what is forgotten for it.
    pub(crate) fn insert(&mut self, id: Id, gone: Gone, needed: impl Fn(Id) -> bool) -> Option<(Id, Gone)> {
        self.all.insert(id, gone);
        self.recent.push_back(id);
        if self.recent.len() <= RECENT {
            return None;
        }
        let oldest = self.recent.pop_front()?;
        if needed(oldest) {
            self.all.get_mut(&oldest)?.recent = false;
            return None;
        }
        Some((oldest, self.all.remove(&oldest)?))
    }

    /// It lives after all: the uid was seen again, later than its removal.
    pub(crate) fn revive(&mut self, id: Id) -> Option<Gone> {
        self.all.remove(&id)
    }

    /// Nobody refers to it any more. Gives it back if it is forgotten.
    pub(crate) fn unneeded(&mut self, id: Id) -> Option<Gone> {
        if self.all.get(&id)?.recent { None } else { self.all.remove(&id) }
    }
}
