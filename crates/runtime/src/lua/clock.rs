//! The time limits of a program: for a whole run, and for computing without a pause.
//!
//! Once a limit is reached the program stays stopped: catching the error in a script does not help.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::limits::Limits;

/// The system clock is read once per this many interrupts. The script engine interrupts at every call and loop
/// iteration.
const INTERRUPTS_PER_CHECK: u32 = 64;

/// The time limit that a program reached. None of its code runs any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimeIsUp {
    /// It computed for too long without a pause.
    #[error("it did not pause for {} seconds, so it was stopped", .0.as_secs_f64())]
    NoPause(Duration),
    /// The whole run took too long.
    #[error("it ran for {} seconds, so it was stopped", .0.as_secs_f64())]
    WholeRun(Duration),
}

/// The clock of one program.
///
/// A run is one call of the host into the program, with all threads that it starts; a slice is the time between two
/// pauses, in which one coroutine is polled.
pub(super) struct RunClock {
    without_pause: Duration,
    whole_run: Duration,
    run_ends: Cell<Option<Instant>>,
    slice_ends: Cell<Option<Instant>>,
    ticks: Cell<u32>,
    over: Cell<Option<TimeIsUp>>,
}

impl RunClock {
    pub(super) fn new(limits: &Limits) -> RunClock {
        RunClock {
            without_pause: limits.without_pause,
            whole_run: limits.whole_run,
            run_ends: Cell::new(None),
            slice_ends: Cell::new(None),
            ticks: Cell::new(0),
            over: Cell::new(None),
        }
    }

    /// Begins a run and returns when it has to end.
    pub(super) fn begin_run(&self) -> Instant {
        let end = Instant::now() + self.whole_run;
        self.run_ends.set(Some(end));
        end
    }

    /// Ends the run.
    pub(super) fn end_run(&self) {
        self.run_ends.set(None);
    }

    /// Begins a slice.
    pub(super) fn begin_slice(&self) {
        self.slice_ends.set(Some(Instant::now() + self.without_pause));
    }

    /// Stops the program because its run took too long.
    pub(super) fn run_is_over(&self) -> TimeIsUp {
        let why = TimeIsUp::WholeRun(self.whole_run);
        self.stop(why)
    }

    /// The limit that was reached, if one was.
    pub(super) fn over(&self) -> Option<TimeIsUp> {
        self.over.get()
    }

    /// Checks the limits now and then; called by the script engine at every interrupt.
    pub(super) fn tick(&self) -> Result<(), TimeIsUp> {
        if let Some(why) = self.over.get() {
            return Err(why);
        }
        let ticks = self.ticks.get();
        self.ticks.set(ticks.wrapping_add(1));
        if !ticks.is_multiple_of(INTERRUPTS_PER_CHECK) {
            return Ok(());
        }
        self.check()
    }

    /// Checks the limits now.
    pub(super) fn check(&self) -> Result<(), TimeIsUp> {
        if let Some(why) = self.over.get() {
            return Err(why);
        }
        let now = Instant::now();
        if self.slice_ends.get().is_some_and(|end| now >= end) {
            return Err(self.stop(TimeIsUp::NoPause(self.without_pause)));
        }
        if self.run_ends.get().is_some_and(|end| now >= end) {
            return Err(self.stop(TimeIsUp::WholeRun(self.whole_run)));
        }
        Ok(())
    }

    fn stop(&self, why: TimeIsUp) -> TimeIsUp {
        let why = self.over.get().unwrap_or(why);
        self.over.set(Some(why));
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_stays_over() {
        let limits = Limits { without_pause: Duration::ZERO, ..Limits::default() };
        let clock = RunClock::new(&limits);
        assert_eq!(clock.check(), Ok(()), "nothing began");
        clock.begin_slice();
        let up = TimeIsUp::NoPause(Duration::ZERO);
        assert_eq!(clock.check(), Err(up));
        clock.begin_slice();
        assert_eq!(clock.tick(), Err(up));
        assert_eq!(clock.run_is_over(), up, "the first reason counts");
    }
}
