//! A consistent copy of a store, also while a process has it open and writes.
//!
//! It must not need the lock of the data directory, nor change what the store holds. If no process uses the directory
//! it takes the lock: then the log lies still and can be inspected for damage that SQLite would pass over.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sexton_model::Revision;

use super::error::OpenError;
use super::load::{self, Loaded};
use super::lock::DirLock;
use super::{in_use, schema, wal};

/// What a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupReport {
    /// The revision it is a copy of.
    pub revision: Revision,
    /// How many keys there are at that revision.
    pub objects: usize,
    /// The size of the file.
    pub bytes: u64,
}

/// Why there is no backup. The target does not exist then.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no store to copy.
    #[error("there is no store in {}", dir.display())]
    NoStore {
        /// Where there is none.
        dir: PathBuf,
    },
    /// Nothing is ever overwritten.
    #[error("{} exists; choose another name or remove it", file.display())]
    Exists {
        /// The existing file.
        file: PathBuf,
    },
    /// The store cannot be read or is damaged.
    #[error("the store cannot be copied")]
    Store(#[source] OpenError),
    /// The copy turned out to be wrong and was removed.
    #[error("the copy is not good and was removed")]
    Copy(#[source] OpenError),
    /// The system refused something.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Copies the store in `dir` to `file`, which is a whole `store.db`: to restore, put it into an empty directory under
/// that name. The copy is opened and checked before it gets its name. If no process uses the directory, none can begin
/// to before this returns.
///
/// # Errors
/// See [`BackupError`]; nothing is left behind.
pub fn backup(dir: impl AsRef<Path>, file: impl AsRef<Path>) -> Result<BackupReport, BackupError> {
    let (dir, file) = (dir.as_ref(), file.as_ref());
    let source = std::path::absolute(dir).map_err(io_error("find", dir))?.join(schema::FILE);
    let target = &std::path::absolute(file).map_err(io_error("find", file))?;
    if !source.is_file() {
        return Err(BackupError::NoStore { dir: dir.to_owned() });
    }
    if std::fs::symlink_metadata(target).is_ok() {
        return Err(BackupError::Exists { file: target.clone() });
    }
    let _lock = inspect(dir, &source)?;
    let draft = Draft::new(target)?;
    copy(&source, &draft.0)?;
    let report = check(&draft.0)?;
    File::open(&draft.0).and_then(|copy| copy.sync_all()).map_err(io_error("sync", &draft.0))?;
    name(&draft.0, target)?;
    drop(draft);
    let parent = target.parent().unwrap_or(target);
    schema::sync_dir(parent).map_err(io_error("sync", parent))?;
    Ok(report)
}

/// Refuses a store that could not be opened because its log lost acknowledged commits. Returns the lock, for the caller
/// to hold. A process that uses the store has checked its log when opening it and writes to it now; then nothing is
/// inspected.
fn inspect(dir: &Path, source: &Path) -> Result<Option<DirLock>, BackupError> {
    // A process that may only read the directory cannot take the lock, but may copy.
    let Ok(lock) = DirLock::acquire(dir) else { return Ok(None) };
    wal::inspect(&schema::beside(source, "-wal")).map_err(BackupError::Store)?;
    Ok(Some(lock))
}

/// Gives the finished copy its name.
pub(super) fn name(draft: &Path, target: &Path) -> Result<(), BackupError> {
    // A link instead of a rename: it does not replace a file that appeared meanwhile.
    match std::fs::hard_link(draft, target) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(BackupError::Exists { file: target.to_owned() })
        }
        // File systems without links (of memory sticks, for example) say one or the other.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) =>
        {
            rename(draft, target)
        }
        Err(error) => Err(io_error("name", target)(error)),
    }
}

/// Second best, for file systems without links: a file that another process creates under the target's name between the
/// check and the rename is replaced.
fn rename(draft: &Path, target: &Path) -> Result<(), BackupError> {
    if std::fs::symlink_metadata(target).is_ok() {
        return Err(BackupError::Exists { file: target.to_owned() });
    }
    std::fs::rename(draft, target).map_err(io_error("name", target))
}

fn copy(source: &Path, draft: &Path) -> Result<(), BackupError> {
    let failed = |error| BackupError::Store(OpenError::database(source, error));
    let connection = schema::connect_to_read(source).map_err(failed)?;
    schema::identify(&connection, source).map_err(BackupError::Store)?;
    let Some(path) = draft.to_str() else {
        let reason = io::Error::new(io::ErrorKind::InvalidInput, "its name is not Unicode");
        return Err(io_error("write", draft)(reason));
    };
    // Reads one snapshot of the source, whatever is written meanwhile, and leaves out free pages.
    connection.execute("VACUUM INTO ?1", [path]).map_err(failed)?;
    // What is copied so is whole.
    let clear = |copy: rusqlite::Connection| in_use::clear(&copy);
    rusqlite::Connection::open(draft)
        .and_then(clear)
        .map_err(|error| BackupError::Copy(OpenError::database(draft, error)))
}

pub(super) fn check(draft: &Path) -> Result<BackupReport, BackupError> {
    let connection = schema::connect_to_read(draft)
        .map_err(|error| BackupError::Copy(OpenError::database(draft, error)))?;
    let Loaded { recovered, meta } = load::load(&connection, draft).map_err(BackupError::Copy)?;
    let bytes = std::fs::metadata(draft).map_err(io_error("look at", draft))?.len();
    Ok(BackupReport { revision: meta.head, objects: recovered.state.map.len(), bytes })
}

/// The unfinished copy beside its target; removed when dropped.
pub(super) struct Draft(pub(super) PathBuf);

impl Draft {
    pub(super) fn new(target: &Path) -> Result<Draft, BackupError> {
        let path = schema::beside(target, &format!(".{}.part", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        super::lock::private(&mut options);
        options.open(&path).map_err(io_error("create", &path))?;
        Ok(Draft(path))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_file(schema::beside(&self.0, "-journal"));
    }
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    move |source| BackupError::Io { doing, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_links_nothing_is_overwritten_either() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("copy.db");
        let draft = Draft::new(&target).unwrap();
        std::fs::write(&target, "precious").unwrap();
        assert!(matches!(rename(&draft.0, &target), Err(BackupError::Exists { .. })));
        assert_eq!(std::fs::read(&target).unwrap(), b"precious");
        std::fs::remove_file(&target).unwrap();
        rename(&draft.0, &target).unwrap();
        drop(draft);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(target.is_file());
    }
}
