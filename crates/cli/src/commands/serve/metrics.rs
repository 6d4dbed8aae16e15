//! What store and collector of a server tell about themselves as metrics.

use std::sync::Arc;

use sexton_collector::Summary;
use sexton_server::http::Metrics;
use sexton_store::local::LocalEngine;
use tokio::sync::watch;

/// What the collector has to tell about itself.
pub(super) fn collector_metrics(metrics: &Metrics, summary: &watch::Receiver<Summary>) {
    let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    let now = summary.clone();
    metrics.gauge("collector_lives", "Objects that the collector knows", move || count(now.borrow().lives));
    let now = summary.clone();
    metrics.gauge("collector_doomed", "Objects that are to go", move || count(now.borrow().doomed));
    let now = summary.clone();
    metrics.gauge("collector_blockers", "What is in the way of objects that are to go", move || {
        count(now.borrow().blockers.len())
    });
    let now = summary.clone();
    metrics.gauge("collector_events_dropped", "Events that were not written: too many at once", move || {
        i64::try_from(now.borrow().events_dropped).unwrap_or(i64::MAX)
    });
    let now = summary.clone();
    metrics.gauge("collector_removed", "Objects that the collector removed since start", move || {
        i64::try_from(now.borrow().removed).unwrap_or(i64::MAX)
    });
}

/// What the store has to tell about itself.
pub(super) fn store_metrics(engine: Arc<LocalEngine>) -> Metrics {
    use std::sync::atomic::Ordering::Relaxed;
    let metrics = Metrics::default();
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    let size = engine.clone();
    metrics.gauge("store_objects", "Objects stored", move || count(size.size().0));
    let size = engine.clone();
    metrics
        .gauge("store_history_changes", "Changes that watches can resume from", move || count(size.size().1));
    let size = engine.clone();
    metrics.gauge("store_history_bytes", "Memory that only history holds", move || count(size.size().2));
    let figures = engine.clone();
    metrics.gauge("store_batches", "Durable batches since start", move || {
        number(figures.figures().batches.load(Relaxed))
    });
    let figures = engine.clone();
    metrics.gauge("store_changes", "Durable changes since start", move || {
        number(figures.figures().changes.load(Relaxed))
    });
    metrics.gauge("store_journal_microseconds", "Time spent making batches durable", move || {
        number(engine.figures().journal_micros.load(Relaxed))
    });
    metrics
}
