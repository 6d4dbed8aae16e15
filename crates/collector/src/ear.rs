//! Listens to the feed for ever: connects, reconnects where it stopped, begins anew when it is too late for that.
//!
//! It must not know what the lines mean beyond where they end.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use sexton_client::Gateway;
use sexton_client::resources::FeedError;
use sexton_model::Revision;
use sexton_model::feed::Line;
use tokio::sync::mpsc;

/// Lines that wait to be understood. Few: while a round is carried out its echo is read no further, because what it
/// does comes before what it hears.
const WAITING: usize = 1_024;

/// What was heard.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Everything is told from the beginning; what is not told again is not there any more.
    Beginning,
    /// A line.
    Line(Box<Line>),
    /// Nothing can be heard, and why. It goes on by itself.
    Silence(String),
}

/// How long to wait after a failure: doubled each time, up to a limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(first: Duration, most: Duration) -> Backoff {
        Backoff { first, most, next: first }
    }

    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }

    /// How long to wait this time.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (self.next * 2).min(self.most);
        pause
    }
}

/// Begins to listen. Ends when the receiver is dropped.
pub(crate) fn listen(gateway: Arc<dyn Gateway>, backoff: Backoff) -> mpsc::Receiver<Heard> {
    let (mouth, heard) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let mut listening = Listening { gateway, mouth, backoff, reached: None };
        while listening.once().await.is_some() {}
    });
    heard
}

struct Listening {
    gateway: Arc<dyn Gateway>,
    mouth: mpsc::Sender<Heard>,
    backoff: Backoff,
    /// Up to here everything was told; nothing if it was never told completely.
    reached: Option<Revision>,
}

impl Listening {
    /// Up to where everything was told once this line is. Lines of the first listing say nothing about it.
    fn note(&mut self, line: &Line) {
        let version = match line {
            Line::Synced { resource_version } | Line::Bookmark { resource_version } => resource_version,
            Line::Added(seen) | Line::Modified(seen) | Line::Deleted(seen) if self.reached.is_some() => {
                &seen.object.metadata.resource_version
            }
            _ => return,
        };
        // A listing is not in the order of revisions, so it never moves back.
        self.reached = version.parse().ok().max(self.reached);
    }

    /// One connection; `None` when nobody listens any more.
    async fn once(&mut self) -> Option<()> {
        let from = self.reached.filter(|_| self.gateway.resumes());
        self.reached = from;
        let why = match self.gateway.changes(from).await {
            Ok(lines) => {
                if self.reached.is_none() {
                    self.mouth.send(Heard::Beginning).await.ok()?;
                }
                let mut lines = lines;
                loop {
                    match lines.next().await {
                        Some(Ok(line)) => {
                            self.backoff.reset();
                            self.note(&line);
                            self.mouth.send(Heard::Line(Box::new(line))).await.ok()?;
                        }
                        Some(Err(error)) => {
                            if matches!(error, FeedError::TooOld(_)) {
                                self.reached = None;
                            }
                            break error.to_string();
                        }
                        None => break "the feed ended".to_owned(),
                    }
                }
            }
            Err(error) => {
                if matches!(error, FeedError::TooOld(_)) {
                    self.reached = None;
                }
                error.to_string()
            }
        };
        self.mouth.send(Heard::Silence(why)).await.ok()?;
        tokio::select! {
            () = tokio::time::sleep(self.backoff.pause()) => Some(()),
            () = self.mouth.closed() => None,
        }
    }
}
