//! WATCH: what changes from a revision on, as events of the objects that a selector shows.

use std::collections::VecDeque;
use std::time::Duration;

use futures::FutureExt as _;
use sexton_model::{FieldError, Revision, Status};
use sexton_store::feed::{Batch, ChangeFeed};
use sexton_store::{Object, ObjectChange, ReadError};
use tokio::sync::watch as watch_flag;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::get::parse_version;
use super::list::{check_selectable, matches};
use super::standing::Standing;
use super::{Api, Failure, ListOptions, Listing, Result, Target, WatchOptions};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The object came into view.
    Added,
    /// It changed.
    Modified,
    /// It left, or left the view. Carries the last version, with the revision of the removal.
    Deleted,
}

/// What a watcher is told.
#[derive(Debug, Clone)]
pub enum WatchEvent {
    /// A change of an object.
    Object(EventKind, Object),
    /// Everything up to here was told. The flag marks the end of the initial state.
    Bookmark(Revision, bool),
    /// The watch cannot go on; the watcher has to list again.
    Failed(Failure),
}

/// Without a wish of the client a watch ends after this long, so that none is forgotten.
pub(super) const LONGEST: Duration = Duration::from_secs(3600);
/// How often a client that understands bookmarks gets one.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// A watch under way. Ends when its time is up, or the definition of its kind is gone or another one.
pub struct WatchStream {
    feed: Box<dyn ChangeFeed>,
    filter: ListOptions,
    /// What was there when the watch began and is not told yet, and what is told behind it.
    beginning: Option<(Listing, Option<WatchEvent>)>,
    /// What is known already and not yet told.
    ready: VecDeque<WatchEvent>,
    bookmarks: Option<Interval>,
    deadline: Instant,
    closing: watch_flag::Receiver<bool>,
    ended: bool,
    standing: Option<Standing>,
}

