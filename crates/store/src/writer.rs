//! The one writer: takes whatever is queued, makes it one durable batch, then publishes it.
//!
//! Nothing is acknowledged, seen by a reader or sent to a feed before the journal has it on disk. Refusals wait for
//! the batch too, because a refusal may be caused by a commit earlier in the same batch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use sexton_model::Revision;
use tokio::sync::oneshot;

use crate::building::{Building, ReplyAll, Waiting};
use crate::engine::{CommitError, Committed, Transaction};
use crate::history::{Change, Retention, Slice};
use crate::journal::{Journal, JournalError};
use crate::local::Shared;
use crate::state::State;

/// With nothing queued for this long the moment counts as quiet. Longer than a client needs to answer a reply, so that
/// a lone client that writes one by one is not disturbed.
const QUIET: Duration = Duration::from_millis(5);
/// How often a quiet writer looks for history that has become too old, and a busy one for unused snapshots.
const REST: Duration = Duration::from_secs(1);
/// How much is folded at once: short enough that a write arriving meanwhile hardly notices.
const SLICE: Slice = Slice { changes: 256, bytes: 1 << 20 };
/// Under load twice of what was committed since is folded, so that the history shrinks.
const LOADED: Slice = Slice { changes: 2 * SLICE.changes, bytes: 2 * SLICE.bytes };

/// How much is folded at once when the disk is full: folding itself needs space until it gives some back.
const SHED: Slice = Slice { changes: 256, bytes: 256 << 10 };

pub(crate) type Reply<T> = oneshot::Sender<Result<T, CommitError>>;

/// What the writer can be asked to do.
pub(crate) enum Command {
    Commit { transaction: Transaction, reply: Reply<Committed> },
    CommitAll { transactions: Vec<Transaction>, reply: ReplyAll },
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
    /// Changes that were folded into the state on disk.
    pub folded: AtomicU64,
}

pub(crate) fn spawn(
    shared: Arc<Shared>,
    journal: Box<dyn Journal>,
    keep: Retention,
    queue: Receiver<Command>,
) -> JoinHandle<()> {
    let compactions = VecDeque::new();
    let unfolded = Slice { changes: 0, bytes: 0 };
    let folded = shared.history().compacted();
    let looked = Instant::now();
    let writer = Writer { shared, journal, keep, broken: None, compactions, folded, unfolded, looked };
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
    /// Asked for and not done yet: worked off in slices, so that commits go on meanwhile.
    compactions: VecDeque<(Revision, Reply<()>)>,
    /// Up to here the journal is folded. Without space that is further than the history is forgotten: feeds and reads
    /// go on, but a restart ends them.
    folded: Revision,
    /// Committed since something was last folded under load.
    unfolded: Slice,
    /// When unused snapshots were last looked for under load.
    looked: Instant,
}

impl Writer {
    fn run(mut self, queue: &Receiver<Command>) {
        let _ending = Ending(self.shared.clone());
        let mut pause = QUIET;
        loop {
            pause = match queue.recv_timeout(pause) {
                Ok(Command::Compact { upto, reply }) => {
                    self.compactions.push_back((upto, reply));
                    Duration::ZERO
                }
                Ok(Command::Close) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(commit) => {
                    if !self.batch(commit, queue) {
                        break;
                    }
                    self.upkeep_under_load();
                    QUIET
                }
                // Slice after slice until there is something to commit or nothing to do.
                Err(RecvTimeoutError::Timeout) if self.upkeep() => Duration::ZERO,
                Err(RecvTimeoutError::Timeout) => REST,
            }
        }
    }

    /// Commits one batch: the given commit and whatever else is queued. False means: close.
    fn batch(&mut self, first: Command, queue: &Receiver<Command>) -> bool {
        let shared = self.shared.clone();
        // Only this thread changes them, and not before the batch is durable.
        let terms = shared.terms();
        let mut building = Building::on(State::clone(&shared.state.load()));
        let mut next = Ok(first);
        let mut go_on = true;
        let mut waited = false;
        loop {
            match next {
                Ok(Command::Commit { transaction, reply }) => building.add(&terms, transaction, reply),
                Ok(Command::CommitAll { transactions, reply }) => {
                    building.add_all(&terms, transactions, reply)
                }
                // The end of the batch, so that it speaks of what was committed before it.
                Ok(Command::Compact { upto, reply }) => {
                    self.compactions.push_back((upto, reply));
                    break;
                }
                Ok(Command::Close) => {
                    go_on = false;
                    break;
                }
                // Several write at once, so more are probably about to: they share this flush if they get the processor.
                Err(_) if !waited && building.replies.len() > 1 => {
                    waited = true;
                    std::thread::yield_now();
                }
                Err(_) => break,
            }
            if building.full() {
                break;
            }
            next = queue.try_recv();
        }
        drop(terms);
        self.finish(building);
        go_on
    }

    fn finish(&mut self, building: Building) {
        let Building { state, changes, terms, replies, bytes } = building;
        match self.make_durable(&changes) {
            Err(CommitError::Full(_)) if replies.len() > 1 => {
                // What needs space must not take along what would free some: each stands for itself.
                replies.into_iter().for_each(|reply| self.alone(reply.again()));
            }
            Ok(()) => {
                self.unfolded.changes += changes.len();
                self.unfolded.bytes += bytes;
                // Before any reader can see the values that they belong to.
                self.shared.terms_mut().accept(terms);
                self.publish(state, &changes);
                replies.into_iter().for_each(Waiting::done);
            }
            Err(error) => replies.into_iter().for_each(|reply| reply.failed(&error)),
        }
    }

