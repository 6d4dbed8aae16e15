//! Proves a plan: with the same types, and with none of the code that made it.
//!
//! It derives who must die before whom from the other side (from owners to dependents, from targets to subscribers),
//! and looks for cycles with another algorithm. What it finds wrong is a fault of the program, and nothing may be
//! carried out then.

mod circles;
mod evidence;
mod modules;
mod relations;

use hashbrown::{HashMap, HashSet};

use super::text::is_digest_of;
use super::{DroppedEdge, Plan, Relation, Step};
use crate::detect::{Cause, Judgement};
use crate::snapshot::{LifeId, Snapshot};
use relations::Edge;

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is doomed and does not die.
    #[error("{0} is doomed and not in the plan")]
    Missing(String),
    /// It dies more than once.
    #[error("{0} is in the plan more than once")]
    Twice(String),
    /// It dies and is not doomed.
    #[error("{0} is in the plan and not doomed")]
    Foreign(String),
    /// What the plan says of it is not true.
    #[error("{0} is not what the plan says: {1}")]
    Untrue(String, &'static str),
    /// It must not die.
    #[error("{0} must not die: {1}")]
    Kept(String, &'static str),
    /// Two die in the wrong order.
    #[error("{first} has to die before {second}, because of {relation:?}")]
    Order {
        /// Who has to go first.
        first: String,
        /// Who has to go after it.
        second: String,
        /// Why.
        relation: Relation,
    },
    /// Something was dropped that did not have to be, or was none of the edges.
    #[error("{first} before {second} ({relation:?}) is dropped without need")]
    Dropped {
        /// Who should go first.
        first: String,
        /// Who should go after it.
        second: String,
        /// Why.
        relation: Relation,
    },
    /// They die together without being a circle.
    #[error("{0} and those who die together with it are no circle")]
    NoCircle(String),
    /// The order of a module does not hold.
    #[error("{0} goes before something with a higher place in its module")]
    Rank(String),
    /// It is not in its place among others, so that the bytes of the plan would depend on chance.
    #[error("{0} is not where it belongs among its equals")]
    Unsorted(String),
    /// What the finding is based on does not hold any more.
    #[error("{0}: {1}")]
    Evidence(String, &'static str),
    /// The strips or holds are not those of the judgement.
    #[error("the plan leaves out or adds what is not a death")]
    Rest,
    /// The digest or the text is that of another plan.
    #[error("the digest is that of another plan")]
    Digest,
}

/// Where a life dies: wave, and number of the group among all.
type Places = HashMap<LifeId, (usize, usize)>;

/// Proves that a plan carries out a judgement in an order that holds, and that the snapshot still says what the
/// judgement is based on.
///
/// # Errors
/// With everything that is wrong.
pub fn check(snapshot: &Snapshot, judgement: &Judgement, plan: &Plan) -> Result<(), Vec<Flaw>> {
    let mut flaws = Vec::new();
    let places = everybody_once(snapshot, judgement, plan, &mut flaws);
    if flaws.is_empty() {
        for step in plan.steps() {
            facts(snapshot, judgement, step, &mut flaws);
            evidence::holds(snapshot, judgement, step, &mut flaws);
        }
        let held = judgement.holds.iter().filter(|hold| judgement.dooms(hold.life));
        flaws.extend(held.map(|hold| Flaw::Kept(name(snapshot, hold.life), "it is held")));
        let edges = relations::edges(snapshot, judgement, plan);
        order(snapshot, plan, &places, &edges, &mut flaws);
        circles::justified(snapshot, plan, &places, &edges, &mut flaws);
        modules::order(snapshot, plan, &places, &mut flaws);
        tight(plan, &places, &edges, &mut flaws);
        sorted(snapshot, plan, &mut flaws);
    }
    if plan.strips != judgement.strips || plan.holds != judgement.holds {
        flaws.push(Flaw::Rest);
    }
    if plan.text != plan.canonical(snapshot) || !is_digest_of(&plan.digest, &plan.text) {
        flaws.push(Flaw::Digest);
    }
    if flaws.is_empty() { Ok(()) } else { Err(flaws) }
}

/// How a flaw names a life, which may not be there.
fn name(snapshot: &Snapshot, life: LifeId) -> String {
    if snapshot.contains(life) { snapshot.key(life).to_string() } else { format!("{life:?}") }
}

/// Everybody who is doomed, exactly once; nobody else.
fn everybody_once(snapshot: &Snapshot, judgement: &Judgement, plan: &Plan, flaws: &mut Vec<Flaw>) -> Places {
    let mut places = Places::with_capacity(judgement.doomed.len());
    let mut number = 0;
    for (wave, in_wave) in plan.waves.iter().enumerate() {
        for group in &in_wave.groups {
            for step in &group.members {
                if places.insert(step.life, (wave, number)).is_some() {
                    flaws.push(Flaw::Twice(step.key.to_string()));
                }
                if !judgement.dooms(step.life) || !snapshot.contains(step.life) {
                    flaws.push(Flaw::Foreign(step.key.to_string()));
                }
            }
            number += 1;
        }
    }
    let missing = judgement.doomed.keys().filter(|life| !places.contains_key(*life));
    flaws.extend(missing.map(|life| Flaw::Missing(name(snapshot, *life))));
    let indexed = plan.len() == places.len()
        && plan.steps().all(|step| plan.step_of(&step.uid).map(|found| found.life) == Some(step.life));
    if flaws.is_empty() && !indexed {
        flaws.push(Flaw::Digest);
    }
    places
}

/// The step says of the life what the snapshot and the judgement say, and the life may die.
fn facts(snapshot: &Snapshot, judgement: &Judgement, step: &Step, flaws: &mut Vec<Flaw>) {
    let mut untrue = |what| flaws.push(Flaw::Untrue(step.key.to_string(), what));
    if !snapshot.is_at(step.life, &step.key) || snapshot.kind(step.life) != step.kind {
        untrue("it is in another slot");
    }
    if snapshot.get(&step.uid) != Some(step.life) {
        untrue("it is another life");
    }
    if judgement.doomed.get(&step.life) != Some(&step.finding) || step.finding.life != step.life {
        untrue("it dies for another reason");
    }
    // What somebody asked for by name is protected at the door, or not at all; and no mark is ever taken back.
    let is_settled = step.finding.cause == Cause::Asked || snapshot.is_marked(step.life);
    if snapshot.protect(step.life).is_some() && !is_settled {
        flaws.push(Flaw::Kept(step.key.to_string(), "it is protected"));
    }
}

/// Every edge holds, or is soft and listed as dropped; and each step names those it has to wait for.
fn order(snapshot: &Snapshot, plan: &Plan, places: &Places, edges: &[Edge], flaws: &mut Vec<Flaw>) {
    let dropped: HashSet<DroppedEdge> = plan.dropped.iter().copied().collect();
    let mut waits: HashMap<LifeId, Vec<LifeId>> = HashMap::new();
    for edge in edges {
        let (Some(first), Some(second)) = (places.get(&edge.first), places.get(&edge.second)) else {
            continue;
        };
        let given_up = !edge.relation.is_hard() && dropped.contains(edge);
        if first.1 != second.1 && !given_up {
            waits.entry(edge.second).or_default().push(edge.first);
            if first.0 >= second.0 {
                flaws.push(Flaw::Order {
                    first: name(snapshot, edge.first),
                    second: name(snapshot, edge.second),
                    relation: edge.relation,
                });
            }
        }
    }
    let wave = |life: &LifeId| places.get(life).map(|place| place.0);
    for step in plan.steps() {
        let said: HashSet<LifeId> = step.after.iter().copied().collect();
        let expected = waits.remove(&step.life).unwrap_or_default();
        // There may be more: somebody who could not go before its own owner, and can go before the owner's owner.
        let early = step.after.iter().all(|before| wave(before).is_some() && wave(before) < wave(&step.life));
        if !early || !expected.iter().all(|before| said.contains(before)) {
            flaws.push(Flaw::Untrue(step.key.to_string(), "it waits for others than it has to"));
        }
    }
}

/// Nobody waits for nothing: behind the first wave there is somebody in the wave before whom it must follow.
fn tight(plan: &Plan, places: &Places, edges: &[Edge], flaws: &mut Vec<Flaw>) {
    let mut pushed = HashSet::new();
    let place = |life: &LifeId| places.get(life).copied().unwrap_or_default();
    for edge in edges {
        let (first, second) = (place(&edge.first), place(&edge.second));
        pushed.extend((first.0 + 1 == second.0).then_some(second.1));
    }
    let after = plan.steps().flat_map(|step| step.after.iter().map(|before| (*before, step.life)));
    for (before, life) in after {
        pushed.extend((place(&before).0 + 1 == place(&life).0).then_some(place(&life).1));
    }
    let last = modules::last_before(plan, places);
    for (barrier, last) in plan.barriers.iter().zip(last) {
        let behind =
            barrier.after.iter().map(place).filter(|place| last.map(|last| last + 1) == Some(place.0));
        pushed.extend(behind.map(|place| place.1));
    }
    for group in plan.waves.iter().skip(1).flat_map(|wave| &wave.groups) {
        if let Some(first) = group.members.first().filter(|step| !pushed.contains(&place(&step.life).1)) {
            flaws.push(Flaw::Unsorted(first.key.to_string()));
        }
    }
}

/// Members, groups and lists are sorted by keys; nothing is empty.
fn sorted(snapshot: &Snapshot, plan: &Plan, flaws: &mut Vec<Flaw>) {
    let mut unsorted = |step: &Step| flaws.push(Flaw::Unsorted(step.key.to_string()));
    for wave in &plan.waves {
        let firsts: Vec<&Step> = wave.groups.iter().filter_map(|group| group.members.first()).collect();
        firsts.windows(2).filter(|pair| pair[0].key >= pair[1].key).for_each(|pair| unsorted(pair[1]));
        for group in &wave.groups {
            let pairs = group.members.windows(2).filter(|pair| pair[0].key >= pair[1].key);
            pairs.for_each(|pair| unsorted(&pair[1]));
        }
    }
    let hollow =
        |wave: &super::Wave| wave.groups.is_empty() || wave.groups.iter().any(|g| g.members.is_empty());
    if plan.waves.iter().any(hollow) {
        flaws.push(Flaw::Unsorted("a wave without anybody".into()));
    }
    let ends = |edge: &DroppedEdge| (snapshot.key(edge.first), snapshot.key(edge.second), edge.relation);
    let there = |edge: &&DroppedEdge| snapshot.contains(edge.first) && snapshot.contains(edge.second);
    let dropped: Vec<_> = plan.dropped.iter().filter(there).map(ends).collect();
    if dropped.windows(2).any(|pair| pair[0] >= pair[1]) {
        flaws.push(Flaw::Unsorted("what was dropped".into()));
    }
}
