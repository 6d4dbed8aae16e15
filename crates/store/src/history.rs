//! The window of recent changes: what watches replay and what reads at an older revision are rebuilt from.
//!
//! Bounded by age and by size, so that a slow reader can never make the store grow: it is told that it is too late.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sexton_model::Revision;

use crate::engine::{RawKey, RawValue};
use crate::state::{Entry, State};

/// One change of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The revision of this change.
    pub revision: Revision,
    /// What was changed.
    pub key: RawKey,
    /// What was there before.
    pub before: Option<Entry>,
    /// What is there now; `None` means removed.
    pub after: Option<RawValue>,
}

impl Change {
    /// The entry that this change leaves behind.
    pub fn entry(&self) -> Option<Entry> {
        self.after.as_ref().map(|value| Entry { revision: self.revision, value: value.clone() })
    }

    /// What keeping this change costs beside the current state: the value it replaced and its own bookkeeping.
    fn weight(&self) -> usize {
        const BOOKKEEPING: usize = 128;
        BOOKKEEPING + self.before.as_ref().map_or(0, |entry| entry.value.len())
    }
}

/// How much history is kept. Whatever exceeds either limit is folded away.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// Older changes are forgotten.
    pub age: Duration,
    /// When the kept changes weigh more (bytes that only history holds), the oldest are forgotten.
    pub bytes: usize,
    /// When more changes are kept, the oldest are forgotten.
    pub changes: usize,
}

impl Default for Retention {
    /// Ten minutes cover a client's reconnect with room; the size keeps memory and restart time bounded.
    fn default() -> Self {
        Retention { age: Duration::from_secs(600), bytes: 64 << 20, changes: 200_000 }
    }
}

/// The changes after `compacted`, contiguous and in order.
#[derive(Debug, Default)]
pub struct History {
    compacted: Revision,
    changes: VecDeque<Arc<Change>>,
    /// When each commit of the window happened: the last revision of the commit and its time.
    times: VecDeque<(Revision, SystemTime)>,
    weight: usize,
}

impl History {
    /// An empty history that begins after `compacted`.
    pub fn after(compacted: Revision) -> History {
        History { compacted, ..History::default() }
    }

    /// The revision up to which everything is forgotten.
    pub fn compacted(&self) -> Revision {
        self.compacted
    }

    /// Adds the next changes.
    pub fn extend(&mut self, changes: &[Arc<Change>], at: SystemTime) {
        for change in changes {
            self.weight += change.weight();
            self.changes.push_back(change.clone());
        }
        if let Some(last) = changes.last() {
            self.times.push_back((last.revision, at));
        }
    }

    /// The changes strictly after `after`, or `None` when some of them are forgotten.
    pub fn since(&self, after: Revision) -> Option<impl DoubleEndedIterator<Item = &Arc<Change>>> {
        let skip = usize::try_from(after.get().checked_sub(self.compacted.get())?).ok()?;
        Some(self.changes.range(skip.min(self.changes.len())..))
    }

    /// The oldest changes that the retention does not want any more, at most `budget` of them.
    pub fn excess(&self, keep: &Retention, now: SystemTime, budget: usize) -> Vec<Arc<Change>> {
        let expired = self
            .times
            .iter()
            .take_while(|(_, at)| now.duration_since(*at).is_ok_and(|age| age > keep.age))
            .last()
            .map_or(Revision::NONE, |(revision, _)| *revision);
        let mut weight = self.weight;
        let mut count = self.changes.len();
        let mut excess = Vec::new();
        for change in self.changes.iter().take(budget) {
            if change.revision > expired && weight <= keep.bytes && count <= keep.changes {
                break;
            }
            weight -= change.weight();
            count -= 1;
            excess.push(change.clone());
        }
        excess
    }

    /// The oldest changes up to and including `upto`, at most `budget` of them.
    pub fn oldest(&self, upto: Revision, budget: usize) -> Vec<Arc<Change>> {
        self.changes.iter().take_while(|change| change.revision <= upto).take(budget).cloned().collect()
    }

    /// Forgets the `count` oldest changes.
    pub fn forget(&mut self, count: usize) {
        for _ in 0..count {
            let Some(change) = self.changes.pop_front() else { break };
            self.weight -= change.weight();
            self.compacted = change.revision;
        }
        while self.times.front().is_some_and(|(revision, _)| *revision <= self.compacted) {
            self.times.pop_front();
        }
    }

    /// The state right after `revision`, rebuilt from a later state by undoing what came after.
    pub fn rewind(&self, state: &State, revision: Revision) -> Option<State> {
        let mut state = state.clone();
        for change in self.since(revision)?.rev() {
            state.set(&change.key, change.before.clone());
        }
        state.revision = revision;
        Some(state)
    }

    /// How many changes are kept, and what they weigh.
    pub fn size(&self) -> (usize, usize) {
        (self.changes.len(), self.weight)
    }
}
