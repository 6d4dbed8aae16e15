//! Many clients making a bounded number of requests in a bounded time.
//! Must not know: what the requests are; a maker builds the one for each index.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::future::try_join_all;

use crate::conn::Conn;
use crate::error::Result;
use crate::tally::{Complaints, Tally};
use crate::target::{Call, SharedTarget};

/// How long an answer may still take once the time is up, before the client is given up.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Builds the request of an index.
pub(crate) type Maker = Arc<dyn Fn(u64) -> Result<Call> + Send + Sync>;

/// How much to do.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// Requests in all.
    pub(crate) count: u64,
    /// Time after which no request is started.
    pub(crate) time: Duration,
}

/// What came of it.
pub(crate) struct Driven {
    /// All clients' counts.
    pub(crate) tally: Tally,
    /// From the first request to the last answer.
    pub(crate) elapsed: Duration,
    /// True if the time was up before the count was reached.
    pub(crate) cut_short: bool,
}

/// Opens one connection per client, ahead of any clock.
pub(crate) async fn open_all(target: &SharedTarget, clients: u32) -> Result<Vec<Conn>> {
    try_join_all((0..clients).map(|_| Conn::open(target))).await
}

/// Makes all requests of the indices `0..count` and waits for them.
pub(crate) async fn drive(conns: Vec<Conn>, bounds: Bounds, maker: Maker) -> Result<Driven> {
    let complaints = Complaints::default();
    let next = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let tasks: Vec<_> = conns
        .into_iter()
        .map(|conn| {
            let (next, maker, tally) = (Arc::clone(&next), Arc::clone(&maker), Tally::new(&complaints));
            tokio::spawn(client(conn, bounds, start, next, maker, tally))
        })
        .collect();
    let mut tally = Tally::new(&complaints);
    for task in tasks {
        tally.merge(&task.await?);
    }
    let elapsed = start.elapsed();
    let cut_short = tally.ok + tally.errors < bounds.count;
    Ok(Driven { tally, elapsed, cut_short })
}

async fn client(
    mut conn: Conn,
    bounds: Bounds,
    start: Instant,
    next: Arc<AtomicU64>,
    maker: Maker,
    mut tally: Tally,
) -> Tally {
    let requests = async {
        while start.elapsed() < bounds.time {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= bounds.count {
                break;
            }
            let request = match maker(index) {
                Ok(request) => request,
                Err(error) => {
                    tally.fail(error);
                    continue;
                }
            };
            let sent = Instant::now();
            let answer = conn.call(request).await;
            tally.answer(answer, sent.elapsed());
        }
    };
    // One timer for the whole loop: a timer per request would cost the shared cores more.
    if tokio::time::timeout(bounds.time + GRACE, requests).await.is_err() {
        tally.fail("an answer did not come before the time was up");
    }
    tally
}
