//! The course of one cascade as its events tell it: what is still to come, and whether the order was kept.
//! Must not know: names, watches or time.

use super::shape::Shape;

/// What is expected to happen to the dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// They go, all the way down.
    Gone,
    /// Those of the root lose their reference to it; nothing else happens.
    Orphaned,
}

/// The course of one cascade.
pub(crate) struct Course {
    shape: Shape,
    fate: Fate,
    finished: Vec<bool>,
    /// Per owner: dependents that are neither gone nor freed.
    holding: Vec<u64>,
    expected: u64,
    done: u64,
    /// Owners that went while a dependent of theirs was still there.
    pub(crate) owners_first: u64,
    /// Events that have no place in a cascade: a second end, an object that came back, an orphan that went.
    pub(crate) unexpected: u64,
}

impl Course {
    /// Nothing has happened yet.
    pub(crate) fn new(shape: Shape, fate: Fate) -> Self {
        let objects = shape.objects();
        let mut holding = vec![0; shape.owners() as usize];
        for owner in (1..objects).filter_map(|number| shape.owner(number)) {
            holding[owner as usize] += 1;
        }
        let expected = match fate {
            Fate::Gone => objects,
            Fate::Orphaned => 1 + shape.direct(),
        };
        let finished = vec![false; objects as usize];
        Self { shape, fate, finished, holding, expected, done: 0, owners_first: 0, unexpected: 0 }
    }

    /// An object is gone.
    pub(crate) fn gone(&mut self, number: u64) {
        if self.fate == Fate::Orphaned && number != 0 {
            self.unexpected += 1;
            return;
        }
        if !self.finish(number) {
            return;
        }
        if self.holding.get(number as usize).is_some_and(|holding| *holding > 0) {
            self.owners_first += 1;
        }
    }

    /// An object has changed; `owned` says whether it still has an owner.
    pub(crate) fn changed(&mut self, number: u64, owned: bool) {
        let freed = self.fate == Fate::Orphaned && self.shape.owner(number) == Some(0) && !owned;
        if freed && !self.finished[number as usize] {
            self.finish(number);
        }
    }

    /// An object has come to be.
    pub(crate) fn added(&mut self) {
        self.unexpected += 1;
    }

    /// How many objects have to go or to be freed.
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// How many of them did.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// True when nothing more is to come.
    pub(crate) fn is_over(&self) -> bool {
        self.done >= self.expected
    }

    fn finish(&mut self, number: u64) -> bool {
        if std::mem::replace(&mut self.finished[number as usize], true) {
            self.unexpected += 1;
            return false;
        }
        self.done += 1;
        if let Some(owner) = self.shape.owner(number) {
            self.holding[owner as usize] -= 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: Shape = Shape::Tree { branching: 2, depth: 2 };

    fn course(order: impl IntoIterator<Item = u64>) -> Course {
        let mut course = Course::new(TREE, Fate::Gone);
        order.into_iter().for_each(|number| course.gone(number));
        course
    }

    #[test]
    fn dependents_first_is_in_order() {
        let course = course((0..7).rev());
        assert!(course.is_over());
        assert_eq!((course.owners_first, course.unexpected), (0, 0));
    }

    #[test]
    fn owners_that_go_first_are_counted_once_each() {
        let top_down = course(0..7);
        assert!(top_down.is_over());
        assert_eq!(top_down.owners_first, 3);
        assert_eq!(course([3, 4, 5, 1, 2, 6, 0]).owners_first, 1, "2 went before 6");
    }

    #[test]
    fn what_is_missing_keeps_it_open() {
        let course = course([1, 2, 3, 4, 5, 0]);
        assert!(!course.is_over());
        assert_eq!((course.done(), course.expected()), (6, 7));
    }

    #[test]
    fn a_second_end_and_a_new_beginning_are_unexpected() {
        let mut course = course([3, 3]);
        course.added();
        assert_eq!((course.done(), course.unexpected), (1, 2));
    }

    #[test]
    fn orphans_lose_their_reference_and_stay() {
        let mut course = Course::new(TREE, Fate::Orphaned);
        assert_eq!(course.expected(), 3);
        course.changed(1, true);
        course.changed(1, false);
        course.changed(1, false);
        course.changed(3, false);
        course.changed(2, false);
        course.gone(0);
        assert!(course.is_over());
        assert_eq!((course.owners_first, course.unexpected), (0, 0));
        course.gone(5);
        assert_eq!(course.unexpected, 1);
    }

    #[test]
    fn an_owner_that_leaves_before_its_orphans_are_freed_is_out_of_order() {
        let mut course = Course::new(TREE, Fate::Orphaned);
        course.changed(1, false);
        course.gone(0);
        course.changed(2, false);
        assert!(course.is_over());
        assert_eq!(course.owners_first, 1);
    }
}
