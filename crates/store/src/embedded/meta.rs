//! The one row that says what the other tables must hold, so that loss and rot are noticed when the file is opened.
//!
//! It must not know what keys and values mean.

use rusqlite::{Connection, OptionalExtension, params};
use sexton_model::Revision;

use crate::state::Entry;

/// What the tables hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Meta {
    /// The state table is the state right after this revision.
    pub(super) compacted: Revision,
    /// The journal's rows reach from `compacted` (or a little before it) to exactly this revision.
    pub(super) head: Revision,
    /// Rows of the state table.
    pub(super) objects: u64,
    /// The sum of [`fingerprint`] over the state table: independent of order, cheap to update.
    pub(super) digest: u64,
}

const READ: &str = "SELECT compacted, head, objects, digest, seal FROM meta WHERE id = 1";
const WRITE: &str =
    "UPDATE meta SET compacted = ?1, head = ?2, objects = ?3, digest = ?4, seal = ?5 WHERE id = 1";

impl Meta {
    /// Reads the row; `None` when it is missing or damaged.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Option<Meta>> {
        let row = connection.query_row(READ, [], |row| {
            let numbers: [i64; 5] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
            Ok(numbers.map(i64::cast_unsigned))
        });
        let Some([compacted, head, objects, digest, seal]) = row.optional()? else { return Ok(None) };
        let meta = Meta { compacted: Revision::new(compacted), head: Revision::new(head), objects, digest };
        let counts = compacted <= head && i64::try_from(head).is_ok();
        Ok((counts && meta.seal() == seal.cast_signed()).then_some(meta))
    }

    /// Replaces the row.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let [compacted, head, objects, digest] = self.numbers().map(u64::cast_signed);
        let changed = connection.prepare_cached(WRITE)?.execute(params![
            compacted,
            head,
            objects,
            digest,
            self.seal()
        ])?;
        // Another program emptied the table under us: the transaction must not commit without it.
        if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
    }

    /// The checksum of the row itself.
    pub(super) fn seal(&self) -> i64 {
        let mut hasher = crc32fast::Hasher::new();
        for number in self.numbers() {
            hasher.update(&number.to_le_bytes());
        }
        i64::from(hasher.finalize())
    }

    /// Takes a row of the state table into account.
    pub(super) fn add(&mut self, key: &[u8], entry: &Entry) {
        self.objects = self.objects.wrapping_add(1);
        self.digest = self.digest.wrapping_add(fingerprint(key, entry.revision, &entry.value));
    }

    /// Takes a row of the state table out of account.
    pub(super) fn remove(&mut self, key: &[u8], entry: &Entry) {
        self.objects = self.objects.wrapping_sub(1);
        self.digest = self.digest.wrapping_sub(fingerprint(key, entry.revision, &entry.value));
    }

    fn numbers(&self) -> [u64; 4] {
        [self.compacted.get(), self.head.get(), self.objects, self.digest]
    }
}

/// 64 bits of a row of the state table. Two checksums side by side, so any short burst in either part changes it;
/// mixed, so that rows which differ in step do not cancel out in a sum.
fn fingerprint(key: &[u8], revision: Revision, value: &[u8]) -> u64 {
    let mut name = crc32fast::Hasher::new();
    name.update(key);
    name.update(&revision.get().to_le_bytes());
    let mut mixed = u64::from(name.finalize()) << 32 | u64::from(crc32fast::hash(value));
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        mixed = (mixed ^ (mixed >> 33)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(revision: u64, value: &[u8]) -> Entry {
        Entry { revision: Revision::new(revision), value: value.into() }
    }

    /// Adding and removing in any order leads back.
    #[test]
    fn digest_does_not_depend_on_order() {
        let rows = [(b"a", entry(1, b"x")), (b"b", entry(2, b"x")), (b"c", entry(3, b""))];
        let (mut there, mut back) = (Meta::default(), Meta::default());
        rows.iter().for_each(|(key, entry)| there.add(*key, entry));
        rows.iter().rev().for_each(|(key, entry)| back.add(*key, entry));
        assert_eq!(there, back);
        rows.iter().for_each(|(key, entry)| there.remove(*key, entry));
        assert_eq!(there, Meta::default());
    }

    /// Every part of a row counts.
    #[test]
    fn every_part_of_a_row_counts() {
        let base = fingerprint(b"k", Revision::new(1), b"v");
        assert_ne!(base, fingerprint(b"l", Revision::new(1), b"v"));
        assert_ne!(base, fingerprint(b"k", Revision::new(2), b"v"));
        assert_ne!(base, fingerprint(b"k", Revision::new(1), b"w"));
    }
}
