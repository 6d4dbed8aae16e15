//! What an error of the database means for the writer: try again later, or trust nothing any more.

use rusqlite::ErrorCode as Code;
use rusqlite::ffi;

use crate::journal::JournalError;

/// Judges an error of a transaction that was rolled back.
pub(super) fn judge(doing: &str, error: &rusqlite::Error) -> JournalError {
    match error.sqlite_error_code() {
        Some(Code::DiskFull) => {
            JournalError::Full(format!("the disk is full ({doing}: {error}); free some space"))
        }
        // The index of the log could not be made longer. It is no part of what is durable, and there is one reason.
        Some(Code::SystemIoFailure) if extended(error) == Some(ffi::SQLITE_IOERR_SHMSIZE) => {
            JournalError::Full(format!("the disk is full ({doing}: {error}); free some space"))
        }
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => JournalError::Busy(format!(
            "another process holds the store's file, perhaps a sqlite3 shell with an open transaction ({doing}: \
             {error}); end it"
        )),
        Some(Code::OutOfMemory) => JournalError::Busy(format!("out of memory ({doing})")),
        // A failed sync above all: the system may have dropped what it could not write, so success on a second try
        // would prove nothing.
        _ => JournalError::Broken(format!("{doing}: {error}")),
    }
}

fn extended(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Some(failure.extended_code),
        _ => None,
    }
}
