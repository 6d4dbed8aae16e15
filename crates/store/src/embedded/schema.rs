//! The tables of format 1, how a new file gets them, and how a connection is set up.
//!
//! A file that cannot be read by this program any more must still be readable by a person with a SQLite shell, hence
//! the `documents` view. It must not know what a change is.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::OpenError;
use super::lock::private;
use super::meta::Meta;

/// The name of the database in the data directory.
pub(super) const FILE: &str = "store.db";
/// "SXTN".
const APPLICATION_ID: u32 = 0x5358_544e;
const FORMAT: i64 = 1;
pub(super) const PAGE: u32 = 4096;
/// How long a foreign process may hold the file before a write fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// What of the log stays for reuse when it begins again. Only a foreign reader makes it longer than the writer lets it
/// become, and what that took must be given back once it is gone.
const LOG: u32 = 64 << 20;

const JOURNAL: &str = "CREATE TABLE journal(first INTEGER PRIMARY KEY, last INTEGER NOT NULL, at_ms INTEGER NOT \
                       NULL, batch BLOB NOT NULL)";
/// Ordered by revision, not by key: memory knows the revision of what a fold replaces, so no index is needed, and what
/// a fold adds is appended instead of scattered.
const STATE: &str =
    "CREATE TABLE state(revision INTEGER PRIMARY KEY, key BLOB NOT NULL, value BLOB NOT NULL)";
const META: &str = "CREATE TABLE meta(id INTEGER PRIMARY KEY CHECK(id = 1), compacted INTEGER NOT NULL, head INTEGER \
                    NOT NULL, objects INTEGER NOT NULL, digest INTEGER NOT NULL, seal INTEGER NOT NULL)";
/// For people: `SELECT * FROM documents`. SQLite's `replace` cannot look for NUL, so the key is walked part by part.
const DOCUMENTS: &str = "\
CREATE VIEW documents AS
-- The documents as of revision meta.compacted; later changes are still in the journal.
SELECT (
  WITH RECURSIVE walk(path, rest) AS (
    SELECT '', state.key
    UNION ALL
    SELECT path || CASE instr(rest, x'00') WHEN 0 THEN CAST(rest AS TEXT)
                   ELSE CAST(substr(rest, 1, instr(rest, x'00') - 1) AS TEXT) || '/' END,
           CASE instr(rest, x'00') WHEN 0 THEN NULL ELSE substr(rest, instr(rest, x'00') + 1) END
    FROM walk WHERE rest IS NOT NULL)
  SELECT path FROM walk WHERE rest IS NULL) AS key,
  revision,
  CAST(CASE instr(value, x'0a') WHEN 0 THEN value ELSE substr(value, 1, instr(value, x'0a') - 1) END AS TEXT) AS document
FROM state";

const TABLES: [(&str, &str); 3] = [("journal", JOURNAL), ("state", STATE), ("meta", META)];

/// Makes an empty store, so that a crash on the way leaves nothing that looks like one.
pub(super) fn create(dir: &Path) -> Result<(), OpenError> {
    let draft = dir.join("store.db.new");
    for leftover in [draft.clone(), beside(&draft, "-journal"), beside(&draft, "-wal")] {
        match std::fs::remove_file(&leftover) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(OpenError::io("remove", &leftover)(error));
            }
            _ => {}
        }
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    options.open(&draft).map_err(OpenError::io("create", &draft))?;
    fill(&draft).map_err(|error| OpenError::database(&draft, error))?;
    File::open(&draft).and_then(|file| file.sync_all()).map_err(OpenError::io("sync", &draft))?;
    std::fs::rename(&draft, dir.join(FILE)).map_err(OpenError::io("rename", &draft))?;
    sync_dir(dir).map_err(OpenError::io("sync", dir))
}

fn fill(draft: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(draft, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "page_size", PAGE)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    for (_, table) in TABLES {
        connection.execute(table, [])?;
    }
    connection.execute(DOCUMENTS, [])?;
    connection.execute("INSERT INTO meta VALUES(1, 0, 0, 0, 0, ?1)", [Meta::default().seal()])?;
    connection.close().map_err(|(_, error)| error)
}

/// A connection that may write, set up for durable commits.
pub(super) fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    careful(&connection)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", LOG)?;
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    // What is needed for the length of a statement must not need a disk with space.
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(connection)
}

/// A connection that only reads, also while another process writes.
pub(super) fn connect_to_read(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    careful(&connection)?;
    Ok(connection)
}

/// Damaged pages are errors early, and nothing in the file's schema is executed on trust.
fn careful(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)
}

/// Whether this is a store of the format that this version reads.
pub(super) fn identify(connection: &Connection, file: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::database(file, error);
    let application_id: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    if application_id.cast_unsigned() != APPLICATION_ID {
        let application_id = application_id.cast_unsigned();
        return Err(OpenError::Foreign { file: file.to_owned(), application_id });
    }
    if found != FORMAT {
        return Err(OpenError::Format { file: file.to_owned(), found, supported: FORMAT });
    }
    for (name, expected) in TABLES {
        let sql: String = connection
            .query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0))
            .map_err(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => {
                    OpenError::corrupt(file, format!("the table {name} is missing"))
                }
                error => failed(error),
            })?;
        if sql != expected {
            return Err(OpenError::corrupt(file, format!("the definition of the table {name} was changed")));
        }
    }
    Ok(())
}

/// The same path with something appended to its name.
pub(super) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(dir: &Path) -> std::io::Result<()> {
    // Other systems have no way to sync a directory and do not need one.
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}
