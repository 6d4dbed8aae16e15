//! What a collector needs of a server, whoever it is: one feed of everything that happens, and many writes with their
//! evidence in one go. Our own server has both; elsewhere they are made of what there is.
//!
//! It must not know what the lines and the writes are about.

use std::fmt;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use sexton_model::bulk::{Bulk, BulkResult, Item};
use sexton_model::feed::Line;
use sexton_model::{Revision, Status};
use tokio::sync::Mutex;

use crate::call::CallError;
use crate::foreign::{self, BulkOptions, FeedOptions};
use crate::kinds::{DiscoverError, Kinds};
use crate::resources::{BulkError, FeedError, Resources};

/// A feed under way.
pub type Lines = BoxStream<'static, Result<Line, FeedError>>;

/// A server as a collector sees it.
#[async_trait]
pub trait Gateway: Send + Sync + fmt::Debug {
    /// Whether a feed can go on where it stopped. If not, it always begins with everything there is.
    fn resumes(&self) -> bool;

    /// Everything that happens after a revision, or everything there is and then what happens.
    ///
    /// # Errors
    /// See [`FeedError`].
    async fn changes(&self, from: Option<Revision>) -> Result<Lines, FeedError>;

    /// Many writes in order, each with what must be true for it.
    ///
    /// # Errors
    /// See [`BulkError`]: none of it was done, or it is not known what was.
    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError>;
}

/// A server of ours.
#[async_trait]
impl Gateway for Resources {
    fn resumes(&self) -> bool {
        true
    }

    async fn changes(&self, from: Option<Revision>) -> Result<Lines, FeedError> {
        Ok(Resources::changes(self, from).await?.boxed())
    }

    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError> {
        Resources::bulk(self, bulk).await
    }
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
    fn resumes(&self) -> bool {
        false
    }

    async fn changes(&self, _: Option<Revision>) -> Result<Lines, FeedError> {
        Ok(foreign::changes(&self.client, self.feed.clone()).boxed())
    }

    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError> {
        // The same limits as those of our own server, so that nothing works with one and not with the other.
        bulk.check().map_err(|why| CallError::Refused(Box::new(Status::bad_request(why))))?;
        let kinds = self.kinds_for(&bulk.items).await?;
        Ok(foreign::bulk(&self.client, &kinds, bulk, &self.bulk).await)
    }
}
