//! Deletes old records, so that their number is bounded. A record of an unfinished collection is never deleted.
//!
//! It must not know what is in the records, except whether a collection is over.

use std::time::Duration;

use futures::stream::{self, StreamExt};
use serde_json::Value;
use sexton_client::Place;
use sexton_client::resources::{DeleteAsk, DeleteError, ListAsk, ListError, text};
use sexton_model::collection::Phase;
use sexton_model::{Policy, time};

use super::Records;

/// The most deletions at a time.
const AT_ONCE: usize = 16;
/// The most records that are read at a time; if there are more, the oldest may be among the rest.
const LOOK: usize = 50_000;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// The most finished collections.
    pub collections: usize,
    /// The most tombstones.
    pub tombstones: usize,
    /// The greatest age.
    pub max_age: Duration,
    /// The most deletions in one call.
    pub at_a_time: usize,
}

impl Default for Keep {
    fn default() -> Self {
        let max_age = Duration::from_secs(7 * 86_400);
        Keep { collections: 200, tombstones: 10_000, max_age, at_a_time: 1_000 }
    }
}

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Collections.
    pub collections: usize,
    /// Tombstones.
    pub tombstones: usize,
    /// Whether there is more to delete.
    pub more: bool,
}

/// Why old records were not deleted.
#[derive(Debug, thiserror::Error)]
pub enum PruneError {
    /// They cannot be listed.
    #[error("the old records cannot be listed")]
    List(#[from] ListError),
    /// One of them cannot be deleted.
    #[error("the old record {name} cannot be deleted")]
    Delete {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        source: DeleteError,
    },
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    uid: String,
    /// When it was created, or when its collection ended.
    since: i64,
    /// Orders records of the same second.
    version: u64,
}

impl Records {
    /// Deletes what is too old or too much, the oldest first. A record that was replaced meanwhile is left alone.
    ///
    /// # Errors
    /// See [`PruneError`]; deletions before the error stay.
    pub async fn prune(&self, now: i64) -> Result<Pruned, PruneError> {
        let ask = ListAsk { limit: Some(LOOK), ..ListAsk::default() };
        let listed = self.resources.list(&self.collections, &ask).await?;
        let over = listed.found.iter().filter(|object| is_over(object)).map(entry).collect();
        let (old, more_collections) = self.excess(over, self.keep.collections, now, self.keep.at_a_time);
        let collections = self.remove(&self.collections, old).await?;

        // Tombstones are large, so only metadata is read.
        let listed = self.resources.list_metadata(&self.tombstones, &ask).await?;
        let stones = listed.found.iter().map(entry).collect();
        let room = self.keep.at_a_time.saturating_sub(collections);
        let (old, more_tombstones) = self.excess(stones, self.keep.tombstones, now, room);
        let tombstones = self.remove(&self.tombstones, old).await?;
        Ok(Pruned { collections, tombstones, more: more_collections || more_tombstones || listed.more })
    }

    /// The oldest records to delete, and whether there are more of them.
    fn excess(&self, mut all: Vec<Entry>, keep: usize, now: i64, room: usize) -> (Vec<Entry>, bool) {
        all.sort_by(|a, b| (a.since, a.version, &a.name).cmp(&(b.since, b.version, &b.name)));
        let oldest = now.saturating_sub(i64::try_from(self.keep.max_age.as_secs()).unwrap_or(i64::MAX));
        let too_old = all.iter().take_while(|entry| entry.since < oldest).count();
        let count = too_old.max(all.len().saturating_sub(keep));
        all.truncate(count.min(room));
        (all, count > room)
    }

    async fn remove(&self, place: &Place, entries: Vec<Entry>) -> Result<usize, PruneError> {
        let removals = entries.into_iter().map(|entry| async move {
            // Records have no dependents to wait for.
            let (uid, policy) = (Some(entry.uid), Some(Policy::Background));
            let ask = DeleteAsk { uid, policy, ..DeleteAsk::default() };
            match self.resources.delete(place, &entry.name, &ask).await {
                Ok(_) => Ok(1),
                Err(DeleteError::NotFound(_) | DeleteError::Changed(_)) => Ok(0),
                Err(source) => Err(PruneError::Delete { name: entry.name, source }),
            }
        });
        let mut removals = stream::iter(removals).buffer_unordered(AT_ONCE);
        let mut removed = 0;
        while let Some(one) = removals.next().await {
            removed += one?;
        }
        Ok(removed)
    }
}

/// Whether nothing more will be written to it. A record that cannot be parsed may be unfinished.
fn is_over(collection: &Value) -> bool {
    let phase = collection.pointer("/status/phase").cloned().unwrap_or_default();
    serde_json::from_value::<Phase>(phase).is_ok_and(Phase::is_over)
}

fn entry(object: &Value) -> Entry {
    let finished = time::parse(text(object, "/status/finishedAt"));
    let made = || time::parse(text(object, "/metadata/creationTimestamp"));
    Entry {
        name: text(object, "/metadata/name").to_owned(),
        uid: text(object, "/metadata/uid").to_owned(),
        // A record without a time is not old.
        since: finished.or_else(made).unwrap_or(i64::MAX),
        version: text(object, "/metadata/resourceVersion").parse().unwrap_or_default(),
    }
}
