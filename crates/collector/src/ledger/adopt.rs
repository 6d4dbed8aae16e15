//! Going on with the books of whoever acted before: what they counted stays counted.

use std::collections::HashSet;

use sexton_lifecycle::DeletionScope;
use sexton_model::Uid;
use sexton_model::collection::{Collection, KindCount, Progress, Root};

use super::{Ledger, Open, held};
use crate::settings::Settings;

impl Ledger {
    /// Takes those records over that are of what may be destroyed: a command keeps the books of its own plan only, and
    /// that of what the fuse holds only if it takes orphans.
    pub(crate) fn adopt_within(&mut self, unfinished: Vec<Collection>, settings: &Settings) {
        let scope = &settings.rules.scope;
        let is_root = |root: &Root| scope.contains(&Uid(root.uid.clone()));
        let within = |record: &Collection| match held::is_about_the_fuse(record) {
            true => settings.takes_orphans,
            false => *scope == DeletionScope::All || record.spec.roots.iter().any(is_root),
        };
        unfinished.into_iter().filter(within).for_each(|record| self.adopt(record));
    }

    /// Takes a record over that nobody has finished. If nobody of it is left, it is over with the next look.
    fn adopt(&mut self, record: Collection) {
        if held::is_about_the_fuse(&record) && self.held.is_none() {
            let written = Some(record.status.clone());
            self.held = Some((record, written));
            return;
        }
        for root in &record.spec.roots {
            self.by_root.insert(Uid(root.uid.clone()), record.name.clone());
        }
        let before = record.status.clone();
        let fresh = Progress { doomed: 0, gone: 0, kinds: before.kinds.clone(), ..Progress::default() };
        let mut open = Open {
            name: record.name.as_str().into(),
            record: Collection { status: fresh, ..record },
            members: HashSet::new(),
            worth: true,
            buried: 0,
            written: Some(before.clone()),
            // Whoever began it has told so.
            loud: true,
            told: true,
            before: Some(before),
            handed_over: None,
        };
        open.record.status.kinds.values_mut().for_each(|count| *count = KindCount::default());
        self.open.insert(open.record.name.clone(), open);
    }
}

impl Open {
    /// Adds what was counted before to whoever is left: those who were gone then, and those who are gone since.
    pub(super) fn go_on(&mut self) {
        let Some(before) = self.before.take() else { return };
        let status = &mut self.record.status;
        status.doomed = before.doomed.max(before.gone + status.doomed);
        for (kind, count) in before.kinds {
            let now = status.kinds.entry(kind).or_default();
            now.doomed = count.doomed.max(count.gone + now.doomed);
        }
    }
}
