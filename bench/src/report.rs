//! The line of a measurement: the fields all measurements share and those of some.
//! Must not know: how the figures were obtained.

use std::time::Duration;

use serde::Serialize;

use crate::tally::Tally;
use crate::usage::{PidUsage, Usage, round};

/// The form of the line; raised when a field changes its meaning.
const VERSION: u32 = 1;

/// What was measured, before the figures.
pub(crate) struct Subject<'a> {
    /// The subcommand.
    pub(crate) bench: &'static str,
    /// The server's URL.
    pub(crate) server: &'a str,
    /// Connections that made requests.
    pub(crate) clients: u32,
    /// Bytes of one object as sent; none where objects were only read.
    pub(crate) size: Option<usize>,
}

/// One measurement, one line.
#[derive(Serialize)]
pub(crate) struct Report {
    bench: &'static str,
    version: u32,
    server: String,
    count: u64,
    clients: u32,
    size: Option<usize>,
    seconds: f64,
    rate: f64,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
    errors: u64,
    cut_short: bool,
    bytes: u64,
    cpu_seconds: Option<f64>,
    cpu_us_per_op: Option<f64>,
    rss_mib: Option<f64>,
    rss_before_mib: Option<f64>,
    pids: Vec<PidUsage>,
    client_cpu_seconds: f64,
    client_cpu_us_per_op: f64,
    #[serde(flatten)]
    detail: Option<Detail>,
}

/// The fields that only one measurement has.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Detail {
    /// Of `list`.
    List(ListDetail),
    /// Of `watch`.
    Watch(Box<WatchDetail>),
    /// Of `single`.
    Single(Box<SingleDetail>),
    /// Of `attack`.
    Attack(Box<AttackDetail>),
    /// Of `run`.
    Run(RunDetail),
    /// Of `cascade`.
    Cascade(Box<CascadeDetail>),
}

/// The fields of `list`.
#[derive(Serialize)]
pub(crate) struct ListDetail {
    pub(crate) page: u64,
    pub(crate) pages: u64,
    pub(crate) objects: u64,
    pub(crate) objects_of_prefix: u64,
    pub(crate) duplicates: u64,
    pub(crate) resource_versions: u64,
}

/// The fields of `attack`.
#[derive(Serialize)]
pub(crate) struct AttackDetail {
    pub(crate) lists: u32,
    pub(crate) bodies: u32,
    pub(crate) connections: u32,
    pub(crate) streams: u32,
    pub(crate) held: u64,
    pub(crate) refused: u64,
    pub(crate) alone_rate: f64,
    pub(crate) alone_p99_us: f64,
    pub(crate) alone_errors: u64,
    pub(crate) rate_ratio: f64,
    pub(crate) p99_ratio: f64,
    pub(crate) peak_mib: f64,
}

/// The fields of `run`.
#[derive(Serialize)]
pub(crate) struct RunDetail {
    pub(crate) program: String,
    pub(crate) exit_code: Option<i32>,
    pub(crate) peak_mib: f64,
    pub(crate) peak_bytes_per_object: f64,
}

/// The fields of `watch`.
#[derive(Serialize)]
pub(crate) struct WatchDetail {
    pub(crate) watchers: u32,
    pub(crate) target_rate: u64,
    pub(crate) writes: u64,
    pub(crate) creates: u64,
    pub(crate) updates: u64,
    pub(crate) events_per_watcher: Vec<u64>,
    pub(crate) events_per_second: f64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    pub(crate) out_of_order: u64,
    pub(crate) unacknowledged: u64,
    pub(crate) foreign: u64,
    pub(crate) lag_p50_us: f64,
    pub(crate) lag_p99_us: f64,
    pub(crate) lag_max_us: f64,
    pub(crate) drain_seconds: f64,
}

/// The fields of `single`.
#[derive(Serialize)]
pub(crate) struct SingleDetail {
    pub(crate) histogram_us: Vec<(f64, u64)>,
    pub(crate) fsync_append: Option<FsyncFigures>,
    pub(crate) fsync_prealloc: Option<FsyncFigures>,
    pub(crate) p50_above_fsync_append_us: Option<f64>,
    pub(crate) p99_above_fsync_append_us: Option<f64>,
    pub(crate) p50_above_fsync_prealloc_us: Option<f64>,
    pub(crate) p99_above_fsync_prealloc_us: Option<f64>,
}

/// The fields of `cascade`.
#[derive(Serialize)]
pub(crate) struct CascadeDetail {
    pub(crate) shape: String,
    pub(crate) policy: &'static str,
    pub(crate) objects: u64,
    pub(crate) world: u64,
    pub(crate) repeat: u64,
    pub(crate) order_required: bool,
    pub(crate) owners_first: u64,
    pub(crate) left: u64,
    pub(crate) create_seconds: f64,
    pub(crate) world_seconds: Option<f64>,
    pub(crate) round_seconds: Vec<f64>,
    pub(crate) round_cpu_seconds: Vec<f64>,
}

/// The disk's own times.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct FsyncFigures {
    pub(crate) count: u64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

impl Report {
    /// Puts the figures of a measurement together. A process that died counts as an error.
    pub(crate) fn new(subject: &Subject<'_>, tally: &Tally, elapsed: Duration, usage: Usage) -> Self {
        let seconds = elapsed.as_secs_f64();
        let per_op = |cpu: f64| round(cpu * 1e6 / (tally.ok.max(1) as f64));
        let sum = |field: fn(&PidUsage) -> f64| {
            (!usage.pids.is_empty()).then(|| round(usage.pids.iter().map(field).sum()))
        };
        let cpu_seconds = sum(|pid| pid.cpu_seconds);
        Self {
            bench: subject.bench,
            version: VERSION,
            server: subject.server.to_owned(),
            count: tally.ok,
            clients: subject.clients,
            size: subject.size,
            seconds: (seconds * 1e6).round() / 1e6,
            rate: round(tally.ok as f64 / seconds.max(1e-9)),
            p50_us: tally.times.quantile_us(0.5),
            p99_us: tally.times.quantile_us(0.99),
            max_us: tally.times.max_us(),
            errors: tally.errors + usage.died,
            cut_short: false,
            bytes: tally.bytes,
            cpu_seconds,
            cpu_us_per_op: cpu_seconds.map(per_op),
            rss_mib: sum(|pid| pid.rss_mib),
            rss_before_mib: sum(|pid| pid.rss_before_mib),
            client_cpu_seconds: round(usage.client_cpu_seconds),
            client_cpu_us_per_op: per_op(usage.client_cpu_seconds),
            pids: usage.pids,
            detail: None,
        }
    }

    /// Says that the bound in time ended the measurement.
    pub(crate) fn cut_short(mut self, cut_short: bool) -> Self {
        self.cut_short = cut_short;
        self
    }

    /// Adds the fields of one kind of measurement.
    pub(crate) fn with(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// True if nothing went wrong.
    pub(crate) fn clean(&self) -> bool {
        self.errors == 0
    }

    /// Operations that succeeded.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}
