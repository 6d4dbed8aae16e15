//! What a collector is doing now, for the server's metrics, the command line and tests.

use std::collections::BTreeMap;

use sexton_lifecycle::Snapshot;
use sexton_model::collection::Blocker;
use sexton_model::{Revision, Uid, time};

use crate::blockers::{InTheWay, Sort};

/// The keys of [`Summary::blocked`].
pub const BLOCKED_REASONS: [&str; 5] = ["dependency", "finalizer", "hook", "other", "protected"];
/// The most blockers in a summary. The records of the collections have all of them.
const MAX_BLOCKERS: usize = 100;

/// The state of a collector.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Whether this collector has the lease and acts.
    pub acts: bool,
    /// The holder of the lease, if that is another collector.
    pub other: Option<String>,
    /// Whether the first listing of all objects is complete.
    pub synced: bool,
    /// The revision up to which it has seen everything.
    pub revision: Revision,
    /// How many objects the snapshot has.
    pub lives: usize,
    /// How many of them are doomed.
    pub doomed: usize,
    /// How many it removed since it started.
    pub removed: u64,
    /// How many rounds it has made.
    pub rounds: u64,
    /// Calls of hooks that are under way.
    pub calls: usize,
    /// Whether there is nothing to do now: all is done, blocked, or waits for a time.
    pub idle: bool,
    /// When it continues by itself, in seconds since 1970.
    pub next: Option<i64>,
    /// The first blockers.
    pub blockers: Vec<Blocker>,
    /// How many blockers there are, by reason: one of [`BLOCKED_REASONS`].
    pub blocked: BTreeMap<&'static str, usize>,
    /// Since when the oldest of them blocks, in seconds since 1970.
    pub oldest_blocker: Option<i64>,
    /// Why orphans are not deleted, if they are more than the deletion limit allows, and what they come from.
    pub held: Option<String>,
    /// How many Events were not written, because there were too many at once.
    pub events_dropped: u64,
    /// Why it cannot work, if so.
    pub trouble: Option<String>,
}

impl Summary {
    /// Notes the blockers of the last round.
    pub(crate) fn note_blockers(&mut self, all: &[InTheWay], snapshot: &Snapshot) {
        self.blockers = all.iter().map(|one| one.blocker.clone()).take(MAX_BLOCKERS).collect();
        self.blocked.clear();
        all.iter().for_each(|one| *self.blocked.entry(reason(one)).or_default() += 1);
        // A blocker without a time of its own is as old as the deletion that it blocks.
        let since = |blocker: &Blocker| match &blocker.since {
            Some(since) => time::parse(since),
            None => snapshot.terminating_since(snapshot.get(&Uid(blocker.object.uid.clone()))?),
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
        // Of the other blockers only methods have a `what`.
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
