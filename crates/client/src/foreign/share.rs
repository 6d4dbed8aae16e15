//! One feed for all readers of a process: a command that previews, follows and collects lists every kind once.
//!
//! Each reader is told everything there is first, from memory, and then what happens. Watches begin with the first
//! reader that reads on after SYNCED: a mere look opens none. While nothing reads, nothing is read.
//!
//! It must not know what the lines say beyond which object they are about.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use sexton_model::feed::{FeedKind, FeedObject, Line};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::feed::begin;
use super::options::FeedOptions;
use crate::kinds::KnownKinds;
use crate::resources::FeedError;

/// Messages that wait for one reader. A reader that falls behind further is told that the feed ended, and begins anew.
const MAX_WAITING: usize = 16_384;

/// What was read so long ago is not told again.
const STALE: Duration = Duration::from_secs(2);

type Lines = BoxStream<'static, Result<Line, FeedError>>;
type Message = Result<Vec<Line>, FeedError>;

/// The feed of a process, if it has been begun.
#[derive(Debug, Default)]
pub(crate) struct SharedFeed {
    readers: Mutex<Option<mpsc::UnboundedSender<Reader>>>,
}

/// A reader as the feed sees it.
#[derive(Debug)]
struct Reader {
    tell: mpsc::Sender<Message>,
    /// It was told everything there is, and goes on reading.
    reads_on: Arc<AtomicBool>,
    poke: Arc<Notify>,
}

impl SharedFeed {
    /// Whether there is one already.
    pub(crate) fn has_begun(&self) -> bool {
        let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.as_ref().is_some_and(|joins| !joins.is_closed())
    }

    /// A reader's own stream. The feed begins with the first.
    pub(crate) fn lines(&self, known: &Arc<KnownKinds>, options: &FeedOptions) -> Lines {
        let (tell, messages) = mpsc::channel(MAX_WAITING);
        let (reads_on, poke) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
        let reader = Reader { tell, reads_on: reads_on.clone(), poke: poke.clone() };
        self.join(reader, known, options);
        let reading = Reading { messages, at_hand: Vec::new().into_iter(), synced: false, reads_on, poke };
        stream::unfold(reading, Reading::next).boxed()
    }

    fn join(&self, reader: Reader, known: &Arc<KnownKinds>, options: &FeedOptions) {
        // A lock that was poisoned guards nothing but a sender.
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match &*readers {
            None => reader,
            Some(joins) => match joins.send(reader) {
                Ok(()) => return,
                Err(mpsc::error::SendError(reader)) => reader,
            },
        };
        let (joins, joining) = mpsc::unbounded_channel();
        let hub = Hub {
            source: begin(known.clone(), options.clone()).boxed(),
            readers: vec![reader],
            joining,
            told: Told::default(),
            read: Instant::now(),
            known: known.clone(),
            options: options.clone(),
        };
        tokio::spawn(hub.run());
        *readers = Some(joins);
    }
}

/// The reader's end.
struct Reading {
    messages: mpsc::Receiver<Message>,
    at_hand: std::vec::IntoIter<Line>,
    synced: bool,
    reads_on: Arc<AtomicBool>,
    poke: Arc<Notify>,
}

impl Reading {
    async fn next(mut self) -> Option<(Result<Line, FeedError>, Reading)> {
        loop {
            if let Some(line) = self.at_hand.next() {
                self.synced |= matches!(line, Line::Synced { .. });
                return Some((Ok(line), self));
            }
            if self.synced && !self.reads_on.swap(true, Ordering::SeqCst) {
                self.poke.notify_one();
            }
            match self.messages.recv().await? {
                Ok(lines) => self.at_hand = lines.into_iter(),
                Err(error) => return Some((Err(error), self)),
            }
        }
    }
}

/// What was told so far, so that it can be told again.
#[derive(Debug, Default)]
struct Told {
    kinds: Option<Vec<FeedKind>>,
    /// By group, plural and uid.
    objects: BTreeMap<(String, String, String), FeedObject>,
    synced: Option<String>,
}

