//! One cascade: the objects are created, the watch is opened, the root is deleted, and the end is awaited.
//! Must not know: how many rounds there are or how their figures are put together.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;

use super::course::{Course, Fate};
use super::metadata::Object;
use super::observe::Watch;
use super::planting::{self, Order, Planting};
use super::plot::Plot;
use super::verify::{self, Remains};
use crate::bench::Bench;
use crate::cli::{CascadeArgs, Policy};
use crate::conn::Conn;
use crate::error::{Error, Result};
use crate::tally::{Complaints, Tally};
use crate::target::Call;
use crate::usage::{Meter, Usage};

/// What one cascade brought.
pub(crate) struct Round {
    /// `ok` counts the objects that went or were freed; the one time is that of the DELETE's own answer.
    pub(crate) tally: Tally,
    /// From sending the DELETE to the last event.
    pub(crate) elapsed: Duration,
    /// What creating the objects took.
    pub(crate) create: Duration,
    /// Processor time and memory from the DELETE to the end.
    pub(crate) usage: Usage,
    /// True if no owner may go before what it owns.
    pub(crate) order_required: bool,
    /// Owners that did.
    pub(crate) owners_first: u64,
    /// Objects that are not as they should be at the end.
    pub(crate) left: u64,
    /// True if the time was up before the end.
    pub(crate) cut_short: bool,
}

/// How the wait for the end ended.
struct Outcome {
    elapsed: Duration,
    answered: Option<Answer>,
    /// Why the end was not seen.
    failure: Option<String>,
    cut_short: bool,
}

struct Answer {
    took: Duration,
    bytes: u64,
    /// True if the root waits for what it owns.
    held: bool,
}

/// Makes one cascade. Errors are those that leave nothing to report: the server is gone, or refuses to delete.
pub(crate) async fn run(bench: &Bench, flags: &CascadeArgs, plot: &Plot, policy: Policy) -> Result<Round> {
    let order =
        Order { what: "the objects", clients: flags.clients, time: bench.max_time(), flag: "--max-seconds" };
    let create = planting::plant(bench, &order, plot).await?;
    let fate = if policy == Policy::Orphan { Fate::Orphaned } else { Fate::Gone };
    let mut course = Course::new(plot.shape, fate);
    let mut watch = bench.within("starting the watch", Watch::open(bench)).await?;
    let mut conn = bench.within("connecting", Conn::open(&bench.target)).await?;
    tokio::time::sleep(Duration::from_millis(flags.settle_ms)).await;
    let meter = Meter::start(&bench.flags.pids)?;
    let request = deletion(bench, plot, policy)?;
    let outcome = delete_and_follow(bench, &mut conn, request, &mut watch, plot, &mut course).await?;
    let usage = meter.finish()?;
    let remains = bench.within("the verifying list", verify::list(bench, plot, fate)).await?;
    let answer = outcome.answered.as_ref();
    let order_required = match policy {
        Policy::Foreground => true,
        // Kubernetes' own default lets the owner go at once; a server that holds it promises the order.
        Policy::Default => answer.is_some_and(|answer| answer.held),
        Policy::Background | Policy::Orphan => false,
    };
    let mut tally = Tally::new(&Complaints::default());
    tally.ok = course.done();
    tally.bytes = watch.bytes + answer.map_or(0, |answer| answer.bytes);
    if let Some(answer) = answer {
        tally.times.record(answer.took);
    }
    count_faults(&mut tally, &outcome, &course, &remains);
    if order_required {
        let first = course.owners_first;
        tally.fail_times(first, format_args!("{first} owners went before a dependent of theirs"));
    }
    Ok(Round {
        tally,
        elapsed: outcome.elapsed,
        create,
        usage,
        order_required,
        owners_first: course.owners_first,
        left: remains.wrong,
        cut_short: outcome.cut_short,
    })
}

fn deletion(bench: &Bench, plot: &Plot, policy: Policy) -> Result<Call> {
    let options: &[u8] = match policy {
        Policy::Background => br#"{"propagationPolicy":"Background"}"#,
        Policy::Foreground => br#"{"propagationPolicy":"Foreground"}"#,
        Policy::Orphan => br#"{"propagationPolicy":"Orphan"}"#,
        Policy::Default => b"",
    };
    let uri = bench.target.uri(&format!("{}/{}", bench.collection(), plot.name(0)))?;
    Ok(bench.target.request(Method::DELETE, uri, Bytes::from_static(options)))
}

/// Both at once: a server may finish the cascade before it answers, or long after.
async fn delete_and_follow(
    bench: &Bench,
    conn: &mut Conn,
    request: Call,
    watch: &mut Watch,
    plot: &Plot,
    course: &mut Course,
) -> Result<Outcome> {
    let mut answered = None;
    let start = Instant::now();
    let deleting = async {
        let body = conn.fetch_ok("deleting the root", request).await?;
        let took = start.elapsed();
        let object: Object<'_> = serde_json::from_slice(&body)
            .map_err(|source| Error::Unreadable { what: "deleting the root".to_owned(), source })?;
        answered = Some(Answer { took, bytes: body.len() as u64, held: object.metadata.is_held() });
        Ok::<(), Error>(())
    };
    let following = async { Ok(watch.follow(plot, course).await) };
    let both = async { tokio::try_join!(deleting, following) };
    let (elapsed, failure, cut_short) = match tokio::time::timeout(bench.max_time(), both).await {
        Ok(Ok(((), Ok(end)))) => (end.saturating_duration_since(start), None, false),
        Ok(Ok(((), Err(words)))) => (start.elapsed(), Some(format!("the watch broke off: {words}")), false),
        Ok(Err(error)) => return Err(error),
        Err(_) => (start.elapsed(), Some("--max-seconds are over".to_owned()), true),
    };
    Ok(Outcome { elapsed, answered, failure, cut_short })
}

fn count_faults(tally: &mut Tally, outcome: &Outcome, course: &Course, remains: &Remains) {
    let (expected, left) = (course.expected(), remains.wrong);
    let open = expected - course.done();
    let examples = remains.examples();
    let seconds = outcome.elapsed.as_secs_f64();
    match &outcome.failure {
        Some(why) if left > 0 => tally.fail_times(
            left.max(open),
            format_args!("{why}: {left} of {expected} are left after {seconds:.1} s: {examples}"),
        ),
        // The server did its work, the watch did not tell.
        Some(why) => tally.fail_times(
            open.max(1),
            format_args!(
                "{why}: the list shows nothing left, but the end of {open} of {expected} was not seen"
            ),
        ),
        None => tally.fail_times(
            left,
            format_args!("the watch saw the end, but {left} of {expected} are left: {examples}"),
        ),
    }
    let unexpected = course.unexpected;
    tally.fail_times(
        unexpected,
        format_args!(
            "{unexpected} events have no place in it: an end seen twice, or an object that came back"
        ),
    );
}
