//! The one writer: takes whatever is queued, makes it one durable batch, then publishes it.
//!
//! Nothing is acknowledged, seen by a reader or sent to a feed before the journal has it on disk. Refusals wait for
//! the batch too, because a refusal may be caused by a commit earlier in the same batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use sexton_model::Revision;
use tokio::sync::oneshot;

use crate::engine::{CommitError, Committed, Op, Transaction};
use crate::history::{Change, Retention};
use crate::journal::{Journal, JournalError};
use crate::local::Shared;
use crate::state::{Entry, State};

/// Larger batches only add latency: at this size the disk is no longer the limit.
const BATCH_OPS: usize = 1024;
const BATCH_BYTES: usize = 1 << 20;
/// With nothing queued for this long the moment counts as idle.
const IDLE: Duration = Duration::from_millis(20);
/// How many changes are folded at once: short enough that a write arriving meanwhile hardly notices.
const FOLD_SLICE: usize = 64;
/// When history is this many times over its limits it is folded even though the writer is busy.
const OVERDUE: usize = 2;

type Reply<T> = oneshot::Sender<Result<T, CommitError>>;

/// What the writer can be asked to do.
pub(crate) enum Command {
    Commit { transaction: Transaction, reply: Reply<Committed> },
    Compact { upto: Revision, reply: Reply<()> },
    Close,
}

/// Running totals, for metrics.
#[derive(Debug, Default)]
pub struct Figures {
    /// Durable batches.
    pub batches: AtomicU64,
    /// Durable changes.
    pub changes: AtomicU64,
    /// Microseconds spent in the journal.
    pub journal_micros: AtomicU64,
}

pub(crate) fn spawn(
    shared: Arc<Shared>,
    journal: Box<dyn Journal>,
    keep: Retention,
    queue: Receiver<Command>,
) -> JoinHandle<()> {
    let writer = Writer { shared, journal, keep, broken: None };
    std::thread::Builder::new()
        .name("store-writer".into())
        .spawn(move || writer.run(&queue))
        .unwrap_or_else(|error| panic!("cannot start the writer thread: {error}"))
}

struct Writer {
    shared: Arc<Shared>,
    journal: Box<dyn Journal>,
    keep: Retention,
    /// Set once the disk failed in a way after which no write may claim success.
    broken: Option<String>,
}

impl Writer {
    fn run(mut self, queue: &Receiver<Command>) {
        loop {
            match queue.recv_timeout(IDLE) {
                Ok(Command::Commit { transaction, reply }) => {
                    if !self.batch(transaction, reply, queue) {
                        break;
                    }
                    self.fold_overdue();
                }
                Ok(Command::Compact { upto, reply }) => {
                    let _ = reply.send(self.compact(upto));
                }
                Ok(Command::Close) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.idle(),
            }
        }
        self.shared.closed.store(true, Ordering::Release);
        // Feeds wake up, see that the store is closed, and end.
        self.shared.head.send_modify(|_| ());
    }

