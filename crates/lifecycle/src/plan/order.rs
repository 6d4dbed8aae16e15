//! The order of all groups: families first, then the order of modules as far as that leaves it open, then waves.

use std::collections::BTreeSet;

use super::edges::DoomedGraph;
use super::families::{EdgeOutcome, Families};
use super::levels::ModuleLevels;
use super::{Barrier, DroppedEdge, Relation};
use crate::graph::{Graph, Vertex, resolve_conflicts, weighted_layers};
use crate::snapshot::NodeId;

/// The wave of each group, and what was given up for it.
pub(super) struct PlanOrder<'a> {
    pub(super) families: Families,
    levels: ModuleLevels<'a>,
    /// Edges to and from barriers between levels that do not hold.
    dropped_level_edges: BTreeSet<(Vertex, Vertex)>,
    /// The wave of each group.
    pub(super) waves: Vec<u32>,
}

impl<'a> PlanOrder<'a> {
    pub(super) fn of(doomed: &DoomedGraph<'a>) -> PlanOrder<'a> {
        let families = Families::new(doomed);
        let (groups, kept) = (&families.groups, &families.kept);
        let levels = ModuleLevels::new(doomed, groups, kept);
        let count = kept.len() + levels.barriers.len();
        let strong: Vec<(Vertex, Vertex)> = kept.edges().chain(levels.barrier_edges()).collect();
        let dropped_level_edges =
            resolve_conflicts(&Graph::new(count, &strong), &Graph::new(count, &levels.edges), false).dropped;
        let level_edges = levels.edges.iter().filter(|edge| !dropped_level_edges.contains(edge));
        let edges: Vec<(Vertex, Vertex)> = strong.iter().chain(level_edges).copied().collect();
        // Ends of families and barriers take no wave of their own.
        let length = |vertex: Vertex| u32::from((vertex as usize) < groups.count);
        let mut waves = weighted_layers(&Graph::new(count, &edges), length).unwrap_or_default();
        debug_assert_eq!(waves.len(), count, "resolved edges have no cycle");
        waves.truncate(groups.count);
        PlanOrder { families, levels, dropped_level_edges, waves }
    }

    /// For each object the objects that have to be gone before it.
    pub(super) fn predecessors(&self, doomed: &DoomedGraph<'_>) -> Vec<Vec<Vertex>> {
        let mut before: Vec<Vec<Vertex>> = vec![Vec::new(); doomed.nodes.len()];
        let kept = doomed.edges.iter().zip(&self.families.outcomes);
        let kept = kept.filter(|(_, outcome)| **outcome != EdgeOutcome::Dropped);
        let kept = kept.map(|(edge, _)| (edge.0, edge.1)).chain(self.families.extra_edges.iter().copied());
        let group = |vertex: Vertex| self.families.groups.of[vertex as usize];
        for (first, second) in kept.filter(|(first, second)| group(*first) != group(*second)) {
            before[second as usize].push(first);
        }
        for vertices in &mut before {
            vertices.sort_unstable();
            vertices.dedup();
        }
        before
    }

    /// The edges between objects that do not hold.
    pub(super) fn dropped(&self, doomed: &DoomedGraph<'_>) -> Vec<DroppedEdge> {
        let edges = doomed.edges.iter().zip(&self.families.outcomes);
        let edges = edges.filter(|(_, outcome)| **outcome == EdgeOutcome::Dropped);
        let mut dropped: Vec<(Vertex, Vertex, Relation)> = edges.map(|(edge, _)| *edge).collect();
        dropped.sort_unstable();
        dropped.dedup();
        let node = |vertex: Vertex| doomed.nodes[vertex as usize];
        let edge =
            |(first, second, relation)| DroppedEdge { first: node(first), second: node(second), relation };
        dropped.into_iter().map(edge).collect()
    }

    /// The objects that do not go at their place in the order of their module.
    pub(super) fn out_of_order(&self, doomed: &DoomedGraph<'_>) -> Vec<NodeId> {
        let without_edges: BTreeSet<Vertex> =
            self.dropped_level_edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let is_out = |(group, node): &(&Vertex, &NodeId)| {
            let place = (doomed.snapshot.manager(**node), doomed.snapshot.order(**node));
            let (Some(manager), Some(order)) = place else { return false };
            without_edges.contains(*group) || self.levels.is_raised(**group, manager, order)
        };
        self.families.groups.of.iter().zip(&doomed.nodes).filter(is_out).map(|(_, node)| *node).collect()
    }

    /// The barriers of families and, behind them, those between levels.
    pub(super) fn barriers(&self, doomed: &DoomedGraph<'_>) -> Vec<Barrier> {
        let mut barriers = self.families.barriers.clone();
        if self.levels.barriers.is_empty() {
            return barriers;
        }
        let (groups, first) = (&self.families.groups, barriers.len());
        let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); groups.count];
        for (group, node) in groups.of.iter().zip(&doomed.nodes) {
            members[*group as usize].push(*node);
        }
        let number =
            |vertex: Vertex| (vertex as usize).checked_sub(self.families.kept.len()).map(|at| at + first);
        for above in &self.levels.barriers {
            let follows = above.and_then(number).into_iter().collect();
            barriers.push(Barrier { follows, ..Barrier::default() });
        }
        for edge in self.levels.edges.iter().filter(|edge| !self.dropped_level_edges.contains(edge)) {
            match (number(edge.0), number(edge.1)) {
                (None, Some(to)) => barriers[to].before.extend(&members[edge.0 as usize]),
                (Some(from), None) => barriers[from].after.extend(&members[edge.1 as usize]),
                _ => {}
            }
        }
        barriers
    }
}
