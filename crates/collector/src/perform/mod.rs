//! From a plan to writes: first what marks and strips, then what removes, in the plan's order.
//!
//! It has no choice: whose turn it is is the plan's, and each write carries the evidence on which it rests.

pub(crate) mod items;
mod send;
mod stays;

pub(crate) use send::{Hand, SendError, Sent};

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sexton_lifecycle::plan::{Group, Progress, Step};
use sexton_lifecycle::{Cause, Detector, Finding, LifeId, Snapshot};
use sexton_model::bulk::Item;
use sexton_model::{Policy, Uid};

use crate::decide::Decision;
use crate::hooked::has_steps;
use crate::request::Request;
use items::Signature;
use stays::Staying;

/// A write and whom it is about.
pub(crate) type Write = (LifeId, Item);

/// What goes with the writes about one life.
pub(crate) trait Sign {
    /// In which collection it dies, and on whose wish.
    fn signature(&self, finding: &Finding) -> Signature;

    /// What is left behind of it.
    fn tombstone(&mut self, snapshot: &Snapshot, finding: &Finding) -> Option<serde_json::Value>;
}

/// Strips, and the marks of everybody whose policy leaves one: owners before those they own, so that whoever follows
/// can rely on a mark that cannot be taken back.
pub(crate) fn first(snapshot: &Snapshot, decision: &Decision, sign: &dyn Sign) -> Vec<Write> {
    let judgement = &decision.judgement;
    let ready = judgement.strips.iter().filter(|strip| strip.ready);
    let mut writes: Vec<Write> = ready.map(|strip| (strip.life, items::strip(snapshot, strip))).collect();
    for step in causes_first(decision).into_iter().filter(|step| needs_mark(&step.finding)) {
        let signature = sign.signature(&step.finding);
        writes.push((step.life, decision.deletion(snapshot, &step.finding, &signature)));
    }
    writes
}

/// Everybody after the one whose mark takes it along: those first who follow nobody.
fn causes_first(decision: &Decision) -> Vec<&Step> {
    let mut followers: BTreeMap<LifeId, Vec<&Step>> = BTreeMap::new();
    let mut ordered: Vec<&Step> = Vec::new();
    for step in decision.plan.steps() {
        match step.finding.cause {
            Cause::OwnerDoomed { owner } if !step.finding.marked && decision.judgement.dooms(owner) => {
                followers.entry(owner).or_default().push(step);
            }
            _ => ordered.push(step),
        }
    }
    let mut at = 0;
    while let Some(step) = ordered.get(at).copied() {
        ordered.extend(followers.remove(&step.life).unwrap_or_default());
        at += 1;
    }
    // Nobody is its own cause; if somebody were, it would still not be forgotten.
    ordered.extend(followers.into_values().flatten());
    ordered
}

/// Whether a life is marked before anything below it is touched.
fn needs_mark(finding: &Finding) -> bool {
    !finding.marked && finding.policy != Policy::Background && finding.detector != Detector::Orphaned
}

/// Finalizers of others that somebody gave up.
pub(crate) fn forced(snapshot: &Snapshot, stuck: &[LifeId]) -> Vec<Write> {
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
#[derive(Debug, Default)]
pub(crate) struct First {
    /// Who is marked now.
    pub(crate) marked: BTreeSet<LifeId>,
    /// Who must not be, says the server, and why: no race, so it is no use to look again at once.
    pub(crate) refused: BTreeMap<LifeId, String>,
    /// From these follow accused lives of which not everybody has been warned: nothing of it goes before.
    pub(crate) unwarned: BTreeSet<Uid>,
}

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Turns<'a> {
    /// Simple lives: removed by these writes, in this order.
    pub(crate) writes: Vec<Write>,
    /// Groups with lives that go through steps, and it is their turn.
    pub(crate) stepping: Vec<&'a Group>,
    /// Lives that only others can let go.
    pub(crate) stuck: Vec<LifeId>,
    /// Lives that wait for somebody who stays, and for whom.
    pub(crate) kept: Vec<(LifeId, LifeId)>,
}

impl<'a> Turns<'a> {
    /// The turn of a group that takes steps: whoever is not marked is, and the steps are taken elsewhere.
    fn step(
        &mut self,
        snapshot: &Snapshot,
        decision: &Decision,
        marked_now: &BTreeSet<LifeId>,
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
            let signature = sign.signature(&step.finding);
            let item = decision.deletion(snapshot, &step.finding, &signature);
            self.writes.push((step.life, item));
        }
        // What has taken all its steps only waits for others.
        let over = |step: &&Step| step.finding.marked && !items::is_held_by_us(snapshot, step.life);
        self.stuck.extend(group.members.iter().filter(over).map(|step| step.life));
        self.stepping.push(group);
    }
}

/// Walks the plan as far as it can be walked now: what simply goes is passed, what takes its time is not.
pub(crate) fn turns<'a>(
    snapshot: &Snapshot,
    decision: &'a Decision,
    first: &First,
    sign: &mut dyn Sign,
) -> Turns<'a> {
    let (mut turns, marked_now) = (Turns::default(), &first.marked);
    let staying = Staying::new(snapshot, decision);
    let mut progress = Progress::new(&decision.plan);
    let mut queue: VecDeque<&Group> = progress.ready().collect();
    while let Some(group) = queue.pop_front() {
        let unwarned = |step: &Step| !step.finding.marked && first.unwarned.contains(&step.finding.root);
        if group.members.iter().any(|step| first.refused.contains_key(&step.life) || unwarned(step)) {
            continue;
        }
        // Somebody who would have to go before does not: the turn of this group does not come.
        let kept: Vec<(LifeId, LifeId)> = group
            .members
            .iter()
            .filter(|step| step.finding.marked || marked_now.contains(&step.life))
            .filter_map(|step| Some((step.life, staying.behind(step.life, step.finding.policy)?)))
            .collect();
        if !kept.is_empty() {
            turns.kept.extend(kept);
            continue;
        }
        if group.members.iter().any(|step| has_steps(snapshot, step.life)) {
            turns.step(snapshot, decision, marked_now, group, sign);
            continue;
        }
        let together: Vec<LifeId> = group.members.iter().map(|step| step.life).collect();
        let mut all_go = true;
        for step in &group.members {
            let marked = step.finding.marked || marked_now.contains(&step.life);
            let foreign = !items::foreign_finalizers(snapshot, step.life).is_empty();
            all_go &= !foreign;
            if foreign && marked {
                turns.stuck.push(step.life);
            }
            if step.finding.marked && !items::is_held_by_us(snapshot, step.life) {
                all_go = false;
                continue;
            }
            let mut item = if marked {
                items::release(
                    snapshot,
                    &step.finding,
                    together.iter().chain(decision.survivors_of(step.life)),
                )
            } else {
                let signature = sign.signature(&step.finding);
                decision.deletion(snapshot, &step.finding, &signature)
            };
            if !foreign {
                item.tombstone = sign.tombstone(snapshot, &step.finding);
            }
            turns.writes.push((step.life, item));
        }
        if all_go {
            queue.extend(together.into_iter().flat_map(|life| progress.gone(life)));
        }
    }
    turns
}
