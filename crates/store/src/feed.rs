//! Feeds: changes since a revision, once each and in order.
//!
//! A local feed is only a cursor into the history. It has no queue of its own, so a slow reader costs nothing and
//! blocks no other; when the history moves past its cursor it is told so.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use sexton_model::Revision;
use tokio::sync::watch;

use crate::engine::{KeyRange, ReadError};
use crate::history::Change;
use crate::local::Shared;

/// Changes that belong together in time.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The changes, in order of revision. May be empty when `seen` moved on without any.
    pub changes: Vec<Arc<Change>>,
    /// Everything up to and including this revision has been delivered by this feed.
    pub seen: Revision,
}

/// A stream of changes. Dropping it ends it.
#[async_trait]
pub trait ChangeFeed: Send {
    /// Waits for changes. Cancel-safe: a dropped call loses nothing.
    async fn next(&mut self) -> Result<Batch, ReadError>;

    /// Everything up to and including this revision has been delivered.
    fn seen(&self) -> Revision;
}

/// A cursor into the history of a local engine.
pub(crate) struct LocalFeed {
    shared: Arc<Shared>,
    head: watch::Receiver<Revision>,
    range: KeyRange,
    seen: Revision,
}

impl LocalFeed {
    /// How many changes are looked at under one hold of the history's lock.
    const SLICE: usize = 2048;

    pub(crate) fn new(shared: Arc<Shared>, range: KeyRange, after: Revision) -> LocalFeed {
        let head = shared.head.subscribe();
        LocalFeed { shared, head, range, seen: after }
    }

    fn poll_history(&mut self) -> Result<Vec<Arc<Change>>, ReadError> {
        let history = self.shared.history();
        let since = history
            .since(self.seen)
            .ok_or(ReadError::Compacted { asked: self.seen, oldest: history.compacted() })?;
        let mut found = Vec::new();
        let mut seen = self.seen;
        for change in since.take(Self::SLICE) {
            seen = change.revision;
            if self.range.contains(&change.key) {
                found.push(change.clone());
            }
        }
        self.seen = seen;
        Ok(found)
    }
}

#[async_trait]
impl ChangeFeed for LocalFeed {
    async fn next(&mut self) -> Result<Batch, ReadError> {
        loop {
            let head = *self.head.borrow_and_update();
            let changes = self.poll_history()?;
            if !changes.is_empty() {
                return Ok(Batch { changes, seen: self.seen });
            }
            if self.seen < head {
                // A long stretch of foreign changes: let others run before looking on.
                tokio::task::yield_now().await;
                continue;
            }
            if self.shared.closed.load(Ordering::Acquire) || self.head.changed().await.is_err() {
                return Err(ReadError::Unavailable("the store is closed".into()));
            }
        }
    }

    fn seen(&self) -> Revision {
        self.seen
    }
}
