//! The objects of one cascade: a shape in a namespace, under names that give their numbers back.
//! Must not know: requests, or what happens to the objects.

use std::ops::Range;

use super::planting::Planting;
use super::shape::Shape;

/// The objects of one cascade.
pub(crate) struct Plot {
    /// How they hang on each other.
    pub(crate) shape: Shape,
    namespace: String,
    stem: String,
}

impl Plot {
    /// Objects named `stem-NNNNNNNN`.
    pub(crate) fn new(shape: Shape, namespace: &str, stem: String) -> Self {
        Self { shape, namespace: namespace.to_owned(), stem }
    }

    /// The number of an object by its name; none for objects of others.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix(&self.stem)?.strip_prefix('-')?;
        let number = digits.parse().ok()?;
        (number < self.shape.objects()).then_some(number)
    }
}

impl Planting for Plot {
    fn levels(&self) -> Vec<Range<u64>> {
        self.shape.levels()
    }

    fn owner(&self, number: u64) -> Option<u64> {
        self.shape.owner(number)
    }

    fn owners(&self) -> u64 {
        self.shape.owners()
    }

    fn namespace(&self, _number: u64) -> &str {
        &self.namespace
    }

    fn name(&self, number: u64) -> String {
        format!("{}-{number:08}", self.stem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_their_numbers_back() {
        let plot = Plot::new(Shape::Flat(10), "ns", "bench-foreground-1".to_owned());
        assert_eq!(plot.number(&plot.name(7)), Some(7));
        for other in ["kube-root-ca.crt", "bench-foreground-1-00000011", "bench-foreground-10-00000001"] {
            assert_eq!(plot.number(other), None, "{other}");
        }
    }
}
