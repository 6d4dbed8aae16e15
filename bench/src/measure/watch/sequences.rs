//! A set of sequence numbers, one bit each, growing as needed.
//! Must not know: whether its numbers were written or received.

/// A set of sequence numbers.
#[derive(Default)]
pub(crate) struct Sequences {
    words: Vec<u64>,
}

impl Sequences {
    /// Adds a number; false if it was there already.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        let (word, bit) = ((number / 64) as usize, 1_u64 << (number % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        fresh
    }

    /// How many of `wanted` are not in this set.
    pub(crate) fn missing_from(&self, wanted: &Sequences) -> u64 {
        let mine = self.words.iter().copied().chain(std::iter::repeat(0));
        wanted.words.iter().zip(mine).map(|(wanted, mine)| u64::from((wanted & !mine).count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_duplicates_and_what_is_missing() {
        let (mut wrote, mut saw) = (Sequences::default(), Sequences::default());
        for number in 0..200 {
            assert!(wrote.insert(number));
        }
        for number in (0..200).filter(|number| number % 100 != 7) {
            assert!(saw.insert(number));
        }
        assert!(!saw.insert(8));
        assert_eq!(saw.missing_from(&wrote), 2);
        assert_eq!(wrote.missing_from(&saw), 0);
        assert_eq!(Sequences::default().missing_from(&wrote), 200);
    }
}
