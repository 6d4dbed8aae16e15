//! The feed: all followed kinds in one stream of lines.
//!
//! Each kind has a follower of its own; what they say comes through one bounded channel, so a slow reader slows them
//! all down and costs no memory. No follower outlives the stream.
//!
//! A kind is told as broken from the moment it is known until all its objects were told, and whenever that stops being
//! true. A kind leaves the feed only when its definition was known and is proved to be gone, or when discovery does not
//! name it and nothing was told of it that could be lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use futures::stream::{self, Stream};
use sexton_model::GroupResource;
use sexton_model::feed::{FeedKind, Line};
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::discovery::{self, Asking, Discovered};
use super::follow::{Fate, Follower, News, Order, Shared};
use super::followed::{Followed, Knowledge};
use super::options::FeedOptions;
use super::read::ReadError;
use crate::kinds::{DiscoverError, Kinds, KnownKinds, ServedKind};
use crate::resources::{FeedError, Resources};

struct Feed {
    shared: Shared,
    discovered: mpsc::Receiver<Discovered>,
    news: mpsc::Receiver<(GroupResource, News)>,
    /// Everything that runs for this feed; ends with it.
    tasks: JoinSet<Option<GroupResource>>,
    kinds: BTreeMap<GroupResource, Followed>,
    /// The names of all definitions that were ever seen. Only a kind that had one can be proved to be gone.
    definitions: BTreeSet<String>,
    /// Groups that do not answer.
    unread: Vec<FeedKind>,
    /// Those of them whose kinds are not served yet, and when to ask for them next.
    unserved: BTreeSet<String>,
    asking: (Backoff, Instant),
    told_kinds: Vec<FeedKind>,
    /// Lets the watches begin. A look that ends with SYNCED opens none.
    begin_watches: watch::Sender<bool>,
    ready: VecDeque<Line>,
    synced: bool,
    /// The highest version seen. There is no order between kinds; it only shows that things go on.
    version: u64,
    failure: Option<FeedError>,
    ended: bool,
}

/// All objects of all kinds, and every change from then on, as lines of metadata.
///
/// The first line names the kinds, each as broken as long as its objects were not all told. After all that can be
/// listed was, SYNCED is told, once. From then on the reader's picture is never wrong for longer than an interruption
/// lasts, and a kind of which that may be so is told as broken meanwhile. The stream ends only if the server never
/// says which kinds it has; that is its only error.
pub fn changes(
    resources: &Resources,
    options: FeedOptions,
) -> impl Stream<Item = Result<Line, FeedError>> + Send + use<> {
    begin(resources.known.clone(), options)
}

/// The same for a server of which only the kinds are known.
pub(super) fn begin(
    known: Arc<KnownKinds>,
    options: FeedOptions,
) -> impl Stream<Item = Result<Line, FeedError>> + Send + use<> {
    // Begun by the first look, which is within a runtime.
    stream::unfold(Stage::Asked(known, Box::new(options)), |stage| async {
        let mut feed = match stage {
            Stage::Asked(known, options) => Box::new(Feed::begin(known, *options)),
            Stage::Going(feed) => feed,
        };
        let line = feed.next().await?;
        Some((line, Stage::Going(feed)))
    })
}

enum Stage {
    Asked(Arc<KnownKinds>, Box<FeedOptions>),
    Going(Box<Feed>),
}

impl Feed {
    fn begin(known: Arc<KnownKinds>, options: FeedOptions) -> Feed {
        let client = known.client().clone();
        let (begin_watches, may_watch) = watch::channel(false);
        let (tell, news) = mpsc::channel(options.buffer.max(1));
        let (tell_kinds, discovered) = mpsc::channel(1);
        let poke = Arc::new(Notify::new());
        let lists = Arc::new(Semaphore::new(options.lists.max(1)));
        let asking = Asking {
            every: options.rediscovery,
            patience: options.patience,
            pace: options.pace,
            attempts: options.attempts,
        };
        let mut tasks = JoinSet::new();
        let asks = discovery::ask_again_and_again(known, asking, Arc::clone(&poke), tell_kinds);
        tasks.spawn(async move {
            asks.await;
            None
        });
        Feed {
            unserved: BTreeSet::new(),
            asking: (Backoff::new(options.pace), Instant::now()),
            shared: Shared { client, options, tell, lists, poke, may_watch },
            discovered,
            news,
            tasks,
            kinds: BTreeMap::new(),
            definitions: BTreeSet::new(),
            unread: Vec::new(),
            told_kinds: Vec::new(),
            begin_watches,
            ready: VecDeque::new(),
            synced: false,
            version: 0,
            failure: None,
            ended: false,
        }
    }

