//! A row in the file itself that is there from the first write of a process until it ends.
//!
//! A file that has it and comes without its log was copied while a process wrote, or lost the log: what it holds is not
//! all there was. The row is moved into the file before anything else is written, hence every such copy has it.

use rusqlite::Connection;

use super::checkpoint;

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS in_use(id INTEGER PRIMARY KEY CHECK(id = 1), process INTEGER NOT NULL)";
const BEGIN: &str = "INSERT OR REPLACE INTO in_use VALUES(1, ?1)";
const END: &str = "DELETE FROM in_use";
/// Stores of older versions have no such table.
const HAS_TABLE: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'in_use'";
const IS: &str = "SELECT count(*) FROM in_use";

/// Whether the row is there.
pub(super) fn is_set(connection: &Connection) -> rusqlite::Result<bool> {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    Ok(count(HAS_TABLE)? > 0 && count(IS)? > 0)
}

/// Puts the row into the file.
pub(super) fn set(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let outcome = connection
        .execute(TABLE, [])
        .and_then(|_| connection.execute(BEGIN, [std::process::id()]))
        .and_then(|_| connection.execute_batch("COMMIT"));
    if outcome.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    outcome?;
    checkpoint::passive(connection).map(drop)
}

/// Takes the row out.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    if is_set(connection)? {
        connection.execute(END, [])?;
    }
    Ok(())
}
