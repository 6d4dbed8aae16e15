//! Destruction in steps, of objects that have subscribers or a class with a `destroy` method.
//!
//! ```text
//! warn subscribers ─► its turn in the plan ─► notify subscribers ─► set terminating
//!                     ─► destroy ─► tell subscribers ─► release
//! ```
//!
//! The table of `lifecycle::destruction` is a pure function: (state, event) → state and actions. This module is its
//! driver. Per object and round (`drive.rs`):
//!
//! 1. Events: what the snapshot, the clock, requests of users, and answers to calls say.
//! 2. The new state is written to the object as its journal annotation, under the version that was seen.
//! 3. Only then its actions: calls of methods in tasks of their own (`calling.rs`), deletions, releases.
//!
//! Guarantees: no action without its journal, so a crash repeats calls with the same idempotency key, but forgets
//! none. A journal that another collector has changed is never overwritten.
//!
//! It must not decide when the turn of an object comes; the plan does.

mod brief;
mod calling;
mod circle;
mod drive;
mod parallel;
mod slots;
mod subscribers;

pub use calling::Runner;
pub(crate) use calling::{Answer, Caller};
pub(crate) use slots::{AllSlots, Lane, Slots};
pub(crate) use subscribers::{handler_of, subscribers};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sexton_lifecycle::destruction::{
    self, Action, Block, Callee, Event, IllegalEvent, Origin, Pending, Phase, Stage, State, step,
};
use sexton_lifecycle::{NodeId, Snapshot};
use sexton_model::bulk::ItemResult;
use sexton_model::{Revision, Uid, marks};

use crate::hooks::allowance::OPERATOR;
use crate::request::Request;

/// A call that is to be made as long as this value exists. A call may wait for a slot, and be given up meanwhile.
#[derive(Debug)]
struct Wanted(Arc<AtomicBool>);

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted(Arc::new(AtomicBool::new(true)))
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// An object under destruction in steps: its state in the table, and its unfinished writes and calls.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) state: State,
    /// The version of the object from which the state was read, or with which it was written.
    pub(crate) version: Revision,
    /// The journal that the object is known to carry.
    written: Option<String>,
    /// Actions with a journal that is not written yet.
    pub(crate) actions: Vec<Action>,
    /// Actions with a journal that the server refused, because another writer has changed the object meanwhile.
    postponed: Vec<Action>,
    under_way: BTreeMap<(Phase, Callee), Wanted>,
    /// The feed must reach this revision before the next step: subscribers may have done something while they were
    /// warned.
    pub(crate) seen: Revision,
    /// Why the table refuses an event, if a user can mend that.
    illegal: Option<String>,
    /// The state before its turn came, until the turn is written: a change of the object meanwhile may mean that it
    /// is not its turn after all.
    before_turn: Option<State>,
    /// The request of a user that was handled last: each request counts once.
    request: Option<String>,
}

/// All objects under destruction in steps, by uid.
#[derive(Debug, Default)]
pub(crate) struct Actives {
    by_uid: BTreeMap<String, Active>,
    /// Objects that wait because their journal cannot be parsed, with the error.
    unreadable: BTreeMap<String, String>,
}

/// Whether an object is destroyed in steps, rather than by one write: it has our finalizer, a class, or subscribers.
pub(crate) fn has_steps(snapshot: &Snapshot, life: NodeId) -> bool {
    snapshot.finalizers(life).any(|finalizer| finalizer == marks::DESTROY_FINALIZER)
        || snapshot.class_of(life).is_some()
        || !snapshot.subscribers_of(life).is_empty()
}

/// Whether a call waits for settings of the operator, or for a method that its class lacks.
pub(crate) fn is_refused(pending: &Pending) -> bool {
    match &pending.block {
        Some(Block::Missing) => true,
        Some(Block::Blocked { by }) => by == OPERATOR,
        _ => false,
    }
}

/// Whether all calls that an object waits for are refused in this way.
pub(crate) fn is_refused_whole(state: &State) -> bool {
    !state.open.is_empty() && state.open.values().all(|pending| !pending.in_flight && is_refused(pending))
}

/// Whether a user requested to begin anew, although the object has a journal that cannot be parsed.
fn begins_anew(snapshot: &Snapshot, life: NodeId) -> bool {
    snapshot.request(life).and_then(Request::read).is_some_and(|request| request.begins_anew())
}

impl Actives {
    pub(crate) fn get(&self, uid: &str) -> Option<&Active> {
        self.by_uid.get(uid)
    }

    /// The step that an object has reached: from memory, or else from its journal. After a restart or a change of
    /// leader nothing is in memory, although all of it is in the journals. `None` if its destruction has not begun,
    /// or its journal cannot be parsed.
    pub(crate) fn stage(&self, snapshot: &Snapshot, life: NodeId) -> Option<Stage> {
        self.state(snapshot, life).map(|state| state.stage)
    }

