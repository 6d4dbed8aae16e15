//! Which keys carry which term: derived from the values by the function that an engine is opened with, never stored.
//!
//! A plain table that only the writer changes, and only for what is durable; what a batch in the making adds or takes
//! away is kept beside it as a [`Draft`], which is dropped when the journal refuses. Unlike the state it is no
//! persistent map: terms are scattered, so every write would copy a node of its own with everything that it refers to.
//! It must not know what terms mean.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use sexton_model::{Term, Terms};

use crate::engine::RawKey;
use crate::history::Change;
use crate::state::State;

/// Reads the terms of a value: in order, each once.
pub type Indexer = fn(&[u8]) -> Terms;

/// No value has terms.
pub(crate) fn nothing(_: &[u8]) -> Terms {
    Terms::new()
}

/// Growing a table moves all of it; of many small ones never more than one at a time grows while readers wait.
const SHARDS: usize = 64;

/// The keys whose values carry a term: nearly always one.
#[derive(Debug)]
enum Holders {
    One(RawKey),
    /// Ordered, so that the first few of them are always the same. Boxed, because it is rare and every term pays for
    /// the size.
    #[allow(clippy::box_collection)]
    Many(Box<BTreeSet<RawKey>>),
}

/// All terms of the latest durable state.
#[derive(Debug)]
pub(crate) struct TermIndex {
    indexer: Indexer,
    shards: Vec<HashMap<Term, Holders>>,
}

impl TermIndex {
    /// The terms of a whole state.
    pub(crate) fn of(state: &State, indexer: Indexer) -> TermIndex {
        let shards = (0..SHARDS).map(|_| HashMap::new()).collect();
        let mut index = TermIndex { indexer, shards };
        for (key, entry) in &state.map {
            for term in indexer(&entry.value) {
                index.insert(term, key);
            }
        }
        index
    }

    /// The first keys that carry a term.
    pub(crate) fn keys(&self, term: Term, limit: usize) -> Vec<RawKey> {
        match self.shard(term).get(&term) {
            None => Vec::new(),
            Some(Holders::One(key)) => std::iter::once(key).take(limit).cloned().collect(),
            Some(Holders::Many(keys)) => keys.iter().take(limit).cloned().collect(),
        }
    }

    fn count(&self, term: Term) -> usize {
        match self.shard(term).get(&term) {
            None => 0,
            Some(Holders::One(_)) => 1,
            Some(Holders::Many(keys)) => keys.len(),
        }
    }

    /// The key whose value carries a term, if that is exactly one.
    fn one(&self, term: Term) -> Option<&RawKey> {
        match self.shard(term).get(&term)? {
            Holders::One(key) => Some(key),
            Holders::Many(keys) => keys.first().filter(|_| keys.len() == 1),
        }
    }

    /// Makes a draft true: its batch is durable.
    pub(crate) fn accept(&mut self, draft: Draft) {
        for Step { term, key, added } in draft.steps {
            if added {
                self.insert(term, &key);
            } else {
                self.remove(term, &key);
            }
        }
    }

    fn shard(&self, term: Term) -> &HashMap<Term, Holders> {
        &self.shards[shard_of(term)]
    }

    fn insert(&mut self, term: Term, key: &RawKey) {
        match self.shards[shard_of(term)].entry(term) {
            Entry::Vacant(vacant) => drop(vacant.insert(Holders::One(key.clone()))),
            Entry::Occupied(mut holders) => match holders.get_mut() {
                Holders::Many(keys) => drop(keys.insert(key.clone())),
                Holders::One(other) if other == key => {}
                Holders::One(other) => {
                    let keys = BTreeSet::from([other.clone(), key.clone()]);
                    holders.insert(Holders::Many(Box::new(keys)));
                }
            },
        }
    }

    fn remove(&mut self, term: Term, key: &RawKey) {
        let shard = &mut self.shards[shard_of(term)];
        let empty = match shard.get_mut(&term) {
            None => return,
            Some(Holders::One(other)) => other == key,
            Some(Holders::Many(keys)) => {
                keys.remove(key);
                keys.is_empty()
            }
        };
        if empty {
            shard.remove(&term);
        }
        // What a burst has left behind is given back.
        if shard.capacity() > 1024 && shard.len() < shard.capacity() / 8 {
            shard.shrink_to(2 * shard.len());
        }
    }
}

fn shard_of(term: Term) -> usize {
    usize::from(term.bytes()[0]) % SHARDS
}

struct Step {
    term: Term,
    key: RawKey,
    added: bool,
}

/// What a batch in the making changes.
#[derive(Default)]
pub(crate) struct Draft {
    steps: Vec<Step>,
    /// How many more, or fewer, keys carry a term.
    counts: HashMap<Term, isize>,
    /// The key that got a term last in this batch; whether it has lost it since is known from its value.
    last: HashMap<Term, RawKey>,
}

impl Draft {
    /// Whether no value carries the term but those with one of the others, as of what the draft says. Costs as much as
    /// there are others, however many carry the term.
    pub(crate) fn unused(&self, index: &TermIndex, state: &State, term: Term, others: &[Term]) -> bool {
        let more = self.counts.get(&term).copied().unwrap_or(0);
        let count = index.count(term).saturating_add_signed(more);
        if count == 0 || count > others.len() {
            return count == 0;
        }
        if let [other] = others
            && !self.counts.contains_key(&term)
            && !self.counts.contains_key(other)
        {
            // Nothing of it changes in this batch: the index knows.
            return index.one(term).is_some_and(|key| index.one(*other) == Some(key));
        }
        let both = |key: &RawKey, other: Term| {
            let terms =
                state.map.get(&key[..]).map(|entry| (index.indexer)(&entry.value)).unwrap_or_default();
            terms.contains(&term) && terms.contains(&other)
        };
        let holders = |other: Term| index.keys(other, 1).into_iter().chain(self.last.get(&other).cloned());
        let excused = others.iter().flat_map(|&other| holders(other).filter(move |key| both(key, other)));
        excused.collect::<BTreeSet<RawKey>>().len() == count
    }

    /// Takes a change into account. What it leaves as it was costs no more than reading the terms.
    pub(crate) fn add(&mut self, index: &TermIndex, change: &Change) {
        let read = |value: Option<&[u8]>| value.map(index.indexer).unwrap_or_default();
        let before = read(change.before.as_ref().map(|entry| &entry.value[..]));
        let after = read(change.after.as_deref());
        for &term in before.iter().filter(|term| after.binary_search(term).is_err()) {
            self.step(term, &change.key, false);
        }
        for &term in after.iter().filter(|term| before.binary_search(term).is_err()) {
            self.step(term, &change.key, true);
        }
    }

    fn step(&mut self, term: Term, key: &RawKey, added: bool) {
        *self.counts.entry(term).or_default() += if added { 1 } else { -1 };
        if added {
            self.last.insert(term, key.clone());
        }
        self.steps.push(Step { term, key: key.clone(), added });
    }
}
