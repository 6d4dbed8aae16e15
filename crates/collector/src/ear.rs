//! Reads the change feed forever: connects, resumes where the connection broke, or starts from the beginning.
//!
//! Messages to the loop: [`Heard::Beginning`] before a complete listing, then its lines and the changes after it. A
//! connection that resumes at a revision has no `Beginning`. [`Heard::Silence`] after each connection that ended or
//! failed; then a pause that doubles up to a limit and is reset by any line.
//!
//! It must not know what the lines mean, except up to which revision they are complete.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use sexton_client::Gateway;
use sexton_client::resources::FeedError;
use sexton_model::Revision;
use sexton_model::feed::Line;
use tokio::sync::mpsc;

/// Lines that are buffered. Few: while a round is carried out the feed is hardly read, because its writes come first.
const WAITING: usize = 1_024;

/// A message of the feed reader.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A complete listing begins; what it does not name is gone.
    Beginning,
    /// A line of the feed.
    Line(Box<Line>),
    /// The connection ended or failed, and why. The reader reconnects by itself.
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

/// Starts to read the feed, in a task that ends when the receiver is dropped.
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
    /// The feed is complete up to this revision; `None` before the first complete listing.
    reached: Option<Revision>,
}

impl Listening {
    /// Notes up to which revision the feed is complete after this line. Lines of the first listing do not say.
    fn note(&mut self, line: &Line) {
        let version = match line {
            Line::Synced { resource_version } | Line::Bookmark { resource_version } => resource_version,
            Line::Added(seen) | Line::Modified(seen) | Line::Deleted(seen) if self.reached.is_some() => {
                &seen.object.metadata.resource_version
            }
            _ => return,
        };
        // A listing is not in the order of revisions; the revision never decreases.
        self.reached = version.parse().ok().max(self.reached);
    }

    /// Reads one connection to its end; `None` when the receiver is gone.
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
