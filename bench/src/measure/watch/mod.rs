//! Fan-out: writes at a rate while many watchers each have to receive every one of them.
//! Must not know: other measurements.

mod event;
mod sequences;
mod watcher;
mod writer;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch::{self, Sender};
use tokio::task::JoinHandle;

use self::watcher::{Progress, Received};
use self::writer::{Schedule, Written};
use crate::bench::Bench;
use crate::cli::WatchArgs;
use crate::conn::Conn;
use crate::drive;
use crate::error::Result;
use crate::histogram::Histogram;
use crate::pages;
use crate::report::{Detail, Report, Subject, WatchDetail};
use crate::tally::{Complaints, Tally};
use crate::template::Template;
use crate::usage::{Meter, round};

/// How often the end of the fan-out is looked for; the end itself is timed by the watchers.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// How long a watcher that has everything is listened to for events that should not be there.
const LISTEN_ON: Duration = Duration::from_millis(100);

/// All watchers and what stops them.
struct Audience {
    tasks: Vec<JoinHandle<Received>>,
    progress: Vec<Arc<Progress>>,
    stop: Sender<bool>,
}

/// Measures the fan-out and checks that nothing is lost.
pub(crate) async fn run(bench: &Bench, flags: &WatchArgs) -> Result<Report> {
    let complaints = Complaints::default();
    let epoch = Instant::now();
    let audience = bench.within("starting the watches", open(bench, flags, epoch)).await?;
    let conns = bench.within("connecting", drive::open_all(&bench.target, flags.clients)).await?;
    let template = Template::new(&bench.flags.namespace, &bench.stem("w"), flags.size, None);
    let schedule = Schedule::new(flags, bench.max_time(), epoch);
    let meter = Meter::start(&bench.flags.pids)?;
    let mut written = writer::write_all(bench, conns, template, schedule, &complaints).await?;
    await_all(&audience, written.tally.ok, Duration::from_secs(flags.drain_seconds)).await;
    let usage = meter.finish()?;
    let received = audience.dismiss().await?;
    let detail = detail(flags, &mut written, &received);
    let subject =
        Subject { bench: "watch", server: &bench.target.url, clients: flags.clients, size: Some(flags.size) };
    Ok(Report::new(&subject, &written.tally, written.elapsed, usage)
        .cut_short(written.cut_short)
        .with(Detail::Watch(Box::new(detail))))
}

/// Starts every watch and returns once the server has accepted all of them.
async fn open(bench: &Bench, flags: &WatchArgs, epoch: Instant) -> Result<Audience> {
    let version = pages::version_now(bench).await?;
    let path = format!("{}?watch=true&resourceVersion={version}", bench.collection());
    let (stop, stopped) = watch::channel(false);
    let mut audience = Audience { tasks: Vec::new(), progress: Vec::new(), stop };
    for _ in 0..flags.watchers {
        let conn = Conn::open(&bench.target).await?;
        let progress = Arc::new(Progress::default());
        let request = bench.target.get(&path)?;
        let stream = watcher::start(conn, request).await?;
        let watching = watcher::follow(stream, epoch, Arc::clone(&progress), stopped.clone());
        audience.tasks.push(tokio::spawn(watching));
        audience.progress.push(progress);
    }
    Ok(audience)
}

/// Waits until every watcher has `writes` different events, or for `time`.
async fn await_all(audience: &Audience, writes: u64, time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        if audience.progress.iter().all(|progress| progress.distinct() >= writes) {
            return;
        }
        if audience.tasks.iter().all(JoinHandle::is_finished) {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

impl Audience {
    async fn dismiss(self) -> Result<Vec<Received>> {
        tokio::time::sleep(LISTEN_ON).await;
        // An error here means that all watchers ended on their own, which they report themselves.
        let _ = self.stop.send(true);
        let mut received = Vec::with_capacity(self.tasks.len());
        for task in self.tasks {
            received.push(task.await?);
        }
        Ok(received)
    }
}

/// Compares what was written with what arrived; every difference is an error of the measurement.
fn detail(flags: &WatchArgs, written: &mut Written, received: &[Received]) -> WatchDetail {
    let mut lags = Histogram::new();
    let mut last_event = written.last_ack;
    let mut lost = 0;
    for (watcher, received) in received.iter().enumerate() {
        lags.merge(&received.lags);
        last_event = last_event.max(received.last_event);
        let missing = received.seen.missing_from(&written.acked);
        lost += missing;
        count_faults(&mut written.tally, watcher, received, missing);
    }
    let events: u64 = received.iter().map(|received| received.events).sum();
    let spent = written.elapsed + last_event.saturating_sub(written.last_ack);
    WatchDetail {
        watchers: flags.watchers,
        target_rate: flags.rate,
        writes: written.tally.ok,
        creates: written.creates,
        updates: written.updates,
        events_per_watcher: received.iter().map(|received| received.events).collect(),
        events_per_second: round(events as f64 / spent.as_secs_f64().max(1e-9)),
        lost,
        duplicated: received.iter().map(|received| received.duplicated).sum(),
        out_of_order: received.iter().map(|received| received.out_of_order).sum(),
        unacknowledged: received.iter().map(|received| written.acked.missing_from(&received.seen)).sum(),
        foreign: received.iter().map(|received| received.foreign).sum(),
        lag_p50_us: lags.quantile_us(0.5),
        lag_p99_us: lags.quantile_us(0.99),
        lag_max_us: lags.max_us(),
        drain_seconds: micros_of(last_event.saturating_sub(written.last_ack)),
    }
}

/// Seconds to the microsecond; the clock's nanoseconds would only look exact.
fn micros_of(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e6
}

fn count_faults(tally: &mut Tally, watcher: usize, received: &Received, missing: u64) {
    tally.fail_times(missing, format_args!("watcher {watcher} lost {missing} events"));
    let twice = received.duplicated;
    tally.fail_times(twice, format_args!("watcher {watcher} received {twice} events twice"));
    let disordered = received.out_of_order;
    tally.fail_times(disordered, format_args!("watcher {watcher}: {disordered} events out of order"));
    if let Some(failure) = &received.failure {
        tally.fail(format_args!("watcher {watcher}: {failure}"));
    }
}
