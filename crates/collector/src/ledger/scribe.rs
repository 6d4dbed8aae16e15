//! Writes the records beside the work: what is written late is written once, with the latest state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use sexton_model::collection::Collection;
use tokio::sync::{Notify, mpsc};

use crate::clock::Clock;
use crate::records::Records;

/// So long changes are gathered: a record is for people.
const GATHER: Duration = Duration::from_millis(200);
/// What could not be written is tried again after this.
const AGAIN: Duration = Duration::from_secs(2);
/// Finished collections between two looks at what is too old or too much.
const PRUNE_EVERY: usize = 20;

/// What is to be written.
enum Task {
    Write(Box<Collection>),
    /// Whatever goes on by its record and is none of these is over.
    CloseOthers(BTreeSet<String>),
}

/// Takes records and writes them by and by.
#[derive(Debug)]
pub(crate) struct Scribe {
    send: mpsc::UnboundedSender<Task>,
    writing: tokio::task::JoinHandle<()>,
    hurry: Arc<Notify>,
}

impl Scribe {
    /// Begins to write.
    pub(crate) fn start(records: Records, clock: Arc<dyn Clock>) -> Scribe {
        let (send, receive) = mpsc::unbounded_channel();
        let hurry = Arc::new(Notify::new());
        let desk = Desk { records, clock, latest: BTreeMap::new(), known: None, finished: PRUNE_EVERY };
        let writing = tokio::spawn(desk.work(receive, hurry.clone()));
        Scribe { send, writing, hurry }
    }

    /// Has a record written.
    pub(crate) fn write(&self, record: Collection) {
        // Nobody writes any more only when everything ends.
        let _ = self.send.send(Task::Write(Box::new(record)));
    }

    /// Has the records ended that a predecessor left open: all but these.
    pub(crate) fn close_others(&self, open: BTreeSet<String>) {
        let _ = self.send.send(Task::CloseOthers(open));
    }

    /// Writes what is left, and ends.
    pub(crate) async fn finish(self) {
        drop(self.send);
        self.hurry.notify_one();
        let _ = self.writing.await;
    }
}

/// What lies on the scribe's desk.
struct Desk {
    records: Records,
    clock: Arc<dyn Clock>,
    /// What is not written yet, each as it was last.
    latest: BTreeMap<String, Collection>,
    /// The collections under way, if the records of others are to be ended.
    known: Option<BTreeSet<String>>,
    finished: usize,
}

impl Desk {
    async fn work(mut self, mut receive: mpsc::UnboundedReceiver<Task>, hurry: Arc<Notify>) {
        loop {
            let idle = self.latest.is_empty() && self.known.is_none();
            let next = match idle {
                true => receive.recv().await,
                false => tokio::time::timeout(AGAIN, receive.recv()).await.unwrap_or_default(),
            };
            let ends = next.is_none() && receive.is_closed();
            if ends && idle {
                break;
            }
            next.into_iter().for_each(|task| self.take(task));
            tokio::select! {
                () = tokio::time::sleep(GATHER) => {}
                () = hurry.notified() => {}
            }
            while let Ok(next) = receive.try_recv() {
                self.take(next);
            }
            self.write().await;
            if ends {
                break;
            }
        }
    }

    fn take(&mut self, task: Task) {
        match task {
            Task::Write(record) => {
                self.known.iter_mut().for_each(|known| _ = known.insert(record.name.clone()));
                self.latest.insert(record.name.clone(), *record);
            }
            Task::CloseOthers(open) => self.known = Some(open),
        }
    }

    /// Writes what it can; the rest is tried again.
    async fn write(&mut self) {
        for (name, record) in std::mem::take(&mut self.latest) {
            match self.records.write(&record).await {
                Ok(()) => self.finished += usize::from(record.status.phase.is_over()),
                Err(error) => {
                    tracing::warn!(%error, collection = name, "a record was not written");
                    self.latest.insert(name, record);
                }
            }
        }
        if let Some(known) = self.known.take()
            && let Err(error) = self.records.close_others(&known, self.clock.now()).await
        {
            tracing::warn!(%error, "records of collections that are over still say that they go on");
            self.known = Some(known);
        }
        if self.finished >= PRUNE_EVERY {
            self.finished = 0;
            if let Err(error) = self.records.prune(self.clock.now()).await {
                tracing::warn!(%error, "old records were not removed");
            }
        }
    }
}
