//! The journal on SQLite: a batch is one row in one durable transaction.
//!
//! The writer thread is its only user. It must not know who waits for a commit.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, params};
use sexton_model::Revision;

use super::checkpoint::Checkpointer;
use super::codec::{self, Head};
use super::fault::judge;
use super::fold;
use super::lock::DirLock;
use super::meta::Meta;
use super::reserve::Reserve;
use crate::history::Change;
use crate::journal::{Journal, JournalError};

const APPEND: &str = "INSERT INTO journal(first, last, at_ms, batch) VALUES(?1, ?2, ?3, ?4)";
/// One extraordinary batch must not keep its buffer for ever.
const BUFFER: usize = 4 << 20;

/// See the module documentation. Fields are dropped in this order: the lock goes last.
#[derive(Debug)]
pub(super) struct SqliteJournal {
    checkpointer: Checkpointer,
    connection: Connection,
    /// As it is on disk.
    meta: Meta,
    buffer: Vec<u8>,
    reserve: Reserve,
    _lock: DirLock,
}

impl SqliteJournal {
    pub(super) fn new(
        connection: Connection,
        checkpointer: Checkpointer,
        meta: Meta,
        reserve: Reserve,
        lock: DirLock,
    ) -> Self {
        SqliteJournal { checkpointer, connection, meta, buffer: Vec::new(), reserve, _lock: lock }
    }

    /// Runs `work` as one transaction, which also makes `meta` the new row of that table.
    fn transaction(
        &mut self,
        doing: &str,
        meta: Meta,
        work: impl FnOnce(&Connection, &[u8]) -> rusqlite::Result<()>,
    ) -> Result<(), JournalError> {
        let connection = &self.connection;
        let run = |sql: &str| connection.prepare_cached(sql)?.execute([]).map(|_| ());
        let outcome = run("BEGIN IMMEDIATE")
            .and_then(|()| work(connection, &self.buffer))
            .and_then(|()| meta.write(connection))
            .and_then(|()| run("COMMIT"));
        if let Err(error) = outcome {
            // Some errors have rolled back already.
            if !connection.is_autocommit()
                && let Err(second) = run("ROLLBACK")
            {
                return Err(JournalError::Broken(format!("{doing}: {error}; rolling back: {second}")));
            }
            return Err(judge(doing, &error));
        }
        self.meta = meta;
        Ok(())
    }

    fn insert(&mut self, head: Head, meta: Meta) -> Result<(), JournalError> {
        self.transaction("appending to the journal", meta, |connection, bytes| {
            let row = params![head.first, head.last, head.at_ms, bytes];
            connection.prepare_cached(APPEND)?.execute(row).map(|_| ())
        })
    }

    fn healthy(&self) -> Result<(), JournalError> {
        self.checkpointer.failure().map_or(Ok(()), |reason| Err(JournalError::Broken(reason)))
    }
}

impl Journal for SqliteJournal {
    fn append(&mut self, batch: &[Arc<Change>], at: SystemTime) -> Result<(), JournalError> {
        let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return Ok(()) };
        self.healthy()?;
        let head =
            Head { first: signed(first.revision), last: signed(last.revision), at_ms: milliseconds(at) };
        codec::encode(head, batch, &mut self.buffer);
        let meta = Meta { head: last.revision, ..self.meta };
        let mut outcome = self.insert(head, meta);
        // Removals are how space is freed.
        let only_removes = || batch.iter().all(|change| change.after.is_none());
        if matches!(outcome, Err(JournalError::Full(_))) && only_removes() && self.reserve.release() {
            outcome = self.insert(head, meta);
        }
        let written = self.buffer.len();
        if self.buffer.capacity() > BUFFER {
            self.buffer = Vec::new();
        }
        outcome?;
        self.checkpointer.wrote(&self.connection, written);
        Ok(())
    }

    fn fold(&mut self, changes: &[Arc<Change>]) -> Result<(), JournalError> {
        let Some(last) = changes.last() else { return Ok(()) };
        self.healthy()?;
        let mut meta = Meta { compacted: last.revision, ..self.meta };
        let net = fold::net(changes, &mut meta);
        self.transaction("folding the journal", meta, |connection, _| net.write(connection, last.revision))?;
        self.checkpointer.wrote(&self.connection, net.bytes());
        Ok(())
    }

    fn idle(&mut self) {
        self.checkpointer.rest();
        self.reserve.renew();
    }
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
