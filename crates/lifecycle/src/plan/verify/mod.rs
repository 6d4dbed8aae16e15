//! Verification of plans: shares the types with the code that makes them, and none of its functions.
//!
//! It derives the edges from the other side (from owners to dependents, from targets to subscribers), and finds cycles
//! with another algorithm. A [`Flaw`] is a bug of this program, or the snapshot has changed: the plan must not be
//! executed.

mod cycles;
mod edges;
mod evidence;
mod modules;

use hashbrown::{HashMap, HashSet};

use super::text::is_digest_of;
use super::{DroppedEdge, Plan, Relation, Step};
use crate::detect::{Cause, Detection};
use crate::snapshot::{NodeId, Snapshot};
use edges::Edge;

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A doomed object is not in the plan.
    #[error("{0} is doomed and not in the plan")]
    Missing(String),
    /// An object has more than one step.
    #[error("{0} is in the plan more than once")]
    Twice(String),
    /// An object has a step and is not doomed.
    #[error("{0} is in the plan and not doomed")]
    Foreign(String),
    /// A step does not describe its object as the snapshot and the detection do.
    #[error("{0} is not what the plan says: {1}")]
    Untrue(String, &'static str),
    /// An object has a step and is protected or excluded.
    #[error("{0} must not be destroyed: {1}")]
    Protected(String, &'static str),
    /// Two objects are destroyed in the wrong order.
    #[error("{first} has to be destroyed before {second}, because of {relation:?}")]
    Order {
        /// The object that has to be destroyed first.
        first: String,
        /// The object that has to be destroyed after it.
        second: String,
        /// The reason for that order.
        relation: Relation,
    },
    /// An edge is listed as dropped that could be kept, or that does not exist.
    #[error("{first} before {second} ({relation:?}) is dropped without need")]
    Dropped {
        /// The object that should be destroyed first.
        first: String,
        /// The object that should be destroyed after it.
        second: String,
        /// The reason for that order.
        relation: Relation,
    },
    /// A group is not a cycle.
    #[error("{0} and the other members of its group are no cycle")]
    NoCycle(String),
    /// The order of a module does not hold.
    #[error("{0} goes before something with a higher place in its module")]
    Rank(String),
    /// A list is not sorted, or a wave is later than it has to be: the bytes of the plan would not be determined.
    #[error("{0} is not where it belongs in the sorted plan")]
    Unsorted(String),
    /// The evidence of a finding does not hold any more.
    #[error("{0}: {1}")]
    Evidence(String, &'static str),
    /// The strips or exclusions are not those of the detection.
    #[error("the plan lists other lost references or exclusions than were detected")]
    Rest,
    /// The digest or the text is that of another plan.
    #[error("the digest is that of another plan")]
    Digest,
}

/// For each object its wave, and the number of its group among all groups.
type Positions = HashMap<NodeId, (usize, usize)>;

/// Checks that a plan destroys exactly the doomed objects of a detection, in an order in which all edges hold, and that
/// the evidence of the detection still holds in the snapshot.
///
/// # Errors
/// All flaws that were found.
pub fn verify(snapshot: &Snapshot, detection: &Detection, plan: &Plan) -> Result<(), Vec<Flaw>> {
    let mut flaws = Vec::new();
    let positions = positions_of_doomed(snapshot, detection, plan, &mut flaws);
    if flaws.is_empty() {
        for step in plan.steps() {
            facts(snapshot, detection, step, &mut flaws);
            evidence::verify(snapshot, detection, step, &mut flaws);
        }
        let excluded = detection.exclusions.iter().filter(|exclusion| detection.is_doomed(exclusion.node));
        flaws.extend(
            excluded.map(|exclusion| Flaw::Protected(name(snapshot, exclusion.node), "it is excluded")),
        );
        let edges = edges::edges(snapshot, detection, plan);
        order(snapshot, plan, &positions, &edges, &mut flaws);
        cycles::verify(snapshot, plan, &positions, &edges, &mut flaws);
        modules::order(snapshot, plan, &positions, &mut flaws);
        earliest_waves(plan, &positions, &edges, &mut flaws);
        sorted(snapshot, plan, &mut flaws);
    }
    if plan.strips != detection.strips || plan.exclusions != detection.exclusions {
        flaws.push(Flaw::Rest);
    }
    if plan.text != plan.canonical(snapshot) || !is_digest_of(&plan.digest, &plan.text) {
        flaws.push(Flaw::Digest);
    }
    if flaws.is_empty() { Ok(()) } else { Err(flaws) }
}

/// How a flaw names an object, which may not exist any more.
fn name(snapshot: &Snapshot, node: NodeId) -> String {
    if snapshot.contains(node) { snapshot.key(node).to_string() } else { format!("{node:?}") }
}

/// The positions of all steps. Each doomed object has exactly one, and no other object has any.
fn positions_of_doomed(
    snapshot: &Snapshot,
    detection: &Detection,
    plan: &Plan,
    flaws: &mut Vec<Flaw>,
) -> Positions {
    let mut positions = Positions::with_capacity(detection.doomed.len());
    let mut number = 0;
    for (wave, in_wave) in plan.waves.iter().enumerate() {
        for group in &in_wave.groups {
            for step in &group.members {
                if positions.insert(step.node, (wave, number)).is_some() {
                    flaws.push(Flaw::Twice(step.key.to_string()));
                }
                if !detection.is_doomed(step.node) || !snapshot.contains(step.node) {
                    flaws.push(Flaw::Foreign(step.key.to_string()));
                }
            }
            number += 1;
        }
    }
    let missing = detection.doomed.keys().filter(|node| !positions.contains_key(*node));
    flaws.extend(missing.map(|node| Flaw::Missing(name(snapshot, *node))));
    let indexed = plan.len() == positions.len()
        && plan.steps().all(|step| plan.step_of(&step.uid).map(|found| found.node) == Some(step.node));
    if flaws.is_empty() && !indexed {
        flaws.push(Flaw::Digest);
    }
    positions
}

/// A step describes its object as the snapshot and the detection do, and the object is not protected.
fn facts(snapshot: &Snapshot, detection: &Detection, step: &Step, flaws: &mut Vec<Flaw>) {
    let mut untrue = |what| flaws.push(Flaw::Untrue(step.key.to_string(), what));
    if !snapshot.has_key(step.node, &step.key) || snapshot.kind(step.node) != step.kind {
        untrue("it has another key");
    }
    if snapshot.get(&step.uid) != Some(step.node) {
        untrue("it has another uid");
    }
    if detection.doomed.get(&step.node) != Some(&step.finding) || step.finding.node != step.node {
        untrue("it is doomed for another reason");
    }
    // Requested deletions were checked for protection when they were requested, and a deletion that has begun is final.
    let is_final = step.finding.cause == Cause::Requested || snapshot.is_terminating(step.node);
    if snapshot.protection(step.node).is_some() && !is_final {
        flaws.push(Flaw::Protected(step.key.to_string(), "it is protected"));
    }
}

/// Every edge holds, or is soft and listed as dropped; and each step lists the objects that have to be gone before it.
fn order(snapshot: &Snapshot, plan: &Plan, positions: &Positions, edges: &[Edge], flaws: &mut Vec<Flaw>) {
    let dropped: HashSet<DroppedEdge> = plan.dropped.iter().copied().collect();
    let mut waits: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for edge in edges {
        let (Some(first), Some(second)) = (positions.get(&edge.first), positions.get(&edge.second)) else {
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
    let wave = |node: &NodeId| positions.get(node).map(|place| place.0);
    for step in plan.steps() {
        let listed: HashSet<NodeId> = step.after.iter().copied().collect();
        let expected = waits.remove(&step.node).unwrap_or_default();
        // There may be more: members of families that could not go before their owner, and go before the owner's owner.
        let early = step.after.iter().all(|before| wave(before).is_some() && wave(before) < wave(&step.node));
        if !early || !expected.iter().all(|before| listed.contains(before)) {
            flaws.push(Flaw::Untrue(step.key.to_string(), "it waits for others than it has to"));
        }
    }
}

/// Every group after wave 0 has a predecessor in the previous wave, directly or through a barrier.
fn earliest_waves(plan: &Plan, positions: &Positions, edges: &[Edge], flaws: &mut Vec<Flaw>) {
    let mut has_predecessor = HashSet::new();
    let place = |node: &NodeId| positions.get(node).copied().unwrap_or_default();
    for edge in edges {
        let (first, second) = (place(&edge.first), place(&edge.second));
        has_predecessor.extend((first.0 + 1 == second.0).then_some(second.1));
    }
    let after = plan.steps().flat_map(|step| step.after.iter().map(|before| (*before, step.node)));
    for (before, node) in after {
        has_predecessor.extend((place(&before).0 + 1 == place(&node).0).then_some(place(&node).1));
    }
    let last = modules::last_before(plan, positions);
    for (barrier, last) in plan.barriers.iter().zip(last) {
        let behind =
            barrier.after.iter().map(place).filter(|place| last.map(|last| last + 1) == Some(place.0));
        has_predecessor.extend(behind.map(|place| place.1));
    }
    for group in plan.waves.iter().skip(1).flat_map(|wave| &wave.groups) {
        if let Some(first) =
            group.members.first().filter(|step| !has_predecessor.contains(&place(&step.node).1))
        {
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
    let is_empty =
        |wave: &super::Wave| wave.groups.is_empty() || wave.groups.iter().any(|g| g.members.is_empty());
    if plan.waves.iter().any(is_empty) {
        flaws.push(Flaw::Unsorted("an empty wave".into()));
    }
    let ends = |edge: &DroppedEdge| (snapshot.key(edge.first), snapshot.key(edge.second), edge.relation);
    let exist = |edge: &&DroppedEdge| snapshot.contains(edge.first) && snapshot.contains(edge.second);
    let dropped: Vec<_> = plan.dropped.iter().filter(exist).map(ends).collect();
    if dropped.windows(2).any(|pair| pair[0] >= pair[1]) {
        flaws.push(Flaw::Unsorted("the list of dropped edges".into()));
    }
}
