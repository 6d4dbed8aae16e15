//! A reader that does nothing but believe the feed, and complains when the feed contradicts itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::BoxStream;
use sexton_client::foreign::{FeedOptions, Pace, changes};
use sexton_client::resources::ListAsk;
use sexton_client::{FeedError, Kinds, Place, Resources};
use sexton_model::feed::{FeedKind, FeedObject, Line};
use sexton_testkit::World;

/// Longer than anything takes that comes at all.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything happens fast, and kinds are looked at only when there is reason to.
pub(crate) fn options() -> FeedOptions {
    FeedOptions {
        page: 2,
        buffer: 2,
        rediscovery: Duration::from_secs(3600),
        patience: PATIENCE,
        heartbeat: Duration::from_secs(3600),
        pace: Pace { first: Duration::from_millis(1), most: Duration::from_millis(20) },
        attempts: 3,
        ..FeedOptions::default()
    }
}

/// `resource ns/name` and the version, by uid.
pub(crate) type Picture = BTreeMap<String, (String, String)>;

pub(crate) struct Reader {
    lines: BoxStream<'static, Result<Line, FeedError>>,
    pub(crate) picture: Picture,
    pub(crate) kinds: Vec<FeedKind>,
    pub(crate) synced: bool,
    /// All lines about objects, as words: `ADDED configmaps a`.
    pub(crate) told: Vec<String>,
    /// The last DELETED line.
    pub(crate) ended: Option<FeedObject>,
    pub(crate) heartbeats: usize,
}

impl Reader {
    pub(crate) fn new(client: &kube::Client, options: FeedOptions) -> Reader {
        let lines = changes(&Resources::new(client.clone()), options).boxed();
        let (picture, kinds, told) = (Picture::new(), Vec::new(), Vec::new());
        Reader { lines, picture, kinds, synced: false, told, ended: None, heartbeats: 0 }
    }

    /// A reader that has caught up.
    pub(crate) async fn synced(client: &kube::Client, options: FeedOptions) -> Reader {
        let mut reader = Reader::new(client, options);
        reader.until("SYNCED", |reader| reader.synced).await;
        reader
    }

    /// The next item of the stream.
    pub(crate) async fn item(&mut self) -> Option<Result<Line, FeedError>> {
        let next = tokio::time::timeout(PATIENCE, self.lines.next()).await;
        next.unwrap_or_else(|_| panic!("no line came in time; told so far: {:#?}", self.told))
    }

    /// Reads one line.
    pub(crate) async fn read(&mut self) {
        match self.item().await.unwrap().unwrap() {
            Line::Kinds { kinds } => self.kinds = kinds,
            Line::Added(told) => {
                self.tell("ADDED", &told);
                assert!(!self.picture.contains_key(&told.object.metadata.uid), "added twice: {told:?}");
                self.put(told);
            }
            Line::Modified(told) => {
                self.tell("MODIFIED", &told);
                assert!(self.picture.contains_key(&told.object.metadata.uid), "never added: {told:?}");
                self.put(told);
            }
            Line::Deleted(told) => {
                self.tell("DELETED", &told);
                self.picture.remove(&told.object.metadata.uid);
                self.ended = Some(told);
            }
            Line::Synced { .. } => assert!(!std::mem::replace(&mut self.synced, true), "synced twice"),
            Line::Bookmark { .. } => self.heartbeats += 1,
            Line::Error { object } => panic!("{object}"),
        }
    }

    /// Reads what there is without waiting for more, at most so many lines.
    pub(crate) async fn read_some(&mut self, most: usize) {
        for _ in 0..most {
            // Reading can be given up at any moment without losing a line.
            if tokio::time::timeout(Duration::from_millis(1), self.read()).await.is_err() {
                return;
            }
        }
    }

    /// Reads until something is so.
    pub(crate) async fn until(&mut self, what: &str, so: impl Fn(&Reader) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if so(self) {
                return;
            }
            self.read().await;
        }
        panic!("{what} never came; kinds: {:#?}, picture: {:#?}", self.kinds, self.picture);
    }

    pub(crate) async fn until_told(&mut self, word: &str) {
        self.until(word, |reader| reader.told.iter().any(|told| told == word)).await;
    }

    /// Reads until the picture is what full lists say.
    pub(crate) async fn until_right(&mut self, world: &World) {
        let truth = truth(world).await;
        self.until("the picture of full lists", |reader| reader.picture == truth).await;
    }

    fn tell(&mut self, word: &str, told: &FeedObject) {
        let group = told.object.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let named = |kind: &&FeedKind| kind.group == group && kind.resource == told.resource;
        assert!(self.kinds.iter().find(named).is_some(), "no KINDS line before {told:?}");
        self.told.push(format!("{word} {} {}", told.resource, told.object.metadata.name));
    }

    fn put(&mut self, told: FeedObject) {
        let metadata = told.object.metadata;
        let slot = format!("{} {}/{}", told.resource, metadata.namespace, metadata.name);
        let taken = self.picture.iter().find(|(uid, (other, _))| **other == slot && **uid != metadata.uid);
        assert!(taken.is_none(), "two lives in {slot}");
        self.picture.insert(metadata.uid, (slot, metadata.resource_version));
    }

    /// Why a kind is broken; `None` if it is whole.
    pub(crate) fn broken(&self, resource: &str) -> Option<&str> {
        let kind = self.kinds.iter().find(|kind| kind.resource == resource).unwrap();
        kind.broken.as_deref()
    }

    pub(crate) fn names(&self, resource: &str) -> bool {
        self.kinds.iter().any(|kind| kind.resource == resource)
    }

    pub(crate) fn all_whole(&self) -> bool {
        self.kinds.iter().all(|kind| kind.broken.is_none())
    }
}

/// What is really there, by full lists of everything.
pub(crate) async fn truth(world: &World) -> Picture {
    let resources = Resources::new(world.kube());
    let kinds = Kinds::discover(resources.client()).await.unwrap();
    let mut picture = Picture::new();
    for kind in kinds.preferred().filter(|kind| kind.can("watch") && kind.resource.resource != "events") {
        let listed = resources.list(&Place::new(kind, None), &ListAsk::default()).await.unwrap();
        for object in listed.found {
            let text = |name: &str| object["metadata"][name].as_str().unwrap_or("").to_owned();
            let slot = format!("{} {}/{}", kind.resource.resource, text("namespace"), text("name"));
            picture.insert(text("uid"), (slot, text("resourceVersion")));
        }
    }
    picture
}

/// The resources of kinds.
pub(crate) fn resources(kinds: &[FeedKind]) -> BTreeSet<String> {
    kinds.iter().map(|kind| kind.resource.clone()).collect()
}
