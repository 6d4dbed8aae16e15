//! The engine whose state lives in this process: readers take snapshots, one writer thread commits.
//!
//! It must not know how its journal makes things durable.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, mpsc};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use sexton_model::{Revision, Term};
use tokio::sync::{oneshot, watch};

use crate::engine::{
    At, CommitError, Committed, Engine, KeyRange, Page, RawKey, ReadError, Snapshot, Transaction,
};
use crate::feed::{ChangeFeed, LocalFeed};
use crate::history::{Change, History, Retention, rewind};
use crate::journal::{Journal, Recovered};
use crate::pins::Pins;
use crate::state::{Entry, State};
use crate::terms::{self, Indexer, TermIndex};
use crate::writer::{self, Command, Figures};

/// What readers, feeds and the writer share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The latest durable state. Replaced only while the history is locked for writing, so that a holder of the
    /// history's lock sees a state and a history that belong together.
    pub(crate) state: ArcSwap<State>,
    history: RwLock<History>,
    /// Belongs to the state, but is read on its own: a transaction that was decided by it carries a guard.
    terms: RwLock<TermIndex>,
    /// Wakes feeds.
    pub(crate) head: watch::Sender<Revision>,
    pub(crate) closed: AtomicBool,
    pins: Mutex<Pins>,
    pub(crate) figures: Figures,
}

impl Shared {
    pub(crate) fn history(&self) -> RwLockReadGuard<'_, History> {
        // A panic while holding the lock cannot leave the history half changed in a way that matters more than
        // going on serving reads, so poisoning is passed over.
        self.history.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn history_mut(&self) -> RwLockWriteGuard<'_, History> {
        self.history.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn terms(&self) -> RwLockReadGuard<'_, TermIndex> {
        self.terms.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn terms_mut(&self) -> RwLockWriteGuard<'_, TermIndex> {
        self.terms.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state a read speaks of.
    fn at(&self, at: At) -> Result<State, ReadError> {
        self.open()?;
        let revision = match at {
            At::Latest => return Ok(State::clone(&self.state.load())),
            At::Exactly(revision) => revision,
        };
        let pinned = self.pins().get(revision);
        if let Some(pinned) = pinned {
            return Ok(pinned);
        }
        let (latest, later) = self.later(revision)?;
        // Undoing may take long: it happens without the lock, which the writer needs for every commit.
        let state = rewind(&latest, &later, revision);
        self.pins().keep(&state);
        Ok(state)
    }

    /// The latest state and every change between `revision` and it.
    fn later(&self, revision: Revision) -> Result<(Arc<State>, Vec<Arc<Change>>), ReadError> {
        let history = self.history();
        let latest = self.state.load_full();
        if revision > latest.revision {
            return Err(ReadError::Future { asked: revision, head: latest.revision });
        }
        let later = history
            .since(revision)
            .ok_or(ReadError::Compacted { asked: revision, oldest: history.compacted() })?
            .cloned()
            .collect();
        Ok((latest, later))
    }

    fn open(&self) -> Result<(), ReadError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(ReadError::Unavailable("the store is closed".into()));
        }
        Ok(())
    }

    /// Drops snapshots that no client pages through any more.
    pub(crate) fn forget_unused_pins(&self) {
        self.pins().expire();
    }

    /// After a compaction that was asked for, older snapshots are gone too.
    pub(crate) fn forget_pins_before(&self, upto: Revision) {
        let oldest = upto.min(self.history().compacted());
        self.pins().forget_before(oldest);
    }

    fn pins(&self) -> std::sync::MutexGuard<'_, Pins> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An engine in this process.
#[derive(Debug)]
pub struct LocalEngine {
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl LocalEngine {
    /// Starts the writer thread on what a journal held; no value has terms.
    pub fn start(journal: impl Journal, recovered: Recovered, keep: Retention) -> LocalEngine {
        LocalEngine::start_indexed(journal, recovered, keep, terms::nothing)
    }

    /// Starts the writer thread on what a journal held, with this function to read the terms of values.
    pub fn start_indexed(
        journal: impl Journal,
        recovered: Recovered,
        keep: Retention,
        indexer: Indexer,
    ) -> LocalEngine {
        let mut history = History::after(recovered.compacted);
        let (now, wall) = (Instant::now(), SystemTime::now());
        for (change, at) in recovered.history {
            // A clock that was set back makes changes younger, never older than the machine has been up.
            let age = wall.duration_since(at).unwrap_or_default();
            history.extend(&[change], now.checked_sub(age).unwrap_or(now));
        }
        let shared = Arc::new(Shared {
            head: watch::Sender::new(recovered.state.revision),
            terms: RwLock::new(TermIndex::of(&recovered.state, indexer)),
            state: ArcSwap::from_pointee(recovered.state),
            history: RwLock::new(history),
            closed: AtomicBool::new(false),
            pins: Mutex::new(Pins::default()),
            figures: Figures::default(),
        });
        let (commands, queue) = mpsc::channel();
        let writer = writer::spawn(shared.clone(), Box::new(journal), keep, queue);
        LocalEngine { shared, commands, writer: Mutex::new(Some(writer)) }
    }

    /// Running totals of the writer, for metrics.
    pub fn figures(&self) -> &Figures {
        &self.shared.figures
    }

    /// How many keys there are, how many changes are kept and what those weigh, for metrics.
    pub fn size(&self) -> (usize, usize, usize) {
        let (changes, weight) = self.shared.history().size();
        (self.shared.state.load().map.len(), changes, weight)
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, CommitError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).map_err(|_| CommitError::Closed)?;
        answer.await.map_err(|_| CommitError::Closed)
    }
}