    /// The same with all of the state.
    pub(crate) fn state(&self, snapshot: &Snapshot, life: NodeId) -> Option<Cow<'_, State>> {
        match self.by_uid.get(&snapshot.uid(life).0) {
            Some(active) => Some(Cow::Borrowed(&active.state)),
            None => State::decode(snapshot.journal(life)?).ok().map(Cow::Owned),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Active)> {
        self.by_uid.iter()
    }

    /// Forgets an object, because it is gone, or because its journal is not what is known here.
    pub(crate) fn drop(&mut self, uid: &str) {
        self.by_uid.remove(uid);
    }

    /// Forgets all objects: another collector has the lease.
    pub(crate) fn clear(&mut self) {
        self.by_uid.clear();
        self.unreadable.clear();
    }

    /// Forgets the objects that are gone.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.by_uid.retain(|uid, _| is_there(uid));
        self.unreadable.retain(|uid, _| is_there(uid));
    }

    /// The state of an object: from memory, or from its journal, or a fresh one.
    ///
    /// # Errors
    /// The journal cannot be parsed. The object waits, and is reported as blocked.
    pub(crate) fn open(
        &mut self,
        snapshot: &Snapshot,
        life: NodeId,
    ) -> Result<&mut Active, destruction::BadJournal> {
        let uid = snapshot.uid(life).0;
        if !self.by_uid.contains_key(&uid) {
            let (state, resumed) = match snapshot.journal(life) {
                Some(text) => match State::decode(text) {
                    Ok(state) => (state, true),
                    Err(_) if begins_anew(snapshot, life) => (State::new(uid.clone()), false),
                    Err(error) => {
                        self.unreadable.insert(uid, error.to_string());
                        return Err(error);
                    }
                },
                None => (State::new(uid.clone()), false),
            };
            let mut active = Active {
                state,
                version: snapshot.revision_of(life),
                written: snapshot.journal(life).map(str::to_owned),
                actions: Vec::new(),
                postponed: Vec::new(),
                under_way: BTreeMap::new(),
                seen: Revision::NONE,
                illegal: None,
                before_turn: None,
                request: None,
            };
            if resumed {
                active.take(&Event::Resume);
                // The operator's settings and the classes may have changed since the call was refused.
                active.retry_refused();
            }
            self.unreadable.remove(&uid);
            self.by_uid.insert(uid.clone(), active);
        }
        Ok(self.by_uid.entry(uid).or_insert_with(|| unreachable!("it was put there just now")))
    }

    /// Notes the version and journal of an object after a write.
    pub(crate) fn wrote(&mut self, uid: &str, result: &ItemResult, journal: Option<String>) {
        if let Some(active) = self.by_uid.get_mut(uid)
            && result.code < 400
        {
            active.wrote(result);
            active.written = journal;
            active.before_turn = None;
        }
    }

    /// Tries all calls again that were refused by settings or for lack of a method: a class has changed.
    pub(crate) fn retry_refused(&mut self) {
        self.by_uid.values_mut().for_each(Active::retry_refused);
    }

    /// Tries the postponed actions again, before newer ones.
    pub(crate) fn try_again(&mut self) {
        for active in self.by_uid.values_mut() {
            let later = std::mem::take(&mut active.actions);
            active.actions = std::mem::take(&mut active.postponed);
            active.actions.extend(later);
        }
    }

    /// Whether a step may be written again although another writer has changed the object meanwhile. Not so if the
    /// object is a candidate, its turn has just come, and nothing that is written says that its end is inevitable:
    /// the change may have saved it, so it is judged again.
    pub(crate) fn may_go_on(&self, uid: &str) -> bool {
        let Some(active) = self.by_uid.get(uid) else { return false };
        let told = active.written.as_deref().and_then(|text| State::decode(text).ok());
        let inevitable = told.is_some_and(|told| told.stage > Stage::Warned);
        active.state.is_terminating || active.state.stage <= Stage::Warned || inevitable
    }

    /// Puts actions off until the object is seen as it is now. If its turn had just come, that is undone: the change
    /// may have put the object behind others.
    pub(crate) fn postpone(&mut self, uid: &str, actions: Vec<Action>) {
        let Some(active) = self.by_uid.get_mut(uid) else { return };
        match active.before_turn.take() {
            Some(before) => {
                active.state = before;
                active.actions.clear();
                active.postponed.push(Action::Journal);
            }
            None => active.postponed.extend(actions),
        }
    }

    /// The version over which a journal may be written: the newest one seen, if the journal on it is the one that is
    /// known here. `None` if another collector has written another journal.
    pub(crate) fn version_for(&mut self, uid: &str, snapshot: &Snapshot, life: NodeId) -> Option<Revision> {
        let active = self.by_uid.get_mut(uid)?;
        if snapshot.revision_of(life) > active.version {
            if snapshot.journal(life) != active.written.as_deref() {
                return None;
            }
            active.version = snapshot.revision_of(life);
        }
        Some(active.version)
    }

    /// Whether the next write records that the turn of the object has come.
    pub(crate) fn takes_its_turn(&self, uid: &str) -> bool {
        self.by_uid.get(uid).is_some_and(|active| active.before_turn.is_some())
    }

    /// Handles the answer to a call.
    pub(crate) fn answer(&mut self, answer: Answer) {
        let (Some(active), Some(event)) = (self.by_uid.get_mut(&answer.uid), answer.event()) else { return };
        active.under_way.remove(&(answer.phase, answer.callee.clone()));
        active.seen = active.seen.max(answer.seen);
        active.take(&event);
    }

    /// Cancels the destruction of all candidates, because one of them was vetoed; returns the uids of those
    /// cancelled.
    pub(crate) fn cancel_accused(&mut self, reason: &str) -> Vec<String> {
        let mut cancelled = Vec::new();
        for (uid, active) in &mut self.by_uid {
            if active.state.origin == Origin::Candidate && !active.state.is_terminating {
                active.take(&Event::Cancelled { reason: reason.to_owned() });
                if active.state.stage == Stage::Cancelled {
                    cancelled.push(uid.clone());
                }
            }
        }
        cancelled
    }

    /// The next moment after `after` at which an object continues by itself.
    pub(crate) fn due(&self, after: i64) -> Option<i64> {
        let all = self.by_uid.values().filter_map(|active| destruction::due(&active.state));
        all.filter(|due| *due > after).min()
    }

    /// Takes the actions that wait for their journal to be written, with uid and state of their object.
    pub(crate) fn actions(&mut self) -> Vec<(String, State, Vec<Action>)> {
        let waiting = self.by_uid.iter_mut().filter(|(_, active)| !active.actions.is_empty());
        waiting
            .map(|(uid, active)| {
                let mut actions = std::mem::take(&mut active.actions);
                actions.retain(|action| active.state.still_wants(action));
                (uid.clone(), active.state.clone(), actions)
            })
            .collect()
    }

    /// Objects that do not progress for a reason that is not an answer to a call.
    pub(crate) fn troubled(&self, snapshot: &Snapshot) -> Vec<(NodeId, String)> {
        let unreadable = self.unreadable.iter().map(|(uid, why)| {
            (uid, format!("what is written in its annotation {} cannot be understood: {why}", marks::JOURNAL))
        });
        let illegal = self.by_uid.iter().filter_map(|(uid, active)| Some((uid, active.illegal.clone()?)));
        let found = unreadable.chain(illegal);
        found.filter_map(|(uid, why)| Some((snapshot.get(&Uid(uid.clone()))?, why))).collect()
    }

    /// Whether anything waits for its journal to be written.
    pub(crate) fn wait(&self) -> bool {
        self.by_uid.values().any(|active| !active.actions.is_empty())
    }

    /// Notes that a call begins, and returns the flag that says whether it is still wanted; `None` if it is under
    /// way.
    pub(crate) fn calls(&mut self, uid: &str, phase: Phase, callee: &Callee) -> Option<Arc<AtomicBool>> {
        match self.by_uid.get_mut(uid)?.under_way.entry((phase, callee.clone())) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(place.insert(Wanted::default()).0.clone()),
        }
    }
}

