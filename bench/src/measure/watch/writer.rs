//! The writers: each on its own objects, together at a rate, every write stamped.
//! Must not know: the watchers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::{Method, Uri};

use super::sequences::Sequences;
use crate::bench::Bench;
use crate::cli::WatchArgs;
use crate::conn::Conn;
use crate::drive::GRACE;
use crate::error::Result;
use crate::tally::{Complaints, Tally};
use crate::target::{Call, SharedTarget};
use crate::template::Template;

/// When each write is due.
#[derive(Clone, Copy)]
pub(crate) struct Schedule {
    rate: u64,
    time: Duration,
    clients: u64,
    updates: u64,
    epoch: Instant,
}

/// What all writers did.
pub(crate) struct Written {
    /// Counts and times of the writes.
    pub(crate) tally: Tally,
    /// Sequence numbers of the writes that the server acknowledged.
    pub(crate) acked: Sequences,
    /// Acknowledged creates.
    pub(crate) creates: u64,
    /// Acknowledged updates.
    pub(crate) updates: u64,
    /// From the first write to the last answer.
    pub(crate) elapsed: Duration,
    /// When the last write was acknowledged, since the epoch.
    pub(crate) last_ack: Duration,
    /// True if the bound in time ended the writing before its schedule did.
    pub(crate) cut_short: bool,
}

/// What the writers share.
struct Shared {
    target: SharedTarget,
    template: Template,
    collection: String,
    post: Uri,
    schedule: Schedule,
    start: Instant,
    sequence: AtomicU64,
}

/// One writer's own results.
struct Own {
    tally: Tally,
    acked: Vec<u64>,
    creates: u64,
    updates: u64,
    last_ack: Duration,
}

impl Schedule {
    /// The schedule that the flags ask for, at most `most` long. Times are stamped as since `epoch`.
    pub(crate) fn new(flags: &WatchArgs, most: Duration, epoch: Instant) -> Self {
        Self {
            rate: flags.rate,
            time: Duration::from_secs(flags.seconds).min(most),
            clients: u64::from(flags.clients),
            updates: flags.updates,
            epoch,
        }
    }

    /// When a client's write is due after the start; absolute, so that a late one is caught up with.
    fn due(&self, client: u64, turn: u64) -> Duration {
        if self.rate == 0 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64((turn * self.clients + client) as f64 / self.rate as f64)
    }
}

/// Writes on every connection until the schedule ends.
pub(crate) async fn write_all(
    bench: &Bench,
    conns: Vec<Conn>,
    template: Template,
    schedule: Schedule,
    complaints: &Complaints,
) -> Result<Written> {
    let shared = Arc::new(Shared {
        target: SharedTarget::clone(&bench.target),
        template,
        collection: bench.collection(),
        post: bench.target.uri(&bench.collection())?,
        schedule,
        start: Instant::now(),
        sequence: AtomicU64::new(0),
    });
    let tasks: Vec<_> = (0_u64..)
        .zip(conns)
        .map(|(client, conn)| tokio::spawn(bounded(Arc::clone(&shared), client, conn, Own::new(complaints))))
        .collect();
    let mut written = Written {
        tally: Tally::new(complaints),
        acked: Sequences::default(),
        creates: 0,
        updates: 0,
        elapsed: Duration::ZERO,
        last_ack: Duration::ZERO,
        cut_short: schedule.time >= bench.max_time(),
    };
    for task in tasks {
        written.add(&task.await?);
    }
    written.elapsed = shared.start.elapsed();
    Ok(written)
}

/// A writer whose last answer never comes is given up, yet keeps what it counted.
async fn bounded(shared: Arc<Shared>, client: u64, conn: Conn, mut own: Own) -> Own {
    let writing = write(&shared, client, conn, &mut own);
    if tokio::time::timeout(shared.schedule.time + GRACE, writing).await.is_err() {
        own.tally.fail("an answer to a write did not come before the time was up");
    }
    own
}

async fn write(shared: &Shared, client: u64, mut conn: Conn, own: &mut Own) {
    let schedule = &shared.schedule;
    for turn in 0_u64.. {
        let due = schedule.due(client, turn);
        let now = shared.start.elapsed();
        if due.max(now) >= schedule.time {
            return;
        }
        if due > now {
            tokio::time::sleep(due - now).await;
        }
        // An object is created, then updated by the same client, so no two writes of one object race.
        let step = turn % (schedule.updates + 1);
        let number = turn / (schedule.updates + 1) * schedule.clients + client;
        let sequence = shared.sequence.fetch_add(1, Ordering::Relaxed);
        let sent = Instant::now();
        let request = match shared.request(step, number, sequence, sent) {
            Ok(request) => request,
            Err(error) => {
                own.tally.fail(error);
                continue;
            }
        };
        let answer = conn.call(request).await;
        if own.tally.answer(answer, sent.elapsed()) {
            own.acked.push(sequence);
            own.last_ack = schedule.epoch.elapsed();
            *(if step == 0 { &mut own.creates } else { &mut own.updates }) += 1;
        }
    }
}

impl Shared {
    fn request(&self, step: u64, number: u64, sequence: u64, sent: Instant) -> Result<Call> {
        let micros = sent.saturating_duration_since(self.schedule.epoch).as_micros();
        let body = self.template.stamped(number, sequence, u64::try_from(micros).unwrap_or(0));
        if step == 0 {
            return Ok(self.target.request(Method::POST, self.post.clone(), body));
        }
        let uri = self.target.uri(&format!("{}/{}", self.collection, self.template.name(number)))?;
        Ok(self.target.request(Method::PUT, uri, body))
    }
}

impl Own {
    fn new(complaints: &Complaints) -> Self {
        Self {
            tally: Tally::new(complaints),
            acked: Vec::new(),
            creates: 0,
            updates: 0,
            last_ack: Duration::ZERO,
        }
    }
}

impl Written {
    fn add(&mut self, own: &Own) {
        self.tally.merge(&own.tally);
        for sequence in &own.acked {
            self.acked.insert(*sequence);
        }
        self.creates += own.creates;
        self.updates += own.updates;
        self.last_ack = self.last_ack.max(own.last_ack);
    }
}
