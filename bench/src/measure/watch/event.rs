//! What a watch event tells without being parsed: its type, its stamp and its resource version.
//! Must not know: which watcher receives it or what is counted.

use memchr::memmem::Finder;

use crate::template::{SEQUENCE_DIGITS, STAMP_MARK, TIME_DIGITS};

const TYPE_MARK: &[u8] = b"{\"type\":\"";

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A write of this measurement.
    Write {
        /// Its sequence number.
        sequence: u64,
        /// When it was sent, in microseconds since the measurement's epoch.
        sent_micros: u64,
        /// Its resource version, zero if it has none.
        version: u64,
    },
    /// The server ended the watch with an error.
    Failure,
    /// Anything else: bookmarks, deletes, objects of others.
    Foreign,
}

/// Searches prepared once.
pub(crate) struct Reader {
    stamp: Finder<'static>,
    version: Finder<'static>,
}

impl Reader {
    /// Prepares the searches.
    pub(crate) fn new() -> Self {
        Self { stamp: Finder::new(STAMP_MARK), version: Finder::new(b"\"resourceVersion\":\"") }
    }

    /// Looks at one line of the stream.
    pub(crate) fn read(&self, line: &[u8]) -> Event {
        match line.strip_prefix(TYPE_MARK).and_then(|rest| rest.first()) {
            Some(b'E') => return Event::Failure,
            Some(b'D' | b'B') => return Event::Foreign,
            _ => {}
        }
        let stamp = self.stamp.find(line).map(|at| &line[at + STAMP_MARK.len()..]);
        let Some((sequence, sent_micros)) = stamp.and_then(read_stamp) else { return Event::Foreign };
        // The first one is the object's own: metadata comes before data in every server we know.
        let version = self.version.find(line).map(|at| &line[at + self.version.needle().len()..]);
        Event::Write { sequence, sent_micros, version: version.map_or(0, leading_number) }
    }
}

fn read_stamp(text: &[u8]) -> Option<(u64, u64)> {
    let sequence = text.get(..SEQUENCE_DIGITS)?;
    let time = text.get(SEQUENCE_DIGITS + 1..SEQUENCE_DIGITS + 1 + TIME_DIGITS)?;
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    (digits(sequence) && digits(time)).then(|| (leading_number(sequence), leading_number(time)))
}

fn leading_number(text: &[u8]) -> u64 {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0_u64, |value, byte| value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    fn line(kind: &str, object: &str) -> Vec<u8> {
        format!(r#"{{"type":"{kind}","object":{object}}}"#).into_bytes()
    }

    #[test]
    fn reads_what_the_template_wrote() {
        let body = Template::new("ns", "n", 600, None).stamped(1, 17, 4_000_001);
        let text = String::from_utf8(body.to_vec()).unwrap();
        let object = text.replacen("\"namespace\"", "\"resourceVersion\":\"99\",\"namespace\"", 1);
        let event = Reader::new().read(&line("MODIFIED", &object));
        assert_eq!(event, Event::Write { sequence: 17, sent_micros: 4_000_001, version: 99 });
    }

    #[test]
    fn tells_others_apart() {
        let reader = Reader::new();
        assert_eq!(reader.read(&line("ERROR", r#"{"code":410}"#)), Event::Failure);
        assert_eq!(reader.read(&line("BOOKMARK", "{}")), Event::Foreign);
        assert_eq!(reader.read(&line("ADDED", r#"{"data":{"a-stamp":"short"}}"#)), Event::Foreign);
        assert_eq!(reader.read(b""), Event::Foreign);
    }
}
