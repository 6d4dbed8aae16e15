//! How long to wait before the next try: twice as long each time, up to a limit.

use std::time::Duration;

/// The shortest and the longest pause between tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// After the first failure.
    pub first: Duration,
    /// However many failures there were.
    pub most: Duration,
}

impl Default for Pace {
    /// Quick enough for a connection that was merely cut, slow enough for a server that is down for hours.
    fn default() -> Self {
        Pace { first: Duration::from_millis(200), most: Duration::from_secs(30) }
    }
}

/// The pauses of one thing that is tried again and again.
#[derive(Debug)]
pub(super) struct Backoff {
    pace: Pace,
    last: Duration,
}

impl Backoff {
    pub(super) fn new(pace: Pace) -> Backoff {
        Backoff { pace, last: Duration::ZERO }
    }

    /// The next pause.
    pub(super) fn pause(&mut self) -> Duration {
        self.last = self.last.saturating_mul(2).clamp(self.pace.first.min(self.pace.most), self.pace.most);
        self.last
    }

    /// What was tried worked this long. If that was longer than the last pause, it counts as a new beginning: what
    /// fails at once every time is tried ever more rarely, even if it seems to work each time.
    pub(super) fn worked(&mut self, lasted: Duration) {
        if lasted > self.last {
            self.last = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_begin_anew_after_something_that_lasted() {
        let pace = Pace { first: Duration::from_millis(3), most: Duration::from_millis(10) };
        let mut backoff = Backoff::new(pace);
        let pauses: Vec<u128> = (0..4).map(|_| backoff.pause().as_millis()).collect();
        assert_eq!(pauses, [3, 6, 10, 10]);
        backoff.worked(Duration::from_millis(9));
        assert_eq!(backoff.pause().as_millis(), 10);
        backoff.worked(Duration::from_millis(11));
        assert_eq!(backoff.pause().as_millis(), 3);
    }
}
