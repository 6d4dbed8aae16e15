//! Sends writes under the lease's epoch, in as many requests as it takes, in order.
//!
//! It must not know why anything is written.

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
    /// The lease is somebody else's: nothing more may be done.
    #[error("the lease is no longer ours")]
    Stale,
    /// The server cannot be asked, or it is not known what became of the request.
    #[error("the writes were not made")]
    Bulk(#[source] BulkError),
    /// The task that made them was ended.
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

/// Lives in one request: as many as make the way there and back not matter, and not so many that nothing else could be
/// done meanwhile.
const TOGETHER: usize = 1_000;
/// Conditions in one request, of all its items.
const MAX_CONDITIONS: usize = bulk::MAX_CONDITIONS / 4;
/// About as many bytes make one request; servers take twice as many.
const MAX_BYTES: usize = 8 << 20;
/// Requests at once.
const AT_ONCE: usize = 2;
const _: () = assert!(TOGETHER <= bulk::MAX_ITEMS);

/// The one who writes.
#[derive(Debug, Clone)]
pub(crate) struct Hand {
    gateway: Arc<dyn Gateway>,
    epoch: Option<Epoch>,
    /// Told to stop, it begins no further request of many stages.
    stop: Option<watch::Receiver<Stop>>,
}

/// What became of the writes.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// In the order of the items.
    pub(crate) results: Vec<ItemResult>,
    /// Up to here the feed must tell before anything is concluded.
    pub(crate) revision: Revision,
}

impl Sent {
    /// How many lives ended.
    pub(crate) fn removed(&self) -> usize {
        self.results.iter().filter(|result| result.outcome == Some(Outcome::Removed)).count()
    }

    /// The refusals that are not simply that somebody was faster.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = (usize, &ItemResult)> {
        self.results.iter().enumerate().filter(|(_, result)| result.code >= 400 && result.code != 404)
    }

    /// Why somebody was refused, if that is no race.
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
    /// A hand that writes under an epoch.
    pub(crate) fn new(gateway: Arc<dyn Gateway>, epoch: Option<Epoch>) -> Hand {
        Hand { gateway, epoch, stop: None }
    }

    /// The same, which stops when it is told to.
    #[must_use]
    pub(crate) fn until(self, stop: Option<watch::Receiver<Stop>>) -> Hand {
        Hand { stop, ..self }
    }

    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| *stop.borrow() >= Stop::Drain)
    }

    /// The epoch, for whoever writes beside.
    pub(crate) fn lease(&self) -> Option<&Epoch> {
        self.epoch.as_ref()
    }

    /// The epoch as a number, for hooks.
    pub(crate) fn epoch(&self) -> i64 {
        self.epoch.as_ref().map_or(0, |epoch| epoch.transitions)
    }

    /// Begins to make the writes, beside whatever else there is to do. Dropped, it ends: what is under way then is as
    /// good as an answer that was lost.
    pub(crate) fn begin(&self, items: Vec<Item>, stages: Vec<usize>) -> Sending {
        let hand = self.clone();
        Sending::spawn(async move { hand.send_in_stages(items, &stages).await })
    }

    /// Makes the writes, one request after the other. What was made before an error stays made: the next look at the
    /// world sees it.
    pub(crate) async fn send(&self, items: Vec<Item>) -> Result<Sent, SendError> {
        let everything_depends: Vec<usize> = (0..items.len()).collect();
        // What a step has to write down is written down, also at the end.
        self.clone().until(None).send_in_stages(items, &everything_depends).await
    }

    /// The same where items depend only on those of earlier stages: requests within one stage may overlap. Each stage
    /// but the first begins at one of these.
    ///
    /// Told to stop, it finishes the requests under way and answers for those alone: the results are of the first items.
    /// The rest is as if it had never been begun; the next collector finds it.
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
            // Behind a request in which a stage begins or ends nothing may overtake.
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

    /// Makes one request. What a server refuses as a whole, because it is too much or makes no sense, is taken apart: one item
    /// must not keep the others from being made.
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

/// How many of the first items go into one request.
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

/// Why a server did nothing of a request, if it would be the same another time.
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

    /// A server that removes everything, and tells whoever writes to stop with the first request.
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

    /// EXT-26: whoever stops a deletion of very many stops it now, not when all of them are gone.
    #[tokio::test]
    async fn no_request_begins_after_the_end_was_told() {
        let (stop, stopped) = watch::channel(Stop::No);
        let hand = Hand::new(Arc::new(Interrupting(stop)), None);
        let items = || (0..10 * TOGETHER).map(item).collect::<Vec<_>>();
        let sent = hand.clone().until(Some(stopped.clone())).send_in_stages(items(), &[]).await.unwrap();
        assert!(sent.removed() >= TOGETHER, "what was begun is answered");
        assert!(sent.removed() <= AT_ONCE * TOGETHER, "{} were removed", sent.removed());
        // What has to be written down is written down all the same.
        let sent = hand.until(Some(stopped)).send(items()).await.unwrap();
        assert_eq!(sent.removed(), 10 * TOGETHER);
    }
}
