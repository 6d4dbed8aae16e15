//! Texts and uids, each kept once and counted. Knows nothing of lives.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};
use sexton_model::Uid;

/// The number of a kept text.
pub(crate) type Word = u32;
/// The number of the empty text, which is always kept.
pub(crate) const NOTHING: Word = 0;

/// A uid in sixteen bytes: the number itself if it is a UUID in the usual spelling, else the number of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(u64, u64);

impl Hash for Id {
    /// In one piece: both halves of a uid are random as it is.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.rotate_left(32) ^ self.1);
    }
}

/// Where the version of a UUID stands in its first half. Words leave it empty, so that the two cannot be mixed up.
const VERSION_SHIFT: u32 = 12;

#[derive(Debug, Clone)]
struct Entry {
    text: Box<str>,
    count: u32,
}

/// Texts, each kept as long as somebody counts on it.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    entries: Vec<Entry>,
    free: Vec<Word>,
    table: HashTable<Word>,
    hasher: DefaultHashBuilder,
}

impl Default for Words {
    fn default() -> Words {
        let (entries, free, table) = (Vec::new(), Vec::new(), HashTable::new());
        let mut words = Words { entries, free, table, hasher: DefaultHashBuilder::default() };
        words.take("");
        words
    }
}

impl Words {
    /// Keeps a text, or counts it once more.
    pub(crate) fn take(&mut self, text: &str) -> Word {
        if text.is_empty() && !self.entries.is_empty() {
            self.entries[NOTHING as usize].count += 1;
            return NOTHING;
        }
        if let Some(word) = self.find(text) {
            self.entries[word as usize].count += 1;
            return word;
        }
        let entry = Entry { text: text.into(), count: 1 };
        let word = match self.free.pop() {
            Some(word) => {
                self.entries[word as usize] = entry;
                word
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as Word
            }
        };
        let Words { entries, table, hasher, .. } = self;
        table.insert_unique(hasher.hash_one(text), word, |known| {
            hasher.hash_one(&*entries[*known as usize].text)
        });
        word
    }

    /// Counts a kept text once less and forgets it after the last time.
    pub(crate) fn release(&mut self, word: Word) {
        let entry = &mut self.entries[word as usize];
        entry.count -= 1;
        if entry.count > 0 {
            return;
        }
        let text = std::mem::take(&mut entry.text);
        if let Ok(found) = self.table.find_entry(self.hasher.hash_one(&*text), |known| *known == word) {
            found.remove();
        }
        self.free.push(word);
    }

    /// The number of a text that is kept.
    pub(crate) fn find(&self, text: &str) -> Option<Word> {
        let same = |known: &Word| &*self.entries[*known as usize].text == text;
        self.table.find(self.hasher.hash_one(text), same).copied()
    }

    /// The text.
    pub(crate) fn text(&self, word: Word) -> &str {
        &self.entries[word as usize].text
    }

    /// Keeps a uid, or counts it once more.
    pub(crate) fn take_uid(&mut self, uid: &Uid) -> Id {
        uuid(&uid.0).unwrap_or_else(|| Id(0, u64::from(self.take(&uid.0))))
    }

    /// Counts a uid once more.
    pub(crate) fn take_id(&mut self, id: Id) -> Id {
        if let Some(word) = id.word() {
            self.again(word);
        }
        id
    }

    /// Counts a kept text once more.
    pub(crate) fn again(&mut self, word: Word) {
        self.entries[word as usize].count += 1;
    }

    /// Counts a uid once less.
    pub(crate) fn release_id(&mut self, id: Id) {
        if let Some(word) = id.word() {
            self.release(word);
        }
    }

    /// The short form of a uid, if anybody could have it.
    pub(crate) fn find_uid(&self, uid: &str) -> Option<Id> {
        uuid(uid).or_else(|| Some(Id(0, u64::from(self.find(uid)?))))
    }

    /// The uid in its long form.
    pub(crate) fn uid(&self, id: Id) -> Uid {
        match id.word() {
            Some(word) => Uid(self.text(word).to_owned()),
            None => Uid(spelled(id)),
        }
    }
}

impl Id {
    fn word(self) -> Option<Word> {
        if self.0 >> VERSION_SHIFT & 0xf == 0 { Word::try_from(self.1).ok() } else { None }
    }
}

/// The usual spelling of a UUID. By hand: this is done for everybody who dies, several times.
fn spelled(id: Id) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(36);
    let mut rest = u128::from(id.0) << 64 | u128::from(id.1);
    for at in 0..36 {
        if matches!(at, 8 | 13 | 18 | 23) {
            text.push('-');
        } else {
            text.push(char::from(DIGITS[(rest >> 124) as usize]));
            rest <<= 4;
        }
    }
    text
}

/// The number of a UUID in the usual spelling: lower case, with dashes, version and variant as they should be.
fn uuid(text: &str) -> Option<Id> {
    let bytes = text.as_bytes();
    let dashes = [8, 13, 18, 23];
    if bytes.len() != 36 || dashes.iter().any(|at| bytes[*at] != b'-') {
        return None;
    }
    if !matches!(bytes[14], b'1'..=b'8') || !matches!(bytes[19], b'8' | b'9' | b'a' | b'b') {
        return None;
    }
    // What is no digit leaves a bit that no digit has: asked once, at the end.
    let (mut number, mut all) = ([0_u64; 2], 0_u8);
    for (half, part) in [(0, 0..8), (0, 9..13), (0, 14..18), (1, 19..23), (1, 24..36)] {
        for byte in &bytes[part] {
            let digit = DIGIT[usize::from(*byte)];
            all |= digit;
            number[half] = number[half] << 4 | u64::from(digit & 0xf);
        }
    }
    (all < 16).then_some(Id(number[0], number[1]))
}

/// What each byte is worth as a digit; more than any digit if it is none.
const DIGIT: [u8; 256] = {
    let mut worth = [0xff; 256];
    let mut digit = 0_u8;
    while digit < 16 {
        let spelled = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        worth[spelled as usize] = digit;
        digit += 1;
    }
    worth
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_kept_once_and_as_long_as_needed() {
        let mut words = Words::default();
        let first = words.take("a");
        assert_eq!(words.take("a"), first);
        words.release(first);
        assert_eq!(words.find("a"), Some(first));
        words.release(first);
        assert_eq!(words.find("a"), None);
        assert_eq!(words.take("b"), first);
        assert_eq!(words.text(first), "b");
    }

    #[test]
    fn uids_come_back_as_they_were() {
        let mut words = Words::default();
        for text in [
            "3f2b8c1e-9d4a-4c77-8e21-0123456789ab",
            "3F2B8C1E-9d4a-4c77-8e21-0123456789ab",
            "00000000-0000-0000-0000-000000000001",
            "u-1",
            "",
        ] {
            let id = words.take_uid(&Uid(text.into()));
            assert_eq!(words.uid(id).0, text);
            assert_eq!(words.find_uid(text), Some(id));
        }
        assert_eq!(words.find_uid("never"), None);
    }

    proptest! {
        /// Whatever is nearly a UUID, too.
        #[test]
        fn any_uid_comes_back(number: u128, at in 0..36_usize, other in "[0-9a-gA-F-]") {
            let mut text = uuid::Uuid::from_u128(number).to_string();
            text.replace_range(at..=at, &other);
            let mut words = Words::default();
            let id = words.take_uid(&Uid(text.clone()));
            prop_assert_eq!(words.uid(id).0, text);
        }
    }
}
