//! The order of modules: higher places go before lower ones, as far as hard and soft edges leave it open.
//!
//! Levels are kept apart by barriers instead of by edges between all their members, which would be too many.

use std::collections::BTreeMap;

use super::relations::Doomed;
use crate::graph::{Graph, Groups, Node, order};

/// Where groups stand in the order of their modules.
pub(super) struct Ranks<'a> {
    /// For each group the places that it takes, by module.
    places: Vec<BTreeMap<&'a str, i64>>,
    /// The edges to and from barriers; those are numbered after all nodes of the graph.
    pub(super) edges: Vec<(Node, Node)>,
    /// For each barrier the one of the level above.
    pub(super) barriers: Vec<Option<Node>>,
}

impl<'a> Ranks<'a> {
    /// The order of groups between which there are edges already. A group that must go before one with a higher place
    /// takes that place itself, and still goes before lower ones. Nodes behind the groups only hand that on.
    pub(super) fn new(doomed: &Doomed<'a>, groups: &Groups, graph: &Graph) -> Ranks<'a> {
        let mut places: Vec<BTreeMap<&str, i64>> = vec![BTreeMap::new(); graph.len()];
        for (group, life) in groups.of.iter().zip(&doomed.lives) {
            if let (Some(manager), Some(order)) =
                (doomed.snapshot.manager(*life), doomed.snapshot.order(*life))
            {
                let place = places[*group as usize].entry(manager).or_insert(order);
                *place = order.max(*place);
            }
        }
        let mut ranks = Ranks { places, edges: Vec::new(), barriers: Vec::new() };
        if ranks.places.iter().any(|places| !places.is_empty()) {
            ranks.raise(graph, groups.count);
            ranks.divide(groups.count);
        }
        ranks
    }

    fn raise(&mut self, graph: &Graph, groups: usize) {
        for node in order(graph).unwrap_or_default().into_iter().rev() {
            let mut own = std::mem::take(&mut self.places[node as usize]);
            for after in graph.successors(node) {
                for (manager, place) in &self.places[*after as usize] {
                    if (node as usize) >= groups {
                        own.entry(manager).or_insert(*place);
                    }
                    own.entry(manager).and_modify(|own| *own = (*own).max(*place));
                }
            }
            self.places[node as usize] = own;
        }
    }

    fn divide(&mut self, groups: usize) {
        let mut modules: BTreeMap<&str, BTreeMap<i64, Vec<Node>>> = BTreeMap::new();
        for (group, places) in (0..).zip(&self.places[..groups]) {
            for (manager, place) in places {
                modules.entry(manager).or_default().entry(*place).or_default().push(group);
            }
        }
        for levels in modules.values() {
            let highest_first: Vec<&Vec<Node>> = levels.values().rev().collect();
            let mut above = None;
            for pair in highest_first.windows(2) {
                let barrier = u32::try_from(self.places.len() + self.barriers.len()).unwrap_or(u32::MAX);
                self.barriers.push(above);
                self.edges.extend(pair[0].iter().map(|group| (*group, barrier)));
                self.edges.extend(pair[1].iter().map(|group| (barrier, *group)));
                above = Some(barrier);
            }
        }
    }

    /// The edges from each barrier to the next of its module: what a level lost, the levels above keep.
    pub(super) fn chain(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        let first = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let barriers = (first..).zip(&self.barriers);
        barriers.filter_map(|(barrier, above)| above.map(|above| (above, barrier)))
    }

    /// Whether a life in a group goes earlier than its own place says.
    pub(super) fn raised(&self, group: Node, manager: &str, order: i64) -> bool {
        self.places[group as usize].get(manager).is_some_and(|place| *place > order)
    }
}
