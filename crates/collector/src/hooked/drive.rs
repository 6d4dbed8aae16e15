//! Drives all destructions in steps by one round: events into the table, journals to the server, then the actions.
//!
//! Flow of [`Collector::steps`]:
//!
//! 1. Forget objects that are gone. Unless the collector stops, feed the events of this round: begin, turn has come,
//!    rescued,
//!    user's request, callee gone, time is up.
//! 2. Write the journals of all states that changed, in one request. A refused journal drops the state from memory,
//!    so that
//!    it is read anew, or postpones the actions to the next round.
//! 3. Carry out the actions of the journals that were written: spawn calls; send deletions and releases and feed
//!    their
//!    results as events. Repeat from 2 while there are actions.

use std::collections::BTreeSet;

use sexton_lifecycle::destruction::{self, Action, Event, Origin, Stage, State};
use sexton_lifecycle::plan::Step;
use sexton_lifecycle::{Cause, Detector, Finding, NodeId, Snapshot};
use sexton_model::bulk::{Item, ItemResult, Outcome};
use sexton_model::{Policy, Uid, marks};

use super::subscribers::left;
use super::{Active, Caller, has_steps, subscribers};
use crate::controller::Collector;
use crate::decide::Decision;
use crate::perform::items::Signature;
use crate::perform::{Hand, SendError, Sent, in_circle, items};
use crate::request::Request;

/// Actions lead to events and these to actions, but never in a circle; the limit is a second line of defence.
const ROUNDS: usize = 16;
/// Seconds for which an object is deferred after a veto.
const SPARED: i64 = 600;

impl Collector {
    /// Advances every object that is destroyed in steps.
    pub(crate) async fn steps(&mut self, decision: &Decision, now: i64) -> Result<Sent, SendError> {
        let mut all = Sent::default();
        let Some(hand) = self.hand.clone() else { return Ok(all) };
        let snapshot = &self.view.snapshot;
        self.actives.retain(|uid| snapshot.get(&Uid(uid.to_owned())).is_some());
        if !self.is_draining() {
            self.begin_and_rescue(decision, now);
        }
        self.actives.try_again();
        for _ in 0..ROUNDS {
            let waiting = self.actives.actions();
            if waiting.is_empty() {
                break;
            }
            all.absorb(self.carry_out(&hand, decision, waiting).await?);
        }
        Ok(all)
    }

    /// Feeds the events that the decision and the snapshot imply: begin, the turn has come, rescued, a user's
    /// request.
    fn begin_and_rescue(&mut self, decision: &Decision, now: i64) {
        let turn: BTreeSet<NodeId> = self.turn.iter().copied().collect();
        for group in decision.plan.groups() {
            if group.members.iter().any(|step| has_steps(&self.view.snapshot, step.node)) {
                for step in &group.members {
                    if step.finding.is_terminating || decision.accuses(&self.view.snapshot, &step.finding) {
                        self.advance(step, group.members.len() > 1, turn.contains(&step.node), now);
                    }
                }
            }
        }
        self.close_circles(decision);
        self.find_again(decision, now);
        self.rescue(decision);
    }

