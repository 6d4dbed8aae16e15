//! The feed over all kinds: one connection, line by line. Going on after its end is for the caller, which knows the
//! last revision that it took.

use std::collections::VecDeque;
use std::time::Duration;

use futures::stream::{self, BoxStream, Stream, StreamExt};
use http::Method;
use sexton_model::feed::Line;
use sexton_model::{Revision, Status};
use tokio::sync::mpsc;

use super::Resources;
use crate::call::{Call, CallError};
use crate::kinds::DiscoverError;

/// Why a feed did not begin, or ended.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// The server forgot what came after this revision: begin again without one.
    #[error("{0}")]
    TooOld(Box<Status>),
    /// The server has no such feed: it is of another make.
    #[error("the server has no feed over all kinds")]
    NotServed,
    /// The server refused to go on.
    #[error("{0}")]
    Refused(Box<Status>),
    /// The server said nothing for longer than a living one does.
    #[error("the server was silent for {} seconds", SILENCE.as_secs())]
    Silent,
    /// The server does not say which kinds it has.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The server does not even say that it has kinds.
    #[error("the server does not say which kinds it has: {0}")]
    Mute(String),
    /// A line is not what the API promises.
    #[error("a line of the feed is not what the API promises: {0}")]
    Strange(String),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

impl From<CallError> for FeedError {
    fn from(error: CallError) -> Self {
        match (error.code(), error) {
            (404, _) => FeedError::NotServed,
            (_, CallError::Refused(status)) => refused(status),
            (_, error) => FeedError::Call(error),
        }
    }
}

fn refused(status: Box<Status>) -> FeedError {
    if status.code == 410 { FeedError::TooOld(status) } else { FeedError::Refused(status) }
}

/// A server breaks its silence every few seconds; several times that is long enough to call it dead.
const SILENCE: Duration = Duration::from_secs(20);
/// Lines that are read together at most, and how many times that may wait to be listened to.
const TOGETHER: usize = 512;
const AHEAD: usize = 8;
const PATH: &str = "/apis/sexton.dev/v1/changes";

impl Resources {
    /// Every change of anything after a revision; without one, first all that is there. Ends when the server ends it:
    /// then the last revision that was told is where to go on. An error is always the last item.
    ///
    /// # Errors
    /// See [`FeedError`].
    pub async fn changes(
        &self,
        from: Option<Revision>,
    ) -> Result<impl Stream<Item = Result<Line, FeedError>> + Send + use<>, FeedError> {
        let at = from.map(|revision| revision.to_string()).unwrap_or_default();
        let lines = Call::new(Method::GET, PATH).with("resourceVersion", &at).lines(&self.client).await?;
        let source = match from {
            // All that is there comes first, and that is much: others read while it is listened to.
            None => Source::Ahead(read_ahead(lines.boxed())),
            Some(_) => Source::Here(lines.boxed()),
        };
        Ok(stream::unfold(Reading { ready: VecDeque::new(), source }, Reading::next).boxed())
    }
}

type Texts = BoxStream<'static, Result<Vec<u8>, CallError>>;

/// Lines that were read together, and after the last of them what is left to be read.
struct Batch {
    lines: Vec<Result<Line, FeedError>>,
    rest: Option<Texts>,
}

enum Source {
    /// A task reads ahead, until everything that is there has been told.
    Ahead(mpsc::Receiver<Batch>),
    Here(Texts),
    Over,
}

struct Reading {
    ready: VecDeque<Result<Line, FeedError>>,
    source: Source,
}

impl Reading {
    async fn next(mut self) -> Option<(Result<Line, FeedError>, Reading)> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                if line.is_err() {
                    self.ready.clear();
                    self.source = Source::Over;
                }
                return Some((line, self));
            }
            match &mut self.source {
                Source::Ahead(batches) => {
                    let Batch { lines, rest } = batches.recv().await?;
                    self.ready = lines.into();
                    if let Some(rest) = rest {
                        self.source = Source::Here(rest);
                    }
                }
                Source::Here(texts) => self.ready.push_back(heard(texts.next()).await?),
                Source::Over => return None,
            }
        }
    }
}

/// The next line, or that there was none for too long.
async fn heard(
    next: impl Future<Output = Option<Result<Vec<u8>, CallError>>>,
) -> Option<Result<Line, FeedError>> {
    match tokio::time::timeout(SILENCE, next).await {
        Err(_) => Some(Err(FeedError::Silent)),
        Ok(text) => Some(text?.map_err(FeedError::from).and_then(|text| read(&text))),
    }
}

/// Reads until everything that is there has been told, or the receiver is dropped.
fn read_ahead(texts: Texts) -> mpsc::Receiver<Batch> {
    let (send, batches) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let mut texts = texts.ready_chunks(TOGETHER);
        loop {
            let chunk = tokio::select! {
                () = send.closed() => return,
                chunk = tokio::time::timeout(SILENCE, texts.next()) => chunk,
            };
            let lines: Vec<Result<Line, FeedError>> = match chunk {
                Err(_) => vec![Err(FeedError::Silent)],
                Ok(None) => return,
                Ok(Some(chunk)) => chunk.into_iter().map(|text| read(&text?)).collect(),
            };
            let synced = lines.iter().any(|line| matches!(line, Ok(Line::Synced { .. })));
            if synced {
                _ = send.send(Batch { lines, rest: Some(texts.into_inner()) }).await;
                return;
            }
            let over = lines.iter().any(Result::is_err);
            if send.send(Batch { lines, rest: None }).await.is_err() || over {
                return;
            }
        }
    });
    batches
}

fn read(line: &[u8]) -> Result<Line, FeedError> {
    match Line::read(line) {
        Ok(Line::Error { object }) => Err(refused(object)),
        Ok(line) => Ok(line),
        Err(error) => Err(FeedError::Strange(error.to_string())),
    }
}
