//! Advancing a state: from one stage to the next, as soon as no call is open any more.

use std::collections::BTreeSet;

use super::event::{Action, IllegalEvent, Subscriber};
use super::state::{Callee, Ending, MAX_SUBSCRIBERS, Pending, Stage, State};

/// The journal has room for this many bytes of uids.
const MAX_UID_BYTES: usize = 40 * MAX_SUBSCRIBERS;

/// The uids of the subscribers with a handler, each once.
pub(super) fn with_handlers(subscribers: &[Subscriber]) -> Result<BTreeSet<String>, IllegalEvent> {
    let named = subscribers.iter().filter(|subscriber| subscriber.has_handler);
    let uids: BTreeSet<String> = named.map(|subscriber| subscriber.uid.clone()).collect();
    if uids.len() > MAX_SUBSCRIBERS || uids.iter().map(String::len).sum::<usize>() > MAX_UID_BYTES {
        return Err(IllegalEvent::TooManySubscribers);
    }
    Ok(uids)
}

impl State {
    /// Enters a stage in which subscribers are called, all at once.
    pub(super) fn open_calls(&mut self, stage: Stage) -> Vec<Action> {
        self.stage = stage;
        // No method of a destroyed object runs, so one that subscribed to itself is not called any more.
        let itself = (stage == Stage::Destroyed).then_some(&self.uid);
        let callable = self.subscribers.iter().filter(|uid| Some(*uid) != itself);
        let callees: Vec<Callee> = callable.cloned().map(Callee::Subscriber).collect();
        callees.into_iter().filter_map(|callee| self.call(callee)).collect()
    }

    /// Records a call as in flight; returns the action that makes it.
    pub(super) fn call(&mut self, callee: Callee) -> Option<Action> {
        let pending = self.open.entry(callee.clone()).or_default();
        pending.in_flight = true;
        pending.next = None;
        let attempt = pending.failures + 1;
        self.call_action(callee, attempt)
    }

    fn call_action(&self, callee: Callee, attempt: u32) -> Option<Action> {
        let phase = self.phase()?;
        Some(Action::Call { key: callee.key(&self.uid, phase), callee, phase, attempt })
    }

    /// The actions that repeat all calls in flight.
    pub(super) fn repeat_calls(&self) -> Vec<Action> {
        let in_flight = self.open.iter().filter(|(_, pending)| pending.in_flight);
        in_flight
            .filter_map(|(callee, pending)| self.call_action(callee.clone(), pending.failures + 1))
            .collect()
    }

    /// Makes the open calls that are not in flight and for which `wanted` holds once more.
    pub(super) fn retry_where(&mut self, wanted: impl Fn(&Callee, &Pending) -> bool) -> Vec<Action> {
        let waiting =
            self.open.iter().filter(|(callee, pending)| !pending.in_flight && wanted(callee, pending));
        let waiting: Vec<Callee> = waiting.map(|(callee, _)| callee.clone()).collect();
        waiting.into_iter().filter_map(|callee| self.call(callee)).collect()
    }

    /// Enters further stages as long as no call is open. Each round enters a later stage, so there are few.
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
                Stage::Notifying => self.delete_or_destroy(),
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

    /// After all subscribers are notified: sets `deletionTimestamp` if it is not set, else calls the destroy method.
    pub(super) fn delete_or_destroy(&mut self) -> Vec<Action> {
        if !self.is_terminating {
            self.stage = Stage::Deleting;
            return vec![Action::Delete];
        }
        self.stage = Stage::Destroying;
        if self.has_destroy { self.call(Callee::Destroy).into_iter().collect() } else { Vec::new() }
    }
}
