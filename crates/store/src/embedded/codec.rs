//! The bytes of one journal row: a batch of changes with a checksum.
//!
//! Layout, all numbers little-endian: crc32 of everything else (4 bytes), then for each change the length of the key
//! (varint), the key, the length of the value plus one (varint; 0 means removed), the value. Revisions are not
//! written, they count up from the row's `first`. The checksum also covers `first`, `last` and the time, so that a row
//! cannot be taken for another one.
//!
//! It must not know where the bytes are kept.

use std::sync::Arc;

use crate::engine::{RawKey, RawValue};
use crate::history::Change;

const CRC: usize = 4;

/// What identifies a row; covered by its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) at_ms: i64,
}

impl Head {
    fn hasher(&self) -> crc32fast::Hasher {
        let mut hasher = crc32fast::Hasher::new();
        for number in [self.first, self.last, self.at_ms] {
            hasher.update(&number.to_le_bytes());
        }
        hasher
    }
}

/// One decoded change: a key and its new value, or `None` for a removal.
pub(super) type Decoded = (RawKey, Option<RawValue>);

/// Writes a batch into `buffer`, replacing what it held.
pub(super) fn encode(head: Head, batch: &[Arc<Change>], buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.extend_from_slice(&[0; CRC]);
    for change in batch {
        put_length(buffer, change.key.len());
        buffer.extend_from_slice(&change.key);
        match &change.after {
            Some(value) => {
                put_length(buffer, value.len() + 1);
                buffer.extend_from_slice(value);
            }
            None => put_length(buffer, 0),
        }
    }
    let mut hasher = head.hasher();
    hasher.update(&buffer[CRC..]);
    buffer[..CRC].copy_from_slice(&hasher.finalize().to_le_bytes());
}

/// Reads a batch back; the error says what is wrong with it.
pub(super) fn decode(head: Head, bytes: &[u8]) -> Result<Vec<Decoded>, &'static str> {
    let (crc, mut rest) = bytes.split_first_chunk::<CRC>().ok_or("it is too short")?;
    let mut hasher = head.hasher();
    hasher.update(rest);
    if hasher.finalize() != u32::from_le_bytes(*crc) {
        return Err("its checksum does not match");
    }
    let count =
        head.last.checked_sub(head.first).and_then(|span| span.checked_add(1)).ok_or("its span is odd")?;
    let mut changes = Vec::new();
    while !rest.is_empty() {
        let key = take(&mut rest, 0)?.ok_or("a key is missing")?;
        let value = take(&mut rest, 1)?;
        changes.push((RawKey::from(key), value.map(RawValue::from)));
    }
    // A valid checksum with a wrong count is a bug in a writer, not rot; it must not be served either.
    if i64::try_from(changes.len()) != Ok(count) {
        return Err("it does not hold as many changes as its revisions say");
    }
    Ok(changes)
}

fn put_length(buffer: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        buffer.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    buffer.push(length as u8);
}

/// Takes a length and that many bytes; `shift` is what was added to the length, less than that means "none".
fn take<'a>(rest: &mut &'a [u8], shift: usize) -> Result<Option<&'a [u8]>, &'static str> {
    const SHORT: &str = "it ends in the middle of a change";
    let mut length = 0_usize;
    for place in 0.. {
        let (byte, behind) = rest.split_first().ok_or(SHORT)?;
        *rest = behind;
        if place > 4 {
            return Err("a length in it is too large");
        }
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    let Some(length) = length.checked_sub(shift) else { return Ok(None) };
    let (taken, behind) = rest.split_at_checked(length).ok_or(SHORT)?;
    *rest = behind;
    Ok(Some(taken))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sexton_model::Revision;

    use super::*;

    fn batch(changes: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> (Head, Vec<Arc<Change>>) {
        let head = Head { first: 7, last: 6 + changes.len() as i64, at_ms: 99 };
        let numbered = changes.into_iter().zip(7..).map(|((key, after), revision)| {
            let revision = Revision::new(revision);
            Arc::new(Change { revision, key: key.into(), before: None, after: after.map(Into::into) })
        });
        (head, numbered.collect())
    }

    fn any_changes() -> impl Strategy<Value = Vec<(Vec<u8>, Option<Vec<u8>>)>> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..300);
        proptest::collection::vec((bytes(), proptest::option::of(bytes())), 1..20)
    }

    proptest! {
        /// What is written is read back.
        #[test]
        fn round_trip(changes in any_changes()) {
            let (head, batch) = batch(changes);
            let mut bytes = vec![1, 2, 3];
            encode(head, &batch, &mut bytes);
            let read = decode(head, &bytes).unwrap();
            let written: Vec<Decoded> = batch.iter().map(|c| (c.key.clone(), c.after.clone())).collect();
            prop_assert_eq!(read, written);
        }

        /// Any flipped bit and any cut is noticed.
        #[test]
        fn damage_is_noticed(changes in any_changes(), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
            let (head, batch) = batch(changes);
            let mut bytes = Vec::new();
            encode(head, &batch, &mut bytes);
            let at = at.index(bytes.len());
            prop_assert!(decode(head, &bytes[..at]).is_err());
            bytes[at] ^= 1 << bit;
            prop_assert!(decode(head, &bytes).is_err());
        }

        /// Arbitrary bytes never panic, whatever the row claims to be.
        #[test]
        fn noise_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400), first: i64, last: i64) {
            let _ = decode(Head { first, last, at_ms: 0 }, &bytes);
        }
    }

    /// A value without bytes is there; only a removal is none.
    #[test]
    fn empty_is_not_gone() {
        let (head, batch) = batch(vec![(b"k".to_vec(), Some(Vec::new())), (b"k".to_vec(), None)]);
        let mut bytes = Vec::new();
        encode(head, &batch, &mut bytes);
        let values: Vec<Option<RawValue>> =
            decode(head, &bytes).unwrap().into_iter().map(|one| one.1).collect();
        assert_eq!(values, [Some(RawValue::from(&b""[..])), None]);
    }
}
