//! Soft edges against hard ones: families are destroyed before their heads, also where a head cannot go first itself.
//!
//! The *family* of an object, its *head*, is all that it owns or contains, directly or not. Soft edges say: the family
//! before the head. If a hard edge contradicts one of them, that edge is dropped; but the rest of the family still goes
//! first. To express that, each family gets an *end*: an artificial vertex after all members and before the head.
//!
//! ```text
//!   App/p ◀── Vm/c ◀── Disk/d      Vm/c is owned by App/p, and subscribes to it: App/p must go before Vm/c (hard)
//!
//!   strong   d's end ▶ c's end ▶ p's end     families nest, whatever becomes of the heads
//!            each end ▶ its head
//!            p ▶ c                           the hard edge
//!   weak     d ▶ c's end
//!            c ▶ p's end                     closes the cycle p ▶ c ▶ p's end ▶ p: dropped
//!   order    d, p, c                         d still goes before p, the owner of its owner
//! ```
//!
//! Ends are needed only where edges are dropped; in all other plans the soft edges themselves are kept. What a
//! background deletion asks for (owner before dependent) is the weakest, and added last.

use std::collections::{BTreeMap, BTreeSet};

use super::edges::DoomedGraph;
use super::{Barrier, Relation};
use crate::graph::{AcyclicGraph, Components, Graph, Partition, Vertex, components, resolve_conflicts};

/// What became of the edges of a [`DoomedGraph`]: an order of groups without cycles.
pub(super) struct Families {
    /// The group of each vertex: a cycle of hard edges, a cycle of owners, or a single object.
    pub(super) groups: Partition,
    /// All edges that hold, between groups and, numbered after them, ends of families.
    pub(super) kept: Graph,
    /// What became of each edge of the graph.
    pub(super) outcomes: Vec<EdgeOutcome>,
    /// Further edges: members that go before the owner of their owner although the edge to their owner was dropped.
    pub(super) extra_edges: Vec<(Vertex, Vertex)>,
    /// One barrier for each family whose head does not go where the family does.
    pub(super) barriers: Vec<Barrier>,
}

/// What became of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EdgeOutcome {
    /// It holds, for the whole cycle of owners that the second object is in.
    Kept,
    /// It holds between the two objects, but not for the rest of the cycle of owners that the second is in.
    PairOnly,
    /// It does not hold.
    Dropped,
}

impl Families {
    pub(super) fn new(doomed: &DoomedGraph<'_>) -> Families {
        let hard = doomed.edges.iter().filter(|edge| edge.2.is_hard()).map(|edge| (edge.0, edge.1));
        let hard: Vec<(Vertex, Vertex)> = hard.collect();
        let hard_cycles = components(&Graph::new(doomed.nodes.len(), &hard));
        let hard_cycles = Partition::new((0..).zip(&doomed.nodes).map(|(vertex, _)| hard_cycles.of(vertex)));
        let hard = hard_cycles.between(hard.into_iter());
        let to_heads = doomed.edges.iter().filter(|edge| is_to_head(edge)).map(|edge| (edge.0, edge.1));
        let resolution = resolve_conflicts(&hard, &hard_cycles.between(to_heads), true);
        if !resolution.dropped.is_empty() {
            return FamilyEnds::new(doomed, hard_cycles, &hard).resolve(doomed).with_background(doomed);
        }
        let groups = compose(&hard_cycles, &resolution.groups, resolution.groups.count);
        let strong = doomed.edges.iter().filter(|edge| edge.2 != Relation::Background);
        let kept = groups.between(strong.map(|edge| (edge.0, edge.1)));
        let outcomes = vec![EdgeOutcome::Kept; doomed.edges.len()];
        let families = Families { groups, kept, outcomes, extra_edges: Vec::new(), barriers: Vec::new() };
        families.with_background(doomed)
    }