#[async_trait]
impl Engine for LocalEngine {
    async fn commit(&self, transaction: Transaction) -> Result<Committed, CommitError> {
        self.ask(|reply| Command::Commit { transaction, reply }).await?
    }

    async fn commit_all(&self, transactions: Vec<Transaction>) -> Vec<Result<Committed, CommitError>> {
        let count = transactions.len();
        let outcomes = self.ask(|reply| Command::CommitAll { transactions, reply }).await;
        outcomes.unwrap_or_else(|error| vec![Err(error); count])
    }

    async fn get(&self, key: &[u8], at: At) -> Result<Option<Entry>, ReadError> {
        match at {
            At::Latest => {
                self.shared.open()?;
                Ok(self.shared.state.load().map.get(key).cloned())
            }
            At::Exactly(_) => Ok(self.shared.at(at)?.map.get(key).cloned()),
        }
    }

    async fn range(&self, range: &KeyRange, at: At, limit: Option<usize>) -> Result<Page, ReadError> {
        let state = self.shared.at(at)?;
        let page = state.page(range, limit);
        // The client will probably ask for the next page of exactly this snapshot. A page of one entry is more often a
        // check whether there is anything, which must not push out the snapshots of clients that do page; if its client
        // goes on all the same, it is served from the history.
        if page.more && page.entries.len() > 1 {
            self.shared.pins().keep(&state);
        }
        Ok(page)
    }

    async fn snapshot(&self, at: At) -> Result<Arc<dyn Snapshot>, ReadError> {
        Ok(Arc::new(self.shared.at(at)?))
    }

    async fn count(&self, range: &KeyRange, at: At) -> Result<usize, ReadError> {
        Ok(self.shared.at(at)?.count(range))
    }

    async fn with_term(&self, term: Term, limit: usize) -> Result<Vec<RawKey>, ReadError> {
        self.shared.open()?;
        Ok(self.shared.terms().keys(term, limit))
    }

    async fn changes(&self, range: KeyRange, after: Revision) -> Result<Box<dyn ChangeFeed>, ReadError> {
        self.shared.open()?;
        let head = self.shared.state.load().revision;
        if after > head {
            return Err(ReadError::Future { asked: after, head });
        }
        let oldest = self.shared.history().compacted();
        if after < oldest {
            return Err(ReadError::Compacted { asked: after, oldest });
        }
        Ok(Box::new(LocalFeed::new(self.shared.clone(), range, after)))
    }

    async fn head(&self) -> Result<Revision, ReadError> {
        self.shared.open()?;
        Ok(self.shared.state.load().revision)
    }

    async fn compact(&self, upto: Revision) -> Result<(), CommitError> {
        self.ask(|reply| Command::Compact { upto, reply }).await?
    }

    async fn close(&self) {
        let _ = self.commands.send(Command::Close);
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // The thread ends after its current batch; waiting for it keeps "closed" honest (the lock is released).
            let _ = tokio::task::spawn_blocking(move || writer.join()).await;
        }
    }
}

#[async_trait]
impl Snapshot for State {
    fn revision(&self) -> Revision {
        self.revision
    }

    async fn page(&self, range: &KeyRange, limit: usize) -> Result<Page, ReadError> {
        Ok(State::page(self, range, Some(limit)))
    }
}

impl Drop for LocalEngine {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Close);
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = writer.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Op;

    #[tokio::test]
    async fn a_look_whether_there_is_anything_pins_nothing() {
        let engine = crate::memory::open(Retention::default());
        let put = |key: String| Op::Put { key: key.into_bytes().into(), value: b"v"[..].into() };
        let ops = (0..9).map(|number| put(format!("k{number}"))).collect();
        engine.commit(Transaction { guards: Vec::new(), ops }).await.unwrap();
        let all = KeyRange::all();
        let paged = engine.range(&all, At::Latest, Some(3)).await.unwrap().revision;
        for number in 0..40 {
            let ops = vec![put(format!("n{number}"))];
            engine.commit(Transaction { guards: Vec::new(), ops }).await.unwrap();
            assert_eq!(engine.range(&all, At::Latest, Some(1)).await.unwrap().entries.len(), 1);
        }
        assert!(engine.shared.pins().get(paged).is_some());
        // Going on from a single entry works all the same.
        let first = engine.range(&all, At::Latest, Some(1)).await.unwrap();
        engine.commit(Transaction { guards: Vec::new(), ops: vec![put("z".into())] }).await.unwrap();
        let rest = all.after(&first.entries[0].0);
        let page = engine.range(&rest, At::Exactly(first.revision), None).await.unwrap();
        assert_eq!((page.revision, page.entries.len()), (first.revision, 48));
    }
}
