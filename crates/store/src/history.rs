//! The window of recent changes: what watches replay and what reads at an older revision are rebuilt from.
//!
//! Bounded by age and by size, so that a slow reader can never make the store grow: it is told that it is too late.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

    /// The bytes that it writes.
    pub(crate) fn size(&self) -> usize {
        self.key.len() + self.after.as_ref().map_or(0, |value| value.len())
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

/// How much is folded at once.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// At most this many changes.
    pub changes: usize,
    /// No further change once the taken ones hold this many bytes.
    pub bytes: usize,
}

/// The changes after `compacted`, contiguous and in order.
#[derive(Debug, Default)]
pub struct History {
    compacted: Revision,
    changes: VecDeque<Arc<Change>>,
    /// When each commit of the window happened: the last revision of the commit and its time. Monotonic, so that a
    /// jump of the wall clock forgets nothing.
    times: VecDeque<(Revision, Instant)>,
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
    pub fn extend(&mut self, changes: &[Arc<Change>], at: Instant) {
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

    /// The oldest changes that the retention does not want any more, at most a slice of them. Costs no more than the
    /// slice, however much is kept.
    pub fn excess(&self, keep: &Retention, now: Instant, slice: Slice) -> Vec<Arc<Change>> {
        let expired = self
            .times
            .iter()
            .take(slice.changes)
            .take_while(|(_, at)| now.saturating_duration_since(*at) > keep.age)
            .last()
            .map_or(Revision::NONE, |(revision, _)| *revision);
        let (mut weight, mut count) = (self.weight, self.changes.len());
        self.oldest_while(slice, |change| {
            let unwanted = change.revision <= expired || weight > keep.bytes || count > keep.changes;
            weight -= change.weight();
            count -= 1;
            unwanted
        })
    }

    /// The oldest changes up to and including `upto`, at most a slice of them.
    pub fn oldest(&self, upto: Revision, slice: Slice) -> Vec<Arc<Change>> {
        self.oldest_while(slice, |change| change.revision <= upto)
    }

    /// The changes right after a revision, at most a slice of them; nothing if some of them are forgotten.
    pub fn following(&self, after: Revision, slice: Slice) -> Vec<Arc<Change>> {
        let Some(changes) = self.since(after) else { return Vec::new() };
        let mut bytes = 0;
        let fits = |change: &&Arc<Change>| {
            let fits = bytes < slice.bytes;
            bytes += change.size();
            fits
        };
        changes.take(slice.changes).take_while(fits).cloned().collect()
    }

    fn oldest_while(&self, slice: Slice, mut wanted: impl FnMut(&Change) -> bool) -> Vec<Arc<Change>> {
        let mut bytes = 0;
        let within = |change: &&Arc<Change>| {
            // One change is always taken, however large.
            let fits = bytes < slice.bytes;
            bytes += change.size();
            fits && wanted(change)
        };
        self.changes.iter().take(slice.changes).take_while(within).cloned().collect()
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

    /// How many changes are kept, and what they weigh.
    pub fn size(&self) -> (usize, usize) {
        (self.changes.len(), self.weight)
    }
}

/// The state right after `revision`, rebuilt from a later one by undoing `later`, which is every change in between.
pub fn rewind(state: &State, later: &[Arc<Change>], revision: Revision) -> State {
    let mut state = state.clone();
    for change in later.iter().rev() {
        state.set(&change.key, change.before.clone());
    }
    state.revision = revision;
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Slice = Slice { changes: usize::MAX, bytes: usize::MAX };
    const KEEP: Retention = Retention { age: Duration::from_secs(10), bytes: 1 << 20, changes: 100 };

    fn history(revisions: std::ops::RangeInclusive<u64>, at: Instant) -> History {
        let mut history = History::after(Revision::NONE);
        for revision in revisions.map(Revision::new) {
            let change =
                Change { revision, key: b"k"[..].into(), before: None, after: Some(b"v"[..].into()) };
            history.extend(&[Arc::new(change)], at);
        }
        history
    }

    #[test]
    fn age_counts_from_the_commit() {
        let start = Instant::now();
        let history = history(1..=5, start);
        assert!(history.excess(&KEEP, start + Duration::from_secs(10), WHOLE).is_empty());
        assert_eq!(history.excess(&KEEP, start + Duration::from_secs(11), WHOLE).len(), 5);
        let slice = Slice { changes: 2, ..WHOLE };
        assert_eq!(history.excess(&KEEP, start + Duration::from_secs(11), slice).len(), 2);
    }

    #[test]
    fn number_and_bytes_are_limits_of_their_own() {
        let start = Instant::now();
        let history = history(1..=5, start);
        assert_eq!(history.excess(&Retention { changes: 3, ..KEEP }, start, WHOLE).len(), 2);
        assert_eq!(history.excess(&Retention { bytes: 0, ..KEEP }, start, WHOLE).len(), 5);
        // The first change is taken although it alone exceeds the slice.
        let slice = Slice { bytes: 1, ..WHOLE };
        assert_eq!(history.excess(&Retention { bytes: 0, ..KEEP }, start, slice).len(), 1);
    }

    #[test]
    fn forgetting_moves_the_beginning() {
        let mut history = history(1..=5, Instant::now());
        history.forget(2);
        assert_eq!(history.compacted(), Revision::new(2));
        assert!(history.since(Revision::new(1)).is_none());
        let left: Vec<u64> =
            history.since(Revision::new(2)).unwrap().map(|change| change.revision.get()).collect();
        assert_eq!(left, [3, 4, 5]);
        assert_eq!(history.oldest(Revision::new(4), WHOLE).len(), 2);
        history.forget(9);
        assert_eq!(history.size(), (0, 0));
    }
}
