//! Metrics of the store, the collector and the hooks of a server.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sexton_collector::hooks::HookError;
use sexton_collector::{BLOCKED_REASONS, Clock, Runner, Summary, SystemClock};
use sexton_model::class::Method;
use sexton_model::hook::{Call, Verdict};
use sexton_server::http::{Durations, Metrics};
use sexton_store::local::LocalEngine;
use tokio::sync::watch;

/// From a call of a service nearby to a program that waits for a machine.
const HOOK_BUCKETS: &[f64] = &[0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0];

fn count(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Registers the metrics of the collector.
pub(super) fn collector_metrics(metrics: &Metrics, summary: &watch::Receiver<Summary>) {
    let now = |read: fn(&Summary) -> i64| {
        let summary = summary.clone();
        move || read(&summary.borrow())
    };
    let total = |read: fn(&Summary) -> u64| {
        let summary = summary.clone();
        move || read(&summary.borrow())
    };
    metrics.gauge("collector_objects", "Objects that the collector knows", now(|now| count(now.lives)));
    metrics.gauge("collector_doomed", "Objects that are to be destroyed", now(|now| count(now.doomed)));
    let blocked = summary.clone();
    metrics.gauge_by("collector_blockers", "What objects wait for, by reason", "reason", move || {
        let blocked = &blocked.borrow().blocked;
        BLOCKED_REASONS
            .iter()
            .map(|reason| (*reason, count(blocked.get(reason).copied().unwrap_or(0))))
            .collect()
    });
    metrics.gauge(
        "collector_oldest_blocker_age_seconds",
        "For how long objects have been waiting for the oldest blocker, 0 if there is none",
        now(|now| now.oldest_blocker.map_or(0, |since| (SystemClock.now() - since).max(0))),
    );
    metrics.gauge(
        "collector_held",
        "1 if more would be destroyed than the deletion limit allows",
        now(|now| i64::from(now.held.is_some())),
    );
    metrics.gauge(
        "collector_active",
        "1 if the collector of this server acts",
        now(|now| i64::from(now.acts)),
    );
    metrics.gauge("collector_hook_calls", "Calls of hooks under way", now(|now| count(now.calls)));
    metrics.counter(
        "collector_events_dropped",
        "Events that were not written because there were too many at once",
        total(|now| now.events_dropped),
    );
    metrics.counter("collector_removed", "Objects that the collector removed", total(|now| now.removed));
    metrics.counter(
        "collector_rounds",
        "Times that the collector looked at all objects",
        total(|now| now.rounds),
    );
}

/// New metrics, with those of the store registered.
pub(super) fn store_metrics(engine: &Arc<LocalEngine>) -> Metrics {
    let metrics = Metrics::default();
    let size = |read: fn((usize, usize, usize)) -> usize| {
        let engine = engine.clone();
        move || count(read(engine.size()))
    };
    metrics.gauge("store_objects", "Objects stored", size(|size| size.0));
    metrics.gauge("store_history_changes", "Changes that watches can resume from", size(|size| size.1));
    metrics.gauge("store_history_bytes", "Memory that only history holds", size(|size| size.2));
    let figures = engine.clone();
    metrics.counter("store_batches", "Durable batches", move || figures.figures().batches.load(Relaxed));
    let figures = engine.clone();
    metrics.counter("store_changes", "Durable changes", move || figures.figures().changes.load(Relaxed));
    let figures = engine.clone();
    metrics.seconds_counter("store_journal_seconds", "Time spent making batches durable", move || {
        Duration::from_micros(figures.figures().journal_micros.load(Relaxed))
    });
    metrics
}

/// Runs methods of classes, and counts how long they took.
#[derive(Debug)]
pub(super) struct TimedRunner {
    runner: Arc<dyn Runner>,
    took: Durations,
}

impl TimedRunner {
    pub(super) fn new(runner: Arc<dyn Runner>, metrics: &Metrics) -> TimedRunner {
        let help = "How long calls of hooks took, by how they are called and their verdict";
        TimedRunner { runner, took: metrics.durations("hook_duration_seconds", help, HOOK_BUCKETS) }
    }
}

#[async_trait]
impl Runner for TimedRunner {
    async fn call(&self, method: &Method, call: &Call) -> Result<Verdict, HookError> {
        let begun = Instant::now();
        let verdict = self.runner.call(method, call).await;
        let word = verdict.as_ref().map_or("error", Verdict::word);
        self.took.observe(&[("how", method.run.word()), ("verdict", word)], begun.elapsed());
        verdict
    }
}
