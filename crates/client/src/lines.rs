//! Bytes that come in pieces, as lines. Each byte is looked at and moved a bounded number of times, however large the
//! pieces and however long the lines are.
//!
//! It must not know what is in a line.

use memchr::memchr;

/// Lines out of pieces.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    held: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to here there is no line feed.
    looked: usize,
}

impl Lines {
    /// Takes the next piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        // What is left of the last piece is less than a line.
        self.held.drain(..self.start);
        self.looked -= self.start;
        self.start = 0;
        self.held.extend_from_slice(piece);
    }

    /// The next whole line that is not empty, without its end.
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        loop {
            let Some(found) = memchr(b'\n', &self.held[self.looked..]) else {
                self.looked = self.held.len();
                return None;
            };
            let (start, end) = (self.start, self.looked + found);
            self.start = end + 1;
            self.looked = self.start;
            if start < end {
                return Some(&self.held[start..end]);
            }
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Lines::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All lines of a text that comes in pieces of these sizes.
    fn read(text: &[u8], sizes: &[usize]) -> Vec<Vec<u8>> {
        let (mut lines, mut found, mut rest) = (Lines::default(), Vec::new(), text);
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let (piece, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            lines.push(piece);
            rest = later;
            while let Some(line) = lines.next() {
                found.push(line.to_vec());
            }
        }
        found
    }

    #[test]
    fn half_a_line_is_none() {
        assert_eq!(read(b"a\n\nbc\nd", &[1]), [b"a".to_vec(), b"bc".to_vec()]);
        assert_eq!(read(b"\n\n", &[7]), Vec::<Vec<u8>>::new());
    }

    proptest! {
        /// The pieces make no difference.
        #[test]
        fn pieces_make_no_difference(text in "[ab\n]{0,80}", sizes in prop::collection::vec(1..9_usize, 1..6)) {
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let expected: Vec<Vec<u8>> = whole.split('\n').filter(|line| !line.is_empty()).map(Into::into).collect();
            prop_assert_eq!(read(text.as_bytes(), &sizes), expected);
        }
    }
}
