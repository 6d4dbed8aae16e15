//! Which writes may use how much of the last space on a disk.
//!
//! Two things take space. The log takes some only for a while: once all of it is moved into the file, it is emptied.
//! The file itself never gets shorter; what is removed from it becomes free pages, which are used again. So a full disk
//! is left only through the log, and moving the log needs as much space as the file has to grow by (what is *owed* to it).
//! That much is always put aside, and beyond it a rest which depends on what is written:
//!
//! - an ordinary write that makes the file grow leaves [`Class::Ordinary`]'s rest to deletions;
//! - a step of a deletion (an object becomes terminating, loses a finalizer) leaves some of that to removals;
//! - a removal may use everything.
//!
//! A write that fits into free pages may use everything, too: it takes nothing for good.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use super::reserve::{self, Reserve};
use super::schema::{self, PAGE};
use crate::history::Change;

/// Bytes beside the owed ones that are always left: what opening the store again needs.
const LEAST: u64 = 64 << 10;
/// Bytes left to deletions by ordinary writes.
const FOR_DELETIONS: u64 = 3 << 20;
/// Bytes of them left to removals by the other steps of deletions.
const FOR_REMOVALS: u64 = 2 << 20;
/// Bytes that an empty log gets at once when the disk is full.
const LOG: u64 = 512 << 10;
/// When so many bytes are owed the writer moves the log itself.
const MOST_OWED: u64 = 8 << 20;

/// Whether a value under a key is a step of a deletion, or else needed for one: it is still written when the disk is full.
pub type Urgent = fn(key: &[u8], value: &[u8]) -> bool;

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Removal,
    Step,
    Ordinary,
}

impl Class {
    /// The class of a batch is that of its least urgent change.
    pub(super) fn of(batch: &[Arc<Change>], urgent: Urgent) -> Class {
        let class = |change: &Arc<Change>| match (&change.before, &change.after) {
            (_, None) => Class::Removal,
            // Nothing gets larger: an owner reference or a finalizer is taken off.
            (Some(before), Some(after)) if after.len() <= before.value.len() => Class::Step,
            (_, Some(after)) if urgent(&change.key, after) => Class::Step,
            _ => Class::Ordinary,
        };
        batch.iter().map(class).max().unwrap_or(Class::Removal)
    }

    fn leaves(self) -> u64 {
        match self {
            Class::Ordinary => FOR_DELETIONS,
            Class::Step => FOR_REMOVALS,
            Class::Removal => LEAST,
        }
    }
}

/// The space that is left, as far as it is ours.
#[derive(Debug)]
pub(super) struct Space {
    file: PathBuf,
    reserve: Reserve,
    /// Bytes of the database as of the last commit, some of them still in the log.
    size: u64,
    /// The same once the transaction is committed that was admitted last.
    next_size: u64,
    /// Bytes that the file itself has at least.
    in_file: u64,
}

impl Space {
    pub(super) fn new(file: &Path, reserve: Reserve, connection: &Connection) -> rusqlite::Result<Space> {
        let size = size(connection)?;
        Ok(Space { file: file.to_owned(), reserve, size, next_size: size, in_file: 0 })
    }

    /// Whether the transaction that is open on the connection may be committed: then what it owes is put aside.
    pub(super) fn admits(&mut self, connection: &Connection, class: Class) -> rusqlite::Result<bool> {
        self.next_size = size(connection)?;
        let owed = self.owed(self.next_size);
        let grows = self.next_size > self.size;
        Ok(self.reserve.raise(owed + if grows { class.leaves() } else { LEAST }))
    }

    /// The transaction that was admitted last is committed.
    pub(super) fn committed(&mut self) {
        self.size = self.next_size;
    }

    /// Whether so much is owed to the file that the log must be moved now.
    pub(super) fn is_strained(&mut self) -> bool {
        self.owed(self.size) > MOST_OWED
    }

    /// Makes room for the file to grow by what it is owed.
    pub(super) fn lend_owed(&mut self) {
        let owed = self.owed(self.size);
        if owed > 0 {
            self.reserve.lower(LEAST);
        }
    }

    /// Gives an empty log its first blocks, so that a full disk does not cost a pass over the log for every commit.
    pub(super) fn prepare_log(&self) {
        // No lock is taken on the log itself, so it may be opened and closed.
        let log = std::fs::OpenOptions::new().write(true).open(schema::beside(&self.file, "-wal"));
        let _ = log.and_then(|log| reserve::allocate_behind(&log, LOG));
    }

    /// Makes room for the log, for as long as one transaction takes.
    pub(super) fn lend(&mut self) {
        let owed = self.owed(self.size);
        self.reserve.lower(owed + LEAST);
    }

    /// Puts aside again what was lent.
    pub(super) fn renew(&mut self) {
        let owed = self.owed(self.size);
        self.reserve.renew();
        self.reserve.raise(owed + FOR_DELETIONS);
    }

    /// By how many bytes the file has to grow until it holds a database of this size.
    fn owed(&mut self, size: u64) -> u64 {
        if size > self.in_file {
            // Asking by name: opening and closing it would release the database's locks.
            self.in_file = std::fs::metadata(&self.file).map_or(0, |found| found.len());
        }
        size.saturating_sub(self.in_file)
    }
}

fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let pages: u32 = connection.prepare_cached("PRAGMA page_count")?.query_row([], |row| row.get(0))?;
    Ok(u64::from(pages) * u64::from(PAGE))
}
