//! The journal on SQLite: a batch is one row in one durable transaction.
//!
//! The writer thread is its only user. It must not know which callers wait for a commit.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, params};
use sexton_model::Revision;

use super::checkpoint::Checkpointer;
use super::codec::{self, Head};
use super::fault::judge;
use super::fold;
use super::hint::Hint;
use super::in_use;
use super::lock::DirLock;
use super::meta::Meta;
use super::space::{Class, Space, Urgent};
use crate::history::Change;
use crate::journal::{Journal, JournalError};

const APPEND: &str = "INSERT INTO journal(first, last, at_ms, batch) VALUES(?1, ?2, ?3, ?4)";
/// A row holds no further change once it has so many bytes. Folding frees whole rows, so on a full disk this is how
/// much it needs before it gives anything back.
const ROW_BYTES: usize = 256 << 10;
/// Why a write is refused that would fit, but only into what is left for deletions.
const KEPT: &str =
    "the disk is full (what is left is kept for deletions); delete objects, or free some space";

/// See the module documentation. Fields are dropped in this order: the lock goes last.
#[derive(Debug)]
pub(super) struct SqliteJournal {
    checkpointer: Checkpointer,
    connection: Connection,
    /// As it is on disk.
    meta: Meta,
    space: Space,
    urgent: Urgent,
    /// The class of writes for which the log is folded: that of the last refused write, so that an ordinary write makes
    /// no room for itself out of what is left for deletions.
    folds_for: Class,
    hint: Hint,
    /// Whether the file says that it is in use: from the first write on.
    says_in_use: bool,
    _lock: DirLock,
}

impl Drop for SqliteJournal {
    /// Clears the sign that the file is in use: a process that opens the file next, without a log, has all of it.
    fn drop(&mut self) {
        if self.says_in_use
            && let Err(error) = in_use::clear(&self.connection)
        {
            tracing::warn!(%error, "the file of the store still says that it is in use");
        }
    }
}

impl SqliteJournal {
    pub(super) fn new(
        connection: Connection,
        checkpointer: Checkpointer,
        meta: Meta,
        (space, urgent): (Space, Urgent),
        (hint, lock): (Hint, DirLock),
    ) -> Self {
        let folds_for = Class::Ordinary;
        SqliteJournal {
            checkpointer,
            connection,
            meta,
            space,
            urgent,
            folds_for,
            hint,
            says_in_use: false,
            _lock: lock,
        }
    }

