//! The order of modules: an object with a higher place is in an earlier wave, unless the plan lists it as out of order.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::{Flaw, Positions, name};
use crate::plan::{Barrier, Plan};
use crate::snapshot::{NodeId, Snapshot};

pub(super) fn order(snapshot: &Snapshot, plan: &Plan, positions: &Positions, flaws: &mut Vec<Flaw>) {
    let excused: HashSet<NodeId> = plan.out_of_order.iter().copied().collect();
    let mut modules: BTreeMap<&str, BTreeMap<i64, Vec<NodeId>>> = BTreeMap::new();
    for step in plan.steps() {
        match (snapshot.manager(step.node), snapshot.order(step.node)) {
            (Some(manager), Some(order)) if !excused.contains(&step.node) => {
                modules.entry(manager).or_default().entry(order).or_default().push(step.node);
            }
            (Some(_), Some(_)) => {}
            _ if excused.contains(&step.node) => flaws.push(Flaw::Rank(step.key.to_string())),
            _ => {}
        }
    }
    let barriers = Barriers::of(plan);
    for levels in modules.values() {
        let mut latest = None;
        let mut above: Option<&Vec<NodeId>> = None;
        for level in levels.values().rev() {
            for node in level {
                let wave = positions.get(node).map(|place| place.0);
                if latest.is_some() && wave <= latest {
                    flaws.push(Flaw::Rank(name(snapshot, *node)));
                }
            }
            if let Some(above) = above.filter(|above| !barriers.separate(above, level)) {
                // With objects out of order, a level may have lost its edges to another.
                if excused.is_empty() {
                    flaws.extend(above.first().map(|node| Flaw::Rank(name(snapshot, *node))));
                }
            }
            latest =
                level.iter().filter_map(|node| positions.get(node)).map(|place| place.0).max().max(latest);
            above = Some(level);
        }
    }
    wrong_way(snapshot, plan, positions, flaws);
}

/// No object behind a barrier is destroyed before the barrier opens.
fn wrong_way(snapshot: &Snapshot, plan: &Plan, positions: &Positions, flaws: &mut Vec<Flaw>) {
    for (barrier, last) in plan.barriers.iter().zip(last_before(plan, positions)) {
        let wave = |node: &NodeId| positions.get(node).map(|place| place.0);
        let early =
            barrier.after.iter().find(|node| wave(node).is_none() || wave(node) <= last && last.is_some());
        flaws.extend(early.map(|node| Flaw::Rank(name(snapshot, *node))));
    }
}

/// For each barrier the last wave before it opens: of the objects before it, and of the barriers that it follows.
pub(super) fn last_before(plan: &Plan, positions: &Positions) -> Vec<Option<usize>> {
    let wave = |node: &NodeId| positions.get(node).map(|place| place.0);
    let own = |barrier: &Barrier| barrier.before.iter().filter_map(wave).max();
    let mut last: Vec<Option<usize>> = plan.barriers.iter().map(own).collect();
    // Most barriers follow earlier ones, so this ends after two rounds; it ends anyway, as it only grows.
    let mut changed = true;
    while changed {
        changed = false;
        for (at, barrier) in plan.barriers.iter().enumerate() {
            let above = barrier.follows.iter().filter_map(|above| last.get(*above).copied().flatten()).max();
            if above > last[at] {
                last[at] = above;
                changed = true;
            }
        }
    }
    last
}

/// For each object the barriers that it is before and behind.
struct Barriers {
    before: HashMap<NodeId, HashSet<usize>>,
    behind: HashMap<NodeId, HashSet<usize>>,
}

impl Barriers {
    fn of(plan: &Plan) -> Barriers {
        let mut barriers = Barriers { before: HashMap::new(), behind: HashMap::new() };
        for (number, barrier) in plan.barriers.iter().enumerate() {
            for node in &barrier.before {
                barriers.before.entry(*node).or_default().insert(number);
            }
            for node in &barrier.after {
                barriers.behind.entry(*node).or_default().insert(number);
            }
        }
        barriers
    }

    /// Whether one barrier separates all objects of one level from all of the other.
    fn separate(&self, above: &[NodeId], below: &[NodeId]) -> bool {
        let Some(numbers) = above.first().and_then(|node| self.before.get(node)) else { return false };
        numbers.iter().any(|number| {
            let has = |map: &HashMap<NodeId, HashSet<usize>>, node| {
                map.get(node).is_some_and(|numbers| numbers.contains(number))
            };
            above.iter().all(|node| has(&self.before, node))
                && below.iter().all(|node| has(&self.behind, node))
        })
    }
}