    /// Commits a batch of one.
    fn alone(&mut self, command: Command) {
        let shared = self.shared.clone();
        let terms = shared.terms();
        let mut building = Building::on(State::clone(&shared.state.load()));
        match command {
            Command::Commit { transaction, reply } => building.add(&terms, transaction, reply),
            Command::CommitAll { transactions, reply } => building.add_all(&terms, transactions, reply),
            Command::Compact { .. } | Command::Close => return,
        }
        drop(terms);
        self.finish(building);
    }

    fn make_durable(&mut self, changes: &[Arc<Change>]) -> Result<(), CommitError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.writable()?;
        let started = Instant::now();
        let now = SystemTime::now();
        let mut outcome = self.journal.append(changes, now);
        if matches!(outcome, Err(JournalError::Full(_))) && self.shed()? {
            outcome = self.journal.append(changes, now);
        }
        let figures = &self.shared.figures;
        figures.journal_micros.fetch_add(started.elapsed().as_micros() as u64, Ordering::Relaxed);
        outcome.map_err(|error| self.failed(error))?;
        let figures = &self.shared.figures;
        figures.batches.fetch_add(1, Ordering::Relaxed);
        figures.changes.fetch_add(changes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn publish(&mut self, state: State, changes: &[Arc<Change>]) {
        if changes.is_empty() {
            return;
        }
        let revision = state.revision;
        let mut history = self.shared.history_mut();
        let replaced = self.shared.state.swap(Arc::new(state));
        history.extend(changes, Instant::now());
        drop(history);
        self.shared.head.send_replace(revision);
        // Freeing what no reader holds any more is not work for the time in which readers wait.
        drop(replaced);
    }

    fn writable(&self) -> Result<(), CommitError> {
        self.broken.as_ref().map_or(Ok(()), |reason| Err(CommitError::ReadOnly(reason.clone())))
    }

    fn failed(&mut self, error: JournalError) -> CommitError {
        match error {
            JournalError::Full(reason) | JournalError::Busy(reason) => {
                tracing::error!(%reason, "the journal cannot take more now, a batch was refused");
                CommitError::Full(reason)
            }
            JournalError::Broken(reason) => {
                tracing::error!(%reason, "the disk failed, the store is read-only from here on");
                self.broken = Some(reason.clone());
                CommitError::ReadOnly(reason)
            }
        }
    }

    /// One slice of upkeep in a quiet moment. Whether there may be more to do at once.
    fn upkeep(&mut self) -> bool {
        if self.compact_slice() {
            return true;
        }
        let excess = self.shared.history().excess(&self.keep, Instant::now(), SLICE);
        if !excess.is_empty() && self.fold(&excess).is_ok() {
            return true;
        }
        self.journal.idle();
        self.shared.forget_unused_pins();
        false
    }

    /// Under constant load there is no quiet moment; the history must not grow for ever all the same, and a snapshot
    /// that no client reads any more must not keep every value replaced since.
    fn upkeep_under_load(&mut self) {
        self.compact_slice();
        if self.looked.elapsed() >= REST {
            self.looked = Instant::now();
            self.shared.forget_unused_pins();
        }
        if self.unfolded.changes < SLICE.changes && self.unfolded.bytes < SLICE.bytes {
            return;
        }
        self.unfolded = Slice { changes: 0, bytes: 0 };
        let over = |kept: usize, limit: usize| kept > limit.saturating_add(limit / 4);
        let (changes, weight) = self.shared.history().size();
        if over(changes, self.keep.changes) || over(weight, self.keep.bytes) {
            let excess = self.shared.history().excess(&self.keep, Instant::now(), LOADED);
            let _ = self.fold(&excess);
        }
    }

    /// One slice of the compaction that was asked for first. Whether there was one.
    fn compact_slice(&mut self) -> bool {
        let Some((upto, reply)) = self.compactions.pop_front() else { return false };
        let oldest = self.shared.history().oldest(upto, SLICE);
        if oldest.is_empty() {
            self.shared.forget_pins_before(upto);
            let _ = reply.send(Ok(()));
            return true;
        }
        match self.fold(&oldest) {
            Ok(()) => self.compactions.push_front((upto, reply)),
            Err(error) => drop(reply.send(Err(error))),
        }
        true
    }

    fn fold(&mut self, oldest: &[Arc<Change>]) -> Result<(), CommitError> {
        self.writable()?;
        let already = oldest.partition_point(|change| change.revision <= self.folded);
        self.fold_journal(&oldest[already..]).map_err(|error| self.failed(error))?;
        self.shared.history_mut().forget(oldest.len());
        self.shared.figures.folded.fetch_add(oldest.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

impl Writer {
    /// Folds all that can be folded, so that whatever was removed or replaced makes room; the history in memory stays.
    /// Whether anything was.
    fn shed(&mut self) -> Result<bool, CommitError> {
        let (before, mut slice) = (self.folded, SHED);
        loop {
            let next = self.shared.history().following(self.folded, slice);
            let everything =
                next.last().is_none_or(|last| last.revision >= self.shared.state.load().revision);
            match self.fold_journal(&next) {
                Ok(()) if everything => break,
                Ok(()) => slice = SHED,
                // More at once may need less: what was made and removed within a slice is not written.
                Err(JournalError::Full(_)) if !everything => {
                    slice = Slice { changes: slice.changes * 2, bytes: slice.bytes * 2 };
                }
                Err(JournalError::Full(_) | JournalError::Busy(_)) => break,
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(self.folded > before)
    }

    fn fold_journal(&mut self, changes: &[Arc<Change>]) -> Result<(), JournalError> {
        let Some(last) = changes.last() else { return Ok(()) };
        self.journal.fold(changes)?;
        self.folded = last.revision;
        Ok(())
    }
}

/// However the writer ends, even by a panic: feeds wake up, see that the store is closed, and end.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.head.send_modify(|_| ());
    }
}
