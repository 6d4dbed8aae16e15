//! From a plan to writes: first what marks and strips, then what removes, in the plan's order.
//!
//! It has no choice: whose turn it is is the plan's, and each write carries the evidence on which it rests.

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

use sexton_lifecycle::plan::{Group, Progress, Step};
use sexton_lifecycle::{Cause, Finding, LifeId, Snapshot, Strip};
use sexton_model::Policy;
use sexton_model::bulk::Item;
use sexton_model::raw::Raw;

use crate::decide::Decision;
use crate::hooked::has_steps;
use crate::request::Request;
use items::Signature;
use stays::Staying;
use writes::Basis;

/// How many tombstones of each collection are on their way.
pub(crate) type Burials = HashMap<String, usize>;

/// What goes with the writes about one life.
pub(crate) trait Sign {
    /// In which collection it dies, and on whose wish.
    fn signature(&self, finding: &Finding) -> Signature;

    /// What is left behind of it, and counted.
    fn tombstone(&self, snapshot: &Snapshot, finding: &Finding, burials: &mut Burials) -> Option<Raw>;
}

/// Strips, and the marks of everybody whose policy leaves one: owners before those they own, so that whoever follows
/// can rely on a mark that cannot be taken back.
pub(crate) fn first<'a>(snapshot: &Snapshot, decision: &'a Decision, sign: &dyn Sign) -> Writes<'a> {
    let mut writes = Writes::default();
    strips(&mut writes, snapshot, decision);
    let (early, mut marked) = (early::early(snapshot, decision), HashSet::new());
    for layer in causes_first(decision) {
        writes.next_stage();
        for step in layer {
            let finding = &step.finding;
            let marks = early.contains(&step.life) || needs_mark(finding);
            if !marks
                || !early::may_be_marked(snapshot, decision, finding, &marked)
                || early::is_preceded(snapshot, decision, finding)
            {
                continue;
            }
            marked.insert(step.life);
            if early.contains(&step.life) {
                let judgement = &decision.judgement;
                let item = early::mark(snapshot, judgement, finding, &sign.signature(finding));
                writes.alone(step.life, item);
            } else {
                delete(&mut writes, snapshot, decision, finding, sign);
            }
        }
    }
    writes
}

/// References that are lost. Two detectors may say it of the same life: what the second says is left for the next look.
fn strips<'a>(writes: &mut Writes<'a>, snapshot: &Snapshot, decision: &'a Decision) {
    let mut stripped: HashSet<LifeId> = HashSet::new();
    let (ready, later): (Vec<&Strip>, Vec<&Strip>) =
        decision.judgement.strips.iter().partition(|strip| strip.ready);
    for strip in ready.into_iter().chain(later) {
        let owners = items::lost_now(snapshot, strip);
        if owners.is_empty() || !stripped.insert(strip.life) {
            continue;
        }
        let make = || items::strip(snapshot, strip.life, owners);
        match strip.ready {
            true => writes.share(snapshot, strip.life, Basis::Strip(&strip.owners), make),
            false => writes.alone(strip.life, make()),
        }
    }
}

/// The deletion of a life, together with others who die on the same evidence.
fn delete<'a>(
    writes: &mut Writes<'a>,
    snapshot: &Snapshot,
    decision: &'a Decision,
    finding: &'a Finding,
    sign: &dyn Sign,
) {
    let make = || decision.deletion(snapshot, finding, &sign.signature(finding));
    // Steps belong to one life.
    match decision.has_late_owners(finding.life) || has_steps(snapshot, finding.life) {
        true => writes.alone(finding.life, make()),
        false => writes.share(snapshot, finding.life, Basis::Deletion(finding), make),
    }
}

