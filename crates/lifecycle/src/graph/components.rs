//! Strongly connected components: the largest sets of vertices that all reach each other. Without recursion.

use super::{Graph, Vertex};

/// Which component each vertex belongs to.
///
/// Components are numbered so that every edge between two of them leads from the higher to the lower number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    of: Vec<Vertex>,
    count: usize,
}

impl Components {
    /// The component of a vertex.
    pub fn of(&self, vertex: Vertex) -> Vertex {
        self.of[vertex as usize]
    }

    /// The number of components.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The vertices of every component, each list sorted.
    pub fn members(&self) -> Vec<Vec<Vertex>> {
        let mut members = vec![Vec::new(); self.count];
        for (vertex, component) in (0..).zip(&self.of) {
            members[*component as usize].push(vertex);
        }
        members
    }

    /// How many vertices each component has.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.count];
        self.of.iter().for_each(|component| sizes[*component as usize] += 1);
        sizes
    }
}

const UNVISITED: u32 = u32::MAX;

/// Tarjan's algorithm, with its call stack kept in a list instead of the thread's stack.
struct Walk<'a> {
    graph: &'a Graph,
    /// The call stack: a vertex, and how many of its edges were followed.
    frames: Vec<(Vertex, u32)>,
    /// When each vertex was visited first.
    visited: Vec<u32>,
    /// The earliest vertex on the stack that each vertex reaches.
    low: Vec<u32>,
    /// Visited vertices that are not in a component yet.
    stack: Vec<Vertex>,
    found: Components,
    clock: u32,
}

/// The components of a graph, in time proportional to its vertices and edges.
pub fn components(graph: &Graph) -> Components {
    let vertices = graph.len();
    let mut walk = Walk {
        graph,
        frames: Vec::new(),
        visited: vec![UNVISITED; vertices],
        low: vec![UNVISITED; vertices],
        stack: Vec::new(),
        found: Components { of: vec![UNVISITED; vertices], count: 0 },
        clock: 0,
    };
    for root in graph.vertices() {
        if walk.visited[root as usize] == UNVISITED {
            walk.enter(root);
            while let Some((vertex, followed)) = walk.frames.last_mut() {
                let vertex = *vertex;
                match graph.successors(vertex).get(*followed as usize) {
                    Some(to) => {
                        *followed += 1;
                        walk.follow(vertex, *to);
                    }
                    None => walk.leave(vertex),
                }
            }
        }
    }
    walk.found
}

impl Walk<'_> {
    fn enter(&mut self, vertex: Vertex) {
        self.visited[vertex as usize] = self.clock;
        self.low[vertex as usize] = self.clock;
        self.clock += 1;
        self.stack.push(vertex);
        self.frames.push((vertex, 0));
        debug_assert!(self.frames.len() <= self.graph.len());
    }

    fn follow(&mut self, from: Vertex, to: Vertex) {
        if self.visited[to as usize] == UNVISITED {
            self.enter(to);
        } else if self.found.of[to as usize] == UNVISITED {
            self.low[from as usize] = self.low[from as usize].min(self.visited[to as usize]);
        }
    }

    /// All edges of a vertex were followed: it closes a component, or hands on how far back it reaches.
    fn leave(&mut self, vertex: Vertex) {
        self.frames.pop();
        let low = self.low[vertex as usize];
        if let Some((above, _)) = self.frames.last() {
            self.low[*above as usize] = self.low[*above as usize].min(low);
        }
        if low == self.visited[vertex as usize] {
            let component = u32::try_from(self.found.count).unwrap_or(UNVISITED);
            while let Some(member) = self.stack.pop() {
                self.found.of[member as usize] = component;
                if member == vertex {
                    break;
                }
            }
            self.found.count += 1;
        }
    }
}

/// The graph whose vertices are the components. It has no cycles.
pub fn condense(graph: &Graph, components: &Components) -> Graph {
    let between: Vec<(Vertex, Vertex)> = graph
        .edges()
        .map(|(from, to)| (components.of(from), components.of(to)))
        .filter(|(from, to)| from != to)
        .collect();
    Graph::new(components.count(), &between)
}
