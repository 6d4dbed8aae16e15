//! Conflicts between two kinds of edges: strong ones always hold, weak ones are dropped where both kinds form a cycle.
//!
//! ```text
//!   strong:  top ──▶ low            low must come after top
//!   weak:    low ──▶ middle ──▶ top
//!
//!   cycle:   top ══▶ low ──▶ middle ──▶ top
//!   dropped: low ──▶ middle         low comes after a strong edge, so its weak edge is the one that gives way
//!   order:   middle, top, low
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::{Components, Graph, Vertex, components};

/// What is left of two kinds of edges: vertices in groups, and edges between groups without a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The groups: weak cycles that were contracted, and single vertices. Numbered by their lowest vertices.
    pub groups: Partition,
    /// The weak edges that do not hold, from group to group.
    pub dropped: BTreeSet<(Vertex, Vertex)>,
}

/// A partition of vertices into groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The group of each vertex.
    pub of: Vec<Vertex>,
    /// The number of groups.
    pub count: usize,
}

impl Partition {
    /// Vertices with the same label form a group. Groups are numbered by their lowest vertices.
    pub fn new<L: Copy + Eq + std::hash::Hash>(labels: impl IntoIterator<Item = L>) -> Partition {
        let mut numbers = hashbrown::HashMap::new();
        let mut number = |label| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry(label).or_insert(next)
        };
        let of = labels.into_iter().map(&mut number).collect();
        Partition { of, count: numbers.len() }
    }

    /// The graph of the groups, with the edges that lead from one group to another.
    pub fn between(&self, edges: impl Iterator<Item = (Vertex, Vertex)>) -> Graph {
        let mapped = edges.map(|(from, to)| (self.of[from as usize], self.of[to as usize]));
        let edges: Vec<(Vertex, Vertex)> = mapped.filter(|(from, to)| from != to).collect();
        Graph::new(self.count, &edges)
    }
}

/// Keeps all strong edges, and as many weak ones as are compatible with them.
///
/// With `join`, a cycle of weak edges alone becomes one group, unless strong edges forbid that. In a cycle of both
/// kinds weak edges are dropped: preferably one that leaves a vertex with a strong predecessor.
///
/// 1. Find the strongly connected components of all edges. Without a cycle nothing is to be resolved.
/// 2. Keep to the *mixed* components: those with a strong edge inside. All others become one group each.
/// 3. Contract the weak cycles in them that no strong edge crosses.
/// 4. Order the rest so that all strong edges hold; drop the weak edges that lead backwards in that order.
/// 5. Add dropped edges again that close no cycle after all.
///
/// The strong edges must not have a cycle. Takes time in proportion to vertices and edges, apart from sorting.
pub fn resolve_conflicts(strong: &Graph, weak: &Graph, join: bool) -> Resolution {
    let both: Vec<(Vertex, Vertex)> = strong.edges().chain(weak.edges()).collect();
    let cycles = components(&Graph::new(strong.len(), &both));
    if cycles.count() == strong.len() {
        return Resolution { groups: Partition::new(strong.vertices()), dropped: BTreeSet::new() };
    }
    let mut is_mixed = vec![!join; cycles.count()];
    for (from, to) in strong.edges().filter(|(from, to)| cycles.of(*from) == cycles.of(*to)) {
        debug_assert_ne!(from, to);
        is_mixed[cycles.of(from) as usize] = true;
    }
    let in_mixed = |(from, to): &(Vertex, Vertex)| {
        from != to && cycles.of(*from) == cycles.of(*to) && is_mixed[cycles.of(*from) as usize]
    };
    let strong_in: Vec<(Vertex, Vertex)> = strong.edges().filter(in_mixed).collect();
    let weak_in: Vec<(Vertex, Vertex)> = weak.edges().filter(in_mixed).collect();
    let weak_cycles = weak_cycles(strong.len(), &strong_in, &weak_in, join);
    let groups = Partition::new(strong.vertices().map(|vertex| match &weak_cycles {
        _ if !is_mixed[cycles.of(vertex) as usize] => (0, cycles.of(vertex)),
        Some((weak, can_join)) if can_join[weak.of(vertex) as usize] => (1, weak.of(vertex)),
        _ => (2, vertex),
    }));
    let strong = groups.between(strong_in.into_iter());
    let weak = groups.between(weak_in.into_iter());
    let position = positions(&strong, &weak);
    let leads_backwards = |(from, to): &(Vertex, Vertex)| position[*from as usize] > position[*to as usize];
    let dropped = weak.edges().filter(leads_backwards).collect();
    let dropped = restore(&strong, &weak, dropped);
    Resolution { groups, dropped }
}

/// The weak cycles inside mixed components, and which of them can become one group in spite of the strong edges.
fn weak_cycles(
    vertices: usize,
    strong: &[(Vertex, Vertex)],
    weak: &[(Vertex, Vertex)],
    join: bool,
) -> Option<(Components, Vec<bool>)> {
    if !join {
        return None;
    }
    let cycles = components(&Graph::new(vertices, weak));
    let mut can_join = vec![true; cycles.count()];
    let between: Vec<(Vertex, Vertex)> =
        strong.iter().map(|(from, to)| (cycles.of(*from), cycles.of(*to))).collect();
    let inside = between.iter().filter(|(from, to)| from == to);
    inside.for_each(|(cycle, _)| can_join[*cycle as usize] = false);
    let contracted = components(&Graph::new(cycles.count(), &between));
    let sizes = contracted.sizes();
    for (cycle, can_join) in (0..).zip(&mut can_join) {
        *can_join &= sizes[contracted.of(cycle) as usize] == 1;
    }
    Some((cycles, can_join))
}

