//! Turns a checked plan into writes. It makes no choices: the order is the plan's, and each write carries its
//! evidence.
//!
//! A round writes twice:
//!
//! 1. [`first`]: removes references of objects that survive, and sets objects terminating if their policy needs it,
//!    owners before their dependents. A termination cannot be taken back, so later writes may depend on it.
//! 2. [`turns`]: walks the plan wave by wave as far as it can now, and removes what can be removed. The walk
//!    continues past an object that is removed by one write. It stops at an object that takes steps (see `hooked`),
//!    has finalizers of others, waits for an object that stays, or was refused.
//!
//! What a round cannot do is found again by the next one, from a newer snapshot.

mod early;
pub(crate) mod items;
mod prepare;
mod send;
mod stays;
mod straight;
mod writes;

pub(crate) use early::in_circle;
pub(crate) use prepare::{Prepared, prepare};
pub(crate) use send::{Hand, SendError, Sent};
pub(crate) use writes::Writes;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use sexton_lifecycle::plan::{Group, PlanProgress, Step};
use sexton_lifecycle::{Cause, Finding, NodeId, Snapshot, Strip};
use sexton_model::Policy;
use sexton_model::bulk::Item;
use sexton_model::raw::Raw;

use crate::decide::Decision;
use crate::hooked::has_steps;
use crate::request::Request;
use items::Signature;
use stays::Staying;
use writes::Basis;

/// How many tombstones are about to be written, by collection.
pub(crate) type Burials = HashMap<String, usize>;

/// Annotations and tombstones that belong to the writes about one object.
pub(crate) trait Sign {
    /// The collection, requester and approved plan of the deletion.
    fn signature(&self, finding: &Finding) -> Signature;

    /// The tombstone that the removal leaves behind, counted in `burials`; `None` if it leaves none.
    fn tombstone(&self, snapshot: &Snapshot, finding: &Finding, burials: &mut Burials) -> Option<Raw>;
}

/// The writes that come first: references to remove, and deletions that leave an object terminating. Owners come
/// before their dependents, so that the deletion of a dependent can have the termination of its owner as a
/// precondition.
pub(crate) fn first<'a>(snapshot: &Snapshot, decision: &'a Decision, sign: &dyn Sign) -> Writes<'a> {
    let mut writes = Writes::default();
    strips(&mut writes, snapshot, decision);
    let (early, mut marked) = (early::early(snapshot, decision), HashSet::new());
    for layer in causes_first(decision) {
        writes.next_stage();
        for step in layer {
            let finding = &step.finding;
            let marks = early.contains(&step.node) || needs_mark(finding);
            if !marks
                || !early::may_be_marked(snapshot, decision, finding, &marked)
                || early::is_preceded(snapshot, decision, finding)
            {
                continue;
            }
            marked.insert(step.node);
            if early.contains(&step.node) {
                let judgement = &decision.judgement;
                let item = early::mark(snapshot, judgement, finding, &sign.signature(finding));
                writes.alone(step.node, item);
            } else {
                delete(&mut writes, snapshot, decision, finding, sign);
            }
        }
    }
    writes
}

/// Removals of references. Two detectors may say so of one object: the second one is left for the next round.
fn strips<'a>(writes: &mut Writes<'a>, snapshot: &Snapshot, decision: &'a Decision) {
    let mut stripped: HashSet<NodeId> = HashSet::new();
    let (ready, later): (Vec<&Strip>, Vec<&Strip>) =
        decision.judgement.strips.iter().partition(|strip| strip.is_ready);
    for strip in ready.into_iter().chain(later) {
        let owners = items::lost_now(snapshot, strip);
        if owners.is_empty() || !stripped.insert(strip.node) {
            continue;
        }
        let make = || items::strip(snapshot, strip.node, owners);
        match strip.is_ready {
            true => writes.share(snapshot, strip.node, Basis::Strip(&strip.owners), make),
            false => writes.alone(strip.node, make()),
        }
    }
}

/// The deletion of an object, shared with others that are deleted on the same evidence.
fn delete<'a>(
    writes: &mut Writes<'a>,
    snapshot: &Snapshot,
    decision: &'a Decision,
    finding: &'a Finding,
    sign: &dyn Sign,
) {
    let make = || decision.deletion(snapshot, finding, &sign.signature(finding));
    // Objects with steps have an item of their own.
    match decision.has_late_owners(finding.node) || has_steps(snapshot, finding.node) {
        true => writes.alone(finding.node, make()),
        false => writes.share(snapshot, finding.node, Basis::Deletion(finding), make),
    }
}

