//! The feed over all kinds: what there is at one revision, then every change of anything, in order.
//!
//! Which kinds there are is told in its place among the changes: it follows from the definitions as they were at that
//! revision, not from what happens to be served at the time of reading. It knows no HTTP.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sexton_model::feed::FeedKind;
use sexton_model::{Revision, Stored, Term, ids};
use sexton_store::engine::RawKey;
use sexton_store::feed::{Batch, ChangeFeed};
use sexton_store::{At, Engine, KeyRange, Object, ObjectChange, ReadError};
use tokio::sync::watch as watch_flag;
use tokio::time::Instant;

use super::get::parse_version;
use super::watch::{EventKind, LONGEST};
use super::{Api, Failure, Result};
use crate::kinds::{builtin_listed, defined_by, definitions};

/// What a follower of everything is told.
#[derive(Debug, Clone)]
pub enum FeedEvent {
    /// All kinds there are from here on.
    Kinds(Vec<FeedKind>),
    /// An object is there, changed or went.
    Object {
        /// Which of these.
        kind: EventKind,
        /// The object; what went is shown as it last was, with the revision of the removal.
        object: Object,
        /// The requester of the removal, if that is known.
        by: Option<String>,
    },
    /// All that was there at this revision has been told.
    Synced(Revision),
    /// Nothing else happened up to this revision.
    Bookmark(Revision),
    /// The feed cannot go on.
    Failed(Failure),
}

/// Where a feed begins, and how long it lasts.
#[derive(Debug, Clone, Default)]
pub struct FeedOptions {
    /// `resourceVersion` as given; empty or zero means: begin with all there is.
    pub resource_version: String,
    /// How long the feed lasts.
    pub timeout: Option<Duration>,
}

/// Silence is broken this often, so that both sides know that the other is there.
const HEARTBEAT: Duration = Duration::from_secs(4);
/// Objects of the beginning that are taken at once; they share their bytes with the store.
const PAGE: usize = 1000;

/// What is still to be told of the beginning.
struct Beginning {
    revision: Revision,
    after: RawKey,
}

/// A feed under way. Ends when its time is up.
pub struct FeedStream {
    api: Api,
    beginning: Option<Beginning>,
    changes: Box<dyn ChangeFeed>,
    /// What each definition defined at the revision that has been told, and the kinds that were told last.
    defined: BTreeMap<RawKey, Vec<FeedKind>>,
    kinds: Vec<FeedKind>,
    ready: VecDeque<FeedEvent>,
    deadline: Instant,
    closing: watch_flag::Receiver<bool>,
    ended: bool,
}

impl Api {
    /// Begins a feed over all kinds.
    pub async fn feed(&self, options: FeedOptions) -> Result<FeedStream> {
        let engine = self.store().engine();
        let first = match options.resource_version.as_str() {
            "" | "0" => Some(engine.range(&KeyRange::all(), At::Latest, Some(PAGE)).await?),
            _ => None,
        };
        let after = match &first {
            Some(page) => page.revision,
            None => parse_version(&options.resource_version)?,
        };
        let changes = engine.changes(KeyRange::all(), after).await?;
        let mut defined = BTreeMap::new();
        for object in self.store().list(&definitions(), At::Exactly(after), None, None).await?.objects {
            defined.insert(object.key.clone(), defined_by(&object.document()?));
        }
        let mut stream = FeedStream {
            api: self.clone(),
            beginning: None,
            changes,
            defined,
            kinds: Vec::new(),
            ready: VecDeque::new(),
            deadline: Instant::now() + options.timeout.unwrap_or(LONGEST).min(LONGEST),
            closing: self.closing.subscribe(),
            ended: false,
        };
        stream.tell_kinds();
        if let Some(page) = first {
            stream.tell_missed(page.revision).await?;
            stream.take_page(page);
        }
        Ok(stream)
    }
}

/// The oldest revision after which everything that happened is still known.
async fn oldest(engine: &Arc<dyn Engine>) -> Result<Revision> {
    match engine.changes(KeyRange::all(), Revision::NONE).await {
        Ok(_) => Ok(Revision::NONE),
        Err(ReadError::Compacted { oldest, .. }) => Ok(oldest),
        Err(error) => Err(error.into()),
    }
}

/// Why a waiting feed woke up.
enum Woken {
    Changes(std::result::Result<Batch, ReadError>),
    Silence,
    End,
}

impl FeedStream {
    /// The next events, as many as are known, at most `most`; `None` at the end.
    pub async fn next(&mut self, most: usize) -> Option<Vec<FeedEvent>> {
        while self.ready.is_empty() && !self.ended {
            if let Err(failure) = self.step().await {
                self.ready.push_back(FeedEvent::Failed(failure));
                self.ended = true;
            }
        }
        let count = self.ready.len().min(most);
        (count > 0).then(|| self.ready.drain(..count).collect())
    }

