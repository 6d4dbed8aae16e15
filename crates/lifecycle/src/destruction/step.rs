//! The table itself: a state and an event give the next state and the actions of the caller.

use super::advance::with_handlers;
use super::event::{Action, Event, IllegalEvent, Outcome, Retry, Subscriber};
use super::state::{Abandoned, Callee, Ending, MAX_ERROR_BYTES, Origin, Phase, Stage, State};
use super::{answer, answer::cut};

/// Applies one event. A repeated, late or meaningless event leaves the state as it is, without actions. No event leads
/// to an earlier stage.
///
/// # Errors
/// If the event is impossible in this state.
pub fn step(state: &State, event: &Event) -> Result<(State, Vec<Action>), IllegalEvent> {
    let mut next = state.clone();
    let actions = match event {
        Event::Begin { origin, subscribers, has_destroy } => {
            next.begin(*origin, subscribers, *has_destroy)?
        }
        _ if state.stage == Stage::Fresh => return Err(IllegalEvent::NotBegun),
        Event::Resume => return Ok((next, state.resume())),
        _ if state.stage.is_over() => return state.over(event).map(|()| (next, Vec::new())),
        Event::Requested => next.requested(),
        Event::Rescued => next.rescued()?,
        Event::Cancelled { reason } => next.cancelled(reason)?,
        Event::PredecessorsGone { subscribers, together } => {
            next.predecessors_gone(subscribers, *together)?
        }
        Event::CircleNotified => next.circle_notified()?,
        Event::Terminating => next.terminating()?,
        Event::Answered { phase, callee, outcome, retry, now } => {
            next.answered(*phase, callee, outcome, *retry, *now)?
        }
        Event::SubscriberLeft { uid } => next.subscriber_left(uid),
        Event::Tick { now } => next.tick(*now),
        Event::RetryNow { callee } => next.retry_now(callee.as_ref())?,
        Event::Forced { callee, reason } => next.forced(callee, reason)?,
        Event::Released => next.released()?,
    };
    if next == *state {
        return Ok((next, Vec::new()));
    }
    Ok((next, actions))
}

/// The actions with writing the journal in front.
fn journalled(actions: Vec<Action>) -> Vec<Action> {
    std::iter::once(Action::Journal).chain(actions).collect()
}

impl State {
    fn begin(
        &mut self,
        origin: Origin,
        subscribers: &[Subscriber],
        has_destroy: bool,
    ) -> Result<Vec<Action>, IllegalEvent> {
        if self.stage != Stage::Fresh {
            return Err(IllegalEvent::Begun);
        }
        self.subscribers = with_handlers(subscribers)?;
        (self.origin, self.is_terminating, self.has_destroy) =
            (origin, origin == Origin::Requested, has_destroy);
        Ok(self.opened(Stage::Warning))
    }

    /// Enters a stage in which subscribers are called; without any, the stages after it.
    fn opened(&mut self, stage: Stage) -> Vec<Action> {
        let calls = self.open_calls(stage);
        journalled(if calls.is_empty() { self.advance() } else { calls })
    }

    /// Repeats the actions that a crash may have lost. The state does not change.
    fn resume(&self) -> Vec<Action> {
        match self.stage {
            Stage::Deleting => journalled(vec![Action::Delete]),
            Stage::Releasing => journalled(vec![Action::Release]),
            Stage::Rescued => vec![Action::Forget],
            Stage::Cancelled => {
                let reason = self.last_error.clone().unwrap_or_default();
                let by = self.vetoed_by.clone();
                let cancel = by.map(|by| Action::CancelCollection { by, reason });
                cancel.into_iter().chain([Action::Forget]).collect()
            }
            _ => match self.repeat_calls() {
                calls if calls.is_empty() => calls,
                calls => journalled(calls),
            },
        }
    }

    /// Events after the end: late ones have no effect, others are illegal.
    fn over(&self, event: &Event) -> Result<(), IllegalEvent> {
        match event {
            Event::Answered { .. } | Event::SubscriberLeft { .. } | Event::Tick { .. } => Ok(()),
            Event::Released if self.stage == Stage::Released => Ok(()),
            Event::Rescued if self.stage == Stage::Rescued => Ok(()),
            Event::Cancelled { .. } if self.stage != Stage::Released => Ok(()),
            _ => Err(IllegalEvent::Over),
        }
    }

    fn requested(&mut self) -> Vec<Action> {
        if self.is_terminating {
            return Vec::new();
        }
        (self.origin, self.is_terminating) = (Origin::Requested, true);
        let more = if self.stage == Stage::Deleting { self.delete_or_destroy() } else { Vec::new() };
        let more = if more.is_empty() { self.advance() } else { more };
        journalled(more)
    }

    fn rescued(&mut self) -> Result<Vec<Action>, IllegalEvent> {
        if self.is_terminating {
            return Err(IllegalEvent::Irreversible);
        }
        if self.stage > Stage::Warned {
            return Err(IllegalEvent::TooLate);
        }
        self.stage = Stage::Rescued;
        self.open.clear();
        Ok(vec![Action::Forget])
    }

