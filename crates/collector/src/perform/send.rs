//! Sends writes under the lease's epoch, in as many requests as it takes, in order.
//!
//! It must not know why anything is written.

use std::sync::Arc;

use sexton_client::Gateway;
use sexton_client::resources::BulkError;
use sexton_model::Revision;
use sexton_model::bulk::{self, Bulk, BulkResult, Epoch, Item, ItemResult, Outcome};
use tokio::task::JoinSet;

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

/// The one who writes.
#[derive(Debug, Clone)]
pub(crate) struct Hand {
    gateway: Arc<dyn Gateway>,
    epoch: Option<Epoch>,
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

    pub(crate) fn absorb(&mut self, other: Sent) {
        self.revision = self.revision.max(other.revision);
        self.results.extend(other.results);
    }
}

/// Writes under way.
#[derive(Debug)]
pub(crate) struct Sending(JoinSet<Result<Sent, SendError>>);

impl Sending {
    /// What became of them.
    pub(crate) async fn done(mut self) -> Result<Sent, SendError> {
        match self.0.join_next().await {
            None => Ok(Sent::default()),
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
        Hand { gateway, epoch }
    }

    /// The epoch as a number, for hooks.
    pub(crate) fn epoch(&self) -> i64 {
        self.epoch.as_ref().map_or(0, |epoch| epoch.transitions)
    }

    /// Begins to make the writes, beside whatever else there is to do. Dropped, it ends: what is under way then is as
    /// good as an answer that was lost.
    pub(crate) fn begin(&self, items: Vec<Item>) -> Sending {
        let hand = self.clone();
        let mut task = JoinSet::new();
        if !items.is_empty() {
            task.spawn(async move { hand.send(items).await });
        }
        Sending(task)
    }

    /// Makes the writes, one after the other. What was made before an error stays made: the next look at the world
    /// sees it.
    pub(crate) async fn send(&self, items: Vec<Item>) -> Result<Sent, SendError> {
        let mut sent = Sent::default();
        let mut rest = items;
        while !rest.is_empty() {
            let later = rest.split_off(fitting(&rest));
            let bulk = Bulk { epoch: self.epoch.clone(), items: std::mem::replace(&mut rest, later) };
            let answer = self.gateway.bulk(&bulk).await.map_err(stale)?;
            sent.absorb(check(&bulk, answer)?);
        }
        Ok(sent)
    }
}

/// How many of the first items go into one request.
fn fitting(items: &[Item]) -> usize {
    let mut lives = 0;
    let fits = |item: &&Item| {
        lives += item.count();
        lives <= bulk::MAX_ITEMS
    };
    items.iter().take_while(fits).count().max(1)
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
