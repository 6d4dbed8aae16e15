//! Two kinds of edges: strong ones always hold, weak ones give way where the two kinds contradict each other.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::{Components, Graph, Node, components};

/// Nodes that go together, and the weak edges that were given up. What is left has no cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Which group each node is in. Groups are numbered by their lowest nodes.
    pub groups: Groups,
    /// The weak edges that do not hold, from group to group.
    pub dropped: BTreeSet<(Node, Node)>,
}

/// A division of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// The group of each node.
    pub of: Vec<Node>,
    /// How many there are.
    pub count: usize,
}

impl Groups {
    /// Nodes with the same label together, numbered by their lowest nodes.
    pub fn new<L: Copy + Eq + std::hash::Hash>(labels: impl IntoIterator<Item = L>) -> Groups {
        let mut numbers = hashbrown::HashMap::new();
        let mut number = |label| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry(label).or_insert(next)
        };
        let of = labels.into_iter().map(&mut number).collect();
        Groups { of, count: numbers.len() }
    }

    /// Edges between nodes as edges between their groups; those inside a group are left out.
    pub fn between(&self, edges: impl Iterator<Item = (Node, Node)>) -> Graph {
        let mapped = edges.map(|(from, to)| (self.of[from as usize], self.of[to as usize]));
        let edges: Vec<(Node, Node)> = mapped.filter(|(from, to)| from != to).collect();
        Graph::new(self.count, &edges)
    }
}

/// Takes all strong edges, and as many weak ones as go with them.
///
/// A cycle of weak edges alone is one group if `join` says so, unless strong edges forbid it. In a cycle of both kinds
/// a weak edge is given up: by preference one from a node that waits for a strong edge, as that is the one that asked
/// to come later. The strong edges must not have a cycle. Takes time in proportion to nodes and edges (sorting apart).
pub fn settle(strong: &Graph, weak: &Graph, join: bool) -> Settled {
    let both: Vec<(Node, Node)> = strong.edges().chain(weak.edges()).collect();
    let knots = components(&Graph::new(strong.len(), &both));
    if knots.count() == strong.len() {
        return Settled { groups: Groups::new(strong.nodes()), dropped: BTreeSet::new() };
    }
    let mut mixed = vec![!join; knots.count()];
    for (from, to) in strong.edges().filter(|(from, to)| knots.of(*from) == knots.of(*to)) {
        debug_assert_ne!(from, to);
        mixed[knots.of(from) as usize] = true;
    }
    let tangled = |(from, to): &(Node, Node)| {
        from != to && knots.of(*from) == knots.of(*to) && mixed[knots.of(*from) as usize]
    };
    let strong_in: Vec<(Node, Node)> = strong.edges().filter(tangled).collect();
    let weak_in: Vec<(Node, Node)> = weak.edges().filter(tangled).collect();
    let rings = rings(strong.len(), &strong_in, &weak_in, join);
    let groups = Groups::new(strong.nodes().map(|node| match &rings {
        _ if !mixed[knots.of(node) as usize] => (0, knots.of(node)),
        Some((rings, whole)) if whole[rings.of(node) as usize] => (1, rings.of(node)),
        _ => (2, node),
    }));
    let strong = groups.between(strong_in.into_iter());
    let weak = groups.between(weak_in.into_iter());
    let place = peel(&strong, &weak);
    let against = |(from, to): &(Node, Node)| place[*from as usize] > place[*to as usize];
    let dropped = weak.edges().filter(against).collect();
    let dropped = take_back(&strong, &weak, dropped);
    Settled { groups, dropped }
}

/// The cycles of weak edges inside the tangle, and which of them can be one group in spite of the strong edges.
fn rings(
    nodes: usize,
    strong: &[(Node, Node)],
    weak: &[(Node, Node)],
    join: bool,
) -> Option<(Components, Vec<bool>)> {
    if !join {
        return None;
    }
    let rings = components(&Graph::new(nodes, weak));
    let mut whole = vec![true; rings.count()];
    let mapped: Vec<(Node, Node)> =
        strong.iter().map(|(from, to)| (rings.of(*from), rings.of(*to))).collect();
    mapped.iter().filter(|(from, to)| from == to).for_each(|(ring, _)| whole[*ring as usize] = false);
    let contracted = components(&Graph::new(rings.count(), &mapped));
    let sizes = contracted.sizes();
    for (ring, whole) in (0..).zip(&mut whole) {
        *whole &= sizes[contracted.of(ring) as usize] == 1;
    }
    Some((rings, whole))
}