    /// Runs `work` as one transaction, which also makes `meta` the new row of that table. Without space it is tried once
    /// more, when all is done that makes some.
    fn transaction(
        &mut self,
        doing: &str,
        meta: Meta,
        class: impl Fn() -> Class,
        work: impl Fn(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), JournalError> {
        match self.attempt(doing, meta, &class, &work) {
            Err(JournalError::Full(_)) => {}
            outcome => return outcome,
        }
        self.make_room();
        self.space.lend();
        let outcome = self.attempt(doing, meta, &class, &work);
        self.space.renew();
        outcome
    }

    fn attempt(
        &mut self,
        doing: &str,
        meta: Meta,
        class: &impl Fn() -> Class,
        work: &impl Fn(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), JournalError> {
        let (connection, space) = (&self.connection, &mut self.space);
        let run = |sql: &str| connection.prepare_cached(sql)?.execute([]).map(|_| ());
        let outcome = run("BEGIN IMMEDIATE")
            .and_then(|()| work(connection))
            .and_then(|()| meta.write(connection))
            // Mostly there is space for any, and it need not be known which it is.
            .and_then(|()| {
                Ok(space.admits(connection, Class::Ordinary)? || space.admits(connection, class())?)
            })
            .and_then(|admitted| if admitted { run("COMMIT").map(|()| true) } else { Ok(false) });
        // Some errors have rolled back already.
        if !matches!(outcome, Ok(true))
            && !connection.is_autocommit()
            && let Err(second) = run("ROLLBACK")
        {
            let first = outcome.err().map_or_else(|| KEPT.to_owned(), |error| error.to_string());
            return Err(JournalError::Broken(format!("{doing}: {first}; rolling back: {second}")));
        }
        match outcome {
            Ok(true) => {}
            Ok(false) => return Err(JournalError::Full(KEPT.to_owned())),
            Err(error) => return Err(judge(doing, &error)),
        }
        self.meta = meta;
        self.space.committed();
        Ok(())
    }

    /// Moves all of the log into the file and empties it.
    fn make_room(&mut self) {
        self.space.lend_owed();
        if self.checkpointer.empty(&self.connection) {
            self.space.prepare_log();
        }
        self.space.renew();
    }

    /// What comes after a commit of so many bytes.
    fn wrote(&mut self, bytes: usize) {
        self.checkpointer.wrote(&self.connection, bytes);
        self.hint.sync_if_late();
        if self.space.is_strained() {
            self.make_room();
        }
    }

    /// Without space it cannot be said; then a copy of the file alone would not be noticed.
    fn say_in_use(&mut self) -> Result<(), JournalError> {
        if self.says_in_use {
            return Ok(());
        }
        match in_use::set(&self.connection).map_err(|error| judge("saying that the file is in use", &error)) {
            Err(broken @ JournalError::Broken(_)) => Err(broken),
            Err(busy @ JournalError::Busy(_)) => Err(busy),
            Ok(()) | Err(JournalError::Full(_)) => {
                self.says_in_use = true;
                Ok(())
            }
        }
    }

    fn healthy(&self) -> Result<(), JournalError> {
        self.checkpointer.failure().map_or(Ok(()), |reason| Err(JournalError::Broken(reason)))
    }
}

impl Journal for SqliteJournal {
    fn append(&mut self, batch: &[Arc<Change>], at: SystemTime) -> Result<(), JournalError> {
        let Some(last) = batch.last() else { return Ok(()) };
        self.healthy()?;
        self.say_in_use()?;
        let at_ms = milliseconds(at);
        let rows: Vec<(Head, Vec<u8>)> = rows(batch).map(|row| encoded(row, at_ms)).collect();
        let meta = Meta { head: last.revision, ..self.meta };
        let urgent = self.urgent;
        let outcome = self.transaction(
            "appending to the journal",
            meta,
            || Class::of(batch, urgent),
            |connection| {
                let mut append = connection.prepare_cached(APPEND)?;
                for (head, bytes) in &rows {
                    append.execute(params![head.first, head.last, head.at_ms, bytes])?;
                }
                Ok(())
            },
        );
        let full = matches!(outcome, Err(JournalError::Full(_)));
        self.folds_for = if full { Class::of(batch, urgent) } else { Class::Ordinary };
        outcome?;
        self.hint.note(last.revision);
        self.wrote(rows.iter().map(|(_, bytes)| bytes.len()).sum());
        Ok(())
    }

    fn fold(&mut self, changes: &[Arc<Change>]) -> Result<(), JournalError> {
        let Some(last) = changes.last() else { return Ok(()) };
        self.healthy()?;
        let mut meta = Meta { compacted: last.revision, ..self.meta };
        let net = fold::net(changes, &mut meta);
        let class = self.folds_for;
        self.transaction(
            "folding the journal",
            meta,
            || class,
            |connection| net.write(connection, last.revision),
        )?;
        self.wrote(net.bytes());
        Ok(())
    }

    fn idle(&mut self) {
        self.checkpointer.rest();
        self.hint.sync_if_late();
        self.space.renew();
    }
}

/// The changes of each row of a batch.
fn rows(batch: &[Arc<Change>]) -> impl Iterator<Item = &[Arc<Change>]> {
    let mut rest = batch;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |change: &&Arc<Change>| {
            let fits = bytes < ROW_BYTES;
            bytes += change.size();
            fits
        };
        let count = rest.iter().take_while(fits).count();
        let (row, later) = rest.split_at(count);
        rest = later;
        (!row.is_empty()).then_some(row)
    })
}

fn encoded(row: &[Arc<Change>], at_ms: i64) -> (Head, Vec<u8>) {
    let number = |change: Option<&Arc<Change>>| change.map_or(0, |change| signed(change.revision));
    let head = Head { first: number(row.first()), last: number(row.last()), at_ms };
    let mut bytes = Vec::new();
    codec::encode(head, row, &mut bytes);
    (head, bytes)
}

fn signed(revision: Revision) -> i64 {
    revision.get().cast_signed()
}

/// Since 1970; what lies outside of all calendars is cut off.
fn milliseconds(at: SystemTime) -> i64 {
    match at.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}
