//! The order of modules: higher places go before lower ones, as far as hard and soft edges leave it open.
//!
//! Levels are kept apart by barriers instead of by edges between all their members, which would be too many.

use std::collections::BTreeMap;

use super::relations::Doomed;
use crate::graph::{Graph, Node, order};

/// Where groups stand in the order of their modules.
pub(super) struct Ranks<'a> {
    /// For each group the places that it takes, by module.
    places: Vec<BTreeMap<&'a str, i64>>,
    /// The edges to and from barriers; those are numbered after the groups.
    pub(super) edges: Vec<(Node, Node)>,
    pub(super) barriers: usize,
}

impl<'a> Ranks<'a> {
    /// The order of groups between which there are edges already. A group that must go before one with a higher place
    /// takes that place itself, and still goes before lower ones.
    pub(super) fn new(doomed: &Doomed<'a>, groups: &[Node], graph: &Graph) -> Ranks<'a> {
        let mut places: Vec<BTreeMap<&str, i64>> = vec![BTreeMap::new(); graph.len()];
        for (group, life) in groups.iter().zip(&doomed.lives) {
            if let (Some(manager), Some(order)) =
                (doomed.snapshot.manager(*life), doomed.snapshot.order(*life))
            {
                let place = places[*group as usize].entry(manager).or_insert(order);
                *place = order.max(*place);
            }
        }
        let mut ranks = Ranks { places, edges: Vec::new(), barriers: 0 };
        if ranks.places.iter().any(|places| !places.is_empty()) {
            ranks.raise(graph);
            ranks.divide();
        }
        ranks
    }

    fn raise(&mut self, graph: &Graph) {
        for group in order(graph).unwrap_or_default().into_iter().rev() {
            let mut own = std::mem::take(&mut self.places[group as usize]);
            for after in graph.successors(group) {
                for (manager, place) in &mut own {
                    *place = self.places[*after as usize].get(manager).copied().unwrap_or(*place).max(*place);
                }
            }
            self.places[group as usize] = own;
        }
    }

    fn divide(&mut self) {
        let mut modules: BTreeMap<&str, BTreeMap<i64, Vec<Node>>> = BTreeMap::new();
        for (group, places) in (0..).zip(&self.places) {
            for (manager, place) in places {
                modules.entry(manager).or_default().entry(*place).or_default().push(group);
            }
        }
        for levels in modules.values() {
            let highest_first: Vec<&Vec<Node>> = levels.values().rev().collect();
            for pair in highest_first.windows(2) {
                let barrier = u32::try_from(self.places.len() + self.barriers).unwrap_or(u32::MAX);
                self.barriers += 1;
                self.edges.extend(pair[0].iter().map(|group| (*group, barrier)));
                self.edges.extend(pair[1].iter().map(|group| (barrier, *group)));
            }
        }
    }

    /// Whether a life in a group goes earlier than its own place says.
    pub(super) fn raised(&self, group: Node, manager: &str, order: i64) -> bool {
        self.places[group as usize].get(manager).is_some_and(|place| *place > order)
    }
}