    /// Adds the background edges that contradict no other edge; drops the rest of them.
    fn with_background(mut self, doomed: &DoomedGraph<'_>) -> Families {
        let of = &self.groups.of;
        let pair = |edge: &(Vertex, Vertex, Relation)| (of[edge.0 as usize], of[edge.1 as usize]);
        let is_background = |edge: &(Vertex, Vertex, Relation)| {
            let (from, to) = pair(edge);
            edge.2 == Relation::Background && from != to
        };
        let weak = doomed.edges.iter().filter(|edge| is_background(edge));
        let weak: Vec<(Vertex, Vertex)> = weak.map(pair).collect();
        if weak.is_empty() {
            return self;
        }
        let dropped = resolve_conflicts(&self.kept, &Graph::new(self.kept.len(), &weak), false).dropped;
        for (edge, outcome) in doomed.edges.iter().zip(&mut self.outcomes) {
            if is_background(edge) && dropped.contains(&pair(edge)) {
                *outcome = EdgeOutcome::Dropped;
            }
        }
        let weak = weak.into_iter().filter(|edge| !dropped.contains(edge));
        let kept: Vec<(Vertex, Vertex)> = self.kept.edges().chain(weak).collect();
        self.kept = Graph::new(self.kept.len(), &kept);
        self
    }
}

/// Whether an edge is a soft one from a member of a family to its head.
fn is_to_head(edge: &(Vertex, Vertex, Relation)) -> bool {
    !edge.2.is_hard() && edge.2 != Relation::Background
}

/// The groups of groups: `inner` maps vertices to its groups, `outer` maps those.
fn compose(inner: &Partition, outer: &Partition, count: usize) -> Partition {
    Partition { of: inner.of.iter().map(|group| outer.of[*group as usize]).collect(), count }
}

/// The graph with ends. Its vertices are the hard cycles and, numbered after them, one end for each cycle of owners:
/// the members of such a cycle own each other, so they share one family.
struct FamilyEnds {
    hard_cycles: Partition,
    owner_cycles: Components,
    strong: Vec<(Vertex, Vertex)>,
    weak: Vec<(Vertex, Vertex)>,
}

impl FamilyEnds {
    fn new(doomed: &DoomedGraph<'_>, hard_cycles: Partition, hard: &Graph) -> FamilyEnds {
        let cycle = |vertex: Vertex| hard_cycles.of[vertex as usize];
        let to_heads = doomed.edges.iter().filter(|edge| is_to_head(edge));
        let to_heads = to_heads.map(|edge| (cycle(edge.0), cycle(edge.1)));
        let to_heads: Vec<(Vertex, Vertex)> = to_heads.filter(|(from, to)| from != to).collect();
        let owner_cycles = components(&Graph::new(hard_cycles.count, &to_heads));
        let strong = hard.edges().collect();
        let mut ends = FamilyEnds { hard_cycles, owner_cycles, strong, weak: Vec::new() };
        let heads: Vec<(Vertex, Vertex)> =
            hard.vertices().map(|vertex| (ends.end_of(vertex), vertex)).collect();
        ends.strong.extend(heads);
        for (from, to) in to_heads {
            if ends.owner_cycles.of(from) == ends.owner_cycles.of(to) {
                ends.weak.push((from, to));
            } else {
                ends.strong.push((ends.end_of(from), ends.end_of(to)));
                ends.weak.push((from, ends.end_of(to)));
            }
        }
        ends
    }

    /// The end of the family whose head a hard cycle is.
    fn end_of(&self, cycle: Vertex) -> Vertex {
        u32::try_from(self.hard_cycles.count).unwrap_or(u32::MAX) + self.owner_cycles.of(cycle)
    }

