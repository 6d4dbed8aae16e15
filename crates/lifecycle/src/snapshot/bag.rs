//! A small set of lives: most have one or two members, few have a hundred thousand. Knows only numbers.

use std::collections::BTreeSet;

/// Up to this many are kept in a plain list.
const FEW: usize = 16;

/// A set of numbers in sixteen bytes as long as it has one member.
#[derive(Debug, Clone)]
pub(crate) enum Bag {
    One(u32),
    /// Sorted. Boxed, so that the common bag of one stays small.
    #[allow(clippy::box_collection)]
    Few(Box<Vec<u32>>),
    #[allow(clippy::box_collection)]
    Many(Box<BTreeSet<u32>>),
}

impl Bag {
    pub(crate) fn insert(&mut self, member: u32) {
        match self {
            Bag::One(known) if *known == member => {}
            Bag::One(known) => {
                *self = Bag::Few(Box::new(vec![member.min(*known), member.max(*known)]));
            }
            Bag::Few(list) => {
                if let Err(at) = list.binary_search(&member) {
                    list.insert(at, member);
                }
                if list.len() > FEW {
                    *self = Bag::Many(Box::new(list.iter().copied().collect()));
                }
            }
            Bag::Many(set) => _ = set.insert(member),
        }
    }

    /// Takes a member out; says whether nothing is left.
    pub(crate) fn remove(&mut self, member: u32) -> bool {
        match self {
            Bag::One(known) => *known == member,
            Bag::Few(list) => {
                if let Ok(at) = list.binary_search(&member) {
                    list.remove(at);
                }
                list.is_empty()
            }
            Bag::Many(set) => {
                set.remove(&member);
                set.is_empty()
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Bag::One(_) => 1,
            Bag::Few(list) => list.len(),
            Bag::Many(set) => set.len(),
        }
    }

    /// All members, in ascending order.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Bag::One(member) => Box::new(std::iter::once(*member)),
            Bag::Few(list) => Box::new(list.iter().copied()),
            Bag::Many(set) => Box::new(set.iter().copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_is_a_set_at_every_size() {
        assert!(size_of::<Bag>() <= 16);
        let mut bag = Bag::One(50);
        for member in (0..100).rev() {
            bag.insert(member);
            bag.insert(member);
        }
        assert_eq!(bag.iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        assert_eq!(bag.len(), 100);
        for member in 0..99 {
            assert!(!bag.remove(member));
        }
        assert!(bag.remove(99));
        let mut few = Bag::One(2);
        few.insert(2);
        few.insert(1);
        assert!(!few.remove(2) && few.remove(1));
    }
}