    /// Feeds requests and the clock to objects that were candidates, perhaps of an earlier collector, and are not
    /// doomed any more although notified. The table says whether they are saved or it is too late.
    fn find_again(&mut self, decision: &Decision, now: i64) {
        let snapshot = &self.view.snapshot;
        let scope = &self.settings.rules.scope;
        let saved =
            |life: &NodeId| !decision.judgement.is_doomed(*life) && scope.contains(&snapshot.uid(*life));
        for life in self.view.accused().filter(saved) {
            match self.actives.open(snapshot, life) {
                Ok(active) if (Stage::Notifying..=Stage::Released).contains(&active.state.stage) => {
                    listen(active, snapshot, life, now);
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, life = %snapshot.key(life), "a journal cannot be read");
                }
            }
        }
    }

    fn advance(&mut self, step: &Step, together: bool, is_its_turn: bool, now: i64) {
        let snapshot = &self.view.snapshot;
        let (life, marked) = (step.node, step.finding.is_terminating);
        let uid = snapshot.uid(life).0;
        let released = |active: &Active| active.state.stage == Stage::Released;
        if self.actives.get(&uid).is_some_and(released) && items::is_held_by_us(snapshot, life) {
            // A user deleted it once more: the finalizers that this added are taken off, too.
            self.actives.drop(&uid);
        }
        let active = match self.actives.open(snapshot, life) {
            Ok(active) => active,
            Err(error) => {
                tracing::error!(%error, life = %step.key, "a journal cannot be read; the life waits");
                return;
            }
        };
        if active.state.stage == Stage::Fresh {
            let (classes, group) = (&self.view.classes, snapshot.group(life));
            let has_method = classes.of(group, &step.kind).is_some_and(|class| class.destroy.is_some());
            let may_have_method = has_method || classes.broken(group, &step.kind).is_some();
            active.take(&Event::Begin {
                origin: if marked { Origin::Requested } else { Origin::Candidate },
                subscribers: subscribers(snapshot, life),
                // An object that begins anew is not destroyed a second time.
                has_destroy: may_have_method && !snapshot.is_destroyed(life),
            });
        } else if marked && active.state.origin == Origin::Candidate {
            active.take(&Event::Requested);
        }
        listen(active, snapshot, life, now);
        if is_its_turn && active.state.stage == Stage::Warned && snapshot.revision() >= active.seen {
            active.take_turn(subscribers(snapshot, life), together);
        }
    }

    /// Rescues candidates that were warned of at most and are not doomed any more.
    fn rescue(&mut self, decision: &Decision) {
        let snapshot = &self.view.snapshot;
        let accused: Vec<NodeId> = self
            .actives
            .iter()
            .filter(|(_, active)| active.state.origin == Origin::Candidate && !active.state.is_terminating)
            .filter_map(|(uid, _)| snapshot.get(&Uid(uid.clone())))
            .filter(|life| !decision.judgement.is_doomed(*life))
            .collect();
        for life in accused {
            if let Ok(active) = self.actives.open(snapshot, life)
                && active.state.stage <= Stage::Warned
            {
                active.take(&Event::Rescued);
            }
        }
    }

    /// Writes the journals, then carries out the actions that they announce.
    async fn carry_out(
        &mut self,
        hand: &Hand,
        decision: &Decision,
        waiting: Vec<(String, State, Vec<Action>)>,
    ) -> Result<Sent, SendError> {
        let snapshot = &self.view.snapshot;
        let (mut journals, mut then, mut stale) = (Vec::new(), Vec::new(), false);
        for (uid, state, actions) in waiting {
            let Some(life) = snapshot.get(&Uid(uid.clone())) else {
                self.actives.drop(&uid);
                continue;
            };
            let forget = actions.contains(&Action::Forget);
            if forget || actions.contains(&Action::Journal) {
                let text = if forget { None } else { state.encode().ok() };
                let Some(version) = self.actives.version_for(&uid, snapshot, life) else {
                    // The journal on the server is not the one known here: it is read again, in the next round.
                    self.actives.drop(&uid);
                    stale = true;
                    continue;
                };
                let journal = items::journal(snapshot, life, version, text.clone(), state.is_destroyed());
                journals.push(match self.actives.takes_its_turn(&uid) {
                    true => condemned(snapshot, decision, life, journal),
                    false => journal,
                });
                then.push((uid, life, state, actions, Some(text)));
            } else {
                then.push((uid, life, state, actions, None));
            }
        }
        if stale {
            self.rest();
        }
        let mut sent = match hand.send(journals).await {
            Ok(sent) => sent,
            Err(error) => {
                // It is unknown which journals were written. They are read again from the feed, and the actions
                // follow from them.
                then.iter().for_each(|(uid, ..)| self.actives.drop(uid));
                return Err(error);
            }
        };
        let mut results = sent.results.iter();
        let mut effects = Vec::new();
        for (uid, life, state, actions, journalled) in then {
            let Some(text) = journalled else {
                effects.push((uid, life, state, actions));
                continue;
            };
            match results.next() {
                Some(result) if result.code < 400 => {
                    self.actives.wrote(&uid, result, text);
                    effects.push((uid, life, state, actions));
                }
                Some(result) if result.code == 409 && self.actives.may_go_on(&uid) => {
                    self.actives.postpone(&uid, actions);
                    self.rest();
                }
                _ => {
                    self.actives.drop(&uid);
                    self.rest();
                }
            }
        }
        let more = self.do_effects(hand, decision, effects).await?;
        sent.absorb(more);
        Ok(sent)
    }

    async fn do_effects(
        &mut self,
        hand: &Hand,
        decision: &Decision,
        effects: Vec<(String, NodeId, State, Vec<Action>)>,
    ) -> Result<Sent, SendError> {
        let mut writes: Vec<(String, NodeId, Event, Item)> = Vec::new();
        for (uid, life, state, actions) in effects {
            for action in actions {
                match action {
                    Action::Journal => {}
                    Action::Call { callee, phase, attempt, key } => {
                        // While stopping no call begins: the journal tells the next collector to make it.
                        if self.is_draining() {
                            continue;
                        }
                        if let Some(wanted) = self.actives.calls(&uid, phase, &callee) {
                            let caller = self.caller(hand, decision, life, callee, phase, attempt);
                            self.calls.spawn(Caller { key, wanted, ..caller }.make());
                        }
                    }
                    Action::Delete => {
                        let item = self.mark_item(decision, life);
                        writes.push((uid.clone(), life, Event::Terminating, item));
                    }
                    Action::Release => match self.release_item(decision, life, &state) {
                        Some(item) => writes.push((uid.clone(), life, Event::Released, item)),
                        None => {
                            // The snapshot does not show it as terminating yet, and it is not doomed otherwise: it is
                            // released later.
                            self.actives.drop(&uid);
                            self.rest();
                        }
                    },
                    Action::Forget => self.actives.drop(&uid),
                    Action::CancelCollection { reason, .. } => {
                        self.spare(decision, Uid(uid.clone()));
                        for other in self.actives.cancel_accused(&reason) {
                            self.spare(decision, Uid(other));
                        }
                    }
                }
            }
        }
        let items = writes.iter().map(|(_, _, _, item)| item.clone()).collect();
        let sent = match hand.send(items).await {
            Ok(sent) => sent,
            Err(error) => {
                writes.iter().for_each(|(uid, ..)| self.actives.drop(uid));
                return Err(error);
            }
        };
        for ((uid, life, event, _), result) in writes.into_iter().zip(&sent.results) {
            self.take_effect(&uid, life, &event, result);
        }
        Ok(sent)
    }

    /// Feeds the result of a deletion or a release to the table.
    fn take_effect(&mut self, uid: &str, life: NodeId, event: &Event, result: &ItemResult) {
        match result.outcome {
            Some(outcome) => {
                self.summary.removed += u64::from(outcome == Outcome::Removed);
                let held = !items::foreign_finalizers(&self.view.snapshot, life).is_empty();
                if *event == Event::Released && outcome != Outcome::Removed && !held {
                    // A finalizer holds it that is not in the snapshot yet: it is released again when it is.
                    self.actives.drop(uid);
                    self.rest();
                } else if let Ok(active) = self.actives.open(&self.view.snapshot, life) {
                    active.wrote(result);
                    active.take(event);
                    if *event == Event::Released {
                        // The journal was removed with the object, or says so already.
                        active.actions.clear();
                    }
                }
            }
            None => {
                let why = result.status.as_ref().map(|status| status.message.clone());
                tracing::debug!(uid, ?why, "a step was refused and is tried again");
                self.actives.drop(uid);
                self.rest();
            }
        }
    }

    /// Defers an object after a veto, and with it the root of the candidates.
    fn spare(&mut self, decision: &Decision, uid: Uid) {
        let until = self.means.clock.now() + SPARED;
        let life = self.view.snapshot.get(&uid);
        let finding = life.and_then(|life| decision.judgement.doomed.get(&life));
        finding.into_iter().for_each(|finding| self.waiting.spare(finding.root.clone(), until));
        self.waiting.spare(uid, until);
    }

    /// The deletion of a candidate: only if the owners it names still do not exist. An owner that turned up after
    /// subscribers were notified comes too late: then nothing dooms the object any more, and it is deleted
    /// nevertheless.
    fn mark_item(&self, decision: &Decision, life: NodeId) -> Item {
        let snapshot = &self.view.snapshot;
        let inevitable = || Finding {
            node: life,
            detector: Detector::Orphaned,
            cause: Cause::Requested,
            policy: Policy::Background,
            is_terminating: false,
            root: snapshot.uid(life),
            requester: None,
        };
        let finding = decision.judgement.doomed.get(&life).cloned().unwrap_or_else(inevitable);
        let signature = crate::perform::Sign::signature(&self.ledger, &finding);
        let item = decision.deletion(snapshot, &finding, &signature);
        Item { owners: None, unmarked: true, ..item }
    }

    fn release_item(&mut self, decision: &Decision, life: NodeId, state: &State) -> Option<Item> {
        let finding = decision.judgement.doomed.get(&life)?;
        let snapshot = &self.view.snapshot;
        let group = decision.plan.group_of(&snapshot.uid(life));
        let circle: BTreeSet<NodeId> =
            group.into_iter().flat_map(|group| &group.members).map(|step| step.node).collect();
        let survivors = decision.survivors_of(life);
        let mut item = items::release(snapshot, &decision.judgement, finding, &circle, survivors);
        if let sexton_model::bulk::Action::Patch { remove_finalizers, .. } = &mut item.action
            && !remove_finalizers.iter().any(|one| one == marks::DESTROY_FINALIZER)
        {
            // The finalizer came with a termination that is not in the snapshot yet.
            remove_finalizers.push(marks::DESTROY_FINALIZER.to_owned());
        }
        if items::foreign_finalizers(snapshot, life).is_empty() {
            item.tombstone = self.ledger.tombstone_of_steps(snapshot, finding, state);
        }
        Some(item)
    }
}

