//! The feed over all kinds: one connection, line by line. Going on after its end is the caller's, who knows the last
//! revision that it took.

use std::time::Duration;

use futures::stream::{self, Stream, StreamExt};
use http::Method;
use sexton_model::feed::Line;
use sexton_model::{Revision, Status};

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
        let from = from.map(|revision| revision.to_string()).unwrap_or_default();
        let lines = Call::new(Method::GET, PATH).with("resourceVersion", &from).lines(&self.client).await?;
        Ok(stream::unfold(Some(lines), |lines| async move {
            let mut lines = lines?;
            let line = match tokio::time::timeout(SILENCE, lines.next()).await {
                Err(_) => Err(FeedError::Silent),
                Ok(None) => return None,
                Ok(Some(Err(error))) => Err(error.into()),
                Ok(Some(Ok(line))) => read(&line),
            };
            let lines = line.is_ok().then_some(lines);
            Some((line, lines))
        })
        .boxed())
    }
}

fn read(line: &[u8]) -> Result<Line, FeedError> {
    match Line::read(line) {
        Ok(Line::Error { object }) => Err(refused(object)),
        Ok(line) => Ok(line),
        Err(error) => Err(FeedError::Strange(error.to_string())),
    }
}
