//! Objects instead of bytes: the store as the API sees it.
//!
//! It knows how a resource is kept and where, not what kinds there are or what a write means.

use std::sync::Arc;

use sexton_model::ids::{self, GroupResource, Key};
use sexton_model::stored::{Facts, NotStored};
use sexton_model::{Document, Revision, Stored};

use crate::engine::{
    At, CommitError, Committed, Engine, Guard, KeyRange, Op, Page, RawKey, ReadError, Snapshot, Transaction,
};
use crate::feed::ChangeFeed;
use crate::history::Change;
use crate::state::Entry;

/// A stored resource: where it is, which version of it, and its bytes. Cloning shares the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The encoded key.
    pub key: RawKey,
    /// The revision of its last write; for what was removed, of the removal.
    pub revision: Revision,
    /// The resource.
    pub stored: Stored,
}

impl Object {
    fn new(key: RawKey, entry: Entry) -> Object {
        Object { key, revision: entry.revision, stored: Stored::from_bytes(entry.value) }
    }

    /// Namespace (empty for cluster-scoped kinds) and name.
    pub fn place(&self) -> (&str, &str) {
        ids::place(&self.key).unwrap_or(("", ""))
    }

    /// What is known without parsing.
    pub fn facts(&self) -> Result<Facts<'_>, NotStored> {
        self.stored.facts()
    }

    /// The whole document, with its resource version.
    pub fn document(&self) -> Result<Document, NotStored> {
        self.stored.document(self.revision)
    }

    /// The guard that this very version is still the current one.
    pub fn unchanged(&self) -> Guard {
        Guard::At { key: self.key.clone(), revision: self.revision }
    }
}

/// A change as a watcher sees it.
#[derive(Debug, Clone)]
pub struct ObjectChange {
    /// The revision of the change.
    pub revision: Revision,
    /// The object before, with the revision it had.
    pub before: Option<Object>,
    /// The object after; `None` means removed.
    pub after: Option<Object>,
}

impl From<&Arc<Change>> for ObjectChange {
    fn from(change: &Arc<Change>) -> Self {
        let object = |entry: Entry| Object::new(change.key.clone(), entry);
        ObjectChange {
            revision: change.revision,
            before: change.before.clone().map(object),
            after: change.entry().map(object),
        }
    }
}

/// All objects of a kind, or those of one namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Which kind.
    pub kind: GroupResource,
    /// Which namespace; `None` means all of them.
    pub namespace: Option<String>,
}

impl Scope {
    /// The keys of the scope.
    pub fn range(&self) -> KeyRange {
        KeyRange::prefix(ids::prefix(&self.kind, self.namespace.as_deref()))
    }

    /// The guard that the scope holds nothing.
    pub fn empty(&self) -> Guard {
        Guard::Empty { range: self.range() }
    }
}

/// A page of a list.
#[derive(Debug, Clone)]
pub struct ObjectPage {
    /// The revision the page speaks of.
    pub revision: Revision,
    /// The objects, in key order.
    pub objects: Vec<Object>,
    /// Whether there are more behind the last one.
    pub more: bool,
}

/// All objects at one revision. Cloning shares it.
#[derive(Debug, Clone)]
pub struct ObjectSnapshot(Arc<dyn Snapshot>);

impl ObjectSnapshot {
    /// The revision.
    pub fn revision(&self) -> Revision {
        self.0.revision()
    }

    /// Reads up to `limit` objects of a scope, beginning after an encoded key.
    pub async fn page(
        &self,
        scope: &Scope,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<ObjectPage, ReadError> {
        let range = match after {
            Some(key) => scope.range().after(key),
            None => scope.range(),
        };
        Ok(ObjectPage::new(self.0.page(&range, limit).await?))
    }
}

impl ObjectPage {
    fn new(page: Page) -> ObjectPage {
        let objects = page.entries.into_iter().map(|(key, entry)| Object::new(key, entry)).collect();
        ObjectPage { revision: page.revision, objects, more: page.more }
    }
}

/// Why a read failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The moment cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something stored cannot be understood.
    #[error(transparent)]
    Damaged(#[from] NotStored),
}

/// The typed store. Cloning shares the engine.
#[derive(Debug, Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
}

impl Store {
    /// Objects on any engine.
    pub fn new(engine: Arc<dyn Engine>) -> Store {
        Store { engine }
    }

    /// The engine below.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// Reads one object.
    pub async fn get(&self, key: &Key, at: At) -> Result<Option<Object>, ReadError> {
        self.get_raw(&key.encode().into(), at).await
    }

    /// Reads one object by its encoded key.
    pub async fn get_raw(&self, key: &RawKey, at: At) -> Result<Option<Object>, ReadError> {
        Ok(self.engine.get(key, at).await?.map(|entry| Object::new(key.clone(), entry)))
    }

    /// Reads a page of a scope, beginning after an encoded key.
    pub async fn list(
        &self,
        scope: &Scope,
        at: At,
        after: Option<&[u8]>,
        limit: Option<usize>,
    ) -> Result<ObjectPage, ReadError> {
        let range = match after {
            Some(key) => scope.range().after(key),
            None => scope.range(),
        };
        Ok(ObjectPage::new(self.engine.range(&range, at, limit).await?))
    }

    /// A moment to read from, slice by slice.
    pub async fn snapshot(&self, at: At) -> Result<ObjectSnapshot, ReadError> {
        Ok(ObjectSnapshot(self.engine.snapshot(at).await?))
    }

    /// Counts the objects of a scope behind an encoded key.
    pub async fn count_after(&self, scope: &Scope, at: At, after: &[u8]) -> Result<usize, ReadError> {
        self.engine.count(&scope.range().after(after), at).await
    }

    /// Whether a scope holds anything.
    pub async fn any(&self, scope: &Scope) -> Result<bool, ReadError> {
        Ok(!self.engine.range(&scope.range(), At::Latest, Some(1)).await?.entries.is_empty())
    }

    /// Writes one object if all guards hold.
    pub async fn put(&self, key: RawKey, stored: Stored, guards: Vec<Guard>) -> Result<Object, CommitError> {
        let ops = vec![Op::Put { key: key.clone(), value: stored.bytes().clone() }];
        let Committed { revision } = self.engine.commit(Transaction { guards, ops }).await?;
        Ok(Object { key, revision, stored })
    }

    /// Removes one object if all guards hold.
    pub async fn remove(&self, key: RawKey, guards: Vec<Guard>) -> Result<Committed, CommitError> {
        self.engine.commit(Transaction { guards, ops: vec![Op::Delete { key }] }).await
    }

    /// Every change of a scope after a revision.
    pub async fn changes(&self, scope: &Scope, after: Revision) -> Result<Box<dyn ChangeFeed>, ReadError> {
        self.engine.changes(scope.range(), after).await
    }
}
