//! What a collector needs of a server of any make: one feed of everything that happens, and many writes with their
//! evidence in one go. Our own server has both; elsewhere they are made of what there is.
//!
//! It must not know what the lines and the writes are about.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use sexton_model::bulk::{Bulk, BulkResult, Item};
use sexton_model::feed::Line;
use sexton_model::{Revision, Status};

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

    /// Whether it is a server of ours, which checks the evidence of each write in the transaction that makes it.
    fn is_ours(&self) -> bool {
        self.resumes()
    }

    /// Everything that happens after a revision, or everything there is and then what happens.
    ///
    /// # Errors
    /// See [`FeedError`].
    async fn changes(&self, from: Option<Revision>) -> Result<Lines, FeedError>;

    /// Everything there is now, as [`Gateway::changes`] begins; not what was heard a moment ago.
    ///
    /// # Errors
    /// See [`FeedError`].
    async fn look(&self) -> Result<Lines, FeedError> {
        self.changes(None).await
    }

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
    resources: Resources,
    feed: FeedOptions,
    bulk: BulkOptions,
    /// Whether all feeds of these resources are one.
    shares: bool,
}

impl fmt::Debug for ForeignGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForeignGateway")
    }
}

impl ForeignGateway {
    /// The server behind a client.
    pub fn new(client: kube::Client, feed: FeedOptions, bulk: BulkOptions) -> ForeignGateway {
        ForeignGateway { resources: Resources::new(client), feed, bulk, shares: false }
    }

    /// The server behind resources, for a command: all gateways of them share one feed, and what the server serves is
    /// asked once. What may not be seen in all namespaces is looked at in that of the user.
    pub fn of(resources: &Resources) -> ForeignGateway {
        let namespace = resources.namespace().map(str::to_owned);
        let feed = FeedOptions { namespace, ..FeedOptions::default() };
        ForeignGateway { resources: resources.clone(), feed, bulk: BulkOptions::default(), shares: true }
    }

    /// Kinds that include all that the items are of, unless the server does not serve one of them.
    async fn kinds_for(&self, items: &[Item]) -> Result<Arc<Kinds>, DiscoverError> {
        let serves = |kinds: &Kinds, item: &Item| {
            kinds
                .all
                .iter()
                .any(|kind| kind.resource.group == item.group && kind.resource.resource == item.resource)
        };
        let kinds = self.resources.kinds().await?;
        match items.iter().all(|item| serves(&kinds, item)) {
            true => Ok(kinds),
            false => self.resources.kinds_anew().await,
        }
    }
}

#[async_trait]
impl Gateway for ForeignGateway {
    fn resumes(&self) -> bool {
        false
    }

    async fn changes(&self, _: Option<Revision>) -> Result<Lines, FeedError> {
        match self.shares {
            true => Ok(self.resources.feed.lines(&self.resources.known, &self.feed)),
            false => Ok(foreign::changes(&self.resources, self.feed.clone()).boxed()),
        }
    }

    async fn look(&self) -> Result<Lines, FeedError> {
        match self.shares && !self.resources.feed.has_begun() {
            // What goes on from this look need not list everything again.
            true => self.changes(None).await,
            false => Ok(foreign::changes(&self.resources, self.feed.clone()).boxed()),
        }
    }

    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError> {
        // The same limits as those of our own server, so that nothing works with one and not with the other.
        bulk.check().map_err(|why| CallError::Refused(Box::new(Status::bad_request(why))))?;
        let kinds = self.kinds_for(&bulk.items).await?;
        Ok(foreign::bulk(self.resources.client(), &kinds, bulk, &self.bulk).await)
    }
}
