//! What the API takes from the outside world: time and chance. Tests bring their own.

use std::fmt::Debug;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

/// Time and chance.
pub trait Nature: Debug + Send + Sync + 'static {
    /// Seconds since 1970.
    fn now(&self) -> i64;

    /// Time since some moment in the past, by a clock that is never set.
    fn steady(&self) -> Duration;

    /// A new uid; never the same twice.
    fn uid(&self) -> String;

    /// Five random characters for `generateName`.
    fn suffix(&self) -> String;
}

/// The real world.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealNature;

/// From when steady time is counted.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Nature for RealNature {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    fn steady(&self) -> Duration {
        BEGIN.elapsed()
    }

    fn uid(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }

    fn suffix(&self) -> String {
        // No vowels and no look-alikes, so that no words and no confusions come out.
        const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let bytes = uuid::Uuid::new_v4().into_bytes();
        bytes.iter().take(5).map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()])).collect()
    }
}
