//! Directed graphs and their algorithms. A vertex is a number; what it stands for is not known here.
//!
//! Nothing here recurses: a path of a million vertices is an ordinary input, and the stack of a thread is not that
//! deep. Everything is deterministic: the successors of a vertex are sorted, and results depend on the edges alone, not
//! on the order in which they came.

mod components;
mod conflicts;
mod layers;
mod reach;
#[cfg(test)]
mod tests;

pub use components::{Components, components, condense};
pub use conflicts::{AcyclicGraph, Partition, Resolution, resolve_conflicts};
pub use layers::{layers, topological_order, weighted_layers};
pub use reach::{Reachability, reach};

/// A vertex: an index in a [`Graph`]. (An object of a snapshot is a [`crate::NodeId`].)
pub type Vertex = u32;

/// A directed graph that does not change: for every vertex its successors, sorted, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Where the successors of each vertex begin in `targets`; one more at the end.
    starts: Vec<u32>,
    targets: Vec<Vertex>,
}

impl Graph {
    /// The graph with this number of vertices and these edges. Repeated edges count once; edges to vertices that do not
    /// exist are left out.
    ///
    /// Takes time in proportion to vertices and edges, apart from sorting the successors of each vertex.
    pub fn new(vertices: usize, edges: &[(Vertex, Vertex)]) -> Graph {
        let inside = |edge: &&(Vertex, Vertex)| (edge.0 as usize) < vertices && (edge.1 as usize) < vertices;
        let mut starts = vec![0_u32; vertices + 1];
        for (from, _) in edges.iter().filter(inside) {
            starts[*from as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; starts[vertices] as usize];
        for (from, to) in edges.iter().filter(inside) {
            targets[next[*from as usize] as usize] = *to;
            next[*from as usize] += 1;
        }
        Graph::tidied(starts, targets)
    }

    /// Sorts the successors of every vertex and leaves out the repeated ones.
    fn tidied(mut starts: Vec<u32>, mut targets: Vec<Vertex>) -> Graph {
        let mut kept = 0;
        let mut begin = 0;
        for start in starts.iter_mut().skip(1) {
            let end = *start as usize;
            targets[begin..end].sort_unstable();
            let first = kept;
            for place in begin..end {
                if kept == first || targets[kept - 1] != targets[place] {
                    targets[kept] = targets[place];
                    kept += 1;
                }
            }
            begin = end;
            // No more edges are kept than there were, so this fits as well.
            *start = u32::try_from(kept).unwrap_or(u32::MAX);
        }
        targets.truncate(kept);
        Graph { starts, targets }
    }

    /// The number of vertices.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no vertex at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All vertices.
    pub fn vertices(&self) -> impl Iterator<Item = Vertex> + use<> {
        // A vertex is 32 bits wide, and so is the number of vertices.
        0..u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    /// Where the edges of a vertex lead, sorted.
    pub fn successors(&self, vertex: Vertex) -> &[Vertex] {
        &self.targets[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// Whether there is an edge.
    pub fn has(&self, from: Vertex, to: Vertex) -> bool {
        self.successors(from).binary_search(&to).is_ok()
    }

    /// All edges, sorted.
    pub fn edges(&self) -> impl Iterator<Item = (Vertex, Vertex)> + '_ {
        self.vertices().flat_map(|from| self.successors(from).iter().map(move |to| (from, *to)))
    }

    /// How many edges lead to each vertex.
    pub fn incoming(&self) -> Vec<u32> {
        let mut counts = vec![0; self.len()];
        self.targets.iter().for_each(|to| counts[*to as usize] += 1);
        counts
    }
}