    /// A veto against another candidate of the collection. Too late once the deletion is being sent.
    fn cancelled(&mut self, reason: &str) -> Result<Vec<Action>, IllegalEvent> {
        if self.is_terminating || self.stage >= Stage::Deleting {
            return Err(IllegalEvent::Irreversible);
        }
        self.stage = Stage::Cancelled;
        self.open.clear();
        self.last_error = Some(cut(reason, MAX_ERROR_BYTES));
        Ok(vec![Action::Forget])
    }

    fn predecessors_gone(
        &mut self,
        subscribers: &[Subscriber],
        together: bool,
    ) -> Result<Vec<Action>, IllegalEvent> {
        match self.stage {
            Stage::Warned => {
                self.subscribers = with_handlers(subscribers)?;
                self.together = together;
                Ok(self.opened(Stage::Notifying))
            }
            Stage::Warning => Err(IllegalEvent::TooEarly),
            _ => Ok(Vec::new()),
        }
    }

    fn circle_notified(&mut self) -> Result<Vec<Action>, IllegalEvent> {
        match self.stage {
            Stage::Notified => {
                let actions = self.delete_or_destroy();
                Ok(journalled(if actions.is_empty() { self.advance() } else { actions }))
            }
            stage if stage < Stage::Notified => Err(IllegalEvent::TooEarly),
            _ => Ok(Vec::new()),
        }
    }

    fn terminating(&mut self) -> Result<Vec<Action>, IllegalEvent> {
        match self.stage {
            Stage::Deleting => {
                self.is_terminating = true;
                let actions = self.delete_or_destroy();
                Ok(journalled(if actions.is_empty() { self.advance() } else { actions }))
            }
            stage if stage < Stage::Deleting && !self.is_terminating => Err(IllegalEvent::TooEarly),
            _ => Ok(Vec::new()),
        }
    }

    fn answered(
        &mut self,
        phase: Phase,
        callee: &Callee,
        outcome: &Outcome,
        retry: Retry,
        now: i64,
    ) -> Result<Vec<Action>, IllegalEvent> {
        let current = self.phase().ok_or(IllegalEvent::TooEarly)?;
        if phase > current {
            return Err(IllegalEvent::TooEarly);
        }
        if phase < current {
            return Ok(Vec::new());
        }
        match self.open.get(callee) {
            Some(pending) if pending.in_flight => {
                let mut actions = answer::take(self, callee, outcome, retry, now);
                actions.extend(self.advance());
                Ok(journalled(actions))
            }
            // A repeated answer to a call that waits for its retry.
            Some(_) => Ok(Vec::new()),
            None => self.known(callee).map(|()| Vec::new()),
        }
    }

    /// Checks that a callee without an open call was called in this phase.
    fn known(&self, callee: &Callee) -> Result<(), IllegalEvent> {
        let known = match callee {
            Callee::Destroy => self.has_destroy && self.stage >= Stage::Destroying,
            Callee::Subscriber(uid) => self.subscribers.contains(uid),
        };
        if known { Ok(()) } else { Err(IllegalEvent::NeverCalled(callee.clone())) }
    }

    fn subscriber_left(&mut self, uid: &str) -> Vec<Action> {
        if !self.subscribers.remove(uid) {
            return Vec::new();
        }
        self.open.remove(&Callee::Subscriber(uid.to_owned()));
        journalled(self.advance())
    }

    fn tick(&mut self, now: i64) -> Vec<Action> {
        journalled(self.retry_where(|_, pending| pending.next.is_some_and(|next| next <= now)))
    }

    fn retry_now(&mut self, callee: Option<&Callee>) -> Result<Vec<Action>, IllegalEvent> {
        if let Some(callee) = callee.filter(|callee| !self.open.contains_key(callee)) {
            self.known(callee)?;
        }
        let wanted = |other: &Callee| callee.is_none_or(|callee| callee == other);
        for (_, pending) in
            self.open.iter_mut().filter(|(other, pending)| wanted(other) && !pending.in_flight)
        {
            (pending.failures, pending.blocked) = (0, 0);
        }
        Ok(journalled(self.retry_where(|other, _| wanted(other))))
    }

    fn forced(&mut self, callee: &Callee, reason: &str) -> Result<Vec<Action>, IllegalEvent> {
        let phase = self.phase().ok_or(IllegalEvent::TooEarly)?;
        if self.open.remove(callee).is_none() {
            return self.known(callee).map(|()| Vec::new());
        }
        self.forced = self.forced.saturating_add(1);
        let reason = cut(reason, MAX_ERROR_BYTES);
        self.abandoned.get_or_insert(Abandoned { callee: callee.clone(), phase, reason });
        if *callee == Callee::Destroy {
            self.outcome = Some(Ending::Abandoned);
        }
        Ok(journalled(self.advance()))
    }

    fn released(&mut self) -> Result<Vec<Action>, IllegalEvent> {
        if self.stage != Stage::Releasing {
            return Err(IllegalEvent::TooEarly);
        }
        self.stage = Stage::Released;
        Ok(Vec::new())
    }
}
