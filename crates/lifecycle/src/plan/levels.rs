//! The order of modules: objects with a higher place are destroyed before those with a lower one, as far as hard and
//! soft edges leave it open.
//!
//! The objects of one place form a level. Two neighbouring levels are separated by one barrier vertex instead of by an
//! edge between each pair of members, which would be quadratic:
//!
//! ```text
//!   place 3   a  b  c
//!              ╲ │ ╱
//!             barrier 1
//!              ╱   ╲
//!   place 2   d     e        barrier 1 ▶ barrier 2, so that level 3 goes before level 1 even without a level 2
//!              ╲   ╱
//!             barrier 2
//!                │
//!   place 1      f
//! ```

use std::collections::BTreeMap;

use super::edges::DoomedGraph;
use crate::graph::{Graph, Partition, Vertex, topological_order};

/// The places of groups in their modules, and the barriers between levels.
pub(super) struct ModuleLevels<'a> {
    /// For each group its place in each module.
    places: Vec<BTreeMap<&'a str, i64>>,
    /// The edges to and from barriers, which are numbered after all vertices of the graph.
    pub(super) edges: Vec<(Vertex, Vertex)>,
    /// For each barrier the one above it in the same module.
    pub(super) barriers: Vec<Option<Vertex>>,
}

impl<'a> ModuleLevels<'a> {
    /// The levels of groups between which the edges of `graph` hold already.
    ///
    /// A group that must go before one with a higher place takes that place itself, so it still goes before all lower
    /// ones. Vertices behind the groups only hand places on.
    pub(super) fn new(doomed: &DoomedGraph<'a>, groups: &Partition, graph: &Graph) -> ModuleLevels<'a> {
        let mut places: Vec<BTreeMap<&str, i64>> = vec![BTreeMap::new(); graph.len()];
        for (group, node) in groups.of.iter().zip(&doomed.nodes) {
            if let (Some(manager), Some(order)) =
                (doomed.snapshot.manager(*node), doomed.snapshot.order(*node))
            {
                let place = places[*group as usize].entry(manager).or_insert(order);
                *place = order.max(*place);
            }
        }
        let mut levels = ModuleLevels { places, edges: Vec::new(), barriers: Vec::new() };
        if levels.places.iter().any(|places| !places.is_empty()) {
            levels.raise(graph, groups.count);
            levels.separate(groups.count);
        }
        levels
    }

    /// Raises each group to the highest place among the groups that must go after it.
    fn raise(&mut self, graph: &Graph, groups: usize) {
        for vertex in topological_order(graph).unwrap_or_default().into_iter().rev() {
            let mut own = std::mem::take(&mut self.places[vertex as usize]);
            for after in graph.successors(vertex) {
                for (manager, place) in &self.places[*after as usize] {
                    if (vertex as usize) >= groups {
                        own.entry(manager).or_insert(*place);
                    }
                    own.entry(manager).and_modify(|own| *own = (*own).max(*place));
                }
            }
            self.places[vertex as usize] = own;
        }
    }

    /// Puts a barrier between each two neighbouring levels of a module.
    fn separate(&mut self, groups: usize) {
        let mut modules: BTreeMap<&str, BTreeMap<i64, Vec<Vertex>>> = BTreeMap::new();
        for (group, places) in (0..).zip(&self.places[..groups]) {
            for (manager, place) in places {
                modules.entry(manager).or_default().entry(*place).or_default().push(group);
            }
        }
        for levels in modules.values() {
            let highest_first: Vec<&Vec<Vertex>> = levels.values().rev().collect();
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

    /// The edges from each barrier to the next of its module: they hold even if a level loses edges of its own.
    pub(super) fn barrier_edges(&self) -> impl Iterator<Item = (Vertex, Vertex)> + '_ {
        let first = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let barriers = (first..).zip(&self.barriers);
        barriers.filter_map(|(barrier, above)| above.map(|above| (above, barrier)))
    }

    /// Whether a group goes earlier than the place of one of its objects says.
    pub(super) fn is_raised(&self, group: Vertex, manager: &str, order: i64) -> bool {
        self.places[group as usize].get(manager).is_some_and(|place| *place > order)
    }
}
