//! Writes the records beside the work: what is written late is written once, with the latest state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sexton_model::collection::Collection;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::records::Records;

/// So long changes are gathered: a record is for people.
const GATHER: Duration = Duration::from_millis(200);
/// What could not be written is tried again after this.
const AGAIN: Duration = Duration::from_secs(2);
/// Finished collections between two looks at what is too old or too much.
const PRUNE_EVERY: usize = 20;

/// Takes records and writes them by and by. Dropping it ends the writing: what is not written yet never is.
#[derive(Debug)]
pub(crate) struct Scribe {
    send: mpsc::UnboundedSender<Collection>,
    writing: JoinSet<()>,
    hurry: Arc<Notify>,
}

impl Scribe {
    /// Begins to write.
    pub(crate) fn start(records: Records, clock: Arc<dyn Clock>) -> Scribe {
        let (send, mut receive) = mpsc::unbounded_channel::<Collection>();
        let hurry = Arc::new(Notify::new());
        let called = hurry.clone();
        let mut writing = JoinSet::new();
        writing.spawn(async move {
            let mut finished = PRUNE_EVERY;
            let mut failing = false;
            let mut latest: BTreeMap<String, Collection> = BTreeMap::new();
            loop {
                let next = match latest.is_empty() {
                    true => receive.recv().await,
                    false => tokio::time::timeout(AGAIN, receive.recv()).await.unwrap_or_default(),
                };
                let ends = next.is_none() && receive.is_closed();
                if ends && latest.is_empty() {
                    break;
                }
                latest.extend(next.map(|next| (next.name.clone(), next)));
                tokio::select! {
                    () = tokio::time::sleep(GATHER) => {}
                    () = called.notified() => {}
                }
                while let Ok(next) = receive.try_recv() {
                    latest.insert(next.name.clone(), next);
                }
                if !records.are_kept().await {
                    latest.clear();
                }
                for (name, record) in std::mem::take(&mut latest) {
                    match records.write(&record).await {
                        Ok(()) => {
                            finished += usize::from(record.status.phase.is_over());
                            failing = false;
                        }
                        // What hinders one write hinders the next: told once, until one succeeds.
                        Err(error) => {
                            match std::mem::replace(&mut failing, true) {
                                false => {
                                    tracing::warn!(%error, collection = name, "a record was not written")
                                }
                                true => {
                                    tracing::debug!(%error, collection = name, "a record was not written")
                                }
                            }
                            latest.insert(name, record);
                        }
                    }
                }
                if ends {
                    break;
                }
                if finished >= PRUNE_EVERY {
                    finished = 0;
                    if let Err(error) = records.prune(clock.now()).await {
                        tracing::warn!(%error, "old records were not removed");
                    }
                }
            }
        });
        Scribe { send, writing, hurry }
    }

    /// Has a record written.
    pub(crate) fn write(&self, record: Collection) {
        // Nobody writes any more only when everything ends.
        let _ = self.send.send(record);
    }

    /// Writes what is left, and ends.
    pub(crate) async fn finish(mut self) {
        drop(self.send);
        self.hurry.notify_one();
        let _ = self.writing.join_next().await;
    }
}