/// The journal with which a candidate can no longer be rescued, together with the evidence why it is doomed.
fn condemned(snapshot: &Snapshot, decision: &Decision, life: NodeId, journal: Item) -> Item {
    // No subscriber is missed: the write fails if there is one that the snapshot does not know.
    let journal = Item { subscribers: Some(subscribers_known(snapshot, life)), ..journal };
    let Some(finding) = decision.judgement.doomed.get(&life) else { return journal };
    if !decision.accuses(snapshot, finding) {
        return journal;
    }
    let mut proof = decision.deletion(snapshot, finding, &Signature::default());
    if let Some(group) = decision.plan.group_of(&snapshot.uid(life)).filter(|group| group.members.len() > 1) {
        proof = in_circle(snapshot, group, proof);
    }
    Item { absent: proof.absent, marked: proof.marked, ..journal }
}

fn subscribers_known(snapshot: &Snapshot, life: NodeId) -> Vec<String> {
    snapshot.possible_subscribers(life).into_iter().map(|uid| uid.0).collect()
}

/// Feeds what is new for an object: a request of a user, callees that are gone, and deadlines that have passed.
fn listen(active: &mut Active, snapshot: &Snapshot, life: NodeId, now: i64) {
    let heard = active.hear_request(snapshot.request(life));
    if let Some(event) = heard.and_then(|text| Request::read(&text)?.event()) {
        active.take(&event);
    }
    for uid in left(snapshot, life, &active.state) {
        active.take(&Event::SubscriberLeft { uid });
    }
    if destruction::due(&active.state).is_some_and(|due| due <= now) {
        active.take(&Event::Tick { now });
    }
}
