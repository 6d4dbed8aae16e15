//! What an error of the database means for the writer: try again later, or trust nothing any more.

use rusqlite::ErrorCode as Code;

use crate::journal::JournalError;

/// Judges an error of a transaction that was rolled back.
pub(super) fn judge(doing: &str, error: &rusqlite::Error) -> JournalError {
    match error.sqlite_error_code() {
        Some(Code::DiskFull) => {
            JournalError::Full(format!("the disk is full ({doing}: {error}); free some space"))
        }
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => JournalError::Full(format!(
            "another process holds the store's file, perhaps a sqlite3 shell with an open transaction ({doing}: \
             {error}); end it"
        )),
        Some(Code::OutOfMemory) => JournalError::Full(format!("out of memory ({doing})")),
        // A failed sync above all: the system may have dropped what it could not write, so success on a second try
        // would prove nothing.
        _ => JournalError::Broken(format!("{doing}: {error}")),
    }
}
