//! The time, passed in so that tests can control it.

use std::fmt::Debug;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// Seconds since 1970.
    fn now(&self) -> i64;

    /// Time since some moment in the past, by a clock that is never set: for durations.
    fn steady(&self) -> Duration;

    /// Waits.
    fn pause(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

/// The zero of steady time.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    fn steady(&self) -> Duration {
        BEGIN.elapsed()
    }

    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }
}
