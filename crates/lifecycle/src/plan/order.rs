//! The order of all groups: families first, then the order of modules as far as that leaves it open, then waves.

use std::collections::BTreeSet;

use super::families::{Families, Fate};
use super::ranks::Ranks;
use super::relations::Doomed;
use super::{Barrier, DroppedEdge, Relation};
use crate::graph::{Graph, Node, settle, weighted_layers};
use crate::snapshot::LifeId;

/// How it was settled.
pub(super) struct Order<'a> {
    pub(super) families: Families,
    ranks: Ranks<'a>,
    /// Edges to and from barriers between levels that do not hold.
    unranked: BTreeSet<(Node, Node)>,
    /// The wave of each group.
    pub(super) waves: Vec<u32>,
}

impl<'a> Order<'a> {
    pub(super) fn of(doomed: &Doomed<'a>) -> Order<'a> {
        let families = Families::new(doomed);
        let (groups, kept) = (&families.groups, &families.kept);
        let ranks = Ranks::new(doomed, groups, kept);
        let nodes = kept.len() + ranks.barriers.len();
        let strong: Vec<(Node, Node)> = kept.edges().chain(ranks.chain()).collect();
        let unranked = settle(&Graph::new(nodes, &strong), &Graph::new(nodes, &ranks.edges), false).dropped;
        let ranked = ranks.edges.iter().filter(|edge| !unranked.contains(edge));
        let edges: Vec<(Node, Node)> = strong.iter().chain(ranked).copied().collect();
        // Ends of families and of levels take no time themselves.
        let length = |node: Node| u32::from((node as usize) < groups.count);
        let mut waves = weighted_layers(&Graph::new(nodes, &edges), length).unwrap_or_default();
        debug_assert_eq!(waves.len(), nodes, "what is settled has no cycle");
        waves.truncate(groups.count);
        Order { families, ranks, unranked, waves }
    }

    /// For each life those who have to be gone before it.
    pub(super) fn before_each(&self, doomed: &Doomed<'_>) -> Vec<Vec<Node>> {
        let mut before: Vec<Vec<Node>> = vec![Vec::new(); doomed.lives.len()];
        let kept = doomed.edges.iter().zip(&self.families.fates).filter(|(_, fate)| **fate != Fate::Dropped);
        let kept = kept.map(|(edge, _)| (edge.0, edge.1)).chain(self.families.more.iter().copied());
        let group = |life: Node| self.families.groups.of[life as usize];
        for (first, second) in kept.filter(|(first, second)| group(*first) != group(*second)) {
            before[second as usize].push(first);
        }
        for lives in &mut before {
            lives.sort_unstable();
            lives.dedup();
        }
        before
    }

    pub(super) fn dropped(&self, doomed: &Doomed<'_>) -> Vec<DroppedEdge> {
        let edges = doomed.edges.iter().zip(&self.families.fates);
        let mut dropped: Vec<(Node, Node, Relation)> =
            edges.filter(|(_, fate)| **fate == Fate::Dropped).map(|(edge, _)| *edge).collect();
        dropped.sort_unstable();
        dropped.dedup();
        let life = |node: Node| doomed.lives[node as usize];
        let edge =
            |(first, second, relation)| DroppedEdge { first: life(first), second: life(second), relation };
        dropped.into_iter().map(edge).collect()
    }

    pub(super) fn out_of_order(&self, doomed: &Doomed<'_>) -> Vec<LifeId> {
        let cut: BTreeSet<Node> = self.unranked.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let out = |(group, life): &(&Node, &LifeId)| {
            let place = (doomed.snapshot.manager(**life), doomed.snapshot.order(**life));
            let (Some(manager), Some(order)) = place else { return false };
            cut.contains(*group) || self.ranks.raised(**group, manager, order)
        };
        self.families.groups.of.iter().zip(&doomed.lives).filter(out).map(|(_, life)| *life).collect()
    }

    /// The barriers of families, and behind them those between levels.
    pub(super) fn barriers(&self, doomed: &Doomed<'_>) -> Vec<Barrier> {
        let mut barriers = self.families.barriers.clone();
        if self.ranks.barriers.is_empty() {
            return barriers;
        }
        let (groups, first) = (&self.families.groups, barriers.len());
        let mut members: Vec<Vec<LifeId>> = vec![Vec::new(); groups.count];
        for (group, life) in groups.of.iter().zip(&doomed.lives) {
            members[*group as usize].push(*life);
        }
        let number = |node: Node| (node as usize).checked_sub(self.families.kept.len()).map(|at| at + first);
        for above in &self.ranks.barriers {
            let follows = above.and_then(number).into_iter().collect();
            barriers.push(Barrier { follows, ..Barrier::default() });
        }
        for edge in self.ranks.edges.iter().filter(|edge| !self.unranked.contains(edge)) {
            match (number(edge.0), number(edge.1)) {
                (None, Some(to)) => barriers[to].before.extend(&members[edge.0 as usize]),
                (Some(from), None) => barriers[from].after.extend(&members[edge.1 as usize]),
                _ => {}
            }
        }
        barriers
    }
}
