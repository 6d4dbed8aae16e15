//! A stream that waits for its client, but not for ever: one that stopped reading, or never says what it speaks, gives
//! its connection back.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Longer than any network hiccup that ends well.
const LONGEST_WRITE: Duration = Duration::from_secs(60);

/// As long as the first words of HTTP/2; a request of HTTP/1 is hardly shorter. From there on HTTP has its own limits.
const GREETING: usize = 24;
const LONGEST_GREETING: Duration = Duration::from_secs(10);

/// A stream with a limit on how long one write may be stuck.
#[derive(Debug)]
pub(super) struct Patient<S> {
    stream: S,
    stuck: Pin<Box<Sleep>>,
    waiting: bool,
    /// How much is missing until it is certain what the client speaks, and until when it may take.
    greeting: usize,
    patience: Pin<Box<Sleep>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S) -> Patient<S> {
        Patient {
            stream,
            stuck: Box::pin(tokio::time::sleep(LONGEST_WRITE)),
            waiting: false,
            greeting: GREETING,
            patience: Box::pin(tokio::time::sleep(LONGEST_GREETING)),
        }
    }

    /// Watches a write: progress resets the clock, standstill ends in an error.
    fn judge<T>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.waiting = false;
            return outcome;
        }
        if !self.waiting {
            self.waiting = true;
            self.stuck.as_mut().reset(Instant::now() + LONGEST_WRITE);
        }
        match self.stuck.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buf);
        if self.greeting > 0 {
            self.greeting = self.greeting.saturating_sub(buf.filled().len() - before);
            if outcome.is_pending() && self.patience.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.judge(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.judge(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(cx);
        self.judge(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stopped_is_given_up() {
        let (server, _client) = tokio::io::duplex(8);
        let mut patient = Patient::new(server);
        patient.write_all(b"12345678").await.unwrap();
        let error = patient.write_all(b"9").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_not_waited_for() {
        for words in ["", "PRI "] {
            let (server, mut client) = tokio::io::duplex(64);
            client.write_all(words.as_bytes()).await.unwrap();
            let mut buffer = [0; 64];
            let mut patient = Patient::new(server);
            let silence = async {
                loop {
                    tokio::io::AsyncReadExt::read(&mut patient, &mut buffer).await?;
                }
            };
            let error: io::Error = tokio::time::timeout(LONGEST_GREETING * 2, silence)
                .await
                .map(|outcome: io::Result<()>| outcome.unwrap_err())
                .unwrap();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{words}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_not() {
        let (server, mut client) = tokio::io::duplex(8);
        let mut patient = Patient::new(server);
        let reader = tokio::spawn(async move {
            let mut buffer = [0; 4];
            for _ in 0..16 {
                tokio::time::sleep(LONGEST_WRITE / 2).await;
                tokio::io::AsyncReadExt::read_exact(&mut client, &mut buffer).await.unwrap();
            }
        });
        patient.write_all(&[7; 64]).await.unwrap();
        reader.await.unwrap();
    }
}
