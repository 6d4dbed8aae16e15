//! Events that were not repeated for a while are removed, so that they do not grow for ever.
//!
//! When each is due is known from when it was first seen; that one was repeated since is found out when it is due. So a
//! sweep costs what came and what goes, not what is there. It must not know what events say.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use sexton_model::delete_options::Preconditions;
use sexton_model::{DeleteOptions, GroupResource, Stored, time};
use sexton_store::engine::RawKey;
use sexton_store::feed::ChangeFeed;
use sexton_store::{At, Object, ObjectChange, Scope};

use super::{Api, Failure, Result, Target};

/// How long events are kept, unless the configuration says otherwise.
pub const EVENT_TTL: Duration = Duration::from_secs(3600);
/// So often it is looked whether events came or are due.
const EVERY: Duration = Duration::from_secs(5);
/// Nothing is waited for longer than this: it is looked at in the next sweep.
const PATIENCE: Duration = Duration::from_millis(100);
/// So many are removed in one sweep.
const AT_A_TIME: usize = 5_000;
/// Removals under way at once; they share the disk's flushes.
const AT_ONCE: usize = 64;
/// Events that are read at once when it begins.
const PAGE: usize = 1_000;
/// What could not be removed is tried again after so many seconds.
const AGAIN: i64 = 60;

/// When which event is due.
pub struct EventExpiry {
    api: Api,
    ttl: i64,
    due: BTreeMap<i64, Vec<RawKey>>,
    changes: Box<dyn ChangeFeed>,
}

impl EventExpiry {
    /// Reads the events that there are.
    pub async fn begin(api: Api, ttl: Duration) -> Result<EventExpiry> {
        let head = api.head().await?;
        let changes = api.store().changes(&events(), head).await?;
        let ttl = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
        let mut expiry = EventExpiry { api, ttl, due: BTreeMap::new(), changes };
        let mut after: Option<RawKey> = None;
        loop {
            let range = events().range();
            let range = after.as_ref().map_or(range.clone(), |after| range.after(after));
            let page = expiry.api.store().engine().range(&range, At::Exactly(head), Some(PAGE)).await?;
            after = page.entries.last().map(|(key, _)| key.clone());
            for (key, entry) in page.entries {
                let stored = Stored::from_bytes(entry.value);
                expiry.note(&Object { key, revision: entry.revision, stored });
            }
            if !page.more || after.is_none() {
                return Ok(expiry);
            }
        }
    }

    /// Removes what is due, as long as the server is there.
    pub async fn run(mut self) {
        let mut closing = self.api.closing.subscribe();
        loop {
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                _ = closing.wait_for(|closing| *closing) => return,
            }
            let Err(error) = self.sweep().await else { continue };
            tracing::warn!(%error, "old events were not removed; all are looked at again");
            let ttl = Duration::from_secs(u64::try_from(self.ttl).unwrap_or_default());
            match EventExpiry::begin(self.api.clone(), ttl).await {
                Ok(anew) => self = anew,
                Err(error) => tracing::warn!(%error, "the events cannot be read"),
            }
        }
    }

    /// Takes in what came, and removes what is due by now. Gives back how many went.
    ///
    /// # Errors
    /// The store cannot be read, or it was not looked at for too long.
    pub async fn sweep(&mut self) -> Result<usize> {
        self.hear().await?;
        let now = self.api.now();
        let mut keys = Vec::new();
        while let Some(entry) = self.due.first_entry()
            && *entry.key() <= now
            && keys.len() < AT_A_TIME
        {
            keys.extend(entry.remove());
        }
        let mut removed = 0;
        let looks = keys.into_iter().map(|key| {
            let (api, ttl) = (self.api.clone(), self.ttl);
            async move { remove_if_due(&api, &key, ttl, now).await.map(|left| (key, left)) }
        });
        let looks: Vec<_> = stream::iter(looks).buffer_unordered(AT_ONCE).collect().await;
        for look in looks {
            let (key, left) = look?;
            match left {
                Left::Gone => removed += 1,
                Left::Nothing => {}
                Left::DueAt(due) => self.due.entry(due).or_default().push(key),
            }
        }
        Ok(removed)
    }

    /// Takes in the events that came since the last time.
    async fn hear(&mut self) -> Result<()> {
        let head = self.api.head().await?;
        while self.changes.seen() < head {
            let batch = match tokio::time::timeout(PATIENCE, self.changes.next()).await {
                Ok(batch) => batch?,
                // Everything since was about something else.
                Err(_) => break,
            };
            for change in batch.changes.iter().map(ObjectChange::from) {
                if let (None, Some(new)) = (change.before, change.after) {
                    self.note(&new);
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, event: &Object) {
        let now = self.api.now();
        let due = repeated(event, now).unwrap_or(now).saturating_add(self.ttl);
        self.due.entry(due).or_default().push(event.key.clone());
    }
}

/// What became of an event that seemed to be due.
enum Left {
    /// It was removed.
    Gone,
    /// It was gone already, or a finalizer holds it.
    Nothing,
    /// It is due later.
    DueAt(i64),
}

async fn remove_if_due(api: &Api, key: &RawKey, ttl: i64, now: i64) -> Result<Left> {
    let Some(event) = api.store().get_raw(key, At::Latest).await? else { return Ok(Left::Nothing) };
    // What says nothing of when it was has waited long enough.
    let due = repeated(&event, now).map(|last| last.saturating_add(ttl));
    if let Some(due) = due.filter(|due| *due > now) {
        return Ok(Left::DueAt(due));
    }
    let Some(kind) = api.kinds().current().kept(&events().kind).cloned() else { return Ok(Left::Nothing) };
    let (namespace, name) = event.place();
    let target = Target { kind, namespace: namespace.to_owned() };
    let conditions = Preconditions {
        uid: Some(event.facts()?.uid.to_owned()),
        resource_version: Some(event.revision.to_string()),
    };
    let options = DeleteOptions { preconditions: Some(conditions), ..DeleteOptions::default() };
    match api.delete(&target, name, &options).await {
        Ok(_) => Ok(Left::Gone),
        Err(Failure(status)) if status.code == 404 => Ok(Left::Nothing),
        // It was repeated just now.
        Err(Failure(status)) if status.code == 409 => Ok(Left::DueAt(now)),
        Err(error) => {
            tracing::warn!(%error, name, "an old event was not removed");
            Ok(Left::DueAt(now.saturating_add(AGAIN)))
        }
    }
}

/// When an event was repeated last, as far as that is not in the future.
fn repeated(event: &Object, now: i64) -> Option<i64> {
    let document = event.document().ok()?;
    let at = |field: &str| document.field_text(field).and_then(|text| time::parse(&text));
    let fields = ["metadata.creationTimestamp", "lastTimestamp", "series.lastObservedTime", "eventTime"];
    fields.into_iter().filter_map(at).filter(|at| *at <= now).max()
}

fn events() -> Scope {
    Scope { kind: GroupResource::new("", "events"), namespace: None }
}
