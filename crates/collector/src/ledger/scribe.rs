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
            while let Some(first) = receive.recv().await {
                let mut latest = BTreeMap::from([(first.name.clone(), first)]);
                tokio::select! {
                    () = tokio::time::sleep(GATHER) => {}
                    () = called.notified() => {}
                }
                while let Ok(next) = receive.try_recv() {
                    latest.insert(next.name.clone(), next);
                }
                for record in latest.values() {
                    finished += usize::from(record.status.phase.is_over());
                    if let Err(error) = records.write(record).await {
                        tracing::warn!(%error, collection = record.name, "a record was not written");
                    }
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
