//! What an engine promises, in terms that an in-process map, SQLite or etcd can all keep honestly.
//!
//! Keys are ordered bytes. Every operation of a commit gets a revision of one global, strictly increasing sequence.
//! An engine knows nothing of objects, kinds or JSON.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use sexton_model::{Revision, Term};

use crate::feed::ChangeFeed;
use crate::state::Entry;

/// A key: ordered bytes, shared between the state, the history and readers.
pub type RawKey = Arc<[u8]>;
/// A value: opaque bytes.
pub type RawValue = Arc<[u8]>;

/// A half-open range of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    start: Vec<u8>,
    /// `None` means: to the end of all keys.
    end: Option<Vec<u8>>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> KeyRange {
        KeyRange { start: Vec::new(), end: None }
    }

    /// All keys that begin with `prefix`.
    pub fn prefix(prefix: impl Into<Vec<u8>>) -> KeyRange {
        let start: Vec<u8> = prefix.into();
        let mut end = start.clone();
        while let Some(last) = end.pop() {
            if last < u8::MAX {
                end.push(last + 1);
                return KeyRange { start, end: Some(end) };
            }
        }
        KeyRange { start, end: None }
    }

    /// The part of this range that comes strictly after `key`.
    #[must_use]
    pub fn after(mut self, key: &[u8]) -> KeyRange {
        let mut next = key.to_vec();
        next.push(0);
        if next > self.start {
            self.start = next;
        }
        self
    }

    /// Whether `key` lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_slice() && self.end.as_ref().is_none_or(|end| key < end.as_slice())
    }

    /// The first key of the range and the first key behind it (`None`: there is no end), as etcd wants them.
    pub fn ends(&self) -> (&[u8], Option<&[u8]>) {
        (&self.start, self.end.as_deref())
    }

    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = match &self.end {
            // An inverted range would panic in ordered maps; it simply holds nothing.
            Some(end) if end < &self.start => Bound::Excluded(self.start.as_slice()),
            Some(end) => Bound::Excluded(end.as_slice()),
            None => Bound::Unbounded,
        };
        (Bound::Included(self.start.as_slice()), end)
    }
}

/// What must be true, inside the committing transaction, for a commit to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// The key was last written at exactly this revision; [`Revision::NONE`] means that it does not exist.
    At {
        /// The guarded key.
        key: RawKey,
        /// The revision of its last write.
        revision: Revision,
    },
    /// No key exists in the range.
    Empty {
        /// The range that must hold nothing.
        range: KeyRange,
    },
    /// No value carries the term. Terms are what the function says that an engine was opened with.
    Unused {
        /// The term that nothing may carry.
        term: Term,
    },
    /// Some value carries the term.
    Used {
        /// The term that something must carry.
        term: Term,
    },
    /// No value carries the term, except such as carry one of the others, too.
    OnlyWith {
        /// The term that nothing else may carry.
        term: Term,
        /// What excuses a value. Each is of one value at most.
        others: Vec<Term>,
    },
}

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Create or replace.
    Put {
        /// Where.
        key: RawKey,
        /// What.
        value: RawValue,
    },
    /// Remove; removing what does not exist writes nothing and gets no revision.
    Delete {
        /// Where.
        key: RawKey,
    },
}

/// An atomic commit: if every guard holds all operations happen, in order; otherwise none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transaction {
    /// Checked in the committing transaction, before anything is written.
    pub guards: Vec<Guard>,
    /// Applied in order; each effective one gets the next revision.
    pub ops: Vec<Op>,
}

/// A durable commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// The revision of the last effective operation, or the head revision when nothing was effective.
    pub revision: Revision,
}

/// Why a commit did not happen. Nothing of it can be read or watched; only after [`CommitError::ReadOnly`] it may turn
/// out to be there after a restart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The world is not what the guard at this index says.
    #[error("guard {guard} does not hold")]
    Conflict {
        /// Index into [`Transaction::guards`].
        guard: usize,
    },
    /// The disk is full, or another process holds the file. Writes work again as soon as that is over.
    #[error("the store cannot take writes now: {0}; nothing acknowledged was lost")]
    Full(String),
    /// The disk failed in a way after which no write can be trusted. Reads go on. The commits refused first, when it
    /// failed, are in doubt: the disk may have them nevertheless, and then they are there after a restart, whole.
    #[error("the store is read-only after a disk error: {0}; check the disk, then restart")]
    ReadOnly(String),
    /// The engine was closed.
    #[error("the store is closed")]
    Closed,
}