    /// Commits one batch: the given transaction and whatever else is queued. False means: close.
    fn batch(&mut self, first: Transaction, reply: Reply<Committed>, queue: &Receiver<Command>) -> bool {
        let mut building = Building::on(State::clone(&self.shared.state.load()));
        building.add(first, reply);
        let mut then = None;
        while !building.full() {
            match queue.try_recv() {
                Ok(Command::Commit { transaction, reply }) => building.add(transaction, reply),
                Ok(other) => {
                    then = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        self.finish(building);
        match then {
            Some(Command::Compact { upto, reply }) => {
                let _ = reply.send(self.compact(upto));
                true
            }
            Some(_) => false,
            None => true,
        }
    }

    fn finish(&mut self, building: Building) {
        let Building { state, changes, replies, .. } = building;
        match self.make_durable(&changes) {
            Ok(at) => {
                self.publish(state, &changes, at);
                for (reply, outcome) in replies {
                    let _ = reply.send(outcome);
                }
            }
            // Even refusals become this error: they may rest on commits that did not happen.
            Err(error) => {
                for (reply, _) in replies {
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
    }

    fn make_durable(&mut self, changes: &[Arc<Change>]) -> Result<SystemTime, CommitError> {
        let at = SystemTime::now();
        if changes.is_empty() {
            return Ok(at);
        }
        if let Some(reason) = &self.broken {
            return Err(CommitError::ReadOnly(reason.clone()));
        }
        let started = Instant::now();
        let outcome = self.journal.append(changes, at);
        let figures = &self.shared.figures;
        figures.journal_micros.fetch_add(started.elapsed().as_micros() as u64, Ordering::Relaxed);
        figures.batches.fetch_add(1, Ordering::Relaxed);
        figures.changes.fetch_add(changes.len() as u64, Ordering::Relaxed);
        outcome.map(|()| at).map_err(|error| self.failed(error))
    }

    fn publish(&mut self, state: State, changes: &[Arc<Change>], at: SystemTime) {
        if changes.is_empty() {
            return;
        }
        let revision = state.revision;
        let mut history = self.shared.history_mut();
        self.shared.state.store(Arc::new(state));
        history.extend(changes, at);
        drop(history);
        self.shared.head.send_replace(revision);
    }

    fn failed(&mut self, error: JournalError) -> CommitError {
        match error {
            JournalError::Full(reason) => {
                tracing::error!(%reason, "the disk is full, a batch was refused");
                CommitError::Full(reason)
            }
            JournalError::Broken(reason) => {
                tracing::error!(%reason, "the disk failed, the store is read-only from here on");
                self.broken = Some(reason.clone());
                CommitError::ReadOnly(reason)
            }
        }
    }

    fn idle(&mut self) {
        let excess = self.shared.history().excess(&self.keep, SystemTime::now(), FOLD_SLICE);
        if !excess.is_empty() && self.broken.is_none() {
            let _ = self.fold(&excess);
        }
        self.journal.idle();
    }

    /// Under constant load there is no idle moment; the history must not grow for ever all the same.
    fn fold_overdue(&mut self) {
        let (changes, weight) = self.shared.history().size();
        if changes > self.keep.changes * OVERDUE || weight > self.keep.bytes.saturating_mul(OVERDUE) {
            let excess = self.shared.history().excess(&self.keep, SystemTime::now(), BATCH_OPS);
            if self.broken.is_none() {
                let _ = self.fold(&excess);
            }
        }
    }

    fn compact(&mut self, upto: Revision) -> Result<(), CommitError> {
        loop {
            let oldest = self.shared.history().oldest(upto, BATCH_OPS);
            if oldest.is_empty() {
                return Ok(());
            }
            self.fold(&oldest)?;
        }
    }

    fn fold(&mut self, oldest: &[Arc<Change>]) -> Result<(), CommitError> {
        if let Err(error) = self.journal.fold(oldest) {
            return Err(self.failed(error));
        }
        self.shared.history_mut().forget(oldest.len());
        Ok(())
    }
}

/// A batch in the making: transactions applied one after the other to a working copy of the state.
struct Building {
    state: State,
    changes: Vec<Arc<Change>>,
    replies: Vec<(Reply<Committed>, Result<Committed, CommitError>)>,
    bytes: usize,
}

impl Building {
    fn on(state: State) -> Building {
        Building { state, changes: Vec::new(), replies: Vec::new(), bytes: 0 }
    }

    fn full(&self) -> bool {
        self.changes.len() >= BATCH_OPS || self.bytes >= BATCH_BYTES || self.replies.len() >= BATCH_OPS
    }

    fn add(&mut self, transaction: Transaction, reply: Reply<Committed>) {
        let outcome = match transaction.guards.iter().position(|guard| !self.state.holds(guard)) {
            Some(guard) => Err(CommitError::Conflict { guard }),
            None => {
                transaction.ops.into_iter().for_each(|op| self.apply(op));
                Ok(Committed { revision: self.state.revision })
            }
        };
        self.replies.push((reply, outcome));
    }

    fn apply(&mut self, op: Op) {
        let revision = self.state.revision.next();
        let (key, after) = match op {
            Op::Put { key, value } => (key, Some(value)),
            Op::Delete { key } if self.state.map.contains_key(key.as_ref() as &[u8]) => (key, None),
            Op::Delete { .. } => return,
        };
        self.bytes += key.len() + after.as_ref().map_or(0, |value| value.len());
        let entry = after.as_ref().map(|value| Entry { revision, value: value.clone() });
        let before = self.state.set(&key, entry);
        self.state.revision = revision;
        self.changes.push(Arc::new(Change { revision, key, before, after }));
    }
}
