//! Records of collections: `Collection` and `Tombstone` objects, for people, to be read while a collection runs and
//! after.
//!
//! No decision is based on a record: what counts is what the objects themselves carry.

mod prune;

pub use prune::{Keep, PruneError, Pruned};

use serde_json::Value;
use sexton_client::resources::{ListAsk, ListError, PutError, StatusError};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::collection::{self, Collection, Phase, Progress, trigger};
use sexton_model::feed::FeedKind;
use sexton_model::{time, tombstone};

/// A record that is deleted and created again while it is written is only tried this often.
const ATTEMPTS: usize = 3;
/// The most records that are searched for unfinished ones; many more are not kept.
const MOST_UNFINISHED: usize = 50_000;

/// Why a record was not written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It could not be created.
    #[error("the record of the collection {name} cannot be created")]
    Create {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        source: PutError,
    },
    /// Its status could not be written.
    #[error("the record of the collection {name} cannot be written")]
    Status {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        source: StatusError,
    },
    /// It could not be read.
    #[error("the record of the collection {name} cannot be read")]
    Read {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        source: CallError,
    },
    /// It is not a record that this version can parse.
    #[error("the record of the collection {name} cannot be understood")]
    Strange {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// The records of a server.
#[derive(Debug, Clone)]
pub struct Records {
    resources: Resources,
    collections: Place,
    tombstones: Place,
    keep: Keep,
}

impl Records {
    /// The records behind these resources. How often they are written is up to the caller.
    pub fn new(resources: Resources, keep: Keep) -> Records {
        let place = |plural: &str, kind: &str| Place::new(&ServedKind::of_ours(plural, kind), None);
        let collections = place(collection::RESOURCE, collection::KIND);
        let tombstones = place(tombstone::RESOURCE, tombstone::KIND);
        Records { resources, collections, tombstones, keep }
    }

    /// Writes the status of a record, and creates the record if there is none.
    ///
    /// # Errors
    /// See [`RecordError`]. A failure does no harm: the next write has everything again.
    pub async fn write(&self, collection: &Collection) -> Result<(), RecordError> {
        let name = || collection.name.clone();
        let strange = |source| RecordError::Strange { name: name(), source };
        let status = collection.status.clone().bounded();
        let value = serde_json::to_value(&status).map_err(strange)?;
        for _ in 0..ATTEMPTS {
            match self.resources.patch_status(&self.collections, &collection.name, None, &value).await {
                Ok(_) => return Ok(()),
                Err(StatusError::NotFound(_)) => {}
                Err(source) => return Err(RecordError::Status { name: name(), source }),
            }
            let spec = collection.spec.clone().bounded();
            let whole = Collection { name: name(), spec, status: status.clone() };
            let document = whole.document().map_err(strange)?;
            match self.resources.create(&self.collections, &document).await {
                // A new object has no status yet, whatever was sent; or another process has just created it.
                Ok(_) | Err(PutError::Conflict(_)) => {}
                Err(source) => return Err(RecordError::Create { name: name(), source }),
            }
        }
        let value = self.resources.patch_status(&self.collections, &collection.name, None, &value).await;
        value.map(drop).map_err(|source| RecordError::Status { name: name(), source })
    }

    /// Writes the last state of a collection: done, at `now`, unless its status says otherwise.
    ///
    /// # Errors
    /// As for [`Records::write`].
    pub async fn finish(&self, collection: &Collection, now: i64) -> Result<(), RecordError> {
        let mut last = collection.clone();
        last.status = finished(last.status, now);
        self.write(&last).await
    }

    /// Whether the server has the kind of records. A server of another make has it only if it was installed.
    pub(crate) async fn are_kept(&self) -> bool {
        let kind = &self.collections.kind.resource;
        // If the server does not say what it serves, the write is tried, and its error says why.
        self.resources.kinds().await.map_or(true, |kinds| kinds.may_serve(kind))
    }

    /// The unfinished records of collections that a collector began, if the server has such kinds. Records that
    /// cannot be parsed are left out.
    ///
    /// # Errors
    /// They cannot be listed.
    pub async fn unfinished(&self, kinds: &[FeedKind]) -> Result<Vec<Collection>, ListError> {
        let kind = &self.collections.kind.resource;
        if !FeedKind::may_be_among(kinds, &kind.group, &kind.resource) {
            // A server of another make without records.
            return Ok(Vec::new());
        }
        let ask = ListAsk { limit: Some(MOST_UNFINISHED), ..ListAsk::default() };
        let listed = match self.resources.list(&self.collections, &ask).await {
            // The kind was removed just now.
            Err(ListError::Call(CallError::Refused(status))) if status.code == 404 => return Ok(Vec::new()),
            // A collector without the right to read records still works: they are for people.
            Err(ListError::Call(CallError::Refused(status))) if status.code == 403 => {
                tracing::warn!(why = status.message, "the records of collections are not read");
                return Ok(Vec::new());
            }
            listed => listed?,
        };
        let read = listed.found.iter().filter_map(|document| Collection::read(document).ok());
        let ours = |one: &Collection| trigger::ALL.contains(&one.spec.trigger.as_str());
        Ok(read.filter(|one| ours(one) && !one.status.phase.is_over()).collect())
    }

    /// The record of a name, if there is one.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn find(&self, name: &str) -> Result<Option<Collection>, RecordError> {
        let found = self.resources.find(&self.collections, name).await;
        let found = found.map_err(|source| RecordError::Read { name: name.to_owned(), source })?;
        let read = |document: Value| {
            Collection::read(&document)
                .map_err(|source| RecordError::Strange { name: name.to_owned(), source })
        };
        found.map(read).transpose()
    }
}

fn finished(mut status: Progress, now: i64) -> Progress {
    if !status.phase.is_over() {
        status.phase = Phase::Done;
    }
    status.finished_at.get_or_insert_with(|| time::format(now));
    status
}
