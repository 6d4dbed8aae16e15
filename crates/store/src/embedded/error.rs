//! Why a store on disk cannot be opened, in words for the operator that has to mend it.

use std::io;
use std::path::{Path, PathBuf};

use sexton_model::Revision;

/// Why a data directory cannot be opened. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process uses the directory.
    #[error(
        "the data directory {} is in use by {holder}; stop that process or choose another directory",
        dir.display()
    )]
    Locked {
        /// The data directory.
        dir: PathBuf,
        /// What the other process wrote about itself.
        holder: String,
    },
    /// The file is no database at all.
    #[error(
        "{} is not a store: it is not a SQLite file, or its beginning is damaged; choose another directory, or move \
         the file away and restore a backup",
        file.display()
    )]
    NotAStore {
        /// The file.
        file: PathBuf,
    },
    /// The file is a database of some other program.
    #[error(
        "{} is a SQLite file of another program (application id {application_id:#010x}); choose another directory",
        file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What the file says it belongs to.
        application_id: u32,
    },
    /// The file was written by another version.
    #[error(
        "{} has format {found}, this version reads format {supported}; use the version that wrote it",
        file.display()
    )]
    Format {
        /// The file.
        file: PathBuf,
        /// The format of the file.
        found: i64,
        /// The format that can be read.
        supported: i64,
    },
    /// The content is damaged. It is not served, not even in part.
    #[error("{} is damaged: {what}; move the data directory away and restore a backup", file.display())]
    Corrupt {
        /// The damaged file.
        file: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// What was acknowledged is not there any more.
    #[error(
        "{} ends at revision {ends}, but revision {durable} was durable: the log beside it (-wal) is missing, cut off or \
         an older one, or the file is older than its log; put back the files that belong together, or move the data \
         directory away and restore a backup; to go on with what is left, create {} and try again",
        file.display(),
        accept.display()
    )]
    Lost {
        /// The file.
        file: PathBuf,
        /// The last revision that is there.
        ends: Revision,
        /// A later one that was durable.
        durable: Revision,
        /// The file whose presence says that the loss is accepted.
        accept: PathBuf,
    },
    /// The file was copied without its log while a process wrote.
    #[error(
        "{} was in use when it was copied, or has lost the log beside it (-wal): what was written after revision {ends} may \
         be missing; make copies with `sexton backup`; to go on with what is there, create {} and try again",
        file.display(),
        accept.display()
    )]
    Copied {
        /// The file.
        file: PathBuf,
        /// The last revision that is there.
        ends: Revision,
        /// The file whose presence says that the loss is accepted.
        accept: PathBuf,
    },
    /// The file is held by a process that does not take part in locking the directory, such as a database shell.
    #[error(
        "{} is held by another process, perhaps a sqlite3 shell with an open transaction; end it and try again",
        file.display()
    )]
    Busy {
        /// The file.
        file: PathBuf,
    },
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
    /// The database refused something that is neither of the above: no memory, no permission, no space.
    #[error("cannot open {}", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: rusqlite::Error,
    },
}

impl OpenError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OpenError {
        move |source| OpenError::Io { doing, path: path.to_owned(), source }
    }

    pub(super) fn corrupt(file: &Path, what: impl Into<String>) -> OpenError {
        OpenError::Corrupt { file: file.to_owned(), what: what.into() }
    }

    /// Whether it may be that there is no space left on the disk.
    pub(super) fn may_need_space(&self) -> bool {
        use rusqlite::ErrorCode as Code;
        let OpenError::Database { source, .. } = self else { return false };
        matches!(source.sqlite_error_code(), Some(Code::DiskFull | Code::SystemIoFailure | Code::CannotOpen))
    }

    /// Tells damage from circumstances.
    pub(super) fn database(file: &Path, source: rusqlite::Error) -> OpenError {
        use rusqlite::ErrorCode as Code;
        let file = file.to_owned();
        match source.sqlite_error_code() {
            Some(Code::NotADatabase) => OpenError::NotAStore { file },
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => OpenError::Busy { file },
            Some(
                Code::PermissionDenied
                | Code::OutOfMemory
                | Code::ReadOnly
                | Code::SystemIoFailure
                | Code::DiskFull
                | Code::CannotOpen
                | Code::AuthorizationForStatementDenied
                | Code::NoLargeFileSupport,
            ) => OpenError::Database { file, source },
            // A statement of ours that does not fit the tables, a value of the wrong type, a malformed page.
            _ => OpenError::Corrupt { file, what: source.to_string() },
        }
    }
}