/// Everybody after the one whose mark takes it along, in layers: those first who follow nobody.
fn causes_first(decision: &Decision) -> Vec<Vec<&Step>> {
    let mut followers: HashMap<LifeId, Vec<&Step>> = HashMap::new();
    let mut layer: Vec<&Step> = Vec::new();
    for step in decision.plan.steps() {
        match step.finding.cause {
            Cause::OwnerDoomed { owner } if !step.finding.marked && decision.judgement.dooms(owner) => {
                followers.entry(owner).or_default().push(step);
            }
            _ => layer.push(step),
        }
    }
    let mut layers = Vec::new();
    while !layer.is_empty() {
        let below = layer.iter().flat_map(|step| followers.remove(&step.life).unwrap_or_default()).collect();
        layers.push(std::mem::replace(&mut layer, below));
    }
    // Nobody is its own cause; if somebody were, it would still not be forgotten.
    let mut rest: Vec<&Step> = followers.into_values().flatten().collect();
    rest.sort_by_key(|step| step.life);
    layers.push(rest);
    layers
}

/// Whether a life is marked before anything below it is touched.
fn needs_mark(finding: &Finding) -> bool {
    !finding.marked && finding.policy != Policy::Background && !finding.detector.accuses()
}

/// Finalizers of others that somebody gave up.
pub(crate) fn forced(snapshot: &Snapshot, stuck: &[LifeId]) -> Vec<(LifeId, Item)> {
    let wanted = |life: &LifeId| {
        let request = Request::read(snapshot.request(*life)?)?;
        let finalizer = request.finalizer()?.to_owned();
        let held = snapshot.finalizers(*life).any(|one| one == finalizer)
            && !sexton_model::marks::is_ours(&finalizer);
        held.then(|| (*life, items::force_finalizer(snapshot, *life, &finalizer)))
    };
    stuck.iter().filter_map(wanted).collect()
}

/// What became of the marks.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct First {
    /// Who is marked now.
    pub(crate) marked: HashSet<LifeId>,
    /// Who must not be, says the server, and why: no race, so it is no use to look again at once.
    pub(crate) refused: BTreeMap<LifeId, String>,
    /// Objects whose mark has no space on the server's disk. A removal needs none.
    pub(crate) no_space: HashSet<LifeId>,
}

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Turns<'a> {
    /// Simple lives: removed by these writes, in this order.
    pub(crate) writes: Writes<'a>,
    /// The tombstones among them.
    pub(crate) burials: Burials,
    /// Groups with lives that go through steps, and it is their turn.
    pub(crate) stepping: Vec<&'a Group>,
    /// Lives that only others can let go.
    pub(crate) stuck: Vec<LifeId>,
    /// Namespaces and definitions that a controller of the cluster lets go.
    pub(crate) controlled: Vec<LifeId>,
    /// Lives that wait for somebody who stays, and for whom.
    pub(crate) kept: Vec<(LifeId, LifeId)>,
}

impl<'a> Turns<'a> {
    /// The turn of a group that takes steps: whoever is not marked is, and the steps are taken elsewhere.
    fn step(
        &mut self,
        snapshot: &Snapshot,
        decision: &'a Decision,
        marked_now: &HashSet<LifeId>,
        group: &'a Group,
        sign: &dyn Sign,
    ) {
        let accused = |step: &&Step| decision.accuses(snapshot, &step.finding);
        let outside = |life: &LifeId| !group.members.iter().any(|step| step.life == *life);
        let waits = |step: &Step| step.after.iter().any(|life| snapshot.contains(*life) && outside(life));
        if group.members.iter().filter(accused).any(waits) {
            // That its end is inevitable is told when those before it are seen to be gone, not when they should be.
            return;
        }
        let unmarked =
            |step: &&Step| !step.finding.marked && !marked_now.contains(&step.life) && !accused(step);
        for step in group.members.iter().filter(unmarked) {
            if group.members.len() == 1 {
                delete(&mut self.writes, snapshot, decision, &step.finding, sign);
                continue;
            }
            let item = decision.deletion(snapshot, &step.finding, &sign.signature(&step.finding));
            self.writes.alone(step.life, early::in_circle(snapshot, group, item));
        }
        // What has taken all its steps only waits for others.
        let over = |step: &&Step| step.finding.marked && !items::is_held_by_us(snapshot, step.life);
        self.stuck.extend(group.members.iter().filter(over).map(|step| step.life));
        self.stepping.push(group);
    }

