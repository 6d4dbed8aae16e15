//! The destruction of a single object, step by step. The step table of `sexton_lifecycle` decides: events go in, the
//! next state and actions come out.
//!
//! ```text
//! warn() ─► Begin ─► [calls] ─► Answered…   notify() ─► PredecessorsGone ─► [calls] ─► Answered…   destroy() ─► …
//! ```

use std::rc::Rc;

use sexton_lifecycle::destruction::{
    Action, Block, Callee, Event, Origin, Outcome, Retry, Stage, State, Subscriber, step,
};

use super::call::{self, CallResult};
use super::collection::Collection;
use super::{Cancelled, Failure, Phase, Untold};
use crate::world::{Handle, ObjectId, ObjectKey};

/// Failed calls are not repeated in the same session.
const NO_RETRY: Retry = Retry { limit: 0, backoff: 1, max_backoff: 1 };

impl Collection<'_> {
    /// Warns the subscribers of an object. Without subscribers that have handlers its journal begins only when its
    /// group is ready.
    pub(super) async fn warn(&mut self, object: &Handle) {
        let subscribers = subscribers(object);
        if subscribers.iter().any(|one| one.has_handler) {
            self.begin(object, subscribers);
            self.tell(object, Phase::Warning).await;
        }
    }

    /// Begins the journal of an object.
    pub(super) fn begin(&mut self, object: &Handle, subscribers: Vec<Subscriber>) {
        self.states.insert(object.key(), State::new(object.id().as_str()));
        let (origin, has_destroy) = (Origin::Candidate, object.class().has_destroy());
        self.feed(object, &Event::Begin { origin, subscribers, has_destroy });
    }

    /// Notifies the subscribers of an object, after its predecessors are destroyed. `together`: it is in a group of
    /// several.
    pub(super) async fn notify(&mut self, object: &Handle, together: bool) {
        self.feed(object, &Event::PredecessorsGone { subscribers: subscribers(object), together });
        self.tell(object, Phase::Notifying).await;
    }

    /// Calls the destructors of an object and returns whether it is destroyed.
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

    /// Calls the handlers that are open in the object's journal for this phase, in creation order of the subscribers.
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
                Some((store.get(key)?.sequence, key))
            });
            callees.push((found.map_or(0, |(sequence, _)| sequence), uid.clone(), found.map(|(_, key)| key)));
        }
        callees.sort();
        for (_, uid, key) in callees {
            if self.has_ended() {
                return;
            }
            self.code_ran |= true;
            self.tell_one(object, phase, uid, key).await;
        }
    }

    async fn tell_one(&mut self, object: &Handle, phase: Phase, uid: String, key: Option<ObjectKey>) {
        let subscriber = key.and_then(|key| self.gc.world.handle(key));
        let subscriber = subscriber.filter(|one| !one.is_destroyed() && !one.init_failed());
        let handler: Option<(Handle, Rc<str>)> = subscriber.and_then(|subscriber| {
            let key = subscriber.key();
            let handler = object.read(|object| object.subscriber(key)?.handler.clone()).flatten()?;
            Some((subscriber, handler))
        });
        // Subscribers that have unsubscribed or are destroyed are not called.
        let Some((subscriber, handler)) = handler else {
            self.feed(object, &Event::SubscriberLeft { uid });
            return;
        };
        let answer = call::handler(self.gc, &self.shared, phase, &subscriber, object, &handler).await;
        self.answered(object, phase, Callee::Subscriber(uid), answer);
    }

    /// Applies the result of a call: journal, report, cancellation.
    fn answered(&mut self, object: &Handle, phase: Phase, callee: Callee, answer: CallResult) {
        let CallResult { outcome, stop } = answer;
        let error = match &outcome {
            Outcome::Failed { reason } => Some(reason.clone()),
            Outcome::Missing { what } => Some(what.clone()),
            _ => None,
        };
        let code_owner = match &callee {
            Callee::Destroy => Some(object.clone()),
            Callee::Subscriber(uid) => {
                let key = self.gc.world.read(|store| store.find_text(uid));
                key.and_then(|key| self.gc.world.handle(key))
            }
        };
        let actions = self.feed(object, &Event::Answered { phase, callee, outcome, retry: NO_RETRY, now: 0 });
        if let (Some(error), Some(code_owner)) = (error, &code_owner) {
            self.gc.settings.observer.failed(phase, code_owner, object, &error);
            self.failed(object, phase, code_owner.id(), error);
        }
        for action in actions {
            if let (Action::CancelCollection { reason, .. }, Some(by)) = (action, &code_owner) {
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
        self.failed_objects.insert(object.key());
        let (class, name) = (object.class().shared_name(), object.name());
        self.report.failed.push(Failure { id, class, name, phase, callee, error });
    }

    /// Cancels the session: objects that are not being destroyed yet stay alive.
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

    /// Feeds one event to the object's journal and returns the actions. An event that is illegal in the current state
    /// is reported as a failure of this object.
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

    /// The stage of an object's journal, if it has begun.
    pub(super) fn stage(&self, key: ObjectKey) -> Option<Stage> {
        self.states.get(&key).map(|state| state.stage)
    }

    /// Whether a call for this object failed or its handler is missing: it stays alive.
    pub(super) fn has_failed_call(&self, key: ObjectKey) -> bool {
        let blocked = |state: &State| {
            state.open.values().any(|pending| matches!(pending.block, Some(Block::Failed | Block::Missing)))
        };
        self.failed_objects.contains(&key) || self.states.get(&key).is_some_and(blocked)
    }
}

/// The live subscribers of an object.
fn subscribers(object: &Handle) -> Vec<Subscriber> {
    object.world().read(|store| {
        let Some(target) = store.get(object.key()) else { return Vec::new() };
        let live = |key: ObjectKey| store.get(key).filter(|subscriber| !subscriber.is_inert());
        let one = |(key, known): (ObjectKey, &crate::world::Subscriber)| {
            let uid = live(key)?.id.as_str().to_owned();
            Some(Subscriber { uid, has_handler: known.handler.is_some() })
        };
        target.subscribers().filter_map(one).collect()
    })
}
