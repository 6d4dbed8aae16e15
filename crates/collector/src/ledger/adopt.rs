//! Taking over the unfinished records of an earlier collector: what that counted stays counted.

use std::collections::HashSet;

use sexton_lifecycle::DeletionScope;
use sexton_model::Uid;
use sexton_model::collection::{Collection, KindCount, Progress, Root};

use super::{Ledger, Open, held};
use crate::settings::Settings;

impl Ledger {
    /// Takes over the unfinished records within the scope of this collector: a command takes only those of its own
    /// plan, and that of a deletion limit only if it takes orphans.
    pub(crate) fn adopt_within(&mut self, unfinished: Vec<Collection>, settings: &Settings) {
        let scope = &settings.rules.scope;
        let is_root = |root: &Root| scope.contains(&Uid(root.uid.clone()));
        let within = |record: &Collection| match held::is_about_the_fuse(record) {
            true => settings.takes_orphans,
            false => *scope == DeletionScope::All || record.spec.roots.iter().any(is_root),
        };
        unfinished.into_iter().filter(within).for_each(|record| self.adopt(record));
    }

    /// The names of the records that this ledger keeps.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.open.keys().cloned().chain(self.fuse_record().map(str::to_owned))
    }

    /// Takes over an unfinished record. If none of its objects are left, it is over with the next round.
    fn adopt(&mut self, record: Collection) {
        if held::is_about_the_fuse(&record) && self.held.is_none() {
            let written = Some(record.status.clone());
            self.held = Some((record, written));
            return;
        }
        for root in &record.spec.roots {
            self.by_root.entry(Uid(root.uid.clone())).or_insert_with(|| record.name.clone());
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
            // The earlier collector told of its beginning.
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
    /// Adds the earlier count to what is left: objects that were gone then, and those gone since.
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

#[cfg(test)]
mod tests {
    use sexton_model::collection::{Phase, Spec, trigger};

    use super::*;

    fn record(name: &str, root: &str) -> Collection {
        let root = Root { uid: root.to_owned(), ..Root::new(sexton_model::hook::ObjectRef::default(), None) };
        let spec = Spec { trigger: trigger::DELETE.to_owned(), roots: vec![root], ..Spec::default() };
        Collection {
            name: name.to_owned(),
            spec,
            status: Progress { phase: Phase::Running, doomed: 1, ..Progress::default() },
        }
    }

    /// Records are read again while collections run: those under way stay, and are not mistaken for those of another
    /// collector.
    #[test]
    fn what_is_under_way_stays_when_the_books_are_read_again() {
        let settings = Settings::new("tests");
        let mut ledger = Ledger::new(10);
        ledger.adopt_within(vec![record("ours", "a")], &settings);
        ledger.adopt_within(vec![record("theirs", "a"), record("late", "b")], &settings);
        assert_eq!(ledger.names().collect::<Vec<_>>(), ["late", "ours", "theirs"]);
        assert_eq!(ledger.by_root[&Uid("a".to_owned())], "ours");
    }
}