    fn resolve(self, doomed: &DoomedGraph<'_>) -> Families {
        let count = self.hard_cycles.count + self.owner_cycles.count();
        let resolution =
            resolve_conflicts(&Graph::new(count, &self.strong), &Graph::new(count, &self.weak), true);
        let group_of = |vertex: Vertex| resolution.groups.of[vertex as usize];
        // Groups are numbered by their lowest vertices, so those of objects come before those of ends alone.
        let object_groups =
            self.hard_cycles.of.iter().map(|cycle| group_of(*cycle) as usize + 1).max().unwrap_or(0);
        let groups = compose(&self.hard_cycles, &resolution.groups, object_groups);
        let all = resolution.groups.between(self.strong.iter().chain(&self.weak).copied());
        let mut kept: Vec<(Vertex, Vertex)> =
            all.edges().filter(|edge| !resolution.dropped.contains(edge)).collect();
        let mut acyclic = AcyclicGraph::new(all.len(), kept.iter().copied());
        let mut outcome = |edge: &(Vertex, Vertex, Relation)| {
            let (from, to) = (groups.of[edge.0 as usize], groups.of[edge.1 as usize]);
            let low = self.hard_cycles.of[edge.0 as usize];
            let high = self.hard_cycles.of[edge.1 as usize];
            let is_direct = !is_to_head(edge) || self.owner_cycles.of(low) == self.owner_cycles.of(high);
            // The edge that stands for it in the graph with ends.
            let stands_for_it = (from, if is_direct { to } else { group_of(self.end_of(high)) });
            match () {
                () if from == to || !resolution.dropped.contains(&stands_for_it) => EdgeOutcome::Kept,
                () if !is_direct && acyclic.add(from, to) => {
                    kept.push((from, to));
                    EdgeOutcome::PairOnly
                }
                () => EdgeOutcome::Dropped,
            }
        };
        let outcomes: Vec<EdgeOutcome> = doomed.edges.iter().map(&mut outcome).collect();
        let broken = doomed.edges.iter().zip(&outcomes);
        let broken = broken.filter(|(edge, outcome)| is_to_head(edge) && **outcome != EdgeOutcome::Kept);
        let end = |vertex: Vertex| group_of(self.end_of(self.hard_cycles.of[vertex as usize]));
        let broken = broken.map(|(edge, _)| (groups.of[edge.0 as usize], end(edge.1))).collect();
        let to_ancestors = edges_to_ancestors(&all, object_groups, &mut acyclic, &broken);
        kept.extend(&to_ancestors);
        let end_groups: Vec<Vertex> =
            self.hard_cycles.of.iter().map(|cycle| group_of(self.end_of(*cycle))).collect();
        let members = FamilyMembers::new(&groups, &end_groups);
        let extra_edges = members.pairs(&to_ancestors);
        let barriers = members.barriers(doomed, &outcomes, &extra_edges);
        let kept = Graph::new(resolution.groups.count, &kept);
        Families { kept, groups, outcomes, extra_edges, barriers }
    }
}

/// Edges from groups that cannot go before their own owner to the ends of families further up.
///
/// For each broken edge from a head to the end above it: walks the ends upwards, and adds an edge to the first end on
/// each path that closes no cycle.
fn edges_to_ancestors(
    all: &Graph,
    object_groups: usize,
    acyclic: &mut AcyclicGraph,
    broken: &BTreeSet<(Vertex, Vertex)>,
) -> Vec<(Vertex, Vertex)> {
    let is_end = |vertex: &&Vertex| (**vertex as usize) >= object_groups;
    let mut added = BTreeSet::new();
    for (head, end) in broken {
        let mut seen = BTreeSet::from([*end]);
        let mut ends: Vec<Vertex> = all.successors(*end).iter().filter(is_end).copied().collect();
        while let Some(end) = ends.pop() {
            if !seen.insert(end) || added.contains(&(*head, end)) {
                continue;
            }
            if acyclic.add(*head, end) {
                added.insert((*head, end));
            } else if !acyclic.is_exhausted() {
                ends.extend(all.successors(end).iter().filter(is_end));
            }
        }
    }
    added.into_iter().collect()
}

