//! The steps of single objects: each goes through the table of `lifecycle`, which says what is to be called.

use std::rc::Rc;

use sexton_lifecycle::destruction::{
    Action, Block, Callee, Event, Origin, Outcome, Retry, Stage, State, Subscriber, step,
};

use super::call::{self, Answer};
use super::run::Run;
use super::{Cancelled, Failure, Phase, Untold};
use crate::world::{Handle, ObjectId, ObjectKey};

/// A failure is not repeated in the same session.
const ONCE: Retry = Retry { limit: 0, backoff: 1, max_backoff: 1 };

impl Run<'_> {
    /// Warns everybody who subscribed to an object. If that is nobody, its steps begin when it is its turn.
    pub(super) async fn warn(&mut self, object: &Handle) {
        let subscribers = subscribers(object);
        if subscribers.iter().any(|one| one.has_handler) {
            self.begin(object, subscribers);
            self.tell(object, Phase::Warning).await;
        }
    }

    pub(super) fn begin(&mut self, object: &Handle, subscribers: Vec<Subscriber>) {
        self.states.insert(object.key(), State::new(object.id().as_str()));
        let (origin, has_destroy) = (Origin::Candidate, object.class().has_destroy());
        self.feed(object, &Event::Begin { origin, subscribers, has_destroy });
    }

    /// Its turn: notifies everybody who subscribed to it.
    pub(super) async fn notify(&mut self, object: &Handle, together: bool) {
        self.feed(object, &Event::PredecessorsGone { subscribers: subscribers(object), together });
        self.tell(object, Phase::Notifying).await;
    }

    /// Calls its destructors; says whether it is destroyed.
    pub(super) async fn destroy(&mut self, object: &Handle) -> bool {
        if self.stage(object.key()) == Some(Stage::Destroying) {
            let answer = call::destroy(self.gc, &self.shared, object).await;
            self.answered(object, Phase::Destroying, Callee::Destroy, answer);
        }
        let destroyed = self.states.get(&object.key()).is_some_and(State::is_destroyed);
        if destroyed {
            self.gc.world.write(|store| store.destroyed(object.key()));
            self.gc.settings.observer.destroyed(object);
        }
        destroyed
    }

    /// Makes the calls of a phase that are open, in the order of the subscribers' births.
    pub(super) async fn tell(&mut self, object: &Handle, phase: Phase) {
        let Some(state) = self.states.get(&object.key()) else { return };
        if state.open.is_empty() || state.phase() != Some(phase) {
            return;
        }
        let open = state.open.iter().filter(|(_, pending)| pending.in_flight);
        let mut callees: Vec<(u64, String, Option<ObjectKey>)> = Vec::new();
        for callee in open.map(|(callee, _)| callee) {
            let Callee::Subscriber(uid) = callee else { continue };
            let found = self.gc.world.read(|store| {
                let key = store.find_text(uid)?;
                Some((store.get(key)?.birth, key))
            });
            callees.push((found.map_or(0, |(birth, _)| birth), uid.clone(), found.map(|(_, key)| key)));
        }
        callees.sort();
        for (_, uid, key) in callees {
            if self.is_over() {
                return;
            }
            self.called |= true;
            self.tell_one(object, phase, uid, key).await;
        }
    }

    async fn tell_one(&mut self, object: &Handle, phase: Phase, uid: String, key: Option<ObjectKey>) {
        let subscriber = key.and_then(|key| self.gc.world.handle(key));
        let subscriber = subscriber.filter(|one| !one.is_destroyed() && !one.is_stillborn());
        let handler: Option<(Handle, Rc<str>)> = subscriber.and_then(|subscriber| {
            let who = subscriber.key();
            let handler = object.look(|object| object.subscriber(who)?.handler.clone()).flatten()?;
            Some((subscriber, handler))
        });
        // Whoever unsubscribed, or is destroyed itself, hears nothing any more.
        let Some((subscriber, handler)) = handler else {
            self.feed(object, &Event::SubscriberLeft { uid });
            return;
        };
        let answer = call::handler(self.gc, &self.shared, phase, &subscriber, object, &handler).await;
        self.answered(object, phase, Callee::Subscriber(uid), answer);
    }

    /// Takes in how a call ended.
    fn answered(&mut self, object: &Handle, phase: Phase, callee: Callee, answer: Answer) {
        let Answer { outcome, stop } = answer;
        let error = match &outcome {
            Outcome::Failed { reason } => Some(reason.clone()),
            Outcome::Missing { what } => Some(what.clone()),
            _ => None,
        };
        let whose = match &callee {
            Callee::Destroy => Some(object.clone()),
            Callee::Subscriber(uid) => {
                let key = self.gc.world.read(|store| store.find_text(uid));
                key.and_then(|key| self.gc.world.handle(key))
            }
        };
        let actions = self.feed(object, &Event::Answered { phase, callee, outcome, retry: ONCE, now: 0 });
        if let (Some(error), Some(whose)) = (error, &whose) {
            self.gc.settings.observer.failed(phase, whose, object, &error);
            self.failed(object, phase, whose.id(), error);
        }
        for action in actions {
            if let (Action::CancelCollection { reason, .. }, Some(by)) = (action, &whose) {
                self.cancel(by, object, phase, reason);
            }
        }
        self.stopped = self.stopped.take().or(stop);
    }

    fn failed(&mut self, object: &Handle, phase: Phase, callee: ObjectId, error: String) {
        let id = object.id();
        if phase == Phase::Destroyed {
            self.report.untold.push(Untold { id, subscriber: Some(callee), error });
            return;
        }
        self.stuck.insert(object.key());
        let (class, name) = (object.class().shared_name(), object.name());
        self.report.failed.push(Failure { id, class, name, phase, callee, error });
    }

    /// Everything that is not being destroyed yet stays as it is.
    fn cancel(&mut self, by: &Handle, object: &Handle, phase: Phase, reason: String) {
        self.gc.settings.observer.cancelled(by, &reason);
        let event = Event::Cancelled { reason: reason.clone() };
        for state in self.states.values_mut().filter(|state| state.stage < Stage::Deleting) {
            if let Ok((next, _)) = step(state, &event) {
                *state = next;
            }
        }
        let (class, name) = (by.class().shared_name(), by.name());
        self.report.cancelled =
            Some(Cancelled { by: by.id(), class, name, object: object.id(), phase, reason });
    }

    /// One event for one object. What cannot be is a failure of the object's destruction, never more.
    pub(super) fn feed(&mut self, object: &Handle, event: &Event) -> Vec<Action> {
        let Some(state) = self.states.get_mut(&object.key()) else { return Vec::new() };
        match step(state, event) {
            Ok((next, actions)) => {
                *state = next;
                actions
            }
            Err(illegal) => {
                let phase = state.phase().unwrap_or(Phase::Warning);
                self.failed(object, phase, object.id(), illegal.to_string());
                Vec::new()
            }
        }
    }

    pub(super) fn stage(&self, key: ObjectKey) -> Option<Stage> {
        self.states.get(&key).map(|state| state.stage)
    }

    /// Whether a call failed, so that the object does not get on.
    pub(super) fn is_stuck(&self, key: ObjectKey) -> bool {
        let blocked = |state: &State| {
            state.open.values().any(|pending| matches!(pending.block, Some(Block::Failed | Block::Missing)))
        };
        self.stuck.contains(&key) || self.states.get(&key).is_some_and(blocked)
    }
}

/// Everybody who subscribed to an object and can hear of it.
fn subscribers(object: &Handle) -> Vec<Subscriber> {
    object.world().read(|store| {
        let Some(target) = store.get(object.key()) else { return Vec::new() };
        let hears = |who: ObjectKey| store.get(who).filter(|subscriber| !subscriber.is_over());
        let one = |(who, known): (ObjectKey, &crate::world::Subscriber)| {
            let uid = hears(who)?.id.as_str().to_owned();
            Some(Subscriber { uid, has_handler: known.handler.is_some() })
        };
        target.subscribers().filter_map(one).collect()
    })
}
