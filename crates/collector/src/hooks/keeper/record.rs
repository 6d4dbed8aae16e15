//! The record of a call under way: one small file per idempotency key, locked as long as anything of the call lives.
//!
//! The keeper of the call holds the lock, and what it starts inherits it with the open file. So a free lock says that
//! nothing of the call is left on this machine, except processes that closed the file on purpose. The file needs no
//! `fsync`: what it speaks of does not survive the machine either.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::process::ProcessRef;

/// More than any record has; what is longer is not ours.
const MAX_RECORD_BYTES: u64 = 64 << 10;

/// The kernel on which numbers of processes have a meaning, and the numbering among several that it may have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    /// Differs for every start of every machine.
    pub(super) boot: String,
    /// Differs for every container with process numbers of its own.
    pub(super) numbering: String,
}

impl Place {
    /// Where this process runs.
    pub(super) fn here() -> Place {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let numbering = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Place { boot: boot.trim().to_owned(), numbering: numbering.to_string_lossy().into_owned() }
    }

    /// Whether processes there are processes of this machine, and locks of files are seen by both.
    pub(super) fn shares_kernel(&self, other: &Place) -> bool {
        !self.boot.is_empty() && self.boot == other.boot
    }
}

/// What a call under way is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) keeper: ProcessRef,
    /// The first process of the hook, once it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hook: Option<ProcessRef>,
    /// When all of it is ended at the latest, in seconds since 1970.
    pub(super) until: i64,
    /// How it ended. Nothing of it runs any more then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ended: Option<Ended>,
}

/// How a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Ended {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It could not be started: the number of the error.
    NotStarted(i32),
}

/// Opens the file of a record for reading and writing; nothing if there is none.
pub(super) fn open(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The same, made if there is none.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Whether the lock of a file was free, and is ours now.
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a file still has this name: another process may have removed it between opening and locking.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(own), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    (own.dev(), own.ino()) == (there.dev(), there.ino())
}

/// What a file says, if it is a record.
pub(super) fn read(file: &mut File) -> Option<Record> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MAX_RECORD_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes a record over what the file said before.
pub(super) fn write(file: &mut File, record: &Record) -> io::Result<()> {
    let text = serde_json::to_string(record)?;
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())
}

/// Removes the record of a call that is over. Its lock is held meanwhile, so no other call of the same key has begun.
pub(super) fn remove_if_over(path: &Path) -> io::Result<()> {
    let Some(mut file) = open(path)? else { return Ok(()) };
    if try_lock(&file)? && is_at(&file, path) && read(&mut file).is_some_and(|record| record.ended.is_some())
    {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(ended: Option<Ended>) -> Record {
        let keeper = ProcessRef { pid: 1, start: 2 };
        Record { key: "k".into(), place: Place::here(), keeper, hook: None, until: 5, ended }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k");
        assert!(open(&path).unwrap().is_none());
        let mut file = create(&path).unwrap();
        assert_eq!(read(&mut file), None, "an empty file is none");
        for ended in [Some(Ended::NotStarted(2)), Some(Ended::Signal(15)), Some(Ended::Code(0)), None] {
            write(&mut file, &record(ended)).unwrap();
            assert_eq!(read(&mut open(&path).unwrap().unwrap()), Some(record(ended)));
        }
    }

    /// Only a record that is over and that no process holds is removed.
    #[test]
    fn a_record_is_removed_only_when_it_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k");
        let mut file = create(&path).unwrap();
        write(&mut file, &record(None)).unwrap();
        remove_if_over(&path).unwrap();
        assert!(path.exists(), "it is not over");
        write(&mut file, &record(Some(Ended::Code(0)))).unwrap();
        assert!(try_lock(&file).unwrap());
        remove_if_over(&path).unwrap();
        assert!(path.exists(), "it is held");
        file.unlock().unwrap();
        remove_if_over(&path).unwrap();
        assert!(!path.exists());
        assert!(!is_at(&file, &path));
    }
}