/// Maps groups and ends back to the objects behind them.
struct FamilyMembers<'a> {
    groups: &'a Partition,
    /// For each object the group of the end of its own family.
    end_groups: &'a [Vertex],
    in_group: BTreeMap<Vertex, Vec<Vertex>>,
    /// For each end the objects that are heads of its family.
    heads_of: BTreeMap<Vertex, Vec<Vertex>>,
}

impl<'a> FamilyMembers<'a> {
    fn new(groups: &'a Partition, end_groups: &'a [Vertex]) -> FamilyMembers<'a> {
        let (mut in_group, mut heads_of): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) = Default::default();
        for ((vertex, group), end) in (0..).zip(&groups.of).zip(end_groups) {
            in_group.entry(*group).or_default().push(vertex);
            heads_of.entry(*end).or_default().push(vertex);
        }
        FamilyMembers { groups, end_groups, in_group, heads_of }
    }

    /// Edges from groups to ends, as edges from each object of the group to each head of the family.
    fn pairs(&self, edges: &[(Vertex, Vertex)]) -> Vec<(Vertex, Vertex)> {
        let mut pairs = Vec::new();
        for (group, end) in edges {
            for first in self.in_group.get(group).into_iter().flatten() {
                pairs.extend(self.heads_of.get(end).into_iter().flatten().map(|second| (*first, *second)));
            }
        }
        pairs
    }

    /// The barriers: where a head does not go before its owner, its family still does. One barrier for each such
    /// family.
    fn barriers(
        &self,
        doomed: &DoomedGraph<'_>,
        outcomes: &[EdgeOutcome],
        extra_edges: &[(Vertex, Vertex)],
    ) -> Vec<Barrier> {
        let end = |vertex: Vertex| self.end_groups[vertex as usize];
        let to_heads = || doomed.edges.iter().zip(outcomes).filter(|(edge, _)| is_to_head(edge));
        // From a family to the family above it, where the head of the first does not go before that of the second.
        let broken: BTreeSet<(Vertex, Vertex)> = to_heads()
            .filter(|(_, outcome)| **outcome != EdgeOutcome::Kept)
            .map(|(edge, _)| (end(edge.0), end(edge.1)))
            .collect();
        let with_members: BTreeSet<Vertex> = to_heads()
            .map(|(edge, _)| (end(edge.0), end(edge.1)))
            .filter(|(a, b)| a != b)
            .map(|(_, b)| b)
            .collect();
        let families: BTreeSet<Vertex> =
            broken.iter().map(|(family, _)| *family).filter(|end| with_members.contains(end)).collect();
        let numbers: BTreeMap<Vertex, usize> =
            families.iter().enumerate().map(|(at, end)| (*end, at)).collect();
        let mut barriers = vec![(BTreeSet::new(), BTreeSet::new(), Vec::new()); families.len()];
        let kept = to_heads().filter(|(_, outcome)| **outcome == EdgeOutcome::Kept);
        let kept = kept.map(|(edge, _)| (edge.0, edge.1)).chain(extra_edges.iter().copied());
        let are_apart = |first: Vertex, second: Vertex| {
            end(first) != end(second) && self.groups.of[first as usize] != self.groups.of[second as usize]
        };
        for (first, second) in kept.filter(|edge| are_apart(edge.0, edge.1)) {
            if let Some(at) = numbers.get(&end(second)) {
                barriers[*at].0.insert(first);
            }
        }
        for (family, above) in broken.iter().filter(|(family, _)| families.contains(family)) {
            barriers[numbers[family]].1.extend(self.heads_of.get(above).into_iter().flatten().copied());
            if let Some(at) = numbers.get(above).filter(|_| family != above) {
                barriers[*at].2.push(numbers[family]);
            }
        }
        let nodes = |vertices: BTreeSet<Vertex>| {
            vertices.into_iter().map(|vertex| doomed.nodes[vertex as usize]).collect()
        };
        let barrier =
            |(before, after, follows)| Barrier { before: nodes(before), after: nodes(after), follows };
        barriers.into_iter().map(barrier).collect()
    }
}
