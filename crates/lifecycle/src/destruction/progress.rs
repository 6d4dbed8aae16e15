//! From one step to the next, as soon as nothing is open any more.

use std::collections::BTreeSet;

use super::event::{Action, Illegal, Subscriber};
use super::state::{Callee, Ending, MAX_SUBSCRIBERS, Pending, Stage, State};

/// More bytes of uids than this do not fit into the journal either.
const MAX_UID_BYTES: usize = 40 * MAX_SUBSCRIBERS;

/// Who is to be called: each once, and only those who can be.
pub(super) fn with_handlers(subscribers: &[Subscriber]) -> Result<BTreeSet<String>, Illegal> {
    let named = subscribers.iter().filter(|subscriber| subscriber.has_handler);
    let uids: BTreeSet<String> = named.map(|subscriber| subscriber.uid.clone()).collect();
    if uids.len() > MAX_SUBSCRIBERS || uids.iter().map(String::len).sum::<usize>() > MAX_UID_BYTES {
        return Err(Illegal::TooManySubscribers);
    }
    Ok(uids)
}

impl State {
    /// Opens a step in which subscribers are called, all at once.
    pub(super) fn open_calls(&mut self, stage: Stage) -> Vec<Action> {
        self.stage = stage;
        // No method of a destroyed life runs, so one that subscribed to itself is not told of its own end.
        let deaf = (stage == Stage::Destroyed).then_some(&self.uid);
        let hearing = self.subscribers.iter().filter(|uid| Some(*uid) != deaf);
        let callees: Vec<Callee> = hearing.cloned().map(Callee::Subscriber).collect();
        callees.into_iter().filter_map(|callee| self.ask(callee)).collect()
    }

    /// Notes that a call is made, and makes it.
    pub(super) fn ask(&mut self, callee: Callee) -> Option<Action> {
        let pending = self.open.entry(callee.clone()).or_default();
        pending.asked = true;
        pending.next = None;
        let attempt = pending.failures + 1;
        self.call(callee, attempt)
    }

    fn call(&self, callee: Callee, attempt: u32) -> Option<Action> {
        let phase = self.phase()?;
        Some(Action::Call { key: callee.key(&self.uid, phase), callee, phase, attempt })
    }

    /// The calls that were made and have no answer, once more.
    pub(super) fn ask_again(&self) -> Vec<Action> {
        let asked = self.open.iter().filter(|(_, pending)| pending.asked);
        asked.filter_map(|(callee, pending)| self.call(callee.clone(), pending.failures + 1)).collect()
    }

    /// The calls that are not under way and for which `wanted`, once more.
    pub(super) fn ask_where(&mut self, wanted: impl Fn(&Callee, &Pending) -> bool) -> Vec<Action> {
        let waiting = self.open.iter().filter(|(callee, pending)| !pending.asked && wanted(callee, pending));
        let waiting: Vec<Callee> = waiting.map(|(callee, _)| callee.clone()).collect();
        waiting.into_iter().filter_map(|callee| self.ask(callee)).collect()
    }

    /// Goes on as far as it can without waiting. Each turn is a step forward, so there are few.
    pub(super) fn advance(&mut self) -> Vec<Action> {
        while self.open.is_empty() {
            let actions = match self.stage {
                Stage::Warning => {
                    self.stage = Stage::Warned;
                    return Vec::new();
                }
                Stage::Notifying if self.together => {
                    self.stage = Stage::Notified;
                    return Vec::new();
                }
                Stage::Notifying => self.mark_or_destroy(),
                Stage::Destroying => {
                    self.outcome.get_or_insert(Ending::Done);
                    self.open_calls(Stage::Destroyed)
                }
                Stage::Destroyed => {
                    self.stage = Stage::Releasing;
                    vec![Action::Release]
                }
                _ => return Vec::new(),
            };
            if !actions.is_empty() {
                return actions;
            }
        }
        Vec::new()
    }

    /// After everybody was notified: the accused are marked first.
    pub(super) fn mark_or_destroy(&mut self) -> Vec<Action> {
        if !self.marked {
            self.stage = Stage::Marking;
            return vec![Action::Mark];
        }
        self.stage = Stage::Destroying;
        if self.has_destroy { self.ask(Callee::Destroy).into_iter().collect() } else { Vec::new() }
    }
}
