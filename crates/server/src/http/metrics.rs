//! How the server is doing, in numbers, in the two text forms that Prometheus reads.

use std::fmt;
use std::sync::atomic::AtomicI64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{
    EncodeCounterValue, EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

/// From a fifth of a millisecond, which is a good flush, to seconds, which is trouble.
const REQUEST_BUCKETS: &[f64] = &[0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0];

/// What a request turned out to be.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) verb: &'static str,
    pub(super) resource: String,
    pub(super) user: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    verb: &'static str,
    resource: String,
    code: u16,
}

/// The numbers. Other parts of the server register theirs, to be read when they are asked for.
pub struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<RequestLabels, Counter>,
    seconds: Durations,
    watchers: Gauge,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("sexton");
        let requests = Family::<RequestLabels, Counter>::default();
        let watchers = Gauge::<i64, AtomicI64>::default();
        let seconds = Durations::new(REQUEST_BUCKETS);
        registry.register("requests", "Requests by verb, resource and code", requests.clone());
        let help = "How long requests took, by verb; watches without their stream";
        registry.register("request_seconds", help, seconds.0.clone());
        registry.register("watchers", "Watches under way", watchers.clone());
        Metrics { registry: Mutex::new(registry), requests, seconds, watchers }
    }
}

impl Metrics {
    fn register(&self, name: &str, help: &str, metric: impl Metric) {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner).register(name, help, metric);
    }

    /// Adds a number that goes up and down.
    pub fn gauge(&self, name: &str, help: &str, read: impl Fn() -> i64 + Send + Sync + 'static) {
        self.register(name, help, ReadGauge { label: None, read: Box::new(move || vec![("", read())]) });
    }

    /// Adds such numbers, one for each value of a label.
    pub fn gauge_by(
        &self,
        name: &str,
        help: &str,
        label: &'static str,
        read: impl Fn() -> Vec<(&'static str, i64)> + Send + Sync + 'static,
    ) {
        self.register(name, help, ReadGauge { label: Some(label), read: Box::new(read) });
    }

    /// Adds a number that only grows; `_total` is put behind its name.
    pub fn counter(&self, name: &str, help: &str, read: impl Fn() -> u64 + Send + Sync + 'static) {
        self.register(name, help, ReadCounter(Box::new(read)));
    }

    /// Adds time that only grows, in seconds; `_total` is put behind its name, which ends with `_seconds`.
    pub fn seconds_counter(
        &self,
        name: &str,
        help: &str,
        read: impl Fn() -> Duration + Send + Sync + 'static,
    ) {
        self.register(name, help, ReadCounter(Box::new(move || read().as_secs_f64())));
    }

    /// Adds a histogram of durations, in seconds.
    pub fn durations(&self, name: &str, help: &str, buckets: &'static [f64]) -> Durations {
        let durations = Durations::new(buckets);
        self.register(name, help, durations.0.clone());
        durations
    }

    pub(super) fn observe(&self, seen: &Seen, code: u16, took: Duration) {
        let labels = RequestLabels { verb: seen.verb, resource: seen.resource.clone(), code };
        self.requests.get_or_create(&labels).inc();
        self.seconds.observe(&[("verb", seen.verb)], took);
    }

    /// Counts a watcher for as long as the result lives.
    pub(super) fn watcher(&self) -> Watcher {
        self.watchers.inc();
        Watcher(self.watchers.clone())
    }

    /// The OpenMetrics text form.
    pub(super) fn open_metrics(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if encode(&mut text, &registry).is_err() {
            text.push_str("# encoding failed\n");
        }
        text
    }

    /// Prometheus' own text form, which clients get that do not ask for OpenMetrics.
    pub(super) fn text(&self) -> String {
        plain(&self.open_metrics())
    }
}

/// There, a family of counters is called as its samples are, and there is neither a unit nor an end.
fn plain(open_metrics: &str) -> String {
    let counters: Vec<&str> = open_metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines() {
        if line == "# EOF" || line.starts_with("# UNIT ") {
            continue;
        }
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some(what), Some(name), Some(rest)) if counters.contains(&name) => {
                text.push_str(&format!("# {what} {name}_total {rest}"));
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// A counted watcher.
pub(super) struct Watcher(Gauge);

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Names of labels, each with its value.
type Labels = Vec<(&'static str, &'static str)>;

/// A histogram of durations for each set of labels. Clones share it.
#[derive(Debug, Clone)]
pub struct Durations(Family<Labels, Histogram, Buckets>);

impl Durations {
    fn new(buckets: &'static [f64]) -> Durations {
        Durations(Family::new_with_constructor(Buckets(buckets)))
    }

    /// Counts a duration.
    pub fn observe(&self, labels: &[(&'static str, &'static str)], took: Duration) {
        self.0.get_or_create(&labels.to_vec()).observe(took.as_secs_f64());
    }
}

#[derive(Debug, Clone)]
struct Buckets(&'static [f64]);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

/// Gauges that are read when they are asked for.
struct ReadGauge {
    label: Option<&'static str>,
    read: Box<dyn Fn() -> Vec<(&'static str, i64)> + Send + Sync>,
}

impl fmt::Debug for ReadGauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadGauge")
    }
}

impl EncodeMetric for ReadGauge {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (value, number) in (self.read)() {
            match self.label {
                Some(label) => encoder.encode_family(&[(label, value)])?.encode_gauge(&number)?,
                None => encoder.encode_gauge(&number)?,
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }
}

/// A counter that is read when it is asked for.
struct ReadCounter<V>(Box<dyn Fn() -> V + Send + Sync>);

impl<V> fmt::Debug for ReadCounter<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadCounter")
    }
}

impl<V: EncodeCounterValue> EncodeMetric for ReadCounter<V> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_counter::<NoLabelSet, V, f64>(&(self.0)(), None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let metrics = Metrics::default();
        metrics.counter("things", "Things made", || 7);
        metrics.seconds_counter("work_seconds", "Time spent", || Duration::from_millis(1500));
        metrics.gauge_by("blocked", "Blocked by reason", "reason", || vec![("hook", 2), ("other", 0)]);
        let calls = metrics.durations("call_seconds", "How long calls took", &[0.5, 5.0]);
        calls.observe(&[("how", "exec")], Duration::from_secs(1));
        let (open, text) = (metrics.open_metrics(), metrics.text());
        for line in [
            "# HELP sexton_things Things made.",
            "# TYPE sexton_things counter",
            "sexton_things_total 7",
            "# EOF",
        ] {
            assert!(open.lines().any(|found| found == line), "{line}: {open}");
        }
        for line in [
            "# HELP sexton_things_total Things made.",
            "# TYPE sexton_things_total counter",
            "sexton_things_total 7",
            "sexton_work_seconds_total 1.5",
            "# TYPE sexton_blocked gauge",
            "sexton_blocked{reason=\"hook\"} 2",
            "sexton_blocked{reason=\"other\"} 0",
            "sexton_call_seconds_bucket{le=\"0.5\",how=\"exec\"} 0",
            "sexton_call_seconds_bucket{le=\"+Inf\",how=\"exec\"} 1",
            "sexton_watchers 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("# EOF") && !text.contains("# TYPE sexton_things counter"), "{text}");
    }
}