/// The steps of the plan in layers: an object that is doomed because of its owner is in a later layer than that
/// owner.
fn causes_first(decision: &Decision) -> Vec<Vec<&Step>> {
    let mut followers: HashMap<NodeId, Vec<&Step>> = HashMap::new();
    let mut layer: Vec<&Step> = Vec::new();
    for step in decision.plan.steps() {
        match step.finding.cause {
            Cause::OwnerDoomed { owner }
                if !step.finding.is_terminating && decision.judgement.is_doomed(owner) =>
            {
                followers.entry(owner).or_default().push(step);
            }
            _ => layer.push(step),
        }
    }
    let mut layers = Vec::new();
    while !layer.is_empty() {
        let below = layer.iter().flat_map(|step| followers.remove(&step.node).unwrap_or_default()).collect();
        layers.push(std::mem::replace(&mut layer, below));
    }
    // No object is its own cause; if the plan said so, the object would still not be forgotten.
    let mut rest: Vec<&Step> = followers.into_values().flatten().collect();
    rest.sort_by_key(|step| step.node);
    layers.push(rest);
    layers
}

/// Whether an object is set terminating before anything below it is touched.
fn needs_mark(finding: &Finding) -> bool {
    !finding.is_terminating && finding.policy != Policy::Background && !finding.detector.is_automatic()
}

/// Removals of finalizers of other controllers, where a user requested that with `sexton force`.
pub(crate) fn forced(snapshot: &Snapshot, stuck: &[NodeId]) -> Vec<(NodeId, Item)> {
    let wanted = |life: &NodeId| {
        let request = Request::read(snapshot.request(*life)?)?;
        let finalizer = request.finalizer()?.to_owned();
        let held = snapshot.finalizers(*life).any(|one| one == finalizer)
            && !sexton_model::marks::is_ours(&finalizer);
        held.then(|| (*life, items::force_finalizer(snapshot, *life, &finalizer)))
    };
    stuck.iter().filter_map(wanted).collect()
}

/// The outcome of the first writes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct First {
    /// Objects that are terminating now.
    pub(crate) marked: HashSet<NodeId>,
    /// Objects that the server refuses to delete, and why. That is no race, so another attempt at once is of no use.
    pub(crate) refused: BTreeMap<NodeId, String>,
    /// Objects that could not be set terminating because the server's disk is full. A removal needs no space.
    pub(crate) no_space: HashSet<NodeId>,
}

/// What the walk through the plan came to.
#[derive(Debug, Default)]
pub(crate) struct Turns<'a> {
    /// The removals of objects without steps, in this order.
    pub(crate) writes: Writes<'a>,
    /// How many tombstones these leave, by collection.
    pub(crate) burials: Burials,
    /// Groups with objects that take steps, and with no predecessors left.
    pub(crate) stepping: Vec<&'a Group>,
    /// Terminating objects that wait for finalizers of other controllers.
    pub(crate) stuck: Vec<NodeId>,
    /// Namespaces and definitions that a controller of the cluster releases.
    pub(crate) controlled: Vec<NodeId>,
    /// Objects that wait for one that is not doomed, each with that one.
    pub(crate) kept: Vec<(NodeId, NodeId)>,
}

impl<'a> Turns<'a> {
    /// Handles a group that takes steps: its members that are not terminating become so; `hooked` takes the steps.
    fn step(
        &mut self,
        snapshot: &Snapshot,
        decision: &'a Decision,
        marked_now: &HashSet<NodeId>,
        group: &'a Group,
        sign: &dyn Sign,
    ) {
        let accused = |step: &&Step| decision.accuses(snapshot, &step.finding);
        let outside = |life: &NodeId| !group.members.iter().any(|step| step.node == *life);
        let waits = |step: &Step| step.after.iter().any(|life| snapshot.contains(*life) && outside(life));
        if group.members.iter().filter(accused).any(waits) {
            // Subscribers learn that the end is inevitable only when the predecessors are seen to be gone, not when
            // they should be.
            return;
        }
        let unmarked =
            |step: &&Step| !step.finding.is_terminating && !marked_now.contains(&step.node) && !accused(step);
        for step in group.members.iter().filter(unmarked) {
            if group.members.len() == 1 {
                delete(&mut self.writes, snapshot, decision, &step.finding, sign);
                continue;
            }
            let item = decision.deletion(snapshot, &step.finding, &sign.signature(&step.finding));
            self.writes.alone(step.node, early::in_circle(snapshot, group, item));
        }
        // An object that has taken all its steps waits for finalizers of others only.
        let over = |step: &&Step| step.finding.is_terminating && !items::is_held_by_us(snapshot, step.node);
        self.stuck.extend(group.members.iter().filter(over).map(|step| step.node));
        self.stepping.push(group);
    }

    /// Handles a group with a member that could not be set terminating because the disk is full. An object that can
    /// be removed without a termination is; `Some(Some(_))` names it. Others wait for space: `Some(None)`. `None` if
    /// there was space.
    fn without_mark(
        &mut self,
        snapshot: &Snapshot,
        decision: &'a Decision,
        first: &First,
        group: &'a Group,
    ) -> Option<Option<NodeId>> {
        if !group.members.iter().any(|step| first.no_space.contains(&step.node)) {
            return None;
        }
        let [step] = group.members.as_slice() else { return Some(None) };
        if !straight::may_go(snapshot, decision, step, &first.marked) {
            return Some(None);
        }
        let make = || straight::removal(snapshot, decision, &step.finding);
        self.writes.share(snapshot, step.node, Basis::Straight(&step.finding), make);
        Some(Some(step.node))
    }

