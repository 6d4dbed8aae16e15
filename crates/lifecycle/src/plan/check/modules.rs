//! The order of modules: who has a higher place goes in an earlier wave, unless the plan says that it cannot be.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::{Flaw, Places, name};
use crate::plan::{Barrier, Plan};
use crate::snapshot::{LifeId, Snapshot};

pub(super) fn order(snapshot: &Snapshot, plan: &Plan, places: &Places, flaws: &mut Vec<Flaw>) {
    let excused: HashSet<LifeId> = plan.out_of_order.iter().copied().collect();
    let mut modules: BTreeMap<&str, BTreeMap<i64, Vec<LifeId>>> = BTreeMap::new();
    for step in plan.steps() {
        match (snapshot.manager(step.life), snapshot.order(step.life)) {
            (Some(manager), Some(order)) if !excused.contains(&step.life) => {
                modules.entry(manager).or_default().entry(order).or_default().push(step.life);
            }
            (Some(_), Some(_)) => {}
            _ if excused.contains(&step.life) => flaws.push(Flaw::Rank(step.key.to_string())),
            _ => {}
        }
    }
    let barriers = Barriers::of(plan);
    for levels in modules.values() {
        let mut latest = None;
        let mut above: Option<&Vec<LifeId>> = None;
        for level in levels.values().rev() {
            for life in level {
                let wave = places.get(life).map(|place| place.0);
                if latest.is_some() && wave <= latest {
                    flaws.push(Flaw::Rank(name(snapshot, *life)));
                }
            }
            if let Some(above) = above.filter(|above| !barriers.separate(above, level)) {
                // Where somebody is out of order, a level may have lost its edges to another.
                if excused.is_empty() {
                    flaws.extend(above.first().map(|life| Flaw::Rank(name(snapshot, *life))));
                }
            }
            latest = level.iter().filter_map(|life| places.get(life)).map(|place| place.0).max().max(latest);
            above = Some(level);
        }
    }
    wrong_way(snapshot, plan, places, flaws);
}

/// A barrier with somebody behind it who goes before the barrier opens.
fn wrong_way(snapshot: &Snapshot, plan: &Plan, places: &Places, flaws: &mut Vec<Flaw>) {
    for (barrier, last) in plan.barriers.iter().zip(last_before(plan, places)) {
        let wave = |life: &LifeId| places.get(life).map(|place| place.0);
        let early =
            barrier.after.iter().find(|life| wave(life).is_none() || wave(life) <= last && last.is_some());
        flaws.extend(early.map(|life| Flaw::Rank(name(snapshot, *life))));
    }
}

/// For each barrier the last wave in which somebody goes before it, over the barriers that it follows, too.
pub(super) fn last_before(plan: &Plan, places: &Places) -> Vec<Option<usize>> {
    let wave = |life: &LifeId| places.get(life).map(|place| place.0);
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

/// Which barriers everybody is before and behind.
struct Barriers {
    before: HashMap<LifeId, HashSet<usize>>,
    behind: HashMap<LifeId, HashSet<usize>>,
}

impl Barriers {
    fn of(plan: &Plan) -> Barriers {
        let mut barriers = Barriers { before: HashMap::new(), behind: HashMap::new() };
        for (number, barrier) in plan.barriers.iter().enumerate() {
            for life in &barrier.before {
                barriers.before.entry(*life).or_default().insert(number);
            }
            for life in &barrier.after {
                barriers.behind.entry(*life).or_default().insert(number);
            }
        }
        barriers
    }

    /// Whether one barrier stands between all of the one level and all of the other.
    fn separate(&self, above: &[LifeId], below: &[LifeId]) -> bool {
        let Some(candidates) = above.first().and_then(|life| self.before.get(life)) else { return false };
        candidates.iter().any(|number| {
            let has = |map: &HashMap<LifeId, HashSet<usize>>, life| {
                map.get(life).is_some_and(|numbers| numbers.contains(number))
            };
            above.iter().all(|life| has(&self.before, life))
                && below.iter().all(|life| has(&self.behind, life))
        })
    }
}
