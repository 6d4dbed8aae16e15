//! Sends writes under the lease's epoch, in order, in as many requests as it takes.
//!
//! Flow: [`Hand::send_in_stages`] cuts the items into requests that fit, sends up to two at a time within one stage,
//! and waits at every border of a stage. A request that the server refuses as a whole is halved until the item that
//! it cannot take is alone.
//!
//! Guarantees: an item of a later stage is sent behind those of earlier stages in one request, or after their answers.
//! Results are in the order of the items. If the epoch is stale nothing more is sent. It must not know why anything is
//! written.

use std::collections::VecDeque;
use std::sync::Arc;

use sexton_client::resources::BulkError;
use sexton_client::{CallError, Gateway};
use sexton_model::bulk::{self, Bulk, BulkResult, Epoch, Item, ItemResult, Outcome};
use sexton_model::{Revision, Status};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::controller::Stop;

/// Why writes were not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// The lease has another holder: nothing more may be done.
    #[error("the lease is no longer ours")]
    Stale,
    /// The request failed, or its answer was lost.
    #[error("the writes were not made")]
    Bulk(#[source] BulkError),
    /// The task that made them was aborted.
    #[error("the writes were broken off")]
    BrokenOff,
    /// The answer does not fit the request.
    #[error("the server answered {got} items of {sent}")]
    Strange {
        /// How many were sent.
        sent: usize,
        /// How many were answered.
        got: usize,
    },
}

/// The most objects in one request: enough that the round trip does not matter, and few enough that other requests
/// are served in between.
const TOGETHER: usize = 1_000;
/// The most conditions in one request, summed over its items.
const MAX_CONDITIONS: usize = bulk::MAX_CONDITIONS / 4;
/// About the most bytes of a request; servers accept twice as many.
const MAX_BYTES: usize = 8 << 20;
/// The most requests under way.
const AT_ONCE: usize = 2;
const _: () = assert!(TOGETHER <= bulk::MAX_ITEMS);

/// Sends writes through a gateway, under an epoch.
#[derive(Debug, Clone)]
pub(crate) struct Hand {
    gateway: Arc<dyn Gateway>,
    epoch: Option<Epoch>,
    /// When this says to stop, no further request of many stages begins.
    stop: Option<watch::Receiver<Stop>>,
}

/// The results of writes.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// In the order of the items.
    pub(crate) results: Vec<ItemResult>,
    /// The feed must reach this revision before anything is concluded.
    pub(crate) revision: Revision,
}

impl Sent {
    /// How many objects were removed.
    pub(crate) fn removed(&self) -> usize {
        self.results.iter().filter(|result| result.outcome == Some(Outcome::Removed)).count()
    }

    /// The refused writes, without those of objects that are gone already.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = (usize, &ItemResult)> {
        self.results.iter().enumerate().filter(|(_, result)| result.code >= 400 && result.code != 404)
    }

    /// The reason of a refusal that another attempt would not change. `None` for a race (409), an object that is gone
    /// (404), or success.
    pub(crate) fn denial(result: &ItemResult) -> Option<String> {
        let denied = result.code >= 400 && !matches!(result.code, 404 | 409);
        denied.then(|| result.status.as_ref().map(|status| status.message.clone()).unwrap_or_default())
    }

    /// Whether it was refused because the server's disk is full.
    pub(crate) fn has_no_space(result: &ItemResult) -> bool {
        result.code == Status::STORAGE_FULL
    }

    pub(crate) fn absorb(&mut self, other: Sent) {
        self.revision = self.revision.max(other.revision);
        self.results.extend(other.results);
    }
}

/// Writes under way.
#[derive(Debug)]
pub(crate) struct Sending(JoinSet<Result<Sent, SendError>>);

impl Sending {
    fn spawn(writes: impl Future<Output = Result<Sent, SendError>> + Send + 'static) -> Sending {
        let mut task = JoinSet::new();
        task.spawn(writes);
        Sending(task)
    }

    /// What became of them.
    pub(crate) async fn done(mut self) -> Result<Sent, SendError> {
        match self.0.join_next().await {
            None => Err(SendError::BrokenOff),
            Some(Ok(sent)) => sent,
            Some(Err(error)) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(SendError::BrokenOff),
            },
        }
    }
}

