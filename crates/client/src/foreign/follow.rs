//! One kind, followed for as long as it exists: list, watch, and after any interruption what was missed.
//!
//! It must not know other kinds, and never concludes from an error that something is gone.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use sexton_model::GroupResource;
use sexton_model::feed::Line;
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::time::Instant;

use super::backoff::Backoff;
use super::known::{Known, Said};
use super::options::FeedOptions;
use super::read::{self, Lines, ReadError, WatchLine};
use crate::call::CallError;
use crate::kinds::ServedKind;
use crate::resources::text;

/// Lines per message: more would only be held in memory twice.
const BATCH: usize = 500;

/// What a follower says.
#[derive(Debug)]
pub(super) enum News {
    /// Objects came, changed or went.
    Lines(Vec<Line>),
    /// Everything that is there has been told, and what happens from now on will be.
    Whole {
        /// The version of the list.
        version: String,
    },
    /// Not everything is known, for this reason.
    Broken(String),
    /// The last word: everything was told as gone.
    Retired,
}

/// What a follower is to do.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// The kind in the version to follow.
    pub(super) kind: ServedKind,
    pub(super) fate: Fate,
}

/// Whether a kind is to be followed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Follow,
    /// The server does not name it, and it is not known whether it is gone: end, if no object would be lost with it.
    RetireIfEmpty,
    /// The kind is gone: tell the end of all its objects, and end.
    Retire,
}

/// What all followers share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) client: kube::Client,
    pub(super) options: FeedOptions,
    pub(super) tell: mpsc::Sender<(GroupResource, News)>,
    /// How many lists may be read at a time.
    pub(super) lists: Arc<Semaphore>,
    /// Asks for a look at the kinds.
    pub(super) poke: Arc<Notify>,
    /// Whether watches may begin: before that, lists are all that is wanted.
    pub(super) may_watch: watch::Receiver<bool>,
}

/// A kind that is followed.
pub(super) struct Follower {
    shared: Shared,
    kind: ServedKind,
    /// The only namespace that may be looked at, once it is known that not all may.
    only: Option<String>,
    known: Known,
    /// From where a watch goes on; `None` means to list first.
    version: Option<String>,
    lines: Option<(Lines, Instant)>,
    /// Not before this moment is anything asked again.
    rest: Option<Instant>,
    backoff: Backoff,
    is_broken: bool,
    pending: VecDeque<News>,
}

impl Follower {
    pub(super) fn new(shared: Shared, kind: ServedKind) -> Follower {
        let known = Known::new(&kind.resource.resource);
        let backoff = Backoff::new(shared.options.pace);
        let (version, lines, rest, pending) = (None, None, None, VecDeque::new());
        let (only, is_broken) = (None, false);
        Follower { shared, kind, only, known, version, lines, rest, backoff, is_broken, pending }
    }

