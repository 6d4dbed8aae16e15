//! Time and chance that a test decides over: the same test always sees the same uids, times and names.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use sexton_server::api::Nature;

/// When every world begins: 2026-11-15T20:00:00Z.
pub const START: i64 = 1_794_772_800;

/// A clock that stands still until it is moved, uids that count up, suffixes that count up or were chosen.
#[derive(Debug)]
pub struct FixedNature {
    now: AtomicI64,
    uids: AtomicU64,
    suffixes: AtomicU64,
    chosen: Mutex<VecDeque<String>>,
    /// Since when the clock moves with the time of the runtime.
    since: OnceLock<tokio::time::Instant>,
}

impl Default for FixedNature {
    fn default() -> Self {
        FixedNature {
            now: AtomicI64::new(START),
            uids: AtomicU64::new(0),
            suffixes: AtomicU64::new(0),
            chosen: Mutex::default(),
            since: OnceLock::new(),
        }
    }
}

impl FixedNature {
    /// Moves the clock, also backwards.
    pub fn pass(&self, seconds: i64) {
        self.now.fetch_add(seconds, Ordering::SeqCst);
    }

    /// From now on the clock moves with the time of the runtime, which a test can pause.
    pub fn follow_time(&self) {
        _ = self.since.set(tokio::time::Instant::now());
    }

    /// Waits: where the clock stands still, it is moved instead.
    pub(crate) fn wait(&self, duration: Duration) -> BoxFuture<'static, ()> {
        if self.since.get().is_some() {
            return Box::pin(tokio::time::sleep(duration));
        }
        self.pass(duration.as_secs().cast_signed());
        Box::pin(tokio::task::yield_now())
    }

    /// The next suffixes, before counting goes on: a way to make names collide.
    pub fn choose_suffixes(&self, suffixes: &[&str]) {
        self.chosen.lock().unwrap().extend(suffixes.iter().map(|&suffix| suffix.to_owned()));
    }
}

impl Nature for FixedNature {
    fn now(&self) -> i64 {
        let passed = self.since.get().map_or(0, |since| since.elapsed().as_secs().cast_signed());
        self.now.load(Ordering::SeqCst) + passed
    }

    fn steady(&self) -> Duration {
        // A test moves the clock as a whole.
        Duration::from_secs(u64::try_from(Nature::now(self)).unwrap_or(0))
    }

    fn uid(&self) -> String {
        format!("uid-{}", self.uids.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn suffix(&self) -> String {
        let chosen = self.chosen.lock().unwrap().pop_front();
        chosen.unwrap_or_else(|| format!("x{:04}", self.suffixes.fetch_add(1, Ordering::SeqCst) + 1))
    }
}