impl Told {
    fn hear(&mut self, line: &Line) {
        match line {
            Line::Kinds { kinds } => self.kinds = Some(kinds.clone()),
            Line::Added(seen) | Line::Modified(seen) => _ = self.objects.insert(key(seen), seen.clone()),
            Line::Deleted(gone) => _ = self.objects.remove(&key(gone)),
            Line::Synced { resource_version } => self.synced = Some(resource_version.clone()),
            Line::Bookmark { resource_version } if self.synced.is_some() => {
                self.synced = Some(resource_version.clone());
            }
            Line::Bookmark { .. } | Line::Error { .. } => {}
        }
    }

    /// Everything there is, as a feed begins.
    fn again(&self) -> Vec<Line> {
        let kinds = self.kinds.iter().map(|kinds| Line::Kinds { kinds: kinds.clone() });
        let objects = self.objects.values().cloned().map(Line::Added);
        let synced = self.synced.iter().map(|version| Line::Synced { resource_version: version.clone() });
        kinds.chain(objects).chain(synced).collect()
    }
}

fn key(seen: &FeedObject) -> (String, String, String) {
    let group = seen.object.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    (group.to_owned(), seen.resource.clone(), seen.object.metadata.uid.clone())
}

struct Hub {
    source: Lines,
    readers: Vec<Reader>,
    joining: mpsc::UnboundedReceiver<Reader>,
    told: Told,
    /// When the feed was last read.
    read: Instant,
    known: Arc<KnownKinds>,
    options: FeedOptions,
}

impl Hub {
    /// Reads as long as something reads, until the feed ends or the process has no use for it any more.
    async fn run(mut self) {
        loop {
            self.readers.retain(|reader| !reader.tell.is_closed());
            let is_wanted = self.is_wanted();
            if is_wanted {
                self.read = Instant::now();
            }
            let pokes: Vec<Arc<Notify>> = self.readers.iter().map(|reader| reader.poke.clone()).collect();
            tokio::select! {
                joined = self.joining.recv() => match joined {
                    Some(reader) => self.welcome(reader).await,
                    None => return,
                },
                () = any_of(&pokes) => {}
                line = self.source.next(), if is_wanted => match line {
                    Some(Ok(line)) => self.tell(line).await,
                    Some(Err(error)) => return self.fail(error).await,
                    None => return,
                },
            }
        }
    }

    fn is_wanted(&self) -> bool {
        let reads_on = |reader: &Reader| reader.reads_on.load(Ordering::SeqCst);
        match self.told.synced {
            None => !self.readers.is_empty(),
            Some(_) => self.readers.iter().any(reads_on),
        }
    }

    async fn welcome(&mut self, reader: Reader) {
        if self.told.synced.is_some() && !self.is_wanted() && self.read.elapsed() > STALE {
            // Nothing was read for too long, for example while a question waited for its answer: what was true then
            // is not passed off as true now.
            self.source = begin(self.known.clone(), self.options.clone()).boxed();
            (self.told, self.readers) = (Told::default(), Vec::new());
        }
        let lines = self.told.again();
        if lines.is_empty() || reader.tell.send(Ok(lines)).await.is_ok() {
            self.readers.push(reader);
        }
    }

    async fn tell(&mut self, line: Line) {
        self.told.hear(&line);
        // Until everything is told, all readers read. After that one may rest while it waits for another.
        let waits = self.told.synced.is_none();
        let mut left = Vec::with_capacity(self.readers.len());
        for reader in self.readers.drain(..) {
            let message = Ok(vec![line.clone()]);
            let told = match waits {
                true => reader.tell.send(message).await.is_ok(),
                false => reader.tell.try_send(message).is_ok(),
            };
            if told {
                left.push(reader);
            }
        }
        self.readers = left;
    }

    async fn fail(&mut self, error: FeedError) {
        let why = error.to_string();
        let mut error = Some(error);
        for reader in self.readers.drain(..) {
            let error = error.take().unwrap_or_else(|| FeedError::Mute(why.clone()));
            // A reader that has gone away need not know.
            let _ = reader.tell.send(Err(error)).await;
        }
    }
}

/// Waits until one of them is notified.
async fn any_of(pokes: &[Arc<Notify>]) {
    let waiting = pokes.iter().map(|poke| Box::pin(poke.notified()));
    match pokes.is_empty() {
        true => std::future::pending().await,
        false => _ = futures::future::select_all(waiting).await,
    }
}
