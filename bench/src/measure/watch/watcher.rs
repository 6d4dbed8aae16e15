//! One watcher: follows its stream, notes each event's lag, and remembers which writes it saw.
//! Must not know: how writes are made or what the other watchers see.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::watch;

use super::event::{Event, Reader};
use super::sequences::Sequences;
use crate::conn::Conn;
use crate::error::{Result, excerpt};
use crate::histogram::Histogram;
use crate::lines::Lines;
use crate::target::Call;

/// How far a watcher is, readable while it works.
#[derive(Default)]
pub(crate) struct Progress(AtomicU64);

impl Progress {
    /// Different writes seen so far.
    pub(crate) fn distinct(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a watcher saw.
pub(crate) struct Received {
    /// Events of this measurement, duplicates included.
    pub(crate) events: u64,
    /// Events whose write was seen before.
    pub(crate) duplicated: u64,
    /// Events whose resource version is not above the one before.
    pub(crate) out_of_order: u64,
    /// Events that are not of this measurement.
    pub(crate) foreign: u64,
    /// Which writes were seen.
    pub(crate) seen: Sequences,
    /// From sending a write to its event's arrival.
    pub(crate) lags: Histogram,
    /// When the last new write was seen, since the epoch.
    pub(crate) last_event: Duration,
    /// Why the watch ended before it was told to.
    pub(crate) failure: Option<String>,
    last_version: u64,
}

/// A watch that the server has accepted, with the connection that carries it.
pub(crate) struct Stream {
    _conn: Conn,
    body: Incoming,
}

/// Asks for the watch and waits until it is accepted.
pub(crate) async fn start(mut conn: Conn, request: Call) -> Result<Stream> {
    let body = conn.stream_ok("watch", request).await?;
    Ok(Stream { _conn: conn, body })
}

/// Follows the watch until told to stop.
pub(crate) async fn follow(
    mut stream: Stream,
    epoch: Instant,
    progress: Arc<Progress>,
    mut stop: watch::Receiver<bool>,
) -> Received {
    let reader = Reader::new();
    let mut lines = Lines::default();
    let mut received = Received::new();
    loop {
        let frame = tokio::select! {
            biased;
            _ = stop.changed() => return received,
            frame = stream.body.frame() => frame,
        };
        let data = match frame {
            Some(Ok(frame)) => frame.into_data(),
            Some(Err(error)) => return received.failed(error.to_string()),
            None => return received.failed("the server ended the watch".to_owned()),
        };
        let Ok(data) = data else { continue };
        // One look at the clock per chunk: all its events arrived together.
        let now = epoch.elapsed();
        lines.feed(&data, |line| received.take(&reader, line, now));
        progress.0.store(received.events - received.duplicated, Ordering::Relaxed);
        if received.failure.is_some() {
            return received;
        }
    }
}

impl Received {
    fn new() -> Self {
        Self {
            events: 0,
            duplicated: 0,
            out_of_order: 0,
            foreign: 0,
            seen: Sequences::default(),
            lags: Histogram::new(),
            last_event: Duration::ZERO,
            failure: None,
            last_version: 0,
        }
    }

    fn failed(mut self, reason: String) -> Self {
        self.failure = Some(reason);
        self
    }

    fn take(&mut self, reader: &Reader, line: &[u8], now: Duration) {
        match reader.read(line) {
            Event::Write { sequence, sent_micros, version } => {
                self.events += 1;
                self.lags.record(now.saturating_sub(Duration::from_micros(sent_micros)));
                if self.seen.insert(sequence) {
                    self.last_event = now;
                } else {
                    self.duplicated += 1;
                }
                if version != 0 && version <= self.last_version {
                    self.out_of_order += 1;
                }
                self.last_version = version;
            }
            Event::Failure => self.failure = Some(excerpt(line)),
            Event::Foreign => self.foreign += 1,
        }
    }
}
