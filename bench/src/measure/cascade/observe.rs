//! The one watch on which a cascade is observed.
//! Must not know: the client that deletes, or how long is too long.

use std::time::Instant;

use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::course::Course;
use super::metadata::{self, Event};
use super::plot::Plot;
use crate::bench::Bench;
use crate::conn::Conn;
use crate::error::{Result, excerpt};
use crate::lines::Lines;
use crate::pages;

/// How much longer than the measurement the watch is asked to last.
const SPARE_SECONDS: u64 = 60;

/// A watch that the server has accepted, with the connection that carries it.
pub(crate) struct Watch {
    _conn: Conn,
    body: Incoming,
    lines: Lines,
    /// Bytes of the events so far.
    pub(crate) bytes: u64,
}

impl Watch {
    /// Watches the namespace from now on.
    pub(crate) async fn open(bench: &Bench) -> Result<Self> {
        let version = pages::version_now(bench).await?;
        let seconds = bench.flags.max_seconds.saturating_add(SPARE_SECONDS);
        let path =
            format!("{}?watch=true&resourceVersion={version}&timeoutSeconds={seconds}", bench.collection());
        let request = metadata::of_objects(bench.target.get(&path)?);
        let mut conn = Conn::open(&bench.target).await?;
        let body = conn.stream_ok("watch", request).await?;
        Ok(Self { _conn: conn, body, lines: Lines::default(), bytes: 0 })
    }

    /// Follows the course to its end and says when that was, or why the watch ended before it.
    pub(crate) async fn follow(
        &mut self,
        plot: &Plot,
        course: &mut Course,
    ) -> std::result::Result<Instant, String> {
        loop {
            let data = match self.body.frame().await {
                Some(Ok(frame)) => frame.into_data(),
                Some(Err(error)) => return Err(error.to_string()),
                None => return Err("the server ended the watch".to_owned()),
            };
            let Ok(data) = data else { continue };
            let now = Instant::now();
            self.bytes += data.len() as u64;
            let mut failure = None;
            self.lines.feed(&data, |line| {
                if let Err(words) = take(line, plot, course) {
                    failure.get_or_insert(words);
                }
            });
            match failure {
                Some(words) => return Err(words),
                None if course.is_over() => return Ok(now),
                None => {}
            }
        }
    }
}

fn take(line: &[u8], plot: &Plot, course: &mut Course) -> std::result::Result<(), String> {
    let event: Event<'_> =
        serde_json::from_slice(line).map_err(|error| format!("unreadable event: {error}"))?;
    if event.kind == "ERROR" {
        return Err(excerpt(line));
    }
    let metadata = &event.object.metadata;
    let Some(number) = plot.number(&metadata.name) else { return Ok(()) };
    match &*event.kind {
        "DELETED" => course.gone(number),
        "MODIFIED" => course.changed(number, metadata.owners().next().is_some()),
        "ADDED" => course.added(),
        _ => {}
    }
    Ok(())
}
