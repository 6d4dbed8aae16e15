//! Strongly connected components: the largest sets of nodes that all reach each other. Without recursion.

use super::{Graph, Node};

/// Which component each node belongs to.
///
/// Components are numbered so that every edge between two of them leads from the higher to the lower number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    of: Vec<Node>,
    count: usize,
}

impl Components {
    /// The component of a node.
    pub fn of(&self, node: Node) -> Node {
        self.of[node as usize]
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The nodes of every component, each list sorted.
    pub fn members(&self) -> Vec<Vec<Node>> {
        let mut members = vec![Vec::new(); self.count];
        for (node, component) in (0..).zip(&self.of) {
            members[*component as usize].push(node);
        }
        members
    }

    /// How many nodes each component has.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.count];
        self.of.iter().for_each(|component| sizes[*component as usize] += 1);
        sizes
    }
}

const UNSEEN: u32 = u32::MAX;

/// Where the walk stands: Tarjan's algorithm with its call stack kept in a list.
struct Walk<'a> {
    graph: &'a Graph,
    /// The walk's frames: a node, and how many of its edges were followed.
    frames: Vec<(Node, u32)>,
    /// When each node was seen first.
    seen: Vec<u32>,
    /// The earliest node on the stack that each node reaches.
    low: Vec<u32>,
    /// Seen, and not yet in a component.
    stack: Vec<Node>,
    found: Components,
    clock: u32,
}

/// The components of a graph, in time proportional to its nodes and edges.
pub fn components(graph: &Graph) -> Components {
    let nodes = graph.len();
    let mut walk = Walk {
        graph,
        frames: Vec::new(),
        seen: vec![UNSEEN; nodes],
        low: vec![UNSEEN; nodes],
        stack: Vec::new(),
        found: Components { of: vec![UNSEEN; nodes], count: 0 },
        clock: 0,
    };
    for root in graph.nodes() {
        if walk.seen[root as usize] == UNSEEN {
            walk.enter(root);
            while let Some((node, followed)) = walk.frames.last_mut() {
                let node = *node;
                match graph.successors(node).get(*followed as usize) {
                    Some(to) => {
                        *followed += 1;
                        walk.follow(node, *to);
                    }
                    None => walk.leave(node),
                }
            }
        }
    }
    walk.found
}

impl Walk<'_> {
    fn enter(&mut self, node: Node) {
        self.seen[node as usize] = self.clock;
        self.low[node as usize] = self.clock;
        self.clock += 1;
        self.stack.push(node);
        self.frames.push((node, 0));
        debug_assert!(self.frames.len() <= self.graph.len());
    }

    fn follow(&mut self, from: Node, to: Node) {
        if self.seen[to as usize] == UNSEEN {
            self.enter(to);
        } else if self.found.of[to as usize] == UNSEEN {
            self.low[from as usize] = self.low[from as usize].min(self.seen[to as usize]);
        }
    }

    /// All edges were followed: the node closes a component, or hands on how far back it reaches.
    fn leave(&mut self, node: Node) {
        self.frames.pop();
        let low = self.low[node as usize];
        if let Some((above, _)) = self.frames.last() {
            self.low[*above as usize] = self.low[*above as usize].min(low);
        }
        if low == self.seen[node as usize] {
            let component = u32::try_from(self.found.count).unwrap_or(UNSEEN);
            while let Some(member) = self.stack.pop() {
                self.found.of[member as usize] = component;
                if member == node {
                    break;
                }
            }
            self.found.count += 1;
        }
    }
}

/// The graph whose nodes are the components. It has no cycles.
pub fn condense(graph: &Graph, components: &Components) -> Graph {
    let between: Vec<(Node, Node)> = graph
        .edges()
        .map(|(from, to)| (components.of(from), components.of(to)))
        .filter(|(from, to)| from != to)
        .collect();
    Graph::new(components.count(), &between)
}