impl Active {
    /// Notes the version of the object after a write.
    pub(crate) fn wrote(&mut self, result: &ItemResult) {
        let version = result.resource_version.as_ref().and_then(|version| version.parse().ok());
        self.version = version.unwrap_or(self.version);
    }

    /// Tries calls again that were refused before anything ran. Asking once more costs nothing.
    fn retry_refused(&mut self) {
        let waiting = self.state.open.iter().filter(|(_, pending)| !pending.in_flight && is_refused(pending));
        let waiting: Vec<Callee> = waiting.map(|(callee, _)| callee.clone()).collect();
        for callee in waiting {
            self.take(&Event::RetryNow { callee: Some(callee) });
        }
    }

    /// Applies an event. An event that the table does not allow changes nothing, and is logged.
    pub(crate) fn take(&mut self, event: &Event) {
        match step(&self.state, event) {
            Ok((next, actions)) => {
                self.state = next;
                self.illegal = None;
                let (phase, open) = (self.state.phase(), &self.state.open);
                self.under_way.retain(|(of, callee), _| phase == Some(*of) && open.contains_key(callee));
                self.actions.extend(actions);
            }
            Err(illegal @ IllegalEvent::TooManySubscribers) => self.illegal = Some(illegal.to_string()),
            Err(illegal) => tracing::debug!(uid = self.state.uid, ?event, %illegal, "an event is ignored"),
        }
    }

    /// Applies the event that the turn of the object has come.
    pub(crate) fn take_turn(&mut self, subscribers: Vec<destruction::Subscriber>, together: bool) {
        self.before_turn = Some(self.state.clone());
        self.take(&Event::PredecessorsGone { subscribers, together });
    }

    /// The request of a user, if it is a new one.
    pub(crate) fn hear_request(&mut self, request: Option<&str>) -> Option<String> {
        let request = request?;
        if self.request.as_deref() == Some(request) {
            return None;
        }
        self.request = Some(request.to_owned());
        Some(request.to_owned())
    }
}
