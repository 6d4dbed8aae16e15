//! How the server is doing, in numbers.

use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

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

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VerbLabel {
    verb: &'static str,
}

type Collect = Box<dyn Fn() + Send + Sync>;

/// The numbers. Whoever has more of them registers a way to bring them up to date.
pub struct Metrics {
    registry: Mutex<Registry>,
    refresh: Mutex<Vec<Collect>>,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<VerbLabel, Histogram>,
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
        let seconds = Family::<VerbLabel, Histogram>::new_with_constructor(|| {
            // From a fifth of a millisecond, which is a good flush, to seconds, which is trouble.
            Histogram::new([0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0])
        });
        let watchers = Gauge::<i64, AtomicI64>::default();
        registry.register("requests", "Requests by verb, resource and code", requests.clone());
        registry.register(
            "request_seconds",
            "How long requests took, watches without their stream",
            seconds.clone(),
        );
        registry.register("watchers", "Watches under way", watchers.clone());
        Metrics { registry: Mutex::new(registry), refresh: Mutex::default(), requests, seconds, watchers }
    }
}

impl Metrics {
    /// Adds a number that is read when somebody asks.
    pub fn gauge(&self, name: &str, help: &str, read: impl Fn() -> i64 + Send + Sync + 'static) {
        let gauge = Gauge::<i64, AtomicI64>::default();
        self.registry.lock().unwrap_or_else(PoisonError::into_inner).register(name, help, gauge.clone());
        let collect: Collect = Box::new(move || {
            gauge.set(read());
        });
        self.refresh.lock().unwrap_or_else(PoisonError::into_inner).push(collect);
    }

    pub(super) fn observe(&self, seen: &Seen, code: u16, took: Duration) {
        let labels = RequestLabels { verb: seen.verb, resource: seen.resource.clone(), code };
        self.requests.get_or_create(&labels).inc();
        self.seconds.get_or_create(&VerbLabel { verb: seen.verb }).observe(took.as_secs_f64());
    }

    /// Counts a watcher for as long as the result lives.
    pub(super) fn watcher(&self) -> Watcher {
        self.watchers.inc();
        Watcher(self.watchers.clone())
    }

    pub(super) fn text(&self) -> String {
        self.refresh.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|collect| collect());
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if encode(&mut text, &registry).is_err() {
            text.push_str("# encoding failed\n");
        }
        text
    }
}

/// A counted watcher.
pub(super) struct Watcher(Gauge);

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.dec();
    }
}
