//! Moves what was committed from the write-ahead log into the database file, off the writer's path.
//!
//! SQLite starts its log again from the beginning only when everything in it was moved. A thread that moves while the
//! writer appends never quite gets there, so the writer moves the short rest itself once the log is long enough: the
//! log stays bounded, is overwritten instead of grown (a sync of a growing file costs twice as much), and the writer
//! waits for a few milliseconds once in a while instead of for whole checkpoints.
//!
//! It must not know what the database holds.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::schema::PATIENCE;

/// After this many bytes the thread is asked to move what is there.
const NUDGE: usize = 4 << 20;
/// From this length on the writer finishes what the thread began, so that the log starts again.
const RESTART: usize = 16 << 20;
/// From this length on it does so even if it has to wait for the thread.
const LIMIT: usize = 64 << 20;
/// What a small transaction writes beside its own bytes: a few pages.
const OVERHEAD: usize = 3 * 4096;

/// The thread and what the writer knows of the log.
#[derive(Debug)]
pub(super) struct Checkpointer {
    /// `None` only while being dropped: that ends the thread.
    nudge: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
    /// Written since the thread was nudged.
    fresh: usize,
    /// Written since the log began again, as far as is known.
    length: usize,
    /// The thread's passes when the writer last looked.
    seen: usize,
}

#[derive(Debug, Default)]
struct Shared {
    /// Held during a pass of the thread.
    pass: Mutex<()>,
    /// Finished passes of the thread.
    passes: AtomicUsize,
    failure: Mutex<Option<String>>,
}

impl Checkpointer {
    /// Starts the thread on a connection of its own.
    pub(super) fn spawn(connection: Connection) -> std::io::Result<Checkpointer> {
        let shared = Arc::new(Shared::default());
        // One waiting nudge says as much as many.
        let (nudge, nudged) = sync_channel(1);
        let thread = std::thread::Builder::new().name("store-checkpoint".into()).spawn({
            let shared = shared.clone();
            move || work(&connection, &shared, &nudged)
        })?;
        Ok(Checkpointer { nudge: Some(nudge), thread: Some(thread), shared, fresh: 0, length: 0, seen: 0 })
    }

    /// The writer has committed this many bytes on `connection`.
    pub(super) fn wrote(&mut self, connection: &Connection, bytes: usize) {
        self.fresh += bytes + OVERHEAD;
        self.length += bytes + OVERHEAD;
        if self.fresh >= NUDGE {
            self.rest();
        }
        if self.length < RESTART {
            return;
        }
        let passes = self.shared.passes.load(Ordering::Acquire);
        if self.length >= LIMIT {
            drop(lock(&self.shared.pass));
            self.finish(connection);
        } else if passes != self.seen {
            // A pass just ended, so there is little left.
            self.finish(connection);
        }
        self.seen = passes;
    }

    /// A good moment for the thread to work.
    pub(super) fn rest(&mut self) {
        if self.fresh > 0
            && let Some(nudge) = &self.nudge
        {
            self.fresh = 0;
            let _ = nudge.try_send(());
        }
    }

    /// Moves everything now, waiting for the thread if it is at it, and gives the log's space back. Whether it could be.
    pub(super) fn empty(&mut self, connection: &Connection) -> bool {
        let shared = self.shared.clone();
        let _no_pass = lock(&shared.pass);
        let empty = pass(connection, &shared) && truncate(connection);
        if empty {
            (self.length, self.fresh) = (0, 0);
        }
        empty
    }

    /// Why the file can no longer be trusted to take what is in the log.
    pub(super) fn failure(&self) -> Option<String> {
        lock(&self.shared.failure).clone()
    }

    /// Moves everything, so that the next commit starts the log again.
    fn finish(&mut self, connection: &Connection) {
        if pass(connection, &self.shared) {
            self.length = 0;
        } else if self.length >= LIMIT {
            tracing::warn!(
                "the write-ahead log of the store cannot be reused and grows: another process has been reading the \
                 file for long, or the disk is slow or full"
            );
            // Trying in every commit would only cost time.
            self.length = LIMIT - RESTART;
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.nudge = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(connection: &Connection, shared: &Shared, nudged: &Receiver<()>) {
    while nudged.recv().is_ok() {
        let held = lock(&shared.pass);
        pass(connection, shared);
        drop(held);
        shared.passes.fetch_add(1, Ordering::Release);
    }
}

/// Moves the frames that can be moved without waiting for readers or writers; returns whether that was all of them.
pub(super) fn passive(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |row| {
        // Whether another checkpoint was in the way, the frames in the log, and how many of them are moved.
        let (busy, in_log, moved): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(busy == 0 && in_log == moved)
    })
}

/// Cuts off a log of which everything is moved. A foreign reader is not waited for.
fn truncate(connection: &Connection) -> bool {
    let at_once = connection.busy_timeout(Duration::ZERO);
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    let restored = connection.busy_timeout(PATIENCE);
    at_once.is_ok() && restored.is_ok() && busy.is_ok_and(|busy| busy == 0)
}

/// One pass, whose failures are remembered; returns whether everything was moved.
fn pass(connection: &Connection, shared: &Shared) -> bool {
    match passive(connection) {
        Ok(everything) => everything,
        Err(error) => {
            match error.sqlite_error_code() {
                // The log still has everything; a later pass may work.
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull) => {
                    tracing::debug!(%error, "a checkpoint has to wait");
                }
                _ => {
                    tracing::error!(%error, "a checkpoint failed");
                    *lock(&shared.failure) = Some(format!("moving commits into the file: {error}"));
                }
            }
            false
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