/// The moment a read speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The latest durable state.
    Latest,
    /// The state right after this revision.
    Exactly(Revision),
}

/// Why a read at a revision, or a feed from it, cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// History before `oldest` was compacted away.
    #[error("revision {asked} is older than the kept history, which begins after {oldest}")]
    Compacted {
        /// The revision asked for.
        asked: Revision,
        /// The oldest revision that can still be read.
        oldest: Revision,
    },
    /// The revision has not happened yet.
    #[error("revision {asked} is in the future, the newest is {head}")]
    Future {
        /// The revision asked for.
        asked: Revision,
        /// The newest revision.
        head: Revision,
    },
    /// The engine was closed, or its backend cannot be reached.
    #[error("the store cannot be read: {0}")]
    Unavailable(String),
}

/// A page of a range read. All pages read at the same revision belong to one snapshot.
#[derive(Debug, Clone)]
pub struct Page {
    /// The revision this page speaks of.
    pub revision: Revision,
    /// Keys in order, with their entries.
    pub entries: Vec<(RawKey, Entry)>,
    /// Whether the range holds more behind the last entry.
    pub more: bool,
}

/// All keys at one revision, to be read in pages.
#[async_trait]
pub trait Snapshot: Send + Sync + std::fmt::Debug {
    /// The revision.
    fn revision(&self) -> Revision;

    /// Reads up to `limit` entries of a range.
    async fn page(&self, range: &KeyRange, limit: usize) -> Result<Page, ReadError>;
}

/// Ordered bytes with one global revision. See the module documentation.
#[async_trait]
pub trait Engine: Send + Sync + std::fmt::Debug + 'static {
    /// Commits durably, or changes nothing (see [`CommitError`] for the one case of doubt). When this returns,
    /// readers and feeds see the commit.
    async fn commit(&self, transaction: Transaction) -> Result<Committed, CommitError>;

    /// Commits one transaction after the other, with nothing in between and as one durable batch: after a crash all of
    /// it is there or nothing. Each stands or falls by its own guards, which see what those before it wrote. Of several
    /// such calls that are under way at once, those that were first polled earlier come first.
    async fn commit_all(&self, transactions: Vec<Transaction>) -> Vec<Result<Committed, CommitError>>;

    /// Reads one key.
    async fn get(&self, key: &[u8], at: At) -> Result<Option<Entry>, ReadError>;

    /// Reads up to `limit` entries of a range (`None`: all of it).
    async fn range(&self, range: &KeyRange, at: At, limit: Option<usize>) -> Result<Page, ReadError>;

    /// A moment to read from page by page, for as long as the result lives and whatever is forgotten meanwhile. It keeps
    /// replaced values alive: callers bound how many there are, and for how long.
    async fn snapshot(&self, at: At) -> Result<Arc<dyn Snapshot>, ReadError>;

    /// Counts the keys of a range.
    async fn count(&self, range: &KeyRange, at: At) -> Result<usize, ReadError>;

    /// The first keys, in order, whose values carry a term in the latest durable state.
    async fn with_term(&self, term: Term, limit: usize) -> Result<Vec<RawKey>, ReadError>;

    /// Every change in `range` after revision `after`, once each and in order.
    async fn changes(&self, range: KeyRange, after: Revision) -> Result<Box<dyn ChangeFeed>, ReadError>;

    /// The newest durable revision.
    async fn head(&self) -> Result<Revision, ReadError>;

    /// Forgets history up to and including `upto`: older reads and feeds get [`ReadError::Compacted`].
    async fn compact(&self, upto: Revision) -> Result<(), CommitError>;

    /// Finishes what is queued and releases what is held. Later calls fail with `Closed` or `Unavailable`.
    async fn close(&self);
}
