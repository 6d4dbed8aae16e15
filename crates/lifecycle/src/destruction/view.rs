//! What can be read off a state: when it wants to go on, and what keeps it.

use super::event::Action;
use super::state::{Block, Callee, Phase, Stage, State};

/// Something that keeps a life from being destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// Whose call.
    pub who: Callee,
    /// In which phase.
    pub phase: Phase,
    /// What about it; `None` while it failed and is going to be repeated by itself.
    pub what: Option<Block>,
    /// The last error or reason.
    pub reason: String,
    /// Since when.
    pub since: i64,
    /// When it is asked again; `None`: asked right now, or only when somebody says so.
    pub next: Option<i64>,
}

/// When [`super::Event::Tick`] would do something, if ever.
pub fn due(state: &State) -> Option<i64> {
    state.open.values().filter(|pending| !pending.asked).filter_map(|pending| pending.next).min()
}

/// What keeps a life: every call that failed, was blocked or was refused, and has no good answer since.
pub fn blockers(state: &State) -> Vec<Blocker> {
    let Some(phase) = state.phase() else { return Vec::new() };
    let blocker = |(callee, pending): (&Callee, &super::Pending)| {
        Some(Blocker {
            who: callee.clone(),
            phase,
            what: pending.block.clone(),
            reason: pending.error.clone().unwrap_or_default(),
            since: pending.since?,
            next: pending.next,
        })
    };
    state.open.iter().filter_map(blocker).collect()
}

impl State {
    /// Whether an action of before is still to be done: not if the steps went on without it, or ended.
    pub fn wants(&self, action: &Action) -> bool {
        match action {
            Action::Call { callee, phase, .. } => {
                self.phase() == Some(*phase) && self.open.get(callee).is_some_and(|pending| pending.asked)
            }
            Action::Mark => self.stage == Stage::Marking,
            Action::Release => self.stage == Stage::Releasing,
            Action::Journal | Action::Forget | Action::CancelCollection { .. } => true,
        }
    }
}
