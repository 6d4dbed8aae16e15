//! What a state waits for: calls that are blocked, and when the next of them is due.

use super::event::Action;
use super::state::{Block, Callee, Phase, Stage, State};

/// A call that failed, was blocked or was vetoed, and has no good answer since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedCall {
    /// The method that is called.
    pub callee: Callee,
    /// The phase in which it is called.
    pub phase: Phase,
    /// Why it does not proceed; `None` while it failed and is retried automatically.
    pub block: Option<Block>,
    /// The last error or reason.
    pub reason: String,
    /// Since when it has no good answer.
    pub since: i64,
    /// When it is called again; `None` while it is in flight, or if it is called again only on request.
    pub next: Option<i64>,
}

/// When [`super::Event::Tick`] has an effect next, if ever.
pub fn due(state: &State) -> Option<i64> {
    state.open.values().filter(|pending| !pending.in_flight).filter_map(|pending| pending.next).min()
}

/// All blocked calls of a state.
pub fn blocked_calls(state: &State) -> Vec<BlockedCall> {
    let Some(phase) = state.phase() else { return Vec::new() };
    let blocker = |(callee, pending): (&Callee, &super::Pending)| {
        Some(BlockedCall {
            callee: callee.clone(),
            phase,
            block: pending.block.clone(),
            reason: pending.error.clone().unwrap_or_default(),
            since: pending.since?,
            next: pending.next,
        })
    };
    state.open.iter().filter_map(blocker).collect()
}

impl State {
    /// Whether an action that was returned earlier is still to be executed: not if the state advanced without it.
    pub fn still_wants(&self, action: &Action) -> bool {
        match action {
            Action::Call { callee, phase, .. } => {
                self.phase() == Some(*phase) && self.open.get(callee).is_some_and(|pending| pending.in_flight)
            }
            Action::Delete => self.stage == Stage::Deleting,
            Action::Release => self.stage == Stage::Releasing,
            Action::Journal | Action::Forget | Action::CancelCollection { .. } => true,
        }
    }
}