impl Hand {
    /// A sender for an epoch.
    pub(crate) fn new(gateway: Arc<dyn Gateway>, epoch: Option<Epoch>) -> Hand {
        Hand { gateway, epoch, stop: None }
    }

    /// The same sender, which stops when it is told to.
    #[must_use]
    pub(crate) fn until(self, stop: Option<watch::Receiver<Stop>>) -> Hand {
        Hand { stop, ..self }
    }

    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| *stop.borrow() >= Stop::Drain)
    }

    /// The epoch, for other code that writes under the same lease.
    pub(crate) fn lease(&self) -> Option<&Epoch> {
        self.epoch.as_ref()
    }

    /// The epoch as a number, for hooks.
    pub(crate) fn epoch(&self) -> i64 {
        self.epoch.as_ref().map_or(0, |epoch| epoch.transitions)
    }

    /// Begins to make the writes, in a task. Dropping the result ends the task: what became of the request under way
    /// is then as unknown as after a lost answer.
    pub(crate) fn begin(&self, items: Vec<Item>, stages: Vec<usize>) -> Sending {
        let hand = self.clone();
        Sending::spawn(async move { hand.send_in_stages(items, &stages).await })
    }

    /// Makes the writes, one request after the other, and does not stop early. What was made before an error stays
    /// made: the next round sees it.
    pub(crate) async fn send(&self, items: Vec<Item>) -> Result<Sent, SendError> {
        let everything_depends: Vec<usize> = (0..items.len()).collect();
        // The journal of a step is written also while the collector stops.
        self.clone().until(None).send_in_stages(items, &everything_depends).await
    }

    /// Makes the writes, where items depend only on items of earlier stages: requests within one stage may overlap.
    /// `stages` are the indexes at which a stage begins, except the first.
    ///
    /// Told to stop, it finishes the requests under way and returns their results only, which are those of the first
    /// items. The other writes were never begun; the next collector finds them again.
    pub(crate) async fn send_in_stages(&self, items: Vec<Item>, stages: &[usize]) -> Result<Sent, SendError> {
        let stage = |at: usize| stages.partition_point(|begin| *begin <= at);
        let mut sent = Sent::default();
        let mut under_way: VecDeque<Sending> = VecDeque::new();
        let (mut rest, mut at, mut last) = (items, 0, 0..=usize::MAX);
        while !rest.is_empty() {
            let count = fitting(&rest);
            let later = rest.split_off(count);
            let items = std::mem::replace(&mut rest, later);
            let these = stage(at)..=stage(at + count - 1);
            // Nothing may overtake a request in which a stage begins or ends.
            let overlaps = these == last && these.start() == these.end();
            let most = if overlaps { AT_ONCE - 1 } else { 0 };
            while under_way.len() > most
                && let Some(next) = under_way.pop_front()
            {
                sent.absorb(next.done().await?);
            }
            if self.is_stopped() {
                break;
            }
            let hand = self.clone();
            under_way.push_back(Sending::spawn(async move { hand.request(items).await }));
            (at, last) = (at + count, these);
        }
        while let Some(next) = under_way.pop_front() {
            sent.absorb(next.done().await?);
        }
        Ok(sent)
    }

    /// Makes one request. If the server refuses it as a whole, because it is too large or invalid, it is halved and
    /// tried again: one bad item must not keep the others from being made.
    async fn request(&self, items: Vec<Item>) -> Result<Sent, SendError> {
        let (mut sent, mut parts) = (Sent::default(), vec![items]);
        while let Some(items) = parts.pop() {
            let bulk = Bulk { epoch: self.epoch.clone(), items };
            let error = match self.gateway.bulk(&bulk).await {
                Ok(answer) => {
                    sent.absorb(check(&bulk, answer)?);
                    continue;
                }
                Err(error) => error,
            };
            let Some(refused) = refusal(&error) else { return Err(stale(error)) };
            let mut items = bulk.items;
            if items.len() > 1 {
                let later = items.split_off(items.len().div_ceil(2));
                parts.extend([later, items]);
                continue;
            }
            tracing::warn!(why = %refused, "a server takes no request with this write");
            let (code, status) = (refused.code, Some(Box::new(refused.clone())));
            let result = ItemResult { code, outcome: None, resource_version: None, status, weaker: None };
            let lives = items.iter().map(Item::count).sum();
            sent.results.extend(std::iter::repeat_n(result, lives));
        }
        Ok(sent)
    }
}

