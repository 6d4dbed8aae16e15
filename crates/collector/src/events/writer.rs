//! Writes Events in a task of its own, so that the collector never waits for that. Messages that do not fit into the
//! queue are dropped and counted; those that the server refuses are dropped.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sexton_client::resources::{PutError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::collection;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::correlate::{Correlator, Limits, Telling};
use super::said::{Involved, Said};
use super::waits::{Pending, Waits};
use crate::clock::Clock;

/// The most messages that wait.
const QUEUE: usize = 256;
/// How long one write may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long an ending collector waits for its last Events.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The sending end of the task. Dropping it ends the task.
#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Said>,
    waits: watch::Sender<Vec<Pending>>,
    dropped: Arc<AtomicU64>,
    writing: JoinSet<()>,
}

impl Writer {
    /// Starts the task.
    pub(super) fn start(resources: Resources, clock: Arc<dyn Clock>, moment: Duration) -> Writer {
        let (queue, said) = mpsc::channel(QUEUE);
        let (waits, told) = watch::channel(Vec::new());
        let mut writing = JoinSet::new();
        let work = Work {
            resources,
            clock,
            correlator: Correlator::new(Limits::default()),
            waits: Waits::new(moment),
            started: Instant::now(),
            refusals: BTreeSet::new(),
        };
        writing.spawn(work.run(said, told));
        Writer { queue, waits, dropped: Arc::default(), writing }
    }

    pub(super) fn say(&self, said: Said) {
        if self.queue.try_send(said).is_err() && self.dropped.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!("too many events at once; some are not written");
        }
    }

    pub(super) fn wait_for(&self, waits: Vec<Pending>) {
        self.waits.send_replace(waits);
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    pub(super) async fn finish(mut self) {
        drop(self.queue);
        let _ = tokio::time::timeout(LAST_WORDS, self.writing.join_next()).await;
    }
}

struct Work {
    resources: Resources,
    clock: Arc<dyn Clock>,
    correlator: Correlator,
    waits: Waits,
    started: Instant,
    /// The status codes of refused Events; each is logged once.
    refusals: BTreeSet<u16>,
}

impl Work {
    async fn run(mut self, mut said: mpsc::Receiver<Said>, mut waits: watch::Receiver<Vec<Pending>>) {
        loop {
            let due = self.waits.due().map(|due| self.started + due);
            let sleep = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                next = said.recv() => match next {
                    Some(next) => self.tell(next).await,
                    None => return,
                },
                Ok(()) = waits.changed() => {
                    let all = waits.borrow_and_update().clone();
                    self.waits.update(all, self.started.elapsed());
                }
                () = sleep => {}
            }
            for said in self.waits.take_due(self.started.elapsed()) {
                self.tell(said).await;
            }
        }
    }

    async fn tell(&mut self, mut said: Said) {
        let now = self.clock.now();
        let Some(telling) = self.correlator.hear(&said, now) else { return };
        let writing = async {
            if said.about.uid.is_empty() {
                said.about.uid = self.uid_of(&said.about).await?;
            }
            self.write(&said, &telling).await
        };
        let code = match tokio::time::timeout(PATIENCE, writing).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => code_of(&error),
            Err(_) => 0,
        };
        if self.refusals.insert(code) {
            let about = format!("{}/{} in {:?}", said.about.kind, said.about.name, said.about.namespace);
            tracing::info!(code, about, "an event is not taken; of more such nothing is said");
        }
    }

    /// The uid of one of our records, which was unknown when the message was made.
    async fn uid_of(&self, about: &Involved) -> Result<String, PutError> {
        if about.kind != collection::KIND {
            return Ok(String::new());
        }
        let kind = ServedKind::of_ours(collection::RESOURCE, collection::KIND);
        let found = self.resources.find(&Place::new(&kind, None), &about.name).await?;
        Ok(found.map(|record| text(&record, "/metadata/uid").to_owned()).unwrap_or_default())
    }

    async fn write(&self, said: &Said, telling: &Telling) -> Result<(), PutError> {
        let kind = ServedKind::well_known("", "events", "Event", true);
        let place = Place::new(&kind, Some(said.about.place()));
        let (name, patch) = (telling.series.name(said), telling.series.patch());
        if !telling.new {
            match self.resources.merge(&place, &name, &patch).await {
                // The Event has expired: create a new one, with the whole count.
                Err(PutError::Call(CallError::Refused(status))) if status.code == 404 => {}
                other => return other.map(drop),
            }
        }
        match self.resources.create(&place, &telling.series.document(said)).await {
            // An earlier collector created the same Event at the same moment.
            Err(PutError::Conflict(status)) if status.reason == "AlreadyExists" => {
                self.resources.merge(&place, &name, &patch).await.map(drop)
            }
            other => other.map(drop),
        }
    }
}

fn code_of(error: &PutError) -> u16 {
    match error {
        PutError::Conflict(status) | PutError::Invalid(status) => status.code,
        PutError::Call(CallError::Refused(status)) => status.code,
        PutError::Call(_) => 0,
    }
}
