//! Lives that somebody wants to hear of, or that have a destroy method: each goes through its steps by the table of
//! `lifecycle`, with its journal written before every effect.
//!
//! It must not decide whose turn it is; it is told.

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
    self, Action, Block, Callee, Event, Illegal, Origin, Pending, Phase, Stage, State, step,
};
use sexton_lifecycle::{LifeId, Snapshot};
use sexton_model::bulk::ItemResult;
use sexton_model::{Revision, Uid, marks};

use crate::hooks::allowance::OPERATOR;
use crate::request::Request;

/// A call that is to be made as long as this is here: it may have to wait for its turn, and be given up meanwhile.
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

/// One life on its way, and what is under way for it.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) state: State,
    /// The version of the life on which the state rests.
    pub(crate) version: Revision,
    /// The journal that is known to be on the life.
    written: Option<String>,
    /// Actions whose journal is not written yet.
    pub(crate) actions: Vec<Action>,
    /// Actions whose journal was refused, because somebody else has changed the life meanwhile.
    postponed: Vec<Action>,
    under_way: BTreeMap<(Phase, Callee), Wanted>,
    /// Nothing is inevitable before this was heard: what was done about the life while it was warned of.
    pub(crate) seen: Revision,
    /// Why the table does not let it go on, if somebody can help.
    illegal: Option<String>,
    /// What it was before its turn came, until that is written: if somebody changes the life first, its turn may not
    /// have come after all.
    before_turn: Option<State>,
    /// Which request of somebody's was heard last, so that it is heard once.
    request: Option<String>,
}

/// All of them, by uid.
#[derive(Debug, Default)]
pub(crate) struct Actives {
    by_uid: BTreeMap<String, Active>,
    /// Lives whose journal cannot be read, and why: they wait.
    unreadable: BTreeMap<String, String>,
}

/// Whether a life goes through steps, rather than simply being removed.
pub(crate) fn has_steps(snapshot: &Snapshot, life: LifeId) -> bool {
    snapshot.finalizers(life).any(|finalizer| finalizer == marks::DESTROY_FINALIZER)
        || snapshot.class_for(life).is_some()
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

/// Whether all calls that a life waits for are refused so.
pub(crate) fn is_refused_whole(state: &State) -> bool {
    !state.open.is_empty() && state.open.values().all(|pending| !pending.asked && is_refused(pending))
}

/// Whether somebody said that the journal of a life, which cannot be read, is not to be waited for.
fn begins_anew(snapshot: &Snapshot, life: LifeId) -> bool {
    snapshot.request(life).and_then(Request::read).is_some_and(|request| request.begins_anew())
}

impl Actives {
    pub(crate) fn get(&self, uid: &str) -> Option<&Active> {
        self.by_uid.get(uid)
    }

    /// The step that an object has reached: as it is known here, or else as its journal says. After a restart or a
    /// change of the lease's holder nothing is known here, although everything is written. Nothing if its destruction
    /// has not begun, or its journal cannot be read.
    pub(crate) fn stage(&self, snapshot: &Snapshot, life: LifeId) -> Option<Stage> {
        self.state(snapshot, life).map(|state| state.stage)
    }

    /// The same with everything that the journal says.
    pub(crate) fn state(&self, snapshot: &Snapshot, life: LifeId) -> Option<Cow<'_, State>> {
        match self.by_uid.get(&snapshot.uid(life).0) {
            Some(active) => Some(Cow::Borrowed(&active.state)),
            None => State::decode(snapshot.journal(life)?).ok().map(Cow::Owned),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Active)> {
        self.by_uid.iter()
    }

    /// Forgets a life: it is gone, or what is known of it is not what is written.
    pub(crate) fn drop(&mut self, uid: &str) {
        self.by_uid.remove(uid);
    }

    /// Forgets all: somebody else acts now.
    pub(crate) fn clear(&mut self) {
        self.by_uid.clear();
        self.unreadable.clear();
    }

    /// Forgets whoever is gone.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.by_uid.retain(|uid, _| is_there(uid));
        self.unreadable.retain(|uid, _| is_there(uid));
    }

    /// The state of a life: from memory, or from its journal, or fresh.
    ///
    /// # Errors
    /// The journal cannot be understood: the life waits, and that is told.
    pub(crate) fn open(
        &mut self,
        snapshot: &Snapshot,
        life: LifeId,
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
                // Settings and classes may be others than when the call was refused.
                active.retry_refused();
            }
            self.unreadable.remove(&uid);
            self.by_uid.insert(uid.clone(), active);
        }
        Ok(self.by_uid.entry(uid).or_insert_with(|| unreachable!("it was put there just now")))
    }

    /// Notes what a life is like since it was written.
    pub(crate) fn wrote(&mut self, uid: &str, result: &ItemResult, journal: Option<String>) {
        if let Some(active) = self.by_uid.get_mut(uid)
            && result.code < 400
        {
            active.wrote(result);
            active.written = journal;
            active.before_turn = None;
        }
    }

    /// Tries all calls again that were refused by settings, or because a class lacked the method: a class has changed.
    pub(crate) fn retry_refused(&mut self) {
        self.by_uid.values_mut().for_each(Active::retry_refused);
    }

    /// Whatever was postponed is tried again.
    pub(crate) fn try_again(&mut self) {
        for active in self.by_uid.values_mut() {
            let later = std::mem::take(&mut active.actions);
            active.actions = std::mem::take(&mut active.postponed);
            active.actions.extend(later);
        }
    }

    /// Whether a step may be written although somebody else changed the life meanwhile. Who is only accused may have been
    /// saved by that, as long as nobody was told that its end is inevitable: then it is judged again.
    pub(crate) fn may_go_on(&self, uid: &str) -> bool {
        let Some(active) = self.by_uid.get(uid) else { return false };
        let told = active.written.as_deref().and_then(|text| State::decode(text).ok());
        let inevitable = told.is_some_and(|told| told.stage > Stage::Warned);
        active.state.marked || active.state.stage <= Stage::Warned || inevitable
    }

    /// Puts actions off until the life is seen as it is now. Whether its turn has come is then asked again: what somebody
    /// wrote may have put it behind others.
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

    /// The version over which a journal may be written: the newest that is seen, as long as the journal on it is the one
    /// that we know. Nothing if somebody else has written another.
    pub(crate) fn version_for(&mut self, uid: &str, snapshot: &Snapshot, life: LifeId) -> Option<Revision> {
        let active = self.by_uid.get_mut(uid)?;
        if snapshot.revision_of(life) > active.version {
            if snapshot.journal(life) != active.written.as_deref() {
                return None;
            }
            active.version = snapshot.revision_of(life);
        }
        Some(active.version)
    }

    /// Whether what is to be written next is that its turn has come.
    pub(crate) fn takes_its_turn(&self, uid: &str) -> bool {
        self.by_uid.get(uid).is_some_and(|active| active.before_turn.is_some())
    }

    /// Takes in how a call ended.
    pub(crate) fn answer(&mut self, answer: Answer) {
        let (Some(active), Some(event)) = (self.by_uid.get_mut(&answer.uid), answer.event()) else { return };
        active.under_way.remove(&(answer.phase, answer.callee.clone()));
        active.seen = active.seen.max(answer.seen);
        active.take(&event);
    }

    /// A veto of one ends the collection for all that are only accused.
    pub(crate) fn cancel_accused(&mut self, reason: &str) -> Vec<String> {
        let mut cancelled = Vec::new();
        for (uid, active) in &mut self.by_uid {
            if active.state.origin == Origin::Accused && !active.state.marked {
                active.take(&Event::Cancelled { reason: reason.to_owned() });
                if active.state.stage == Stage::Cancelled {
                    cancelled.push(uid.clone());
                }
            }
        }
        cancelled
    }

    /// When the next of them wants to go on by itself, later than this.
    pub(crate) fn due(&self, after: i64) -> Option<i64> {
        let all = self.by_uid.values().filter_map(|active| destruction::due(&active.state));
        all.filter(|due| *due > after).min()
    }

    /// The actions that wait for their journal to be written, with the life that each is about.
    pub(crate) fn actions(&mut self) -> Vec<(String, State, Vec<Action>)> {
        let waiting = self.by_uid.iter_mut().filter(|(_, active)| !active.actions.is_empty());
        waiting
            .map(|(uid, active)| {
                let mut actions = std::mem::take(&mut active.actions);
                actions.retain(|action| active.state.wants(action));
                (uid.clone(), active.state.clone(), actions)
            })
            .collect()
    }

    /// Those who do not get on for a reason that no call has given.
    pub(crate) fn troubled(&self, snapshot: &Snapshot) -> Vec<(LifeId, String)> {
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

    /// Notes that a call is made, and how it is known that it still should be; nothing if it is under way already.
    pub(crate) fn calls(&mut self, uid: &str, phase: Phase, callee: &Callee) -> Option<Arc<AtomicBool>> {
        match self.by_uid.get_mut(uid)?.under_way.entry((phase, callee.clone())) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(place.insert(Wanted::default()).0.clone()),
        }
    }
}