/// How many of the first items fit into one request; at least one.
fn fitting(items: &[Item]) -> usize {
    let (mut lives, mut conditions, mut bytes) = (0, 0, 0);
    let fits = |item: &&Item| {
        lives += item.count();
        conditions += item.conditions();
        bytes += item.about_bytes();
        lives <= TOGETHER && conditions <= MAX_CONDITIONS && bytes <= MAX_BYTES
    };
    items.iter().take_while(fits).count().max(1)
}

/// The status with which a server refused a whole request, if it would do so again.
fn refusal(error: &BulkError) -> Option<&Status> {
    match error {
        BulkError::Call(CallError::Refused(status)) if matches!(status.code, 400 | 413 | 422) => Some(status),
        _ => None,
    }
}

fn stale(error: BulkError) -> SendError {
    match error {
        BulkError::StaleEpoch(_) => SendError::Stale,
        error => SendError::Bulk(error),
    }
}

fn check(bulk: &Bulk, answer: BulkResult) -> Result<Sent, SendError> {
    let (sent, got) = (bulk.count(), answer.items.len());
    if sent != got {
        return Err(SendError::Strange { sent, got });
    }
    let stale = |result: &ItemResult| {
        result.status.as_ref().is_some_and(|status| &*status.reason == bulk::reason::STALE_EPOCH)
    };
    if answer.items.iter().any(stale) {
        return Err(SendError::Stale);
    }
    let revisions = answer.items.iter().filter_map(|result| result.resource_version.as_ref()?.parse().ok());
    let revision = revisions.max().unwrap_or(Revision::NONE);
    Ok(Sent { results: answer.items, revision })
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use sexton_client::Lines;
    use sexton_client::resources::FeedError;

    use super::*;

    /// A server that removes everything, and gives the signal to stop with the first request.
    #[derive(Debug)]
    struct Interrupting(watch::Sender<Stop>);

    #[async_trait]
    impl Gateway for Interrupting {
        fn resumes(&self) -> bool {
            true
        }

        async fn changes(&self, _: Option<Revision>) -> Result<Lines, FeedError> {
            Err(FeedError::NotServed)
        }

        async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError> {
            self.0.send_replace(Stop::Drain);
            let removed: ItemResult =
                serde_json::from_value(serde_json::json!({"code": 200, "outcome": "removed"})).unwrap();
            Ok(BulkResult { items: vec![removed; bulk.count()] })
        }
    }

    fn item(number: usize) -> Item {
        let action = serde_json::to_value(bulk::Action::annotate(Default::default())).unwrap();
        let item = serde_json::json!({
            "resource": "configmaps", "name": format!("c-{number}"), "uid": number.to_string(), "action": action,
        });
        serde_json::from_value(item).unwrap()
    }

    /// EXT-26: a deletion of very many objects can be stopped at once, and not only when all of them are gone.
    #[tokio::test]
    async fn no_request_begins_after_the_end_was_told() {
        let (stop, stopped) = watch::channel(Stop::No);
        let hand = Hand::new(Arc::new(Interrupting(stop)), None);
        let items = || (0..10 * TOGETHER).map(item).collect::<Vec<_>>();
        let sent = hand.clone().until(Some(stopped.clone())).send_in_stages(items(), &[]).await.unwrap();
        assert!(sent.removed() >= TOGETHER, "what was begun is answered");
        assert!(sent.removed() <= AT_ONCE * TOGETHER, "{} were removed", sent.removed());
        // Journals are written all the same.
        let sent = hand.until(Some(stopped)).send(items()).await.unwrap();
        assert_eq!(sent.removed(), 10 * TOGETHER);
    }
}
