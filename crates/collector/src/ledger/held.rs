//! The record of orphans that exceed the deletion limit: one for as long as they do, with the command that allows it.

use sexton_lifecycle::Snapshot;
use sexton_lifecycle::protect::DeletionLimitExceeded;
use sexton_model::collection::{self, Blocker, Collection, Phase, Progress, Spec, trigger};
use sexton_model::hook::ObjectRef;
use sexton_model::{GroupResource, Key, time};

use super::Ledger;
use crate::decide::Decision;
use crate::request::{FUSE, Request};

/// The prefix of the names of such records.
const PREFIX: &str = "held-";

/// Whether a record is about the deletion limit, rather than about a collection.
pub(super) fn is_about_the_fuse(record: &Collection) -> bool {
    record.name.starts_with(PREFIX) && record.spec.trigger == trigger::ORPHANS && record.spec.roots.is_empty()
}

impl Ledger {
    /// How many objects the user allowed to delete, by a request on the record; 0 without one.
    pub(crate) fn let_through(&self, snapshot: &Snapshot) -> usize {
        let request = || {
            let (record, _) = self.held.as_ref()?;
            let kind = GroupResource::new("sexton.dev", collection::RESOURCE);
            let key = Key { kind, namespace: String::new(), name: record.name.clone() };
            Request::read(snapshot.request(snapshot.find(&key)?)?)?.lets_through()
        };
        request().unwrap_or(0)
    }

    /// The name of the record, if the deletion limit is exceeded.
    pub(crate) fn fuse_record(&self) -> Option<&str> {
        self.held.as_ref().map(|(record, _)| record.name.as_str())
    }

    /// Brings the record up to date, and returns it if it changed. When nothing exceeds the limit any more, it is
    /// over.
    pub(crate) fn note_held(&mut self, decision: &Decision, now: i64) -> Option<Collection> {
        let (mut record, written) = match (self.held.take(), &decision.fuse) {
            (None, None) => return None,
            (Some(open), _) => open,
            (None, Some(_)) => (begun(now), None),
        };
        record.status = match &decision.fuse {
            Some(held) if decision.let_through => Progress {
                doomed: held.doomed as u64,
                message: Some("somebody let it go on".to_owned()),
                ..Progress::default()
            },
            Some(held) => holding(held, &record.name),
            None => Progress {
                phase: Phase::Done,
                finished_at: Some(time::format(now)),
                outcome: Some("no longer held".to_owned()),
                ..Progress::default()
            },
        };
        let changed = (written.as_ref() != Some(&record.status)).then(|| record.clone());
        if !record.status.phase.is_over() {
            let written = Some(record.status.clone());
            self.held = Some((record, written));
        }
        changed
    }
}

/// A new record. The time is in its name, so that a request about an earlier one does not count for it.
fn begun(now: i64) -> Collection {
    let spec =
        Spec { trigger: trigger::ORPHANS.to_owned(), started_at: time::format(now), ..Spec::default() };
    Collection { name: format!("{PREFIX}{now:x}"), spec, status: Progress::default() }
}

fn holding(held: &DeletionLimitExceeded, name: &str) -> Progress {
    let kind = collection::KIND.to_owned();
    let object =
        ObjectRef { group: "sexton.dev".to_owned(), kind, name: name.to_owned(), ..ObjectRef::default() };
    let what = format!("{FUSE}{}", held.doomed);
    let clears = format!("sexton force {object} --blocker {what} --reason \"…\"");
    let reason = match held.causes.first() {
        Some(first) => format!("{} of them because {}", first.count, first.text),
        None => "nobody asked for it by name".to_owned(),
    };
    let (what, clears) = (Some(what), Some(clears));
    Progress {
        phase: Phase::Held,
        doomed: held.doomed as u64,
        held: held.doomed as u64,
        blocked: 1,
        blockers: vec![Blocker { object, reason, what, clears, ..Blocker::default() }],
        message: Some(held.to_string()),
        ..Progress::default()
    }
}
