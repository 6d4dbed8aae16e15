//! How far the store had come, noted beside it: so that a lost or replaced log is noticed when the store is opened.
//!
//! SQLite takes a log that is missing or ends early for one that was cut off by a crash, and so would we. The file `head`
//! names a revision that was durable when it was written, hence a store that ends before it has lost something. It is
//! written after each commit and synced now and then: after a crash of the process it is exact, after a power cut it may
//! lag by [`LAG`]. It never runs ahead, so there is no false alarm, whatever a power cut leaves of it.
//!
//! It must not know what a store holds.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sexton_model::Revision;

use super::error::OpenError;
use super::lock::private;
use super::schema;

pub(super) const NAME: &str = "head";
/// Its presence says that what was lost is given up; it is removed when that was heard.
const ACCEPT: &str = "accept-loss";
/// How long what is noted may be unsynced while there are commits.
const LAG: Duration = Duration::from_secs(1);
/// Two slots, written in turn, so that a torn one leaves the other. Each in a sector of its own.
const SLOT_BYTES: u64 = 512;
const MAGIC: [u8; 8] = *b"SXTNhead";

/// The file, open for writing.
#[derive(Debug)]
pub(super) struct Hint {
    /// `None` once it could not be written.
    file: Option<File>,
    turn: u64,
    unsynced: bool,
    synced: Instant,
}

impl Hint {
    /// Opens the file, or makes one, that says so much.
    pub(super) fn open(dir: &Path, head: Revision) -> Result<Hint, OpenError> {
        let path = dir.join(NAME);
        let is_new = !path.exists();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        private(&mut options);
        let file = options.open(&path).map_err(OpenError::io("open", &path))?;
        let mut hint = Hint { file: Some(file), turn: 0, unsynced: false, synced: Instant::now() };
        // Both slots: whichever was newer, this is what counts from here on.
        hint.note(head);
        hint.note(head);
        hint.sync();
        if is_new {
            schema::sync_dir(dir).map_err(OpenError::io("sync", dir))?;
        }
        Ok(hint)
    }

    /// What the file of a directory says, if there is one that says anything.
    pub(super) fn read(dir: &Path) -> Option<Revision> {
        let mut bytes = Vec::new();
        File::open(dir.join(NAME)).ok()?.take(2 * SLOT_BYTES).read_to_end(&mut bytes).ok()?;
        let slots = bytes.chunks(SLOT_BYTES as usize).filter_map(decode);
        slots.max()
    }

    /// Notes a revision that is durable.
    pub(super) fn note(&mut self, head: Revision) {
        let Some(file) = &mut self.file else { return };
        self.turn += 1;
        let at = SeekFrom::Start(self.turn % 2 * SLOT_BYTES);
        if let Err(error) = file.seek(at).and_then(|_| file.write_all(&encode(head))) {
            tracing::warn!(%error, "it cannot be noted how far the store has come: a lost log would go unnoticed");
            self.file = None;
        }
        self.unsynced = true;
    }

    /// Syncs what was noted, if that is long enough ago.
    pub(super) fn sync_if_late(&mut self) {
        if self.unsynced && self.synced.elapsed() >= LAG {
            self.sync();
        }
    }

    fn sync(&mut self) {
        // A sync that fails costs precision, not what is stored.
        let _ = self.file.as_ref().map(File::sync_data);
        (self.unsynced, self.synced) = (false, Instant::now());
    }
}

impl Drop for Hint {
    fn drop(&mut self) {
        self.sync();
    }
}

fn encode(head: Revision) -> [u8; 20] {
    let mut slot = [0; 20];
    slot[..8].copy_from_slice(&MAGIC);
    slot[8..16].copy_from_slice(&head.get().to_le_bytes());
    let sum = crc32fast::hash(&slot[..16]);
    slot[16..].copy_from_slice(&sum.to_le_bytes());
    slot
}

fn decode(slot: &[u8]) -> Option<Revision> {
    let number = u64::from_le_bytes(slot.get(8..16)?.try_into().ok()?);
    let head = Revision::new(number);
    (slot.get(..20)? == encode(head)).then_some(head)
}

/// Where to say that what was lost is given up.
pub(super) fn acceptance(dir: &Path) -> PathBuf {
    dir.join(ACCEPT)
}

/// Whether it was said that what was lost is given up. Only once: the next loss is another one.
pub(super) fn is_accepted(dir: &Path) -> bool {
    std::fs::remove_file(acceptance(dir)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_slot_leaves_the_other() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Hint::read(dir.path()), None);
        let mut hint = Hint::open(dir.path(), Revision::new(7)).unwrap();
        hint.note(Revision::new(8));
        hint.note(Revision::new(9));
        assert_eq!(Hint::read(dir.path()), Some(Revision::new(9)));
        let good = std::fs::read(dir.path().join(NAME)).unwrap();
        for at in (0..20).chain(512..532) {
            let mut torn = good.clone();
            torn[at] ^= 1;
            std::fs::write(dir.path().join(NAME), &torn).unwrap();
            let left = Hint::read(dir.path()).unwrap();
            assert!((8..=9).contains(&left.get()), "byte {at}: {left}");
        }
        for length in 0..good.len() {
            std::fs::write(dir.path().join(NAME), &good[..length]).unwrap();
            assert!(Hint::read(dir.path()).is_none_or(|left| left.get() <= 9));
        }
    }

    #[test]
    fn acceptance_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_accepted(dir.path()));
        std::fs::write(acceptance(dir.path()), "").unwrap();
        assert!(is_accepted(dir.path()));
        assert!(!is_accepted(dir.path()));
    }
}