    /// Follows until the kind is gone or the receiver is dropped.
    pub(super) async fn run(mut self, mut orders: watch::Receiver<Order>) {
        while self.flush().await {
            // Every step can be cut off where it waits: what it learnt is either taken in whole or not at all.
            let ordered = tokio::select! {
                biased;
                changed = orders.changed() => changed.map(|()| true),
                () = self.step() => Ok(false),
            };
            match ordered {
                Ok(false) => {}
                Ok(true) => {
                    let order = orders.borrow_and_update().clone();
                    if self.obey(order) {
                        self.flush().await;
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Takes an order; true if it was the last.
    fn obey(&mut self, order: Order) -> bool {
        if self.kind != order.kind {
            self.kind = order.kind;
            (self.version, self.lines, self.rest) = (None, None, None);
        }
        match order.fate {
            Fate::Follow => return false,
            Fate::RetireIfEmpty if !self.known.is_empty() => return false,
            Fate::RetireIfEmpty | Fate::Retire => {}
        }
        let lines = self.known.all_gone();
        self.tell_lines(lines);
        self.pending.push_back(News::Retired);
        true
    }

    /// Sends all pending news; false if the receiver is gone.
    async fn flush(&mut self) -> bool {
        while !self.pending.is_empty() {
            let Ok(place) = self.shared.tell.reserve().await else { return false };
            if let Some(news) = self.pending.pop_front() {
                place.send((self.kind.resource.clone(), news));
            }
        }
        !self.shared.tell.is_closed()
    }

    fn tell_lines(&mut self, mut lines: Vec<Line>) {
        while lines.len() > BATCH {
            let rest = lines.split_off(BATCH);
            self.pending.push_back(News::Lines(std::mem::replace(&mut lines, rest)));
        }
        if !lines.is_empty() {
            self.pending.push_back(News::Lines(lines));
        }
    }

    async fn step(&mut self) {
        if let Some(until) = self.rest {
            tokio::time::sleep_until(until).await;
            self.rest = None;
        }
        match (&self.version, &mut self.lines) {
            (None, _) => self.list().await,
            (Some(_), None) => {
                // The sender lasts as long as the feed, and this no longer.
                _ = self.shared.may_watch.wait_for(|may| *may).await;
                self.open().await;
            }
            (Some(_), Some((lines, since))) => {
                // A connection that is dead without having ended must not be believed in for ever.
                let options = &self.shared.options;
                let end = *since + options.watch + options.patience;
                match tokio::time::timeout_at(end, lines.next()).await {
                    Ok(Some(Ok(line))) => self.heard(&line),
                    Ok(Some(Err(_)) | None) | Err(_) => self.ended(),
                }
            }
        }
    }

    async fn list(&mut self) {
        let (shared, kind) = (&self.shared, &self.kind);
        let read = async {
            // Never closed while followers exist; without the permit there would only be more at a time.
            let _permit = shared.lists.acquire().await.ok();
            let place = (kind, self.only.as_deref());
            read::list(&shared.client, place, shared.options.page, shared.options.patience).await
        };
        match read.await {
            Ok((found, version)) => {
                let lines = self.known.listed(found);
                self.tell_lines(lines);
                self.version = Some(version);
                self.whole();
            }
            Err(error) if error.code() == 403 && self.may_narrow() => {
                self.only.clone_from(&self.shared.options.namespace);
            }
            Err(error) => self.failed(&error),
        }
    }

    /// Whether less may be asked for than all namespaces.
    fn may_narrow(&self) -> bool {
        self.kind.namespaced && self.only.is_none() && self.shared.options.namespace.is_some()
    }

    async fn open(&mut self) {
        let version = self.version.clone().unwrap_or_default();
        let Shared { client, options, .. } = &self.shared;
        let place = (&self.kind, self.only.as_deref());
        match read::watch(client, place, &version, options.watch, options.patience).await {
            Ok(lines) => {
                self.lines = Some((lines, Instant::now()));
                if self.is_broken {
                    self.whole();
                }
            }
            // The list that follows says what was missed.
            Err(error) if error.code() == 410 => self.forget(),
            Err(error) => {
                if !error.is_passing() {
                    self.version = None;
                }
                self.failed(&error);
            }
        }
    }

    /// Everything is known up to the version, or all that may be looked at.
    fn whole(&mut self) {
        self.is_broken = false;
        let version = self.version.clone().unwrap_or_default();
        self.pending.push_back(match &self.only {
            None => News::Whole { version },
            Some(namespace) => News::Broken(format!("only the namespace {namespace} may be looked at")),
        });
    }

    fn failed(&mut self, error: &ReadError) {
        tracing::debug!(%error, kind = %self.kind.resource, "not everything is known");
        if error.code() == 404 {
            self.shared.poke.notify_one();
        }
        self.is_broken = true;
        self.pending.push_back(News::Broken(error.to_string()));
        self.pause();
    }

    /// The past is gone: what is there has to be listed.
    fn forget(&mut self) {
        self.version = None;
        self.ended();
    }

    /// The watch is over; the next goes on from where it was.
    fn ended(&mut self) {
        if let Some((_, since)) = self.lines.take() {
            self.backoff.worked(since.elapsed());
        }
        self.pause();
    }

    fn pause(&mut self) {
        self.rest = Some(Instant::now() + self.backoff.pause());
    }

    fn heard(&mut self, line: &[u8]) {
        if let Err(error) = self.take(line) {
            tracing::debug!(%error, kind = %self.kind.resource, "a watch cannot go on");
            self.forget();
        }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), CallError> {
        let strange = |why: String| CallError::Strange(why);
        let WatchLine { word, object } =
            serde_json::from_slice(line).map_err(|error| strange(error.to_string()))?;
        let said = match word.as_str() {
            "ADDED" | "MODIFIED" => Said::There,
            "DELETED" => Said::Gone,
            "BOOKMARK" => {
                self.advance(text(&object, "/metadata/resourceVersion"));
                return Ok(());
            }
            // 410 above all; whatever it is, a list is the way to go on.
            "ERROR" => return Err(strange(text(&object, "/message").to_owned())),
            other => return Err(strange(format!("an event of type {other:?}"))),
        };
        let object = read::partial(&self.kind, object)?;
        self.advance(&object.metadata.resource_version);
        if let Some(line) = self.known.event(said, object) {
            self.tell_lines(vec![line]);
        }
        Ok(())
    }

    fn advance(&mut self, version: &str) {
        if !version.is_empty() {
            self.version = Some(version.to_owned());
        }
    }
}
