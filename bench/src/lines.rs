//! Cuts a stream of chunks into lines, copying only those that span chunks.
//! Must not know: what a line says.

/// Keeps the beginning of a line whose end has not arrived yet.
#[derive(Default)]
pub(crate) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// Takes in a chunk and hands every line that is now complete to `visit`, without its newline.
    pub(crate) fn feed(&mut self, mut chunk: &[u8], mut visit: impl FnMut(&[u8])) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, after) = (&chunk[..end], &chunk[end + 1..]);
            if self.rest.is_empty() {
                visit(line);
            } else {
                self.rest.extend_from_slice(line);
                visit(&self.rest);
                self.rest.clear();
            }
            chunk = after;
        }
        self.rest.extend_from_slice(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_gives_the_same_lines() {
        let text = b"one\ntwo\n\nthree\nunfinished";
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut lines = Lines::default();
                let mut seen = Vec::new();
                for chunk in [&text[..first], &text[first..second], &text[second..]] {
                    lines.feed(chunk, |line| seen.push(String::from_utf8_lossy(line).into_owned()));
                }
                assert_eq!(seen, ["one", "two", "", "three"]);
            }
        }
    }
}
