//! A compact set of node indexes: most sets have one or two members, few have a hundred thousand.

use std::collections::BTreeSet;

/// Sets with more members than this are kept in a tree.
const MAX_LIST_LEN: usize = 16;

/// A set of numbers in 16 bytes as long as it has one member.
#[derive(Debug, Clone)]
pub(crate) enum NodeSet {
    One(u32),
    /// Sorted. Boxed, so that the common bag of one stays small.
    #[allow(clippy::box_collection)]
    Few(Box<Vec<u32>>),
    #[allow(clippy::box_collection)]
    Many(Box<BTreeSet<u32>>),
}

impl NodeSet {
    pub(crate) fn insert(&mut self, member: u32) {
        match self {
            NodeSet::One(known) if *known == member => {}
            NodeSet::One(known) => {
                *self = NodeSet::Few(Box::new(vec![member.min(*known), member.max(*known)]));
            }
            NodeSet::Few(list) => {
                if let Err(at) = list.binary_search(&member) {
                    list.insert(at, member);
                }
                if list.len() > MAX_LIST_LEN {
                    *self = NodeSet::Many(Box::new(list.iter().copied().collect()));
                }
            }
            NodeSet::Many(set) => _ = set.insert(member),
        }
    }

    /// Removes a member; returns whether the set is empty then. A set of one is not changed: the caller drops it.
    pub(crate) fn remove(&mut self, member: u32) -> bool {
        match self {
            NodeSet::One(known) => *known == member,
            NodeSet::Few(list) => {
                if let Ok(at) = list.binary_search(&member) {
                    list.remove(at);
                }
                list.is_empty()
            }
            NodeSet::Many(set) => {
                set.remove(&member);
                set.is_empty()
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            NodeSet::One(_) => 1,
            NodeSet::Few(list) => list.len(),
            NodeSet::Many(set) => set.len(),
        }
    }

    /// All members, in ascending order.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            NodeSet::One(member) => Box::new(std::iter::once(*member)),
            NodeSet::Few(list) => Box::new(list.iter().copied()),
            NodeSet::Many(set) => Box::new(set.iter().copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_is_a_set_at_every_size() {
        assert!(size_of::<NodeSet>() <= 16);
        let mut node_set = NodeSet::One(50);
        for member in (0..100).rev() {
            node_set.insert(member);
            node_set.insert(member);
        }
        assert_eq!(node_set.iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        assert_eq!(node_set.len(), 100);
        for member in 0..99 {
            assert!(!node_set.remove(member));
        }
        assert!(node_set.remove(99));
        let mut few = NodeSet::One(2);
        few.insert(2);
        few.insert(1);
        assert!(!few.remove(2) && few.remove(1));
    }
}
