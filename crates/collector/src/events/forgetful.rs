//! A map of bounded size that drops its least recently used entry.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A bounded map.
#[derive(Debug)]
pub(crate) struct Forgetful<K, V> {
    entries: HashMap<K, (u64, V)>,
    /// The keys by the time of their last use, the oldest first.
    used: BTreeMap<u64, K>,
    clock: u64,
    most: usize,
}

impl<K: Hash + Eq + Clone, V> Forgetful<K, V> {
    /// A map with at most this many entries; at least one.
    pub(crate) fn new(most: usize) -> Forgetful<K, V> {
        Forgetful { entries: HashMap::new(), used: BTreeMap::new(), clock: 0, most: most.max(1) }
    }

    /// The value of a key, made if there is none.
    pub(crate) fn entry(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        self.clock += 1;
        let now = self.clock;
        match self.entries.get(key) {
            Some((before, _)) => _ = self.used.remove(before),
            None => {
                while self.entries.len() >= self.most {
                    let Some((_, oldest)) = self.used.pop_first() else { break };
                    self.entries.remove(&oldest);
                }
            }
        }
        self.used.insert(now, key.clone());
        let (used, value) = self.entries.entry(key.clone()).or_insert_with(|| (now, make()));
        *used = now;
        value
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        assert_eq!(self.entries.len(), self.used.len());
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_longest_is_forgotten() {
        let mut map = Forgetful::new(2);
        for key in ["a", "b", "a", "c"] {
            *map.entry(&key, || 0) += 1;
        }
        assert_eq!(map.len(), 2);
        assert_eq!(*map.entry(&"a", || 0), 2);
        assert_eq!(*map.entry(&"b", || 0), 0);
        assert_eq!(map.len(), 2);
    }
}
