//! Snapshots that clients are paging through, kept for a while so that every page belongs to one of them.
//!
//! Only a shortcut: a snapshot that is not pinned can be rebuilt from the history, as long as that reaches back.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use sexton_model::Revision;

use crate::state::State;

/// A pinned snapshot keeps replaced values alive, so neither their number nor their age may grow.
const MOST: usize = 16;
const IDLE: Duration = Duration::from_secs(120);

/// Recently used snapshots, the most recently used last.
#[derive(Debug, Default)]
pub(crate) struct Pins(VecDeque<(State, Instant)>);

impl Pins {
    /// A pinned snapshot, now used again.
    pub(crate) fn get(&mut self, revision: Revision) -> Option<State> {
        self.expire();
        let at = self.0.iter().position(|(state, _)| state.revision == revision)?;
        let (state, _) = self.0.remove(at)?;
        self.0.push_back((state.clone(), Instant::now()));
        Some(state)
    }

    /// Pins a snapshot.
    pub(crate) fn keep(&mut self, state: &State) {
        if self.get(state.revision).is_none() {
            self.0.push_back((state.clone(), Instant::now()));
            if self.0.len() > MOST {
                self.0.pop_front();
            }
        }
    }

    /// Lets go of what was not used for a while.
    pub(crate) fn expire(&mut self) {
        while self.0.front().is_some_and(|(_, used)| used.elapsed() > IDLE) {
            self.0.pop_front();
        }
    }

    /// Drops the snapshots before a revision, which the caller wants to be forgotten.
    pub(crate) fn forget_before(&mut self, revision: Revision) {
        self.0.retain(|(state, _)| state.revision >= revision);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(revision: usize) -> State {
        State { revision: Revision::new(revision as u64), ..State::default() }
    }

    /// Of too many the one goes that was used longest ago, not the one that was pinned first.
    #[test]
    fn what_is_used_stays() {
        let mut pins = Pins::default();
        (1..=MOST).for_each(|revision| pins.keep(&at(revision)));
        assert!(pins.get(Revision::new(1)).is_some());
        pins.keep(&at(MOST + 1));
        assert!(pins.get(Revision::new(1)).is_some() && pins.get(Revision::new(2)).is_none());
        pins.forget_before(Revision::new(9));
        assert!(pins.get(Revision::new(8)).is_none() && pins.get(Revision::new(9)).is_some());
    }
}
