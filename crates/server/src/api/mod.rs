//! What the verbs mean: one file per verb, no HTTP.
//!
//! Every write is read, decide, commit-if-unchanged; a write that loses the race is decided again on the new state. So
//! the check of preconditions and finalizers and the write or removal itself are always one transaction.

mod apply;
mod asker;
mod bulk;
mod commit;
mod create;
mod delete;
mod delete_collection;
mod deletion;
mod expiry;
mod failure;
mod feed;
mod fencing;
mod get;
mod list;
mod listing;
mod names;
mod namespace;
mod nature;
mod options;
mod patch;
mod scale;
mod standing;
mod terminating;
mod token;
mod update;
mod watch;

pub use expiry::{EVENT_TTL, EventExpiry};
pub use failure::{Failure, Result};
pub use feed::{FeedEvent, FeedOptions, FeedStream};
pub use list::Listed;
pub use listing::Listing;
pub use nature::{Nature, RealNature};
pub use options::{FieldValidation, GetOptions, ListOptions, WatchOptions, WriteOptions};
pub use patch::PatchBody;
pub use scale::ScaleChange;
pub use watch::{EventKind, WatchEvent, WatchStream};

use std::sync::Arc;

use sexton_model::{Document, Key, Revision, Stored};
use sexton_store::{Object, Store};
use tokio::sync::{Mutex, watch as watch_flag};

use crate::admission;
use crate::kinds::{KindRef, Kinds};

/// How references to owners are treated that do not point at a living object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OwnerChecks {
    /// Stored, with a warning, as Kubernetes does.
    #[default]
    Warn,
    /// Refused.
    Strict,
}

/// What kind a request speaks of, and where.
#[derive(Debug, Clone)]
pub struct Target {
    /// The kind.
    pub kind: KindRef,
    /// The namespace; empty for cluster-scoped kinds and for "all namespaces".
    pub namespace: String,
}

impl Target {
    /// A stored object as the document that a caller of this version sees.
    pub(crate) fn read(&self, object: &Object) -> Result<Document> {
        let mut document = object.document()?;
        document.object_mut().insert("apiVersion".into(), self.kind.api_version().into());
        admission::conform(self, &mut document);
        Ok(document)
    }

    /// A document as it is kept: in one version, whichever it was written in, so that the same is the same.
    pub(crate) fn encode(&self, document: &Document) -> Stored {
        let kept = self.kind.stored_api_version();
        if document.api_version() == kept {
            return Stored::encode(document);
        }
        let mut document = document.clone();
        document.object_mut().insert("apiVersion".into(), kept.into());
        Stored::encode(&document)
    }

    /// The key of a name.
    pub fn key(&self, name: &str) -> Key {
        Key { kind: self.kind.resource.clone(), namespace: self.namespace.clone(), name: name.to_owned() }
    }
}

/// Which part of an object a write is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything but the status, where the kind keeps that apart.
    Main,
    /// Only the status.
    Status,
    /// Only a namespace's own finalizers.
    Finalize,
    /// Only the number of replicas.
    Scale,
}

impl Part {
    /// The word in the URL and in managed fields.
    pub fn subresource(self) -> &'static str {
        match self {
            Part::Main => "",
            Part::Status => "status",
            Part::Finalize => "finalize",
            Part::Scale => "scale",
        }
    }
}

/// The outcome of a write.
#[derive(Debug, Clone)]
pub struct Written {
    /// What to show the writer.
    pub outcome: Outcome,
    /// Whether an object came into being.
    pub created: bool,
    /// What the writer should know.
    pub warnings: Vec<String>,
}

/// What a write led to.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// This is what is stored now.
    Stored(Object),
    /// This is what would be stored, or what was the last word on something now removed.
    Document(Box<Document>),
    /// Removed at once.
    Removed {
        /// The name.
        name: String,
        /// The uid that it had.
        uid: String,
    },
}

impl Written {
    fn stored(object: Object) -> Written {
        Written { outcome: Outcome::Stored(object), created: false, warnings: Vec::new() }
    }

    /// With more that the writer should know.
    fn warned(mut self, told: Vec<String>) -> Written {
        self.warnings.extend(told);
        self
    }

    fn document(document: Document) -> Written {
        Written { outcome: Outcome::Document(Box::new(document)), created: false, warnings: Vec::new() }
    }
}

/// The verbs, on a store. Cloning shares everything.
#[derive(Debug, Clone)]
pub struct Api {
    store: Store,
    kinds: Arc<Kinds>,
    nature: Arc<dyn Nature>,
    owner_checks: OwnerChecks,
    /// The requester, as far as it is known.
    asker: asker::Asker,
    /// Whether the requester holds a lease.
    claim: fencing::Claim,
    /// When holders of leases were heard of.
    holders: Arc<fencing::Holders>,
    /// Held while a class is made or a definition is written: one at a time.
    class_turns: Arc<Mutex<()>>,
    /// Becomes true when watches shall end.
    closing: watch_flag::Sender<bool>,
}

/// How often a write that names no version decides again after losing a race, before it says so.
const RACES: usize = 64;

impl Api {
    /// Opens the API on a store: reads the definitions and makes sure that the first namespaces exist.
    pub async fn open(store: Store, nature: Arc<dyn Nature>, owner_checks: OwnerChecks) -> Result<Api> {
        Api::open_as(store, nature, owner_checks, false).await
    }

    /// The same without anything that only we have, so that it looks like any Kubernetes.
    pub async fn open_plain(store: Store, nature: Arc<dyn Nature>, owner_checks: OwnerChecks) -> Result<Api> {
        Api::open_as(store, nature, owner_checks, true).await
    }

    async fn open_as(
        store: Store,
        nature: Arc<dyn Nature>,
        owner_checks: OwnerChecks,
        plain: bool,
    ) -> Result<Api> {
        let kinds = Arc::new(Kinds::load(&store, plain).await?);
        let closing = watch_flag::Sender::new(false);
        kinds.follow(&store).await?;
        let (asker, class_turns) = (asker::Asker::default(), Arc::default());
        let (claim, holders) = (fencing::Claim::default(), Arc::new(fencing::Holders::new(nature.steady())));
        let api = Api { store, kinds, nature, owner_checks, asker, claim, holders, class_turns, closing };
        api.ensure_namespaces().await?;
        Ok(api)
    }

    /// The kinds served now.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// The store below.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// How references to owners are treated.
    pub fn owner_checks(&self) -> OwnerChecks {
        self.owner_checks
    }

    /// The time, in seconds since 1970.
    pub fn now(&self) -> i64 {
        self.nature.now()
    }

    /// Ends all watches, now and in future: the server is going away, clients come back elsewhere or later.
    pub fn end_watches(&self) {
        self.closing.send_replace(true);
    }

    async fn head(&self) -> Result<Revision> {
        Ok(self.store.engine().head().await?)
    }
}
