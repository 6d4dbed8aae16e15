//! What the collector needs of a server, whoever it is: one feed of all changes, and writes in bulk.
//!
//! It must not know what the lines and the writes are about.

use std::fmt;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use sexton_model::Status;
use sexton_model::bulk::{Bulk, BulkResult, Item, MAX_ITEMS};
use sexton_model::feed::Line;
use tokio::sync::Mutex;

use crate::call::CallError;
use crate::foreign::{self, BulkOptions, FeedOptions};
use crate::kinds::{DiscoverError, Kinds};

/// Why there is no feed, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// The server does not say which kinds it has.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The server does not answer.
    #[error("the server does not say which kinds it has: {0}")]
    Silent(String),
    /// Anything else.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Why no item of a bulk was carried out. If one may have been, there is a result.
#[derive(Debug, thiserror::Error)]
pub enum BulkError {
    /// The bulk as a whole is refused.
    #[error("{0}")]
    Refused(Box<Status>),
    /// The server does not say which kinds it has.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

/// A feed under way.
pub type Changes = BoxStream<'static, Result<Line, FeedError>>;

/// A server as the collector sees it.
///
/// [`ForeignGateway`] needs nothing but the API of Kubernetes. The implementation for servers of ours, on the feed and
/// the bulk verb of their own, belongs beside it.
#[async_trait]
pub trait Gateway: Send + Sync + fmt::Debug {
    /// All that is there, and every change from then on.
    async fn changes(&self) -> Result<Changes, FeedError>;

    /// Carries out many writes, each with the evidence on which it rests.
    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError>;
}

/// Any Kubernetes.
pub struct ForeignGateway {
    client: kube::Client,
    feed: FeedOptions,
    bulk: BulkOptions,
    /// The kinds of the last look; looked at again when one is missing.
    kinds: Mutex<Option<Kinds>>,
}

impl fmt::Debug for ForeignGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForeignGateway")
    }
}

impl ForeignGateway {
    /// The server behind a client.
    pub fn new(client: kube::Client, feed: FeedOptions, bulk: BulkOptions) -> ForeignGateway {
        ForeignGateway { client, feed, bulk, kinds: Mutex::new(None) }
    }

    /// Kinds that include all that the items are of, unless the server does not serve one of them.
    async fn kinds_for(&self, items: &[Item]) -> Result<Kinds, DiscoverError> {
        let mut last = self.kinds.lock().await;
        let serves = |kinds: &Kinds, item: &Item| {
            kinds
                .all
                .iter()
                .any(|kind| kind.resource.group == item.group && kind.resource.resource == item.resource)
        };
        if let Some(kinds) = last.as_ref()
            && items.iter().all(|item| serves(kinds, item))
        {
            return Ok(kinds.clone());
        }
        let kinds = Kinds::discover(&self.client).await?;
        Ok(last.insert(kinds).clone())
    }
}

#[async_trait]
impl Gateway for ForeignGateway {
    async fn changes(&self) -> Result<Changes, FeedError> {
        Ok(foreign::changes(&self.client, self.feed.clone()).boxed())
    }

    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError> {
        check(bulk).map_err(|why| BulkError::Refused(Box::new(Status::bad_request(why))))?;
        let kinds = self.kinds_for(&bulk.items).await?;
        Ok(foreign::bulk(&self.client, &kinds, bulk, &self.bulk).await)
    }
}

/// The same limits as those of our own server, so that nothing works with one and not with the other.
fn check(bulk: &Bulk) -> Result<(), String> {
    if bulk.items.len() > MAX_ITEMS {
        return Err(format!("more than {MAX_ITEMS} items"));
    }
    let slot = |item: &Item| {
        let Item { group, resource, namespace, name, .. } = item;
        (group.clone(), resource.clone(), namespace.clone(), name.clone())
    };
    let mut slots: Vec<_> = bulk.items.iter().map(slot).collect();
    slots.sort_unstable();
    match slots.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("{} {:?} occurs more than once", pair[0].1, pair[0].3)),
        None => Ok(()),
    }
}