    /// The turn of a group whose mark has no space on the server's disk, and what is gone after it. What could be marked
    /// and removed in one breath is only removed; the others wait until there is space. Nothing if there is space.
    fn without_mark(
        &mut self,
        snapshot: &Snapshot,
        decision: &'a Decision,
        first: &First,
        group: &'a Group,
    ) -> Option<Option<LifeId>> {
        if !group.members.iter().any(|step| first.no_space.contains(&step.life)) {
            return None;
        }
        let [step] = group.members.as_slice() else { return Some(None) };
        if !straight::may_go(snapshot, decision, step, &first.marked) {
            return Some(None);
        }
        let make = || straight::removal(snapshot, decision, &step.finding);
        self.writes.share(snapshot, step.life, Basis::Straight(&step.finding), make);
        Some(Some(step.life))
    }

    /// The write that removes somebody, or marks it, or takes off what is ours.
    fn remove(
        &mut self,
        snapshot: &Snapshot,
        decision: &'a Decision,
        step: &'a Step,
        (marked, goes): (bool, bool),
        circle: &BTreeSet<LifeId>,
        sign: &dyn Sign,
    ) {
        let (life, finding) = (step.life, &step.finding);
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

/// Walks the plan as far as it can be walked now: what simply goes is passed, what takes its time is not.
pub(crate) fn turns<'a>(
    snapshot: &Snapshot,
    decision: &'a Decision,
    first: &First,
    sign: &dyn Sign,
) -> Turns<'a> {
    let (mut turns, marked_now) = (Turns::default(), &first.marked);
    let staying = Staying::new(snapshot, decision);
    let mut progress = Progress::new(&decision.plan);
    let mut queue: VecDeque<(&Group, usize)> = progress.ready().map(|group| (group, 0)).collect();
    let mut stage = 0;
    while let Some((group, of)) = queue.pop_front() {
        if of > stage {
            turns.writes.next_stage();
            stage = of;
        }
        let unwarned = |step: &Step| !step.finding.marked && decision.unwarned.contains(&step.finding.root);
        if group.members.iter().any(|step| first.refused.contains_key(&step.life) || unwarned(step)) {
            continue;
        }
        if let Some(gone) = turns.without_mark(snapshot, decision, first, group) {
            let free = gone.into_iter().flat_map(|life| progress.gone(life));
            queue.extend(free.map(|group| (group, stage + 1)));
            continue;
        }
        let unsettled = |step: &Step| {
            !step.finding.marked && !early::may_be_marked(snapshot, decision, &step.finding, marked_now)
        };
        if group.members.iter().any(unsettled) {
            continue;
        }
        // Who was marked early is seen with its mark first.
        let early =
            |step: &Step| step.finding.policy == Policy::Background && marked_now.contains(&step.life);
        if group.members.iter().any(early) {
            continue;
        }
        // Somebody who would have to go before does not: the turn of this group does not come.
        let kept = staying.keeps(group, marked_now);
        if !kept.is_empty() {
            turns.kept.extend(kept);
            continue;
        }
        if group.members.iter().any(|step| has_steps(snapshot, step.life)) {
            turns.step(snapshot, decision, marked_now, group, sign);
            continue;
        }
        let together: Vec<LifeId> = group.members.iter().map(|step| step.life).collect();
        let circle = if together.len() > 1 { together.iter().copied().collect() } else { BTreeSet::new() };
        let mut all_go = true;
        for step in &group.members {
            let marked = step.finding.marked || marked_now.contains(&step.life);
            let foreign = items::is_held_by_others(snapshot, step.life);
            all_go &= !foreign;
            turns.stuck.extend((foreign && marked).then_some(step.life));
            let controlled = decision.leaves(snapshot, step.life);
            if step.finding.marked && (controlled || !items::is_held_by_us(snapshot, step.life)) {
                all_go = false;
                turns.controlled.extend(controlled.then_some(step.life));
                continue;
            }
            turns.remove(snapshot, decision, step, (marked, !foreign), &circle, sign);
        }
        if all_go {
            let free = together.into_iter().flat_map(|life| progress.gone(life));
            queue.extend(free.map(|group| (group, stage + 1)));
        }
    }
    turns
}
