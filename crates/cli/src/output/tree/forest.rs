//! The causes in a plan as a forest: the children of a node are doomed because of it. Objects that are destroyed
//! together, as one group of a wave, are one node. Nothing recurses: chains can be long.

use std::collections::HashMap;

use super::DeathPlan;

/// A node: one object, or the objects of one group, which are destroyed together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Unit {
    /// Indices of entries, in the order of the plan.
    pub(super) members: Vec<usize>,
    /// The wave.
    pub(super) order: usize,
    /// Indices of the units that are doomed because of this one, in the order of destruction.
    pub(super) children: Vec<usize>,
}

/// All units, and the indices of those without a cause in the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Forest {
    pub(super) units: Vec<Unit>,
    pub(super) roots: Vec<usize>,
}

impl Forest {
    pub(super) fn new(plan: &DeathPlan) -> Forest {
        let (mut units, unit_of) = gather(plan);
        let mut parents: Vec<Option<usize>> = Vec::with_capacity(units.len());
        for (own, unit) in units.iter().enumerate() {
            let outside = unit.members.iter().filter_map(|&member| {
                let parent = plan.entries.get(member)?.parent?;
                unit_of.get(parent).copied().filter(|&of| of != own)
            });
            parents.push({ outside }.next());
        }
        cut_circles(&mut parents);
        let mut roots = Vec::new();
        for (own, parent) in parents.iter().enumerate() {
            match parent.and_then(|parent| units.get_mut(parent)) {
                Some(parent) => parent.children.push(own),
                None => roots.push(own),
            }
        }
        let orders: Vec<usize> = units.iter().map(|unit| unit.order).collect();
        let by_order = |unit: &usize| orders.get(*unit).copied();
        units.iter_mut().for_each(|unit| unit.children.sort_by_key(by_order));
        roots.sort_by_key(by_order);
        Forest { units, roots }
    }

    /// The entries of a unit and of all below it.
    pub(super) fn lives_below(&self, unit: usize) -> Vec<usize> {
        let (mut lives, mut open) = (Vec::new(), vec![unit]);
        while let Some(unit) = open.pop().and_then(|at| self.units.get(at)) {
            lives.extend(&unit.members);
            open.extend(&unit.children);
        }
        lives
    }
}

/// The units, and the unit of each entry.
fn gather(plan: &DeathPlan) -> (Vec<Unit>, Vec<usize>) {
    let (mut units, mut unit_of) = (Vec::<Unit>::new(), Vec::with_capacity(plan.entries.len()));
    let mut groups: HashMap<(usize, usize), usize> = HashMap::new();
    for (at, death) in plan.entries.iter().enumerate() {
        let fresh = units.len();
        let unit = match death.group {
            Some(group) => *groups.entry((death.order, group)).or_insert(fresh),
            None => fresh,
        };
        if unit == fresh {
            units.push(Unit { order: death.order, ..Unit::default() });
        }
        if let Some(unit) = units.get_mut(unit) {
            unit.members.push(at);
        }
        unit_of.push(unit);
    }
    (units, unit_of)
}

/// Breaks cycles of causes by making one unit of each a root. Plans have none; with one, its units would not be shown.
fn cut_circles(parents: &mut [Option<usize>]) {
    // 0: not seen. Otherwise the number of the walk that came by first.
    let mut seen = vec![0_usize; parents.len()];
    for start in 0..parents.len() {
        let (walk, mut at) = (start + 1, start);
        while seen[at] == 0 {
            seen[at] = walk;
            match parents[at] {
                Some(parent) if seen[parent] == walk => parents[at] = None,
                Some(parent) => at = parent,
                None => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Death;
    use super::*;

    fn plan(entries: &[(usize, Option<usize>, Option<usize>)]) -> DeathPlan {
        let entries =
            entries.iter().map(|&(order, parent, group)| Death { order, parent, group, ..Death::default() });
        DeathPlan { entries: entries.collect(), ..DeathPlan::default() }
    }

    #[test]
    fn those_who_die_together_are_one() {
        let forest = Forest::new(&plan(&[
            (3, None, None),
            (2, Some(0), Some(1)),
            (2, Some(1), Some(1)),
            (1, Some(2), None),
            (1, Some(0), Some(1)),
        ]));
        assert_eq!(forest.roots, [0]);
        assert_eq!(forest.units[1].members, [1, 2]);
        assert_eq!(forest.units[0].children, [3, 1], "in the order of death");
        assert_eq!(forest.lives_below(0).len(), 5);
    }

    #[test]
    fn circles_of_causes_and_wrong_indices_lose_nobody() {
        let forest = Forest::new(&plan(&[
            (1, Some(1), None),
            (1, Some(0), None),
            (1, Some(2), None),
            (1, Some(99), None),
        ]));
        let lives: usize = forest.roots.iter().map(|root| forest.lives_below(*root).len()).sum();
        assert_eq!(lives, 4);
    }

    #[test]
    fn long_chains_do_not_exhaust_the_stack() {
        let chain: Vec<_> = (0..200_000_usize).map(|at| (200_000 - at, at.checked_sub(1), None)).collect();
        let forest = Forest::new(&plan(&chain));
        assert_eq!(forest.lives_below(forest.roots[0]).len(), 200_000);
    }
}