impl Active {
    /// Notes what the life is like since it was written.
    pub(crate) fn wrote(&mut self, result: &ItemResult) {
        let version = result.resource_version.as_ref().and_then(|version| version.parse().ok());
        self.version = version.unwrap_or(self.version);
    }

    /// Tries calls again that were refused before anything was run. To ask once more costs nothing.
    fn retry_refused(&mut self) {
        let waiting = self.state.open.iter().filter(|(_, pending)| !pending.asked && is_refused(pending));
        let waiting: Vec<Callee> = waiting.map(|(callee, _)| callee.clone()).collect();
        for callee in waiting {
            self.take(&Event::RetryNow { callee: Some(callee) });
        }
    }

    /// Takes an event in; what cannot be is told and changes nothing.
    pub(crate) fn take(&mut self, event: &Event) {
        match step(&self.state, event) {
            Ok((next, actions)) => {
                self.state = next;
                self.illegal = None;
                let (phase, open) = (self.state.phase(), &self.state.open);
                self.under_way.retain(|(of, callee), _| phase == Some(*of) && open.contains_key(callee));
                self.actions.extend(actions);
            }
            Err(illegal @ Illegal::TooManySubscribers) => self.illegal = Some(illegal.to_string()),
            Err(illegal) => tracing::debug!(uid = self.state.uid, ?event, %illegal, "an event is ignored"),
        }
    }

    /// Its turn has come.
    pub(crate) fn take_turn(&mut self, subscribers: Vec<destruction::Subscriber>, together: bool) {
        self.before_turn = Some(self.state.clone());
        self.take(&Event::PredecessorsGone { subscribers, together });
    }

    /// What somebody asked for, if it is new.
    pub(crate) fn hear_request(&mut self, request: Option<&str>) -> Option<String> {
        let request = request?;
        if self.request.as_deref() == Some(request) {
            return None;
        }
        self.request = Some(request.to_owned());
        Some(request.to_owned())
    }
}