/// The predecessors of a vertex that have no position yet.
#[derive(Debug, Clone, Copy, Default)]
struct Predecessors {
    strong: u32,
    weak: u32,
    /// How many of the weak ones have no strong predecessor themselves. The edges from these are dropped last.
    weak_and_free: u32,
    is_placed: bool,
}

/// The position of each vertex in an order in which all strong edges lead forwards, and most weak ones.
///
/// Takes vertices without strong predecessors one by one, those without weak predecessors first. If all of them have
/// weak ones, there is a cycle, and the vertex whose weak edges are the cheapest to drop is taken.
fn positions(strong: &Graph, weak: &Graph) -> Vec<u32> {
    let mut before = vec![Predecessors::default(); strong.len()];
    strong.edges().for_each(|(_, to)| before[to as usize].strong += 1);
    for (from, to) in weak.edges() {
        let is_free = before[from as usize].strong == 0;
        before[to as usize].weak += 1;
        before[to as usize].weak_and_free += u32::from(is_free);
    }
    let mut ready: BinaryHeap<Reverse<(bool, u32, Vertex)>> = BinaryHeap::new();
    let rank =
        |before: &Predecessors, vertex: Vertex| Reverse((before.weak > 0, before.weak_and_free, vertex));
    let free = strong.vertices().filter(|vertex| before[*vertex as usize].strong == 0);
    ready.extend(free.map(|vertex| rank(&before[vertex as usize], vertex)));
    let mut positions = vec![0; strong.len()];
    let mut next = 0;
    while let Some(entry) = ready.pop() {
        let vertex = entry.0.2;
        let own = &mut before[vertex as usize];
        // Entries are not removed from the heap when a rank changes: an outdated one is skipped here.
        if own.is_placed || entry != rank(own, vertex) {
            continue;
        }
        own.is_placed = true;
        positions[vertex as usize] = next;
        next += 1;
        for to in weak.successors(vertex) {
            let after = &mut before[*to as usize];
            if !after.is_placed {
                after.weak -= 1;
                after.weak_and_free -= 1;
                ready.extend((after.strong == 0).then(|| rank(after, *to)));
            }
        }
        for to in strong.successors(vertex) {
            before[*to as usize].strong -= 1;
            if before[*to as usize].strong == 0 {
                ready.push(rank(&before[*to as usize], *to));
                for after_that in weak.successors(*to) {
                    let after = &mut before[*after_that as usize];
                    after.weak_and_free += 1;
                    ready.extend((after.strong == 0 && !after.is_placed).then(|| rank(after, *after_that)));
                }
            }
        }
    }
    positions
}

/// How many steps may be spent on searching for cycles, per vertex and edge of the graph.
const MAX_STEPS_PER_ELEMENT: usize = 50;

/// A graph without cycles to which edges are added as long as they close none. The effort is bounded.
#[derive(Debug, Clone)]
pub struct AcyclicGraph {
    successors: Vec<Vec<Vertex>>,
    steps_left: usize,
    /// The number of the search in which each vertex was visited last.
    visited: Vec<u32>,
    search: u32,
}

impl AcyclicGraph {
    /// Starts with these edges, which must not have a cycle.
    pub fn new(vertices: usize, edges: impl IntoIterator<Item = (Vertex, Vertex)>) -> AcyclicGraph {
        let mut successors = vec![Vec::new(); vertices];
        let mut size = vertices;
        for (from, to) in edges {
            successors[from as usize].push(to);
            size += 1;
        }
        let steps_left = MAX_STEPS_PER_ELEMENT * size;
        AcyclicGraph { successors, steps_left, visited: vec![0; vertices], search: 0 }
    }

    /// Whether the effort is used up: [`AcyclicGraph::add`] refuses every edge from now on.
    pub fn is_exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// Adds an edge unless it closes a cycle; returns whether it was added.
    pub fn add(&mut self, from: Vertex, to: Vertex) -> bool {
        self.search += 1;
        let mut stack = vec![to];
        while let Some(vertex) = stack.pop() {
            let next = &self.successors[vertex as usize];
            self.steps_left = self.steps_left.saturating_sub(1 + next.len());
            if vertex == from || self.steps_left == 0 {
                return false;
            }
            if self.visited[vertex as usize] != self.search {
                self.visited[vertex as usize] = self.search;
                stack.extend(next.iter().filter(|next| self.visited[**next as usize] != self.search));
            }
        }
        self.successors[from as usize].push(to);
        true
    }
}

/// Adds dropped edges again that close no cycle, as far as bounded effort can tell. Returns those that stay dropped.
fn restore(strong: &Graph, weak: &Graph, dropped: BTreeSet<(Vertex, Vertex)>) -> BTreeSet<(Vertex, Vertex)> {
    if dropped.is_empty() {
        return dropped;
    }
    let kept = weak.edges().filter(|edge| !dropped.contains(edge));
    let mut acyclic = AcyclicGraph::new(strong.len(), strong.edges().chain(kept));
    dropped.iter().copied().filter(|(from, to)| !acyclic.add(*from, *to)).collect()
}
