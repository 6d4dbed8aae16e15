//! The table itself: a state and an event give the next state and what is to be done.

use super::event::{Action, Event, Illegal, Outcome, Retry, Subscriber};
use super::progress::with_handlers;
use super::state::{Abandoned, Callee, Ending, MAX_ERROR, Origin, Phase, Stage, State};
use super::{answer, answer::cut};

/// Takes one event in. What is repeated, late or means nothing here gives the same state and no actions; what cannot
/// be is [`Illegal`]. No event leads back.
///
/// # Errors
/// If the event cannot be in this state; nothing changes then.
pub fn step(state: &State, event: &Event) -> Result<(State, Vec<Action>), Illegal> {
    let mut next = state.clone();
    let actions = match event {
        Event::Begin { origin, subscribers, has_destroy } => {
            next.begin(*origin, subscribers, *has_destroy)?
        }
        _ if state.stage == Stage::Fresh => return Err(Illegal::NotBegun),
        Event::Resume => return Ok((next, state.resume())),
        _ if state.stage.is_over() => return state.over(event).map(|()| (next, Vec::new())),
        Event::Asked => next.asked(),
        Event::Rescued => next.rescued()?,
        Event::Cancelled { reason } => next.cancelled(reason)?,
        Event::PredecessorsGone { subscribers, together } => next.turn(subscribers, *together)?,
        Event::CircleNotified => next.circle_notified()?,
        Event::Marked => next.mark_is_on()?,
        Event::Answered { phase, callee, outcome, retry, now } => {
            next.answered(*phase, callee, outcome, *retry, *now)?
        }
        Event::Left { uid } => next.left(uid),
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

/// Whatever is done, the journal is written before.
fn journalled(actions: Vec<Action>) -> Vec<Action> {
    std::iter::once(Action::Journal).chain(actions).collect()
}

impl State {
    fn begin(
        &mut self,
        origin: Origin,
        subscribers: &[Subscriber],
        has_destroy: bool,
    ) -> Result<Vec<Action>, Illegal> {
        if self.stage != Stage::Fresh {
            return Err(Illegal::Begun);
        }
        self.subscribers = with_handlers(subscribers)?;
        (self.origin, self.marked, self.has_destroy) = (origin, origin == Origin::Asked, has_destroy);
        Ok(self.opened(Stage::Warning))
    }

    /// A step in which subscribers are called; without any it is over at once.
    fn opened(&mut self, stage: Stage) -> Vec<Action> {
        let calls = self.open_calls(stage);
        journalled(if calls.is_empty() { self.advance() } else { calls })
    }

    /// What a crash may have swallowed, once more. The journal is as it was.
    fn resume(&self) -> Vec<Action> {
        match self.stage {
            Stage::Marking => journalled(vec![Action::Mark]),
            Stage::Releasing => journalled(vec![Action::Release]),
            Stage::Rescued => vec![Action::Forget],
            Stage::Cancelled => {
                let reason = self.last_error.clone().unwrap_or_default();
                let by = self.vetoed_by.clone();
                let cancel = by.map(|by| Action::CancelCollection { by, reason });
                cancel.into_iter().chain([Action::Forget]).collect()
            }
            _ => match self.ask_again() {
                calls if calls.is_empty() => calls,
                calls => journalled(calls),
            },
        }
    }

    /// After the end: what comes late is nothing, what wants to change something is a mistake.
    fn over(&self, event: &Event) -> Result<(), Illegal> {
        match event {
            Event::Answered { .. } | Event::Left { .. } | Event::Tick { .. } => Ok(()),
            Event::Released if self.stage == Stage::Released => Ok(()),
            Event::Rescued if self.stage == Stage::Rescued => Ok(()),
            Event::Cancelled { .. } if self.stage != Stage::Released => Ok(()),
            _ => Err(Illegal::Over),
        }
    }

    fn asked(&mut self) -> Vec<Action> {
        if self.marked {
            return Vec::new();
        }
        (self.origin, self.marked) = (Origin::Asked, true);
        let more = if self.stage == Stage::Marking { self.mark_or_destroy() } else { Vec::new() };
        let more = if more.is_empty() { self.advance() } else { more };
        journalled(more)
    }

    fn rescued(&mut self) -> Result<Vec<Action>, Illegal> {
        if self.marked {
            return Err(Illegal::Irreversible);
        }
        if self.stage > Stage::Warned {
            return Err(Illegal::TooLate);
        }
        self.stage = Stage::Rescued;
        self.open.clear();
        Ok(vec![Action::Forget])
    }

    /// Somebody else's veto: the mark, once under way, is not held up by it.
    fn cancelled(&mut self, reason: &str) -> Result<Vec<Action>, Illegal> {
        if self.marked || self.stage >= Stage::Marking {
            return Err(Illegal::Irreversible);
        }
        self.stage = Stage::Cancelled;
        self.open.clear();
        self.last_error = Some(cut(reason, MAX_ERROR));
        Ok(vec![Action::Forget])
    }

    fn turn(&mut self, subscribers: &[Subscriber], together: bool) -> Result<Vec<Action>, Illegal> {
        match self.stage {
            Stage::Warned => {
                self.subscribers = with_handlers(subscribers)?;
                self.together = together;
                Ok(self.opened(Stage::Notifying))
            }
            Stage::Warning => Err(Illegal::TooEarly),
            _ => Ok(Vec::new()),
        }
    }

    fn circle_notified(&mut self) -> Result<Vec<Action>, Illegal> {
        match self.stage {
            Stage::Notified => {
                let actions = self.mark_or_destroy();
                Ok(journalled(if actions.is_empty() { self.advance() } else { actions }))
            }
            stage if stage < Stage::Notified => Err(Illegal::TooEarly),
            _ => Ok(Vec::new()),
        }
    }

    fn mark_is_on(&mut self) -> Result<Vec<Action>, Illegal> {
        match self.stage {
            Stage::Marking => {
                self.marked = true;
                let actions = self.mark_or_destroy();
                Ok(journalled(if actions.is_empty() { self.advance() } else { actions }))
            }
            stage if stage < Stage::Marking && !self.marked => Err(Illegal::TooEarly),
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
    ) -> Result<Vec<Action>, Illegal> {
        let current = self.phase().ok_or(Illegal::TooEarly)?;
        if phase > current {
            return Err(Illegal::TooEarly);
        }
        if phase < current {
            return Ok(Vec::new());
        }
        match self.open.get(callee) {
            Some(pending) if pending.asked => {
                let mut actions = answer::take(self, callee, outcome, retry, now);
                actions.extend(self.advance());
                Ok(journalled(actions))
            }
            // An answer that was counted already, of a call that waits to be repeated.
            Some(_) => Ok(Vec::new()),
            None => self.known(callee).map(|()| Vec::new()),
        }
    }

    /// Whether a callee without an open call has been asked in this phase.
    fn known(&self, callee: &Callee) -> Result<(), Illegal> {
        let known = match callee {
            Callee::Destroy => self.has_destroy && self.stage >= Stage::Destroying,
            Callee::Subscriber(uid) => self.subscribers.contains(uid),
        };
        if known { Ok(()) } else { Err(Illegal::Stranger(callee.clone())) }
    }

    fn left(&mut self, uid: &str) -> Vec<Action> {
        if !self.subscribers.remove(uid) {
            return Vec::new();
        }
        self.open.remove(&Callee::Subscriber(uid.to_owned()));
        journalled(self.advance())
    }

    fn tick(&mut self, now: i64) -> Vec<Action> {
        journalled(self.ask_where(|_, pending| pending.next.is_some_and(|next| next <= now)))
    }

    fn retry_now(&mut self, callee: Option<&Callee>) -> Result<Vec<Action>, Illegal> {
        if let Some(callee) = callee.filter(|callee| !self.open.contains_key(callee)) {
            self.known(callee)?;
        }
        let wanted = |other: &Callee| callee.is_none_or(|callee| callee == other);
        for (_, pending) in self.open.iter_mut().filter(|(other, pending)| wanted(other) && !pending.asked) {
            (pending.failures, pending.blocked) = (0, 0);
        }
        Ok(journalled(self.ask_where(|other, _| wanted(other))))
    }

    fn forced(&mut self, callee: &Callee, reason: &str) -> Result<Vec<Action>, Illegal> {
        let phase = self.phase().ok_or(Illegal::TooEarly)?;
        if self.open.remove(callee).is_none() {
            return self.known(callee).map(|()| Vec::new());
        }
        self.forced = self.forced.saturating_add(1);
        let reason = cut(reason, MAX_ERROR);
        self.abandoned.get_or_insert(Abandoned { callee: callee.clone(), phase, reason });
        if *callee == Callee::Destroy {
            self.outcome = Some(Ending::Abandoned);
        }
        Ok(journalled(self.advance()))
    }

    fn released(&mut self) -> Result<Vec<Action>, Illegal> {
        if self.stage != Stage::Releasing {
            return Err(Illegal::TooEarly);
        }
        self.stage = Stage::Released;
        Ok(Vec::new())
    }
}
