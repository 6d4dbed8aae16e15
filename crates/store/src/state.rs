//! The current state as a persistent ordered map: a snapshot is a clone, readers never block the writer.

use imbl::OrdMap;
use sexton_model::{Revision, Term};

use crate::engine::{Guard, KeyRange, Page, RawKey, RawValue};

/// The current value of a key and the revision that wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The revision of the last write.
    pub revision: Revision,
    /// The bytes.
    pub value: RawValue,
}

/// All keys at one revision. Cloning is cheap and shares everything.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The revision this state is the result of.
    pub revision: Revision,
    /// The keys.
    pub map: OrdMap<RawKey, Entry>,
}

impl State {
    /// Whether a guard holds in this state. Whether nothing carries a term, but for values with one of the others, must
    /// be known from elsewhere.
    pub fn holds(&self, guard: &Guard, unused: impl FnOnce(Term, &[Term]) -> bool) -> bool {
        match guard {
            Guard::At { key, revision } => {
                self.map.get(key.as_ref() as &[u8]).map_or(Revision::NONE, |entry| entry.revision)
                    == *revision
            }
            Guard::Empty { range } => self.map.range::<_, [u8]>(range.bounds()).next().is_none(),
            Guard::Unused { term } => unused(*term, &[]),
            Guard::Used { term } => !unused(*term, &[]),
            Guard::OnlyWith { term, others } => unused(*term, others),
        }
    }

    /// Reads a page of a range.
    pub fn page(&self, range: &KeyRange, limit: Option<usize>) -> Page {
        let limit = limit.unwrap_or(usize::MAX);
        let mut entries = Vec::new();
        let mut more = false;
        for (key, entry) in self.map.range::<_, [u8]>(range.bounds()) {
            if entries.len() == limit {
                more = true;
                break;
            }
            entries.push((key.clone(), entry.clone()));
        }
        Page { revision: self.revision, entries, more }
    }

    /// Counts the keys of a range.
    pub fn count(&self, range: &KeyRange) -> usize {
        self.map.range::<_, [u8]>(range.bounds()).count()
    }

    /// Sets or removes a key.
    pub fn set(&mut self, key: &RawKey, entry: Option<Entry>) -> Option<Entry> {
        match entry {
            Some(entry) => self.map.insert(key.clone(), entry),
            None => self.map.remove(key.as_ref() as &[u8]),
        }
    }
}