/// What a node still waits for.
#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    strong: u32,
    weak: u32,
    /// Of the weak ones, those from nodes that wait for no strong edge themselves: dropping them costs most.
    dear: u32,
    placed: bool,
}

/// The place of each node in an order that keeps all strong edges, and weak ones as long as somebody can go.
fn peel(strong: &Graph, weak: &Graph) -> Vec<u32> {
    let mut waits = vec![Waits::default(); strong.len()];
    strong.edges().for_each(|(_, to)| waits[to as usize].strong += 1);
    for (from, to) in weak.edges() {
        let free = waits[from as usize].strong == 0;
        waits[to as usize].weak += 1;
        waits[to as usize].dear += u32::from(free);
    }
    let mut ready: BinaryHeap<Reverse<(bool, u32, Node)>> = BinaryHeap::new();
    // Who waits for nothing comes first; then who has the least to lose; then the lowest.
    let rank = |wait: &Waits, node: Node| Reverse((wait.weak > 0, wait.dear, node));
    ready.extend(
        strong.nodes().filter(|node| waits[*node as usize].strong == 0).map(|n| rank(&waits[n as usize], n)),
    );
    let mut place = vec![0; strong.len()];
    let mut next = 0;
    while let Some(entry) = ready.pop() {
        let node = entry.0.2;
        let wait = &mut waits[node as usize];
        if wait.placed || entry != rank(wait, node) {
            continue;
        }
        wait.placed = true;
        place[node as usize] = next;
        next += 1;
        for to in weak.successors(node) {
            let wait = &mut waits[*to as usize];
            if !wait.placed {
                wait.weak -= 1;
                wait.dear -= 1;
                ready.extend((wait.strong == 0).then(|| rank(wait, *to)));
            }
        }
        for to in strong.successors(node) {
            waits[*to as usize].strong -= 1;
            if waits[*to as usize].strong == 0 {
                ready.push(rank(&waits[*to as usize], *to));
                for after in weak.successors(*to) {
                    let wait = &mut waits[*after as usize];
                    wait.dear += 1;
                    ready.extend((wait.strong == 0 && !wait.placed).then(|| rank(wait, *after)));
                }
            }
        }
    }
    place
}

/// How many steps may be spent on trying edges, for each node and edge there is.
const EFFORT: usize = 50;

/// A graph without cycles to which edges are added as long as it stays so. The effort is bounded.
#[derive(Debug, Clone)]
pub struct Growing {
    successors: Vec<Vec<Node>>,
    effort: usize,
    /// In which search each node was seen last.
    seen: Vec<u32>,
    search: u32,
}

impl Growing {
    /// Begins with these edges, which must not have a cycle.
    pub fn new(nodes: usize, edges: impl IntoIterator<Item = (Node, Node)>) -> Growing {
        let mut successors = vec![Vec::new(); nodes];
        let mut size = nodes;
        for (from, to) in edges {
            successors[from as usize].push(to);
            size += 1;
        }
        Growing { successors, effort: EFFORT * size, seen: vec![0; nodes], search: 0 }
    }

    /// Whether nothing can be added any more.
    pub fn is_exhausted(&self) -> bool {
        self.effort == 0
    }

    /// Adds an edge unless that closes a cycle. When the effort is used up it adds nothing any more.
    pub fn add(&mut self, from: Node, to: Node) -> bool {
        self.search += 1;
        let mut stack = vec![to];
        while let Some(node) = stack.pop() {
            let next = &self.successors[node as usize];
            self.effort = self.effort.saturating_sub(1 + next.len());
            if node == from || self.effort == 0 {
                return false;
            }
            if self.seen[node as usize] != self.search {
                self.seen[node as usize] = self.search;
                stack.extend(next.iter().filter(|next| self.seen[**next as usize] != self.search));
            }
        }
        self.successors[from as usize].push(to);
        true
    }
}

/// Takes dropped edges back that close no cycle after all, as far as that can be found out with bounded effort.
fn take_back(strong: &Graph, weak: &Graph, dropped: BTreeSet<(Node, Node)>) -> BTreeSet<(Node, Node)> {
    if dropped.is_empty() {
        return dropped;
    }
    let kept = weak.edges().filter(|edge| !dropped.contains(edge));
    let mut growing = Growing::new(strong.len(), strong.edges().chain(kept));
    dropped.iter().copied().filter(|(from, to)| !growing.add(*from, *to)).collect()
}
