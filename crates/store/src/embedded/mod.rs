//! The embedded engine: state in memory, durable in one SQLite file that a person can open.
//!
//! A data directory holds `store.db` (with `-wal` and `-shm` beside it while in use), `lock`, `head`, which says how far the
//! store has come (see `hint.rs`), and `reserve`, which only
//! takes up space for the day on which the disk is full (see `space.rs`). The tables:
//!
//! - `journal`: one row per durable batch of changes; the kept rows are the history.
//! - `state`: the state at revision `meta.compacted`, to which the oldest rows of the journal are folded.
//! - `meta`: one row that says what the others must hold.
//! - `documents`: a view for people with a SQLite shell.
//!
//! Opening reads and checks everything. Never open `store.db` with plain file functions in a process that has it open
//! as a store: closing such a file would release the database's locks.
//!
//! This module must not know what keys and values mean, except that the view shows text.

mod backup;
mod checkpoint;
mod codec;
mod error;
mod fault;
mod fold;
mod hint;
mod in_use;
mod journal;
mod load;
mod lock;
mod meta;
mod private;
mod reserve;
mod restore;
mod schema;
mod space;
mod wal;

use std::path::Path;

use rusqlite::Connection;
use sexton_model::Revision;

pub use self::backup::{BackupError, BackupReport, backup};
pub use self::error::OpenError;
pub use self::lock::announce;
pub use self::private::{is_exposed, is_open_to_others};
pub use self::restore::{RestoreError, restore};
pub use self::space::Urgent;

use self::checkpoint::Checkpointer;
use self::hint::Hint;
use self::journal::SqliteJournal;
use self::load::Loaded;
use self::lock::DirLock;
use self::reserve::Reserve;
use self::space::Space;
use crate::history::Retention;
use crate::local::LocalEngine;
use crate::terms::{self, Indexer};

/// How a store is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// How much history is kept.
    pub retention: Retention,
    /// Reads the terms of a value; without it no value has any.
    pub indexer: Option<Indexer>,
    /// What is still written when the disk is full, beside removals; without it only what makes nothing larger.
    pub urgent: Option<Urgent>,
}

/// Opens the store in a directory; both are made if they do not exist.
///
/// # Errors
/// Another process uses the directory, the file is not a store of a known format or is damaged, or the system refuses.
pub fn open(dir: impl AsRef<Path>, options: Options) -> Result<LocalEngine, OpenError> {
    let dir = &std::path::absolute(dir.as_ref()).map_err(OpenError::io("find", dir.as_ref()))?;
    make_dir(dir).map_err(OpenError::io("create", dir))?;
    let lock = DirLock::acquire(dir)?;
    let file = &dir.join(schema::FILE);
    let noted = Hint::read(dir);
    if !prepare(file)? {
        check_loss(dir, file, Revision::NONE, noted, false)?;
        schema::create(dir)?;
    }
    let has_log = std::fs::metadata(schema::beside(file, "-wal")).is_ok_and(|log| log.len() > 0);
    let failed = |error| OpenError::database(file, error);
    let (connection, Loaded { recovered, meta }) = match read(file) {
        // Even reading needs a little space, for SQLite's index of its log.
        Err(error) if error.may_need_space() && Reserve::give_up(dir) => read(file)?,
        outcome => outcome?,
    };
    let was_in_use = in_use::is_set(&connection).map_err(failed)?;
    check_loss(dir, file, meta.head, noted, was_in_use && !has_log)?;
    // After a crash the log begins anew, so that no remains of it can be taken for damage later.
    // Without space it has to wait.
    match checkpoint::passive(&connection) {
        Err(error) if error.sqlite_error_code() != Some(rusqlite::ErrorCode::DiskFull) => {
            return Err(failed(error));
        }
        _ => {}
    }
    let checkpointer = Checkpointer::spawn(schema::connect(file).map_err(failed)?)
        .map_err(OpenError::io("start a thread for", file))?;
    tracing::info!(
        file = %file.display(),
        revision = %meta.head,
        objects = recovered.state.map.len(),
        history = recovered.history.len(),
        "store opened"
    );
    let space = Space::new(file, Reserve::new(dir), &connection).map_err(failed)?;
    let urgent = options.urgent.unwrap_or(|_, _| false);
    let hint = Hint::open(dir, meta.head)?;
    let journal = SqliteJournal::new(connection, checkpointer, meta, (space, urgent), (hint, lock));
    let indexer = options.indexer.unwrap_or(terms::nothing);
    Ok(LocalEngine::start_indexed(journal, recovered, options.retention, indexer))
}

/// Refuses a store that ends before what is known to have been durable, or a copy of a file in use, which says nothing
/// of where it ends. Neither is noticed in the file alone.
fn check_loss(
    dir: &Path,
    file: &Path,
    ends: Revision,
    noted: Option<Revision>,
    is_copy: bool,
) -> Result<(), OpenError> {
    let accept = hint::acceptance(dir);
    let loss = match noted {
        Some(durable) if durable > ends => OpenError::Lost { file: file.to_owned(), ends, durable, accept },
        None if is_copy => OpenError::Copied { file: file.to_owned(), ends, accept },
        _ => return Ok(()),
    };
    if hint::is_accepted(dir) {
        tracing::warn!(%loss, "the loss was accepted");
        return Ok(());
    }
    Err(loss)
}

fn read(file: &Path) -> Result<(Connection, Loaded), OpenError> {
    let connection = schema::connect(file).map_err(|error| OpenError::database(file, error))?;
    let loaded = load::load(&connection, file)?;
    Ok((connection, loaded))
}

/// Whether there is a file to open; looks for damage that SQLite would pass over.
fn prepare(file: &Path) -> Result<bool, OpenError> {
    let log = schema::beside(file, "-wal");
    match std::fs::metadata(file) {
        Ok(found) if found.len() == 0 => {
            // SQLite takes an empty file for an empty database; we never leave one behind.
            Err(OpenError::corrupt(file, "the file is empty"))
        }
        Ok(_) => wal::inspect(&log).map(|()| true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
                return Err(OpenError::corrupt(
                    file,
                    "the file is missing, but its write-ahead log is there",
                ));
            }
            Ok(false)
        }
        Err(error) => Err(OpenError::io("look at", file)(error)),
    }
}

/// Makes a directory and those above it, so that they are still there after a power cut.
fn make_dir(dir: &Path) -> std::io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|dir| !dir.is_dir()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)?;
    // A directory's name is in the one above it: syncing the store alone would not save it.
    for parent in missing.iter().filter_map(|made| made.parent()) {
        match schema::sync_dir(parent) {
            // One in which we may make things but not look cannot be opened, nor synced; that is no reason to refuse.
            Err(error) if error.kind() != std::io::ErrorKind::PermissionDenied => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
