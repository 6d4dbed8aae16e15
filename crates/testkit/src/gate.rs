//! A gate between a collector and its server: a test decides what passes when, what is lost, and what happens in
//! between. So every interleaving is made, never waited for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use sexton_client::resources::{BulkError, FeedError};
use sexton_client::{Gateway, Lines, Resources};
use sexton_model::Revision;
use sexton_model::bulk::{Bulk, BulkResult};
use sexton_model::feed::Line;
use tokio::sync::watch;

use crate::World;

/// No test waits longer for a request to come to the gate.
const PATIENCE: Duration = Duration::from_secs(120);

/// What happens to one write.
enum Fate {
    /// It never arrives.
    Lost,
    /// It is carried out, and its answer is lost.
    Unheard,
    /// Something else happens just before it.
    After(BoxFuture<'static, ()>),
}

type Sieve = Arc<dyn Fn(&Line) -> bool + Send + Sync>;

/// What may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Passing {
    /// So many writes, counted from the first one that came.
    writes: usize,
    lines: bool,
    /// A feed that began before this is broken off.
    feeds: u64,
    /// Writes that have come to the gate.
    arrived: usize,
}

/// A gateway with a gate.
pub struct Gate {
    inner: Resources,
    passing: watch::Sender<Passing>,
    fates: Mutex<VecDeque<Fate>>,
    sieve: Mutex<Option<Sieve>>,
    written: Mutex<Vec<Bulk>>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("passing", &*self.passing.borrow()).finish_non_exhaustive()
    }
}

impl Gate {
    /// An open gate to a world.
    pub fn to(world: &World) -> Arc<Gate> {
        let (passing, _) = watch::channel(Passing { writes: usize::MAX, lines: true, feeds: 0, arrived: 0 });
        Arc::new(Gate {
            inner: Resources::new(world.kube()),
            passing,
            fates: Mutex::default(),
            sieve: Mutex::default(),
            written: Mutex::default(),
        })
    }

    /// Whether writes pass that come from now on; those that wait pass when they do.
    pub fn writes(&self, pass: bool) {
        self.passing.send_modify(|passing| passing.writes = if pass { usize::MAX } else { passing.arrived });
    }

    /// So many writes pass in all; the next one waits.
    pub fn pass_writes(&self, count: usize) {
        self.passing.send_modify(|passing| passing.writes = count);
    }

    /// Whether lines of the feed pass.
    pub fn lines(&self, pass: bool) {
        self.passing.send_modify(|passing| passing.lines = pass);
    }

    /// Lines that are not wanted never arrive, as if nothing had happened.
    pub fn only(&self, wanted: impl Fn(&Line) -> bool + Send + Sync + 'static) {
        *self.sieve.lock().unwrap() = Some(Arc::new(wanted));
    }

    /// Breaks the feed; its readers have to begin again.
    pub fn break_feed(&self) {
        self.passing.send_modify(|passing| passing.feeds += 1);
    }

    /// Of the writes to come, the next does not arrive.
    pub fn lose_a_write(&self) {
        self.fates.lock().unwrap().push_back(Fate::Lost);
    }

    /// Of the writes to come, the next is carried out, but its answer is lost.
    pub fn lose_an_answer(&self) {
        self.fates.lock().unwrap().push_back(Fate::Unheard);
    }

    /// Something that happens after the next write was decided on, and before it is made.
    pub fn before_a_write(&self, happens: impl Future<Output = ()> + Send + 'static) {
        self.fates.lock().unwrap().push_back(Fate::After(Box::pin(happens)));
    }

    /// Waits until so many writes in all have come to the gate.
    ///
    /// # Panics
    /// If they do not come.
    pub async fn arrived(&self, count: usize) {
        let mut passing = self.passing.subscribe();
        let arrived = passing.wait_for(|passing| passing.arrived >= count);
        tokio::time::timeout(PATIENCE, arrived).await.expect("no write came to the gate").unwrap();
    }

    /// All that was passed on.
    pub fn written(&self) -> Vec<Bulk> {
        self.written.lock().unwrap().clone()
    }

    async fn pass(&self, may: impl FnMut(&Passing) -> bool) {
        // The sender lasts as long as the gate.
        let _ = self.passing.subscribe().wait_for(may).await;
    }
}

#[async_trait]
impl Gateway for Gate {
    fn resumes(&self) -> bool {
        true
    }

    async fn changes(&self, from: Option<Revision>) -> Result<Lines, FeedError> {
        let lines = Gateway::changes(&self.inner, from).await?;
        let passing = self.passing.subscribe();
        let began = passing.borrow().feeds;
        let sieve = self.sieve.lock().unwrap().clone();
        let gated = stream::unfold((lines, passing), move |(mut lines, mut passing)| async move {
            let line = tokio::select! {
                line = lines.next() => line?,
                _ = passing.wait_for(|passing| passing.feeds != began) => return None,
            };
            passing.wait_for(|passing| passing.lines || passing.feeds != began).await.ok()?;
            if passing.borrow().feeds != began {
                return None;
            }
            Some((line, (lines, passing)))
        });
        let wanted = move |line: &Result<Line, FeedError>| match (line, &sieve) {
            (Ok(line), Some(sieve)) => sieve(line),
            _ => true,
        };
        Ok(gated.filter(move |line| futures::future::ready(wanted(line))).boxed())
    }

    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError> {
        let mut number = 0;
        self.passing.send_modify(|passing| {
            passing.arrived += 1;
            number = passing.arrived;
        });
        self.pass(|passing| number <= passing.writes).await;
        let fate = self.fates.lock().unwrap().pop_front();
        let lost = |what: &str| Err(BulkError::Strange(format!("the test lost the {what}")));
        match fate {
            Some(Fate::Lost) => return lost("write"),
            Some(Fate::Unheard) => {
                Gateway::bulk(&self.inner, bulk).await?;
                self.written.lock().unwrap().push(bulk.clone());
                return lost("answer");
            }
            Some(Fate::After(happens)) => happens.await,
            None => {}
        }
        let answer = Gateway::bulk(&self.inner, bulk).await;
        if answer.is_ok() {
            self.written.lock().unwrap().push(bulk.clone());
        }
        answer
    }
}
