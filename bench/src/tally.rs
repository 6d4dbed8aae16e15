//! What one client counts: successes, failures, bytes and times; merged at the end.
//! Must not know: which requests were made or where the figures are reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::conn::Drained;
use crate::error::Result;
use crate::histogram::Histogram;
use crate::output;

/// How many failures of one measurement are shown; the rest is only counted.
const SHOWN: u32 = 3;

/// Shows the first failures of a measurement, whichever client meets them.
#[derive(Clone, Default)]
pub(crate) struct Complaints(Arc<AtomicU32>);

impl Complaints {
    /// Shows a failure if only few were shown before.
    pub(crate) fn show(&self, words: impl std::fmt::Display) {
        if self.0.fetch_add(1, Ordering::Relaxed) < SHOWN {
            output::talk(format_args!("error: {words}"));
        }
    }
}

/// One client's counts.
pub(crate) struct Tally {
    /// Requests that succeeded.
    pub(crate) ok: u64,
    /// Requests that did not, and checks that failed.
    pub(crate) errors: u64,
    /// Bytes of the answers' bodies.
    pub(crate) bytes: u64,
    /// Times of the requests that succeeded.
    pub(crate) times: Histogram,
    complaints: Complaints,
}

impl Tally {
    /// Nothing counted yet.
    pub(crate) fn new(complaints: &Complaints) -> Self {
        Self { ok: 0, errors: 0, bytes: 0, times: Histogram::new(), complaints: complaints.clone() }
    }

    /// Counts one answer; true if it was a success.
    pub(crate) fn answer(&mut self, answer: Result<Drained>, time: Duration) -> bool {
        match answer {
            Ok(answer) if answer.status.is_success() => {
                self.ok += 1;
                self.bytes += answer.bytes;
                self.times.record(time);
                true
            }
            Ok(answer) => {
                self.fail(format_args!("{}: {}", answer.status, answer.failure));
                false
            }
            Err(error) => {
                self.fail(error);
                false
            }
        }
    }

    /// Counts one failure.
    pub(crate) fn fail(&mut self, words: impl std::fmt::Display) {
        self.fail_times(1, words);
    }

    /// Counts several failures of one kind under one explanation.
    pub(crate) fn fail_times(&mut self, times: u64, words: impl std::fmt::Display) {
        if times > 0 {
            self.errors += times;
            self.complaints.show(words);
        }
    }

    /// Adds another client's counts.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.ok += other.ok;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.times.merge(&other.times);
    }
}
