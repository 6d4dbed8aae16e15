//! Answers on their way to a client: one that takes nothing for a while is given up, however slow it may be otherwise.
//!
//! HTTP/2 asks for the next piece only when the client has room for it, so a body by itself does not even learn that it is
//! waited for. A watchman does: it lets go of what the answer holds, and if the answer is still not gone after that, of
//! the whole connection. Watches are not among them: a quiet one is not a stuck one.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http::Version;
use http_body::{Frame, SizeHint};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::seats::Connection;

/// A client that has not asked for another piece in this time has stopped reading. Pieces have 64 KiB, so a client that
/// reads two kilobytes a second is slow, not stuck.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The same while others find no seat.
const LONGEST_PAUSE_WHEN_FULL: Duration = Duration::from_secs(2);

/// What an answer is made of, and what is held for it.
type Held = (Body, Box<dyn Send>);

/// An answer on its way.
struct Flow {
    /// `None` once it is given up.
    held: Mutex<Option<Held>>,
    asked: Mutex<Instant>,
    /// HTTP/1 has one answer at a time: with it the connection is of no use any more.
    alone: bool,
    connection: Option<Connection>,
}

impl Flow {
    fn pause(&self) -> Duration {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn is_given_up(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Lets go of what is held; false if that was done before.
    fn give_up(&self) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        if held.is_some() && self.alone {
            self.cut();
        }
        held.is_some()
    }

    fn cut(&self) {
        if let Some(connection) = &self.connection {
            connection.end();
        }
    }
}

/// All answers on their way that hold a seat or much memory.
#[derive(Default)]
pub(super) struct Flows {
    all: Mutex<Vec<Weak<Flow>>>,
    given_up: AtomicU64,
}

impl std::fmt::Debug for Flows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Flows")
    }
}

impl Flows {
    /// An answer that is given up when its client stops reading; what is held goes with it.
    pub(super) fn watch(
        self: &Arc<Self>,
        body: Body,
        held: impl Send + 'static,
        version: Version,
        connection: Option<Connection>,
    ) -> Body {
        let flow = Arc::new(Flow {
            held: Mutex::new(Some((body, Box::new(held)))),
            asked: Mutex::new(Instant::now()),
            alone: version < Version::HTTP_2,
            connection,
        });
        {
            let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|flow| flow.strong_count() > 0);
            all.push(Arc::downgrade(&flow));
        }
        let watchman = tokio::spawn(keep_watch(Arc::downgrade(&flow), self.clone())).abort_handle();
        Body::new(Watched { flow, watchman })
    }

    /// Gives up the answer that has waited longest for its client, if that is long: others wait for its seat.
    pub(super) fn give_up_idle(&self) -> bool {
        let all: Vec<Arc<Flow>> = self
            .all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        let idle = all.iter().filter(|flow| !flow.is_given_up()).map(|flow| (flow.pause(), flow));
        let longest =
            idle.max_by_key(|(pause, _)| *pause).filter(|(pause, _)| *pause >= LONGEST_PAUSE_WHEN_FULL);
        longest.is_some_and(|(_, flow)| self.give_up(flow))
    }

    fn give_up(&self, flow: &Flow) -> bool {
        let given_up = flow.give_up();
        self.given_up.fetch_add(u64::from(given_up), Ordering::Relaxed);
        given_up
    }

    /// How many answers were given up.
    pub(super) fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }
}

/// Gives an answer up when its client has paused too long, and the connection if it then still holds on to it.
async fn keep_watch(flow: Weak<Flow>, flows: Arc<Flows>) {
    loop {
        let left = match flow.upgrade() {
            None => return,
            Some(flow) if flow.is_given_up() => break,
            Some(flow) => match LONGEST_PAUSE.checked_sub(flow.pause()).filter(|left| !left.is_zero()) {
                Some(left) => left,
                None => {
                    flows.give_up(&flow);
                    break;
                }
            },
        };
        tokio::time::sleep(left).await;
    }
    tokio::time::sleep(LONGEST_PAUSE).await;
    if let Some(flow) = flow.upgrade() {
        flow.cut();
    }
}

/// The body of such an answer.
struct Watched {
    flow: Arc<Flow>,
    watchman: AbortHandle,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watchman.abort();
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        *self.flow.asked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let mut held = self.flow.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut() {
            Some((body, _)) => Pin::new(body).poll_frame(context),
            None => {
                let error = io::Error::new(io::ErrorKind::TimedOut, "the client stopped reading");
                Poll::Ready(Some(Err(axum::Error::new(error))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let held = self.flow.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_some_and(|(body, _)| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        let held = self.flow.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map(|(body, _)| body.size_hint()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::stream;
    use http_body_util::BodyExt;

    fn pieces(count: usize) -> Body {
        let piece = |_| Ok::<_, std::convert::Infallible>(Bytes::from_static(b"piece"));
        Body::from_stream(stream::iter((0..count).map(piece)))
    }

    fn held(flows: &Arc<Flows>, version: Version) -> (Body, Arc<()>, Connection) {
        let (token, connection) = (Arc::new(()), Connection::default());
        let body = flows.watch(pieces(100), token.clone(), version, Some(connection.clone()));
        (body, token, connection)
    }

    async fn is_cut(connection: &Connection) -> bool {
        tokio::time::timeout(Duration::from_millis(1), connection.cut()).await.is_ok()
    }

    /// A client that takes nothing loses what is held for it, and then its connection.
    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_given_up() {
        let flows = Arc::new(Flows::default());
        let (mut body, token, connection) = held(&flows, Version::HTTP_2);
        body.frame().await.unwrap().unwrap();
        tokio::time::sleep(LONGEST_PAUSE + Duration::from_secs(1)).await;
        assert_eq!((Arc::strong_count(&token), flows.given_up()), (1, 1));
        assert!(!is_cut(&connection).await, "other streams of it may be fine");
        tokio::time::sleep(LONGEST_PAUSE).await;
        assert!(is_cut(&connection).await, "it still holds on to a stream that is of no use");
        assert!(body.frame().await.unwrap().is_err(), "never a shorter list");
    }

    /// A slow reader reads to the end.
    #[tokio::test(start_paused = true)]
    async fn slow_is_not_stuck() {
        let flows = Arc::new(Flows::default());
        let (mut body, token, connection) = held(&flows, Version::HTTP_11);
        for _ in 0..100 {
            tokio::time::sleep(LONGEST_PAUSE - Duration::from_secs(1)).await;
            body.frame().await.unwrap().unwrap();
        }
        assert!(body.frame().await.is_none());
        drop(body);
        assert_eq!((Arc::strong_count(&token), flows.given_up()), (1, 0));
        tokio::time::sleep(3 * LONGEST_PAUSE).await;
        assert!(!is_cut(&connection).await);
    }

    /// When others wait for a seat, the reader that paused longest gives way; of HTTP/1 with its connection.
    #[tokio::test(start_paused = true)]
    async fn who_pauses_gives_way() {
        let flows = Arc::new(Flows::default());
        let (_first, first, line) = held(&flows, Version::HTTP_11);
        assert!(!flows.give_up_idle(), "it has just begun");
        tokio::time::sleep(LONGEST_PAUSE_WHEN_FULL).await;
        let (_second, second, _) = held(&flows, Version::HTTP_11);
        assert!(flows.give_up_idle());
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 2));
        assert!(is_cut(&line).await && !flows.give_up_idle());
    }
}
