//! Interned strings and compact uids, reference-counted. Knows nothing of objects.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};
use sexton_model::Uid;

/// The number of an interned string.
pub(crate) type Symbol = u32;
/// The empty string, which is always interned.
pub(crate) const EMPTY: Symbol = 0;

/// A uid in 16 bytes: a UUID in the usual spelling as its number, any other text as the number of an interned string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CompactUid(u64, u64);

impl Hash for CompactUid {
    /// One write: both halves of a UUID are random already.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.rotate_left(32) ^ self.1);
    }
}

/// The position of the version in the first half of a UUID. It is 0 for interned strings, so the two cannot be
/// confused.
const VERSION_SHIFT: u32 = 12;

#[derive(Debug, Clone)]
struct InternedText {
    text: Box<str>,
    count: u32,
}

/// The interned strings. Each is kept until it was released as often as it was interned.
#[derive(Debug, Clone)]
pub(crate) struct Interner {
    entries: Vec<InternedText>,
    free: Vec<Symbol>,
    table: HashTable<Symbol>,
    hasher: DefaultHashBuilder,
}

impl Default for Interner {
    fn default() -> Interner {
        let (entries, free, table) = (Vec::new(), Vec::new(), HashTable::new());
        let mut interner = Interner { entries, free, table, hasher: DefaultHashBuilder::default() };
        interner.intern("");
        interner
    }
}

impl Interner {
    /// Interns a string, or counts it once more.
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if text.is_empty() && !self.entries.is_empty() {
            self.entries[EMPTY as usize].count += 1;
            return EMPTY;
        }
        if let Some(symbol) = self.find(text) {
            self.entries[symbol as usize].count += 1;
            return symbol;
        }
        let entry = InternedText { text: text.into(), count: 1 };
        let symbol = match self.free.pop() {
            Some(symbol) => {
                self.entries[symbol as usize] = entry;
                symbol
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as Symbol
            }
        };
        let Interner { entries, table, hasher, .. } = self;
        table.insert_unique(hasher.hash_one(text), symbol, |known| {
            hasher.hash_one(&*entries[*known as usize].text)
        });
        symbol
    }

    /// Counts a string once less, and forgets it after the last time.
    pub(crate) fn release(&mut self, symbol: Symbol) {
        let entry = &mut self.entries[symbol as usize];
        entry.count -= 1;
        if entry.count > 0 {
            return;
        }
        let text = std::mem::take(&mut entry.text);
        if let Ok(found) = self.table.find_entry(self.hasher.hash_one(&*text), |known| *known == symbol) {
            found.remove();
        }
        self.free.push(symbol);
    }

    /// The number of a string, if it is interned.
    pub(crate) fn find(&self, text: &str) -> Option<Symbol> {
        let same = |known: &Symbol| &*self.entries[*known as usize].text == text;
        self.table.find(self.hasher.hash_one(text), same).copied()
    }

    /// The string.
    pub(crate) fn text(&self, symbol: Symbol) -> &str {
        &self.entries[symbol as usize].text
    }

    /// Interns a uid, or counts it once more.
    pub(crate) fn intern_uid(&mut self, uid: &Uid) -> CompactUid {
        uuid(&uid.0).unwrap_or_else(|| CompactUid(0, u64::from(self.intern(&uid.0))))
    }

    /// Counts a uid once more.
    pub(crate) fn retain_uid(&mut self, id: CompactUid) -> CompactUid {
        if let Some(symbol) = id.symbol() {
            self.retain(symbol);
        }
        id
    }

    /// Counts an interned string once more.
    pub(crate) fn retain(&mut self, symbol: Symbol) {
        self.entries[symbol as usize].count += 1;
    }

    /// Counts a uid once less.
    pub(crate) fn release_uid(&mut self, id: CompactUid) {
        if let Some(symbol) = id.symbol() {
            self.release(symbol);
        }
    }

    /// The compact form of a uid. `None`: no object and no reference in the snapshot has it.
    pub(crate) fn find_uid(&self, uid: &str) -> Option<CompactUid> {
        uuid(uid).or_else(|| Some(CompactUid(0, u64::from(self.find(uid)?))))
    }

    /// The uid as text.
    pub(crate) fn uid(&self, id: CompactUid) -> Uid {
        match id.symbol() {
            Some(symbol) => Uid(self.text(symbol).to_owned()),
            None => Uid(spelled(id)),
        }
    }
}

impl CompactUid {
    fn symbol(self) -> Option<Symbol> {
        if self.0 >> VERSION_SHIFT & 0xf == 0 { Symbol::try_from(self.1).ok() } else { None }
    }
}

/// The usual spelling of a UUID. Not by `format!`: this is done several times for each doomed object.
fn spelled(id: CompactUid) -> String {
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
fn uuid(text: &str) -> Option<CompactUid> {
    let bytes = text.as_bytes();
    let dashes = [8, 13, 18, 23];
    if bytes.len() != 36 || dashes.iter().any(|at| bytes[*at] != b'-') {
        return None;
    }
    if !matches!(bytes[14], b'1'..=b'8') || !matches!(bytes[19], b'8' | b'9' | b'a' | b'b') {
        return None;
    }
    // A character that is no digit sets a bit that no digit has; checked once, at the end.
    let (mut number, mut all) = ([0_u64; 2], 0_u8);
    for (half, part) in [(0, 0..8), (0, 9..13), (0, 14..18), (1, 19..23), (1, 24..36)] {
        for byte in &bytes[part] {
            let digit = DIGIT[usize::from(*byte)];
            all |= digit;
            number[half] = number[half] << 4 | u64::from(digit & 0xf);
        }
    }
    (all < 16).then_some(CompactUid(number[0], number[1]))
}

/// The value of each byte as a hexadecimal digit; 255 if it is none.
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
        let mut interner = Interner::default();
        let first = interner.intern("a");
        assert_eq!(interner.intern("a"), first);
        interner.release(first);
        assert_eq!(interner.find("a"), Some(first));
        interner.release(first);
        assert_eq!(interner.find("a"), None);
        assert_eq!(interner.intern("b"), first);
        assert_eq!(interner.text(first), "b");
    }

    #[test]
    fn uids_come_back_as_they_were() {
        let mut interner = Interner::default();
        for text in [
            "3f2b8c1e-9d4a-4c77-8e21-0123456789ab",
            "3F2B8C1E-9d4a-4c77-8e21-0123456789ab",
            "00000000-0000-0000-0000-000000000001",
            "u-1",
            "",
        ] {
            let id = interner.intern_uid(&Uid(text.into()));
            assert_eq!(interner.uid(id).0, text);
            assert_eq!(interner.find_uid(text), Some(id));
        }
        assert_eq!(interner.find_uid("never"), None);
    }

    proptest! {
        /// Also for texts that are nearly UUIDs.
        #[test]
        fn any_uid_comes_back(number: u128, at in 0..36_usize, other in "[0-9a-gA-F-]") {
            let mut text = uuid::Uuid::from_u128(number).to_string();
            text.replace_range(at..=at, &other);
            let mut interner = Interner::default();
            let id = interner.intern_uid(&Uid(text.clone()));
            prop_assert_eq!(interner.uid(id).0, text);
        }
    }
}