    async fn step(&mut self) -> Result<()> {
        if self.beginning.is_some() {
            return self.next_page().await;
        }
        let woken = tokio::select! {
            batch = self.changes.next() => Woken::Changes(batch),
            () = tokio::time::sleep(HEARTBEAT) => Woken::Silence,
            () = tokio::time::sleep_until(self.deadline) => Woken::End,
            _ = self.closing.wait_for(|closing| *closing) => Woken::End,
        };
        match woken {
            Woken::Changes(batch) => return self.take(batch?).await,
            Woken::Silence => {}
            Woken::End => self.ended = true,
        }
        self.ready.push_back(FeedEvent::Bookmark(self.changes.seen()));
        Ok(())
    }

    /// Before what there is, what is missed: removals, as far back as is known, of objects that another one still names
    /// as an owner. So a reader that begins to follow knows that they went, and how, rather than only that they are not
    /// there.
    async fn tell_missed(&mut self, upto: Revision) -> Result<()> {
        let engine = self.api.store().engine().clone();
        let mut past = engine.changes(KeyRange::all(), oldest(&engine).await?).await?;
        while past.seen() < upto {
            let batch = past.next().await?;
            if batch.changes.is_empty() {
                break;
            }
            for raw in batch.changes.iter().filter(|raw| raw.after.is_none() && raw.revision <= upto) {
                let Some(last) = ObjectChange::from(raw).before else { continue };
                let uid = last.facts()?.uid;
                let missed = ids::resource(&raw.key).is_some()
                    && !engine.with_term(Term::owner(uid), 1).await?.is_empty()
                    && engine.with_term(Term::uid(uid), 1).await?.is_empty();
                if missed {
                    self.ready.extend(self.event(ObjectChange::from(raw))?);
                }
            }
        }
        Ok(())
    }

    /// A reader that is cut off here has no version to go on from, and begins again: half a beginning is of no use.
    async fn next_page(&mut self) -> Result<()> {
        let Some(beginning) = &self.beginning else { return Ok(()) };
        if *self.closing.borrow() || Instant::now() >= self.deadline {
            self.ended = true;
            return Ok(());
        }
        let (rest, at) = (KeyRange::all().after(&beginning.after), At::Exactly(beginning.revision));
        let page = self.api.store().engine().range(&rest, at, Some(PAGE)).await?;
        self.take_page(page);
        Ok(())
    }

    fn take_page(&mut self, page: sexton_store::Page) {
        let last = page.entries.last().map(|(key, _)| key.clone());
        for (key, entry) in page.entries {
            if ids::resource(&key).is_some() {
                let object =
                    Object { key, revision: entry.revision, stored: Stored::from_bytes(entry.value) };
                self.ready.push_back(FeedEvent::Object { kind: EventKind::Added, object, by: None });
            }
        }
        self.beginning = last.filter(|_| page.more).map(|after| Beginning { revision: page.revision, after });
        if self.beginning.is_none() {
            self.ready.push_back(FeedEvent::Synced(page.revision));
        }
    }

    async fn take(&mut self, batch: Batch) -> Result<()> {
        let definition_keys = definitions().range();
        for raw in &batch.changes {
            if ids::resource(&raw.key).is_none() {
                continue;
            }
            let change = ObjectChange::from(raw);
            let (key, after) = (raw.key.clone(), change.after.clone());
            self.ready.extend(self.event(change)?);
            if definition_keys.contains(&key) {
                self.define(key, after).await?;
            }
        }
        Ok(())
    }

    /// A definition came, changed or went: so do kinds.
    async fn define(&mut self, key: RawKey, definition: Option<Object>) -> Result<()> {
        let kinds = match definition {
            Some(definition) => defined_by(&definition.document()?),
            None => Vec::new(),
        };
        // What is told is also served: a reader that is told of a kind may ask for it at once.
        let current = self.api.kinds().current();
        if kinds.iter().any(|kind| current.listed().all(|listed| listed != kind)) {
            self.api.kinds().reload(self.api.store()).await?;
        }
        match kinds.is_empty() {
            true => drop(self.defined.remove(&key)),
            false => drop(self.defined.insert(key, kinds)),
        }
        self.tell_kinds();
        Ok(())
    }

    fn event(&self, change: ObjectChange) -> Result<Option<FeedEvent>> {
        let (kind, object) = match (change.before, change.after) {
            (None, None) => return Ok(None),
            (None, Some(now)) => (EventKind::Added, now),
            (Some(_), Some(now)) => (EventKind::Modified, now),
            (Some(last), None) => (EventKind::Deleted, Object { revision: change.revision, ..last }),
        };
        let by = match kind {
            EventKind::Deleted => self.api.who_removed(object.facts()?.uid),
            _ => None,
        };
        Ok(Some(FeedEvent::Object { kind, object, by }))
    }

    /// Tells the kinds if they are others than those told last. The objects of a definition are written only while it
    /// stands, so right behind its own event is before the first and after the last of them.
    fn tell_kinds(&mut self) {
        let mut kinds = builtin_listed();
        kinds.extend(self.defined.values().flatten().cloned());
        kinds.sort_unstable();
        if kinds != self.kinds {
            self.kinds.clone_from(&kinds);
            self.ready.push_back(FeedEvent::Kinds(kinds));
        }
    }
}
