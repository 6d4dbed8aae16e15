//! Writes records in a task of its own. Changes are gathered, so that a record which changes often is written once,
//! in its latest state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sexton_model::collection::Collection;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::records::Records;

/// How long changes are gathered: people read records, so a delay is no harm.
const GATHER: Duration = Duration::from_millis(200);
/// How long to wait after a failed write.
const AGAIN: Duration = Duration::from_secs(2);
/// Finished collections between two removals of old records.
const PRUNE_EVERY: usize = 20;

/// Records with a latest state that may not be stored, by name, each with the number of that state.
#[derive(Debug, Clone, Default)]
struct Pending(Arc<Mutex<HashMap<String, u64>>>);

impl Pending {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a new state of a record.
    fn add(&self, name: &str) -> u64 {
        let mut pending = self.lock();
        let number = pending.get(name).copied().unwrap_or(0) + 1;
        pending.insert(name.to_owned(), number);
        number
    }

    /// Notes that a state is stored, or never will be.
    fn settle(&self, name: &str, number: u64) {
        let mut pending = self.lock();
        if pending.get(name) == Some(&number) {
            pending.remove(name);
        }
    }
}

/// A state of a record, and its number among those that are not stored yet.
type State = (u64, Collection);

/// Accepts records and writes them later. Dropping it stops that: what is not written then never is.
#[derive(Debug)]
pub(crate) struct Scribe {
    send: mpsc::UnboundedSender<State>,
    pending: Pending,
    writing: JoinSet<()>,
    hurry: Arc<Notify>,
}

impl Scribe {
    /// Begins to write.
    pub(crate) fn start(records: Records, clock: Arc<dyn Clock>) -> Scribe {
        let (send, receive) = mpsc::unbounded_channel();
        let (hurry, pending, latest) = (Arc::new(Notify::new()), Pending::default(), BTreeMap::new());
        let writer = Writer {
            records,
            clock,
            pending: pending.clone(),
            latest,
            failing: false,
            finished: PRUNE_EVERY,
        };
        let mut writing = JoinSet::new();
        writing.spawn(writer.run(receive, hurry.clone()));
        Scribe { send, pending, writing, hurry }
    }

    /// Hands a record over to be written.
    pub(crate) fn write(&self, record: Collection) {
        let number = self.pending.add(&record.name);
        // The receiver only ends when everything does.
        let _ = self.send.send((number, record));
    }

    /// The names of the records with a latest state that may not be stored yet.
    pub(crate) fn pending(&self) -> BTreeSet<String> {
        self.pending.lock().keys().cloned().collect()
    }

    /// Writes what is left, and ends.
    pub(crate) async fn finish(mut self) {
        drop(self.send);
        self.hurry.notify_one();
        let _ = self.writing.join_next().await;
    }
}

/// The other end of a [`Scribe`].
struct Writer {
    records: Records,
    clock: Arc<dyn Clock>,
    pending: Pending,
    /// The latest state of each record that is to be written.
    latest: BTreeMap<String, State>,
    /// Whether the last write failed.
    failing: bool,
    /// How many finished collections were written since old ones were removed.
    finished: usize,
}

impl Writer {
    async fn run(mut self, mut receive: mpsc::UnboundedReceiver<State>, hurry: Arc<Notify>) {
        loop {
            let next = match self.latest.is_empty() {
                true => receive.recv().await,
                false => tokio::time::timeout(AGAIN, receive.recv()).await.unwrap_or_default(),
            };
            let ends = next.is_none() && receive.is_closed();
            if ends && self.latest.is_empty() {
                break;
            }
            self.latest.extend(next.map(named));
            tokio::select! {
                () = tokio::time::sleep(GATHER) => {}
                () = hurry.notified() => {}
            }
            while let Ok(next) = receive.try_recv() {
                self.latest.extend([named(next)]);
            }
            if !self.records.are_kept().await {
                for (name, (number, _)) in std::mem::take(&mut self.latest) {
                    self.pending.settle(&name, number);
                }
            }
            self.write_all().await;
            if ends {
                break;
            }
            if self.finished >= PRUNE_EVERY {
                self.finished = 0;
                if let Err(error) = self.records.prune(self.clock.now()).await {
                    tracing::warn!(%error, "old records were not removed");
                }
            }
        }
    }

    async fn write_all(&mut self) {
        for (name, (number, record)) in std::mem::take(&mut self.latest) {
            let Err(error) = self.records.write(&record).await else {
                self.finished += usize::from(record.status.phase.is_over());
                self.failing = false;
                self.pending.settle(&name, number);
                continue;
            };
            // What hinders one write hinders the next, so it is logged once until a write succeeds.
            match std::mem::replace(&mut self.failing, true) {
                false => tracing::warn!(%error, collection = name, "a record was not written"),
                true => tracing::debug!(%error, collection = name, "a record was not written"),
            }
            self.latest.insert(name, (number, record));
        }
    }
}

fn named(state: State) -> (String, State) {
    (state.1.name.clone(), state)
}