impl Api {
    /// Begins a watch.
    pub async fn watch(&self, target: &Target, options: WatchOptions) -> Result<WatchStream> {
        check_selectable(&target.kind, options.fields.terms().iter().map(|term| term.field.as_str()))?;
        let initial = wants_initial_state(&options)?;
        let filter = ListOptions { labels: options.labels, fields: options.fields, ..ListOptions::default() };
        let (ready, mut beginning) = (VecDeque::new(), None);
        let after = if initial {
            self.not_in_the_future(&options.resource_version).await?;
            let listing = self.listing(target, &filter).await?;
            let revision = listing.revision;
            let told = options.send_initial_events == Some(true) && options.bookmarks;
            beginning = Some((listing, told.then_some(WatchEvent::Bookmark(revision, true))));
            revision
        } else if options.resource_version.is_empty() || options.resource_version == "0" {
            self.head().await?
        } else {
            parse_version(&options.resource_version)?
        };
        let feed = self.store.changes(&target.scope(), after).await?;
        let bookmarks = options.bookmarks.then(|| {
            let mut interval = tokio::time::interval_at(Instant::now() + BOOKMARK_EVERY, BOOKMARK_EVERY);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        let deadline = Instant::now() + options.timeout.unwrap_or(LONGEST).min(LONGEST);
        let closing = self.closing.subscribe();
        let standing = Standing::of(&target.kind, &self.kinds);
        Ok(WatchStream {
            feed,
            filter,
            beginning,
            ready,
            bookmarks,
            deadline,
            closing,
            ended: false,
            standing,
        })
    }
}

/// Why a waiting watch woke up.
enum Woken {
    Changes(std::result::Result<Batch, ReadError>),
    Bookmark,
    Undefined,
    End,
}

impl WatchStream {
    /// The next events, as many as are known, at most about `most`; `None` at the end.
    pub async fn next(&mut self, most: usize) -> Option<Vec<WatchEvent>> {
        while self.ready.is_empty() && !self.ended {
            if let Some((listing, _)) = &mut self.beginning {
                let slice = listing.next().await;
                self.begin(slice);
                continue;
            }
            let bookmark = async {
                match &mut self.bookmarks {
                    Some(interval) => interval.tick().await,
                    None => std::future::pending().await,
                }
            };
            let undefined = async {
                match &mut self.standing {
                    Some(standing) => standing.gone().await,
                    None => std::future::pending().await,
                }
            };
            let woken = tokio::select! {
                batch = self.feed.next() => Woken::Changes(batch),
                _ = bookmark => Woken::Bookmark,
                () = undefined => Woken::Undefined,
                () = tokio::time::sleep_until(self.deadline) => Woken::End,
                _ = self.closing.wait_for(|closing| *closing) => Woken::End,
            };
            match woken {
                Woken::Changes(Ok(batch)) => self.take(batch.changes.iter().map(ObjectChange::from)),
                Woken::Changes(Err(error)) => self.fail(error.into()),
                Woken::Bookmark => self.ready.push_back(WatchEvent::Bookmark(self.feed.seen(), false)),
                Woken::Undefined => self.finish(),
                Woken::End => self.end(),
            }
        }
        let count = self.ready.len().min(most);
        (count > 0).then(|| self.ready.drain(..count).collect())
    }

    /// Tells a part of what was there when the watch began; behind the last one, that it was the last one.
    fn begin(&mut self, slice: Option<Result<Vec<Object>>>) {
        match slice {
            Some(Ok(objects)) => {
                self.ready
                    .extend(objects.into_iter().map(|object| WatchEvent::Object(EventKind::Added, object)));
            }
            Some(Err(failure)) => self.fail(failure),
            None => self.ready.extend(self.beginning.take().and_then(|(_, last)| last)),
        }
    }

    fn take(&mut self, changes: impl Iterator<Item = ObjectChange>) {
        for change in changes {
            match event(change, &self.filter) {
                Ok(event) => self.ready.extend(event),
                Err(failure) => return self.fail(failure),
            }
        }
    }

    /// Tells what has happened already, such as the end of the last object, and ends.
    fn finish(&mut self) {
        while let Some(batch) = self.feed.next().now_or_never() {
            match batch {
                Ok(batch) => self.take(batch.changes.iter().map(ObjectChange::from)),
                Err(error) => return self.fail(error.into()),
            }
            if self.ended {
                return;
            }
        }
        self.end();
    }

    /// A regular end: the client can go on from the last bookmark.
    fn end(&mut self) {
        self.ended = true;
        if self.bookmarks.is_some() {
            self.ready.push_back(WatchEvent::Bookmark(self.feed.seen(), false));
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.ready.push_back(WatchEvent::Failed(failure));
        self.ended = true;
    }
}

/// What a change is to a watcher that sees only what the filter shows.
fn event(change: ObjectChange, filter: &ListOptions) -> Result<Option<WatchEvent>> {
    let shown = |object: &Option<Object>| object.as_ref().map_or(Ok(false), |object| matches(object, filter));
    let kind = match (shown(&change.before)?, shown(&change.after)?) {
        (false, false) => return Ok(None),
        (false, true) => EventKind::Added,
        (true, true) => EventKind::Modified,
        (true, false) => EventKind::Deleted,
    };
    // What left, or left the view, is shown as it last was there.
    let object = if kind == EventKind::Deleted { change.before } else { change.after };
    let object = object.map(|object| Object { revision: change.revision, ..object });
    Ok(object.map(|object| WatchEvent::Object(kind, object)))
}

fn wants_initial_state(options: &WatchOptions) -> Result<bool> {
    let refuse = |detail: &str| {
        let error = FieldError::forbidden("resourceVersionMatch", detail);
        Failure::from(Status::invalid("meta.k8s.io", "ListOptions", "", &[error]))
    };
    match (options.send_initial_events, options.version_match.as_str()) {
        (Some(_), "NotOlderThan") => Ok(options.send_initial_events == Some(true)),
        (Some(_), _) => {
            Err(refuse("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
        }
        (None, "") => Ok(matches!(options.resource_version.as_str(), "" | "0")),
        (None, _) => {
            Err(refuse("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
        }
    }
}
