//! What can be done with resources: one file per verb, each with its own error.
//!
//! It must not know what garbage is, and decides nothing: a delete is one request for one object.

mod bulk;
mod delete;
mod feed;
mod get;
mod list;
mod merge;
mod metadata;
mod pages;
mod put;
mod read_lists;
mod slim;
mod status;
mod table;
mod watch;
mod write;

pub use bulk::BulkError;
pub use delete::{DeleteAsk, DeleteError, Deleted, Ending};
pub use feed::FeedError;
pub use get::GetError;
pub use list::{ListAsk, ListError, Listed};
pub use put::{Put, PutAsk, PutError, PutOutcome};
pub use read_lists::Versions;
pub use slim::{Identity, OfMetadata, Slim};
pub use status::StatusError;
pub use table::{Column, Row, Table};
pub use watch::{Change, Event, WatchAsk, WatchError};

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use sexton_model::lease::Proof;

use crate::call::escape;
use crate::foreign::SharedFeed;
use crate::kinds::{DiscoverError, Kinds, KnownKinds, ServedKind};
use read_lists::ReadLists;

/// Where objects are: a kind, and a namespace or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind.
    pub kind: ServedKind,
    /// `None` for cluster-scoped kinds and for "all namespaces".
    pub namespace: Option<String>,
}

impl Place {
    /// A place. The namespace is left out for kinds that live in none.
    pub fn new(kind: &ServedKind, namespace: Option<&str>) -> Place {
        let namespace = namespace.filter(|_| kind.namespaced).map(str::to_owned);
        Place { kind: kind.clone(), namespace }
    }

    fn path(&self) -> String {
        self.kind.path(self.namespace.as_deref())
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}/{}", self.path(), escape(name))
    }
}

/// The resources of a server.
#[derive(Clone)]
pub struct Resources {
    client: kube::Client,
    pub(crate) known: Arc<KnownKinds>,
    pub(crate) feed: Arc<SharedFeed>,
    read: Arc<ReadLists>,
    namespace: Option<Arc<str>>,
    proof: Option<Proof>,
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resources")
    }
}

impl Resources {
    /// The resources behind a client.
    pub fn new(client: kube::Client) -> Resources {
        let known = Arc::new(KnownKinds::new(client.clone()));
        Resources { known, feed: Arc::default(), read: Arc::default(), namespace: None, proof: None, client }
    }

    /// The same for a user that works in one namespace, and perhaps has rights only there.
    #[must_use]
    pub fn within(self, namespace: &str) -> Resources {
        Resources { namespace: Some(namespace.into()), ..self }
    }

    /// The same for the holder of a lease: creations, replacements, statuses and deletions carry its secret.
    #[must_use]
    pub fn proving(self, proof: Proof) -> Resources {
        Resources { proof: Some(proof), ..self }
    }

    /// The namespace in which the user is at work.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The client.
    pub fn client(&self) -> &kube::Client {
        &self.client
    }

    /// What the server serves. Asked once for all clones of this, and then remembered: for half a minute, or until one
    /// of them writes a definition.
    ///
    /// # Errors
    /// The server does not say which groups it has.
    pub async fn kinds(&self) -> Result<Arc<Kinds>, DiscoverError> {
        self.known.get(false).await
    }

    /// What the server serves now.
    ///
    /// # Errors
    /// The server does not say which groups it has.
    pub async fn kinds_anew(&self) -> Result<Arc<Kinds>, DiscoverError> {
        self.known.get(true).await
    }
}

/// A text at a path within an object; empty if there is none.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    // Asked for often, and seldom with names that have to be unescaped or with places in lists, as those begin.
    let plain = !pointer.contains('~') && !pointer.contains(|c: char| c.is_ascii_digit());
    let found = match pointer.strip_prefix('/').filter(|_| plain) {
        Some(path) => path.split('/').try_fold(object, |value, name| value.get(name)),
        None => object.pointer(pointer),
    };
    found.and_then(Value::as_str).unwrap_or("")
}