    async fn next(&mut self) -> Option<Result<Line, FeedError>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(Ok(line));
            }
            if let Some(failure) = self.failure.take() {
                self.tasks.abort_all();
                self.ended = true;
                return Some(Err(failure));
            }
            if self.ended {
                return None;
            }
            if self.synced {
                self.begin_watches.send_if_modified(|begun| !std::mem::replace(begun, true));
            }
            let heartbeat = self.shared.options.heartbeat;
            tokio::select! {
                Some(discovered) = self.discovered.recv() => self.discovered(discovered),
                Some((kind, news)) = self.news.recv() => self.heard(&kind, news),
                Some(done) = self.tasks.join_next() => match done {
                    Ok(Some(gone)) => self.looked_at(&gone),
                    Ok(None) => {}
                    Err(error) => tracing::error!(%error, "a part of the feed ended"),
                },
                () = tokio::time::sleep(heartbeat), if self.synced => {
                    self.ready.push_back(Line::Bookmark { resource_version: self.version.to_string() });
                }
            }
        }
    }

    fn discovered(&mut self, discovered: Discovered) {
        let found = match discovered {
            Discovered::Kinds(found) => found,
            Discovered::Never(ReadError::Call(error)) => {
                self.failure = Some(FeedError::Discover(DiscoverError(error)));
                return;
            }
            Discovered::Never(silent @ ReadError::Silent(_)) => {
                self.failure = Some(FeedError::Mute(silent.to_string()));
                return;
            }
        };
        let candidates: BTreeMap<GroupResource, &ServedKind> =
            discovery::candidates(&found).map(|kind| (kind.resource.clone(), kind)).collect();
        // Definitions first: the others are looked for among them.
        let definitions = discovery::definitions();
        let first = candidates.get_key_value(&definitions);
        for (resource, kind) in
            first.into_iter().chain(candidates.iter().filter(|(it, _)| **it != definitions))
        {
            let versions = discovery::versions(&found, kind);
            match self.kinds.get_mut(resource) {
                None => self.follow((*kind).clone(), versions),
                // The preferred version may merely not have answered.
                Some(_) if discovery::is_unread(&found, &resource.group) => {}
                Some(known) => known.serve_again(kind, versions),
            }
        }
        let missing: Vec<GroupResource> =
            self.kinds.keys().filter(|kind| !candidates.contains_key(kind)).cloned().collect();
        for kind in missing {
            self.missing(&kind, &found);
        }
        self.unread = discovery::unread(&found);
        self.tell_kinds();
        self.ask_for_defined();
    }

    /// A kind is served some time after its definition was made, and nothing tells when: the server is asked again, later
    /// and later. What happens to its objects before they are followed is not seen.
    fn ask_for_defined(&mut self) {
        let mut unserved = std::mem::take(&mut self.unserved);
        unserved.retain(|name| !self.is_followed(name));
        self.unserved = unserved;
        if self.unserved.is_empty() {
            self.asking = (Backoff::new(self.shared.options.pace), Instant::now());
            return;
        }
        let (backoff, next) = &mut self.asking;
        if Instant::now() < *next {
            return;
        }
        let (poke, pause) = (Arc::clone(&self.shared.poke), backoff.pause());
        *next = Instant::now() + pause;
        self.tasks.spawn(async move {
            tokio::time::sleep(pause).await;
            poke.notify_one();
            None
        });
    }

    fn follow(&mut self, kind: ServedKind, versions: Vec<FeedKind>) {
        let order = Order { kind: kind.clone(), fate: Fate::Follow };
        let (orders, receiver) = watch::channel(order);
        let follower = Follower::new(self.shared.clone(), kind.clone());
        self.tasks.spawn(async move {
            follower.run(receiver).await;
            None
        });
        let knowledge = Knowledge::Unlisted;
        let followed = Followed { versions, orders, knowledge, unserved: false, leaving: false, kind };
        self.kinds.insert(followed.kind.resource.clone(), followed);
    }

    /// The kind that definitions are of.
    fn definition(&self) -> Option<ServedKind> {
        self.kinds.get(&discovery::definitions()).map(|followed| followed.kind.clone())
    }

    /// A kind that discovery does not name. If it had a definition and that is gone, so is the kind.
    fn missing(&mut self, kind: &GroupResource, found: &Kinds) {
        let definition = self.definition().filter(|_| self.definitions.contains(&kind.to_string()));
        let Some(followed) = self.kinds.get_mut(kind) else { return };
        if followed.leaving || discovery::is_unread(found, &kind.group) {
            return;
        }
        followed.unserved = true;
        let Some(definition) = definition else {
            followed.order(Fate::RetireIfEmpty);
            return;
        };
        let (client, patience) = (self.shared.client.clone(), self.shared.options.patience);
        let kind = kind.clone();
        self.tasks.spawn(async move {
            let stands = discovery::definition(&client, &definition, &kind, patience).await;
            matches!(stands, Ok(false)).then_some(kind)
        });
    }

    /// The definition of a kind is gone.
    fn looked_at(&mut self, gone: &GroupResource) {
        match self.kinds.get_mut(gone) {
            // It may have come back in between.
            Some(followed) if followed.unserved && !followed.leaving => {
                followed.leaving = true;
                followed.order(Fate::Retire);
            }
            _ => {}
        }
    }

    fn heard(&mut self, kind: &GroupResource, news: News) {
        let Some(followed) = self.kinds.get_mut(kind) else { return };
        match news {
            News::Lines(lines) => {
                if *kind == discovery::definitions() {
                    self.definitions_changed(&lines);
                }
                for line in &lines {
                    if let Line::Added(told) | Line::Modified(told) | Line::Deleted(told) = line {
                        let version = told.object.metadata.resource_version.parse().unwrap_or(0);
                        self.version = self.version.max(version);
                    }
                }
                self.ready.extend(lines);
                return;
            }
            News::Whole { version } => {
                self.version = self.version.max(version.parse().unwrap_or(0));
                followed.knowledge = Knowledge::Whole;
            }
            News::Broken(why) => followed.knowledge = Knowledge::Broken(why),
            News::Retired => {
                self.kinds.remove(kind);
                // It may have come back while it was told as gone.
                self.shared.poke.notify_one();
            }
        }
        let waiting = self.kinds.values().any(|followed| followed.knowledge == Knowledge::Unlisted);
        if self.synced {
            self.tell_kinds();
        } else if !waiting {
            self.tell_kinds();
            self.synced = true;
            self.ready.push_back(Line::Synced { resource_version: self.version.to_string() });
        }
    }

    /// With definitions kinds come and go. One whose kind is followed already says nothing new when it is first told.
    fn definitions_changed(&mut self, lines: &[Line]) {
        let mut is_news = false;
        for line in lines {
            let (told, first) = match line {
                Line::Added(told) => (told, true),
                Line::Modified(told) => (told, false),
                Line::Deleted(told) => {
                    self.unserved.remove(&told.object.metadata.name);
                    is_news = true;
                    continue;
                }
                _ => {
                    is_news = true;
                    continue;
                }
            };
            let name = &told.object.metadata.name;
            is_news |= !(first && self.is_followed(name));
            self.definitions.insert(name.clone());
            if !self.is_followed(name) {
                self.unserved.insert(name.clone());
            }
        }
        if is_news {
            self.shared.poke.notify_one();
        }
    }

    /// Whether the kind of a definition is followed.
    fn is_followed(&self, definition: &str) -> bool {
        let (plural, group) = definition.split_once('.').unwrap_or((definition, ""));
        self.kinds.get(&GroupResource::new(group, plural)).is_some_and(|kind| !kind.unserved && !kind.leaving)
    }

    fn tell_kinds(&mut self) {
        let mut kinds = Vec::new();
        for followed in self.kinds.values() {
            let (served, broken) = (!followed.unserved, followed.broken());
            let versions = followed.versions.iter().cloned();
            kinds.extend(versions.map(|kind| FeedKind { served, broken: broken.clone(), ..kind }));
        }
        kinds.extend(self.unread.iter().cloned());
        if kinds != self.told_kinds {
            self.told_kinds.clone_from(&kinds);
            self.ready.push_back(Line::Kinds { kinds });
        }
    }
}
