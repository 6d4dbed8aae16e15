//! What a collector is doing now, for whoever asks: the server's metrics, the command line, tests.

use std::collections::BTreeMap;

use sexton_lifecycle::Snapshot;
use sexton_model::collection::Blocker;
use sexton_model::{Revision, Uid, time};

use crate::blockers::{InTheWay, Sort};

/// The keys of [`Summary::blocked`].
pub const BLOCKED_REASONS: [&str; 5] = ["dependency", "finalizer", "hook", "other", "protected"];
/// All of them are in the records of their collections.
const MAX_BLOCKERS: usize = 100;

/// The state of a collector.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Whether it is its turn to act; otherwise who has the lease.
    pub acts: bool,
    /// Who acts, if somebody else does.
    pub other: Option<String>,
    /// Whether everything that exists has been seen.
    pub synced: bool,
    /// Up to which revision it has seen everything.
    pub revision: Revision,
    /// How many lives are known.
    pub lives: usize,
    /// How many of them are to die.
    pub doomed: usize,
    /// How many ended by its hand since it started.
    pub removed: u64,
    /// How often it has looked at the world.
    pub rounds: u64,
    /// Calls of hooks that are under way.
    pub calls: usize,
    /// Whether there is nothing that it could do now: all is done, or blocked, or waits for a time.
    pub idle: bool,
    /// When it goes on by itself, in seconds since 1970.
    pub next: Option<i64>,
    /// The first blockers.
    pub blockers: Vec<Blocker>,
    /// How many blockers there are, by reason: one of [`BLOCKED_REASONS`].
    pub blocked: BTreeMap<&'static str, usize>,
    /// Since when the oldest of them blocks, in seconds since 1970.
    pub oldest_blocker: Option<i64>,
    /// What it would take by itself and does not, because it is too much; and what that comes from.
    pub held: Option<String>,
    /// How many events about what it does were not written, because there were too many at once.
    pub events_dropped: u64,
    /// Why it cannot work, if so.
    pub trouble: Option<String>,
}

impl Summary {
    /// Takes over what is in the way now.
    pub(crate) fn note_blockers(&mut self, all: &[InTheWay], snapshot: &Snapshot) {
        self.blockers = all.iter().map(|one| one.blocker.clone()).take(MAX_BLOCKERS).collect();
        self.blocked.clear();
        all.iter().for_each(|one| *self.blocked.entry(reason(one)).or_default() += 1);
        // A blocker that does not know its begin is as old as the deletion that it blocks.
        let since = |blocker: &Blocker| match &blocker.since {
            Some(since) => time::parse(since),
            None => snapshot.deleted(snapshot.get(&Uid(blocker.object.uid.clone()))?),
        };
        self.oldest_blocker = all.iter().filter_map(|one| since(&one.blocker)).min();
    }
}

fn reason(one: &InTheWay) -> &'static str {
    let what = one.blocker.what.as_deref();
    match one.sort {
        Sort::Held => "protected",
        Sort::Failed(_) => "hook",
        Sort::Other if what.is_some_and(|what| what.starts_with("finalizer:")) => "finalizer",
        // Of the others only methods name what has to be done.
        Sort::Other if what.is_some() => "hook",
        Sort::Other if one.blocker.waits_for.is_some() => "dependency",
        Sort::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blockers_are_counted_by_reason() {
        let one = |sort: Sort, what: Option<&str>, waits_for: Option<&str>, since: Option<&str>| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let (what, waits_for, since) = (owned(what), owned(waits_for), owned(since));
            let blocker = Blocker { what, waits_for, since, ..Blocker::default() };
            InTheWay { root: Uid("r".into()), blocker, sort }
        };
        let mut all = vec![
            one(Sort::Other, Some("finalizer:example.com/x"), None, Some("2026-01-01T00:00:10Z")),
            one(Sort::Failed(3), Some("destroy"), None, Some("2026-01-01T00:00:05Z")),
            one(Sort::Other, Some("destroy"), None, None),
            one(Sort::Held, None, Some("Vm/a"), None),
            one(Sort::Other, None, Some("Vm/a"), None),
        ];
        all.extend((0..200).map(|_| one(Sort::Other, None, None, None)));
        let mut summary = Summary::default();
        summary.note_blockers(&all, &Snapshot::default());
        let counted: Vec<_> = summary.blocked.iter().map(|(reason, count)| (*reason, *count)).collect();
        let expected = [("dependency", 1), ("finalizer", 1), ("hook", 2), ("other", 200), ("protected", 1)];
        assert_eq!(counted, expected);
        assert!(summary.blocked.keys().all(|reason| BLOCKED_REASONS.contains(reason)));
        assert_eq!(summary.oldest_blocker, time::parse("2026-01-01T00:00:05Z"));
        assert_eq!(summary.blockers.len(), MAX_BLOCKERS);
        summary.note_blockers(&[], &Snapshot::default());
        assert!(summary.blocked.is_empty() && summary.oldest_blocker.is_none());
    }
}