    /// Adds the write that deletes an object, or releases it if it is terminating.
    fn remove(
        &mut self,
        snapshot: &Snapshot,
        decision: &'a Decision,
        step: &'a Step,
        (marked, goes): (bool, bool),
        circle: &BTreeSet<NodeId>,
        sign: &dyn Sign,
    ) {
        let (life, finding) = (step.node, &step.finding);
        let survivors = decision.survivors_of(life);
        let release = || items::release(snapshot, &decision.judgement, finding, circle, survivors);
        let tombstone = if goes { sign.tombstone(snapshot, finding, &mut self.burials) } else { None };
        if tombstone.is_some() {
            let item = match marked {
                true => release(),
                false => decision.deletion(snapshot, finding, &sign.signature(finding)),
            };
            self.writes.alone(life, Item { tombstone, ..item });
        } else if !marked {
            delete(&mut self.writes, snapshot, decision, finding, sign);
        } else if !circle.is_empty()
            || !survivors.is_empty()
            || snapshot.is_referenced(life)
            || snapshot.is_namespace(life)
            || snapshot.is_definition(life)
        {
            self.writes.alone(life, release());
        } else {
            self.writes.share(snapshot, life, Basis::Release(finding.policy), release);
        }
    }
}

/// Whether a member keeps its group from being written in this round: a request for it was refused, or the candidate with
/// whose deletion it begins still has subscribers that were not warned.
fn is_kept_for_now(decision: &Decision, first: &First, step: &Step) -> bool {
    let unwarned = !step.finding.is_terminating && decision.unwarned.contains(&step.finding.root);
    unwarned || first.refused.contains_key(&step.node)
}

/// Whether a member waits for what only a later line of the feed can show: the evidence of its deletion, or that it is
/// terminating, if it was set so early.
fn waits_for_the_feed(
    snapshot: &Snapshot,
    decision: &Decision,
    marked_now: &HashSet<NodeId>,
    step: &Step,
) -> bool {
    let unsettled =
        !step.finding.is_terminating && !early::may_be_marked(snapshot, decision, &step.finding, marked_now);
    unsettled || (step.finding.policy == Policy::Background && marked_now.contains(&step.node))
}

/// Walks the plan as far as possible now. The walk goes on past an object that one write removes, and stops at any
/// other.
pub(crate) fn turns<'a>(
    snapshot: &Snapshot,
    decision: &'a Decision,
    first: &First,
    sign: &dyn Sign,
) -> Turns<'a> {
    let (mut turns, marked_now) = (Turns::default(), &first.marked);
    let staying = Staying::new(snapshot, decision);
    let mut progress = PlanProgress::new(&decision.plan);
    let mut queue: VecDeque<(&Group, usize)> = progress.ready().map(|group| (group, 0)).collect();
    let mut stage = 0;
    while let Some((group, of)) = queue.pop_front() {
        if of > stage {
            turns.writes.next_stage();
            stage = of;
        }
        if group.members.iter().any(|step| is_kept_for_now(decision, first, step)) {
            continue;
        }
        if let Some(gone) = turns.without_mark(snapshot, decision, first, group) {
            let free = gone.into_iter().flat_map(|life| progress.set_gone(life));
            queue.extend(free.map(|group| (group, stage + 1)));
            continue;
        }
        if group.members.iter().any(|step| waits_for_the_feed(snapshot, decision, marked_now, step)) {
            continue;
        }
        // An object that stays blocks this group.
        let kept = staying.keeps(group, marked_now);
        if !kept.is_empty() {
            turns.kept.extend(kept);
            continue;
        }
        if group.members.iter().any(|step| has_steps(snapshot, step.node)) {
            turns.step(snapshot, decision, marked_now, group, sign);
            continue;
        }
        let together: Vec<NodeId> = group.members.iter().map(|step| step.node).collect();
        let circle = if together.len() > 1 { together.iter().copied().collect() } else { BTreeSet::new() };
        let mut all_go = true;
        for step in &group.members {
            let marked = step.finding.is_terminating || marked_now.contains(&step.node);
            let foreign = items::is_held_by_others(snapshot, step.node);
            all_go &= !foreign;
            turns.stuck.extend((foreign && marked).then_some(step.node));
            let controlled = decision.leaves(snapshot, step.node);
            if step.finding.is_terminating && (controlled || !items::is_held_by_us(snapshot, step.node)) {
                all_go = false;
                turns.controlled.extend(controlled.then_some(step.node));
                continue;
            }
            turns.remove(snapshot, decision, step, (marked, !foreign), &circle, sign);
        }
        if all_go {
            let free = together.into_iter().flat_map(|life| progress.set_gone(life));
            queue.extend(free.map(|group| (group, stage + 1)));
        }
    }
    turns
}
