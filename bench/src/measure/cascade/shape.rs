//! Shapes of ownership, with objects numbered from the root so that owners come before what they own.
//! Must not know: names, requests or what happens to the objects.

use std::fmt;
use std::ops::Range;

use crate::cli::ShapeKind;
use crate::error::{Error, Result};

/// Beyond this a flag is a slip of the finger.
const MOST_OBJECTS: u64 = 50_000_000;

/// How objects hang on each other. Number 0 is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// This many dependents of the root.
    Flat(u64),
    /// Every object owns `branching` others, `depth` levels below the root.
    Tree {
        /// Dependents of each object.
        branching: u64,
        /// Levels below the root.
        depth: u32,
    },
    /// This many objects, each owning the next.
    Chain(u64),
}

impl Shape {
    /// Reads the two words of the command line.
    pub(crate) fn parse(kind: ShapeKind, size: &str) -> Result<Self> {
        let shape = match kind {
            ShapeKind::Flat => size.parse().ok().map(Self::Flat),
            ShapeKind::Chain => size.parse().ok().filter(|count| *count > 0).map(Self::Chain),
            ShapeKind::Tree => size.split_once('x').and_then(|(branching, depth)| {
                let (branching, depth) = (branching.parse().ok()?, depth.parse().ok()?);
                (branching > 0).then_some(Self::Tree { branching, depth })
            }),
        };
        let shape = shape.ok_or_else(|| {
            Error::BadFlag(format!("{size} is no size: flat and chain take a number, tree BxD as in 10x4"))
        })?;
        match shape.count_checked() {
            Some(count) if count <= MOST_OBJECTS => Ok(shape),
            _ => Err(Error::BadFlag(format!("{shape} has more than {MOST_OBJECTS} objects"))),
        }
    }

    /// All objects, the root among them.
    pub(crate) fn objects(self) -> u64 {
        self.count_checked().unwrap_or(u64::MAX)
    }

    /// The number of an object's owner; the root has none.
    pub(crate) fn owner(self, number: u64) -> Option<u64> {
        let before = number.checked_sub(1)?;
        Some(match self {
            Self::Flat(_) => 0,
            Self::Tree { branching, .. } => before / branching,
            Self::Chain(_) => before,
        })
    }

    /// Objects with numbers below this one own something, the others do not.
    pub(crate) fn owners(self) -> u64 {
        self.levels().last().map_or(0, |last| last.start)
    }

    /// How many objects the root owns itself.
    pub(crate) fn direct(self) -> u64 {
        self.levels().get(1).map_or(0, |level| level.end - level.start)
    }

    /// The numbers of each level, from the root down; all of one level can be created at once.
    pub(crate) fn levels(self) -> Vec<Range<u64>> {
        let mut levels = Vec::new();
        let mut grow = |count: u64| {
            let start = levels.last().map_or(0, |level: &Range<u64>| level.end);
            levels.push(start..start + count);
        };
        grow(1);
        match self {
            Self::Flat(0) => {}
            Self::Flat(count) => grow(count),
            Self::Tree { branching, depth } => (1..=depth).for_each(|level| grow(branching.pow(level))),
            Self::Chain(count) => (1..count).for_each(|_| grow(1)),
        }
        levels
    }

    fn count_checked(self) -> Option<u64> {
        match self {
            Self::Flat(count) => count.checked_add(1),
            Self::Chain(count) => Some(count),
            // More than one per level ends within 64 steps; one per level is a chain and needs no sum.
            Self::Tree { branching: 1, depth } => Some(u64::from(depth) + 1),
            Self::Tree { branching, depth } => (1..=depth)
                .try_fold((1_u64, 1_u64), |(sum, level), _| {
                    let level = level.checked_mul(branching)?;
                    Some((sum.checked_add(level)?, level))
                })
                .map(|(sum, _)| sum),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat(count) => write!(f, "flat {count}"),
            Self::Tree { branching, depth } => write!(f, "tree {branching}x{depth}"),
            Self::Chain(count) => write!(f, "chain {count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(kind: ShapeKind, size: &str) -> Shape {
        Shape::parse(kind, size).unwrap()
    }

    #[test]
    fn counts_what_the_words_say() {
        assert_eq!(parse(ShapeKind::Tree, "10x4").objects(), 11_111);
        assert_eq!(parse(ShapeKind::Flat, "1000").objects(), 1001);
        assert_eq!(parse(ShapeKind::Chain, "1000").objects(), 1000);
        assert_eq!(parse(ShapeKind::Tree, "10x4").to_string(), "tree 10x4");
    }

    #[test]
    fn nonsense_is_refused() {
        for (kind, size) in [
            (ShapeKind::Flat, "x"),
            (ShapeKind::Flat, "-1"),
            (ShapeKind::Flat, "18446744073709551615"),
            (ShapeKind::Chain, "0"),
            (ShapeKind::Tree, "10"),
            (ShapeKind::Tree, "0x4"),
            (ShapeKind::Tree, "10x64"),
            (ShapeKind::Tree, "1x4000000000"),
        ] {
            assert!(Shape::parse(kind, size).is_err(), "{size}");
        }
    }

    #[test]
    fn every_object_hangs_on_one_of_the_level_above() {
        let shapes = ["flat 0", "flat 7", "chain 1", "chain 6", "tree 1x3", "tree 3x3", "tree 4x0"];
        for words in shapes {
            let (kind, size) = words.split_once(' ').unwrap();
            let kind = <ShapeKind as clap::ValueEnum>::from_str(kind, false).unwrap();
            let shape = parse(kind, size);
            let levels = shape.levels();
            assert_eq!(levels.last().unwrap().end, shape.objects(), "{words}");
            let mut owned = vec![0_u64; shape.objects() as usize];
            assert_eq!(shape.owner(0), None);
            for pair in levels.windows(2) {
                for number in pair[1].clone() {
                    let owner = shape.owner(number).unwrap();
                    assert!(pair[0].contains(&owner), "{words}: {number} on {owner}");
                    owned[owner as usize] += 1;
                }
            }
            let owners = owned.iter().filter(|count| **count > 0).count() as u64;
            assert_eq!(shape.owners(), owners, "{words}");
            assert!(owned[..owners as usize].iter().all(|count| *count > 0), "{words}");
            assert_eq!(owned[0], shape.direct(), "{words}");
        }
    }
}
