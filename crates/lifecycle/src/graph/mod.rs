//! Directed graphs, and what has to be known of them. Nodes are numbers; it must not know what they stand for.
//!
//! Nothing here recurses: a path of a million nodes is an ordinary input, and the stack of a thread is not that deep.
//! Everything is deterministic: the successors of a node are sorted, and results depend on the edges alone, not on the
//! order in which they came.

mod components;
mod layers;
mod reach;
mod settle;
#[cfg(test)]
mod tests;

pub use components::{Components, components, condense};
pub use layers::{layers, order, weighted_layers};
pub use reach::{Reached, reach};
pub use settle::{Groups, Growing, Settled, settle};

/// A node: its place among all.
pub type Node = u32;

/// A directed graph that does not change: for every node its successors, sorted, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Where the successors of each node begin in `targets`; one more at the end.
    starts: Vec<u32>,
    targets: Vec<Node>,
}

impl Graph {
    /// A graph of so many nodes with these edges. Repeated edges count once; edges to nodes that do not exist are
    /// left out.
    ///
    /// Takes time in proportion to nodes and edges, apart from sorting the successors of each node.
    pub fn new(nodes: usize, edges: &[(Node, Node)]) -> Graph {
        let inside = |edge: &&(Node, Node)| (edge.0 as usize) < nodes && (edge.1 as usize) < nodes;
        let mut starts = vec![0_u32; nodes + 1];
        for (from, _) in edges.iter().filter(inside) {
            starts[*from as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; starts[nodes] as usize];
        for (from, to) in edges.iter().filter(inside) {
            targets[next[*from as usize] as usize] = *to;
            next[*from as usize] += 1;
        }
        Graph::tidied(starts, targets)
    }

    /// Sorts the successors of every node and leaves out the repeated ones.
    fn tidied(mut starts: Vec<u32>, mut targets: Vec<Node>) -> Graph {
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

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no node at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        // The number of a node is 32 bits wide, and so is the number of nodes.
        0..u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    /// Where the edges of a node lead, sorted.
    pub fn successors(&self, node: Node) -> &[Node] {
        &self.targets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// Whether there is an edge.
    pub fn has(&self, from: Node, to: Node) -> bool {
        self.successors(from).binary_search(&to).is_ok()
    }

    /// All edges, sorted.
    pub fn edges(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.nodes().flat_map(|from| self.successors(from).iter().map(move |to| (from, *to)))
    }

    /// How many edges lead to each node.
    pub fn incoming(&self) -> Vec<u32> {
        let mut counts = vec![0; self.len()];
        self.targets.iter().for_each(|to| counts[*to as usize] += 1);
        counts
    }
}
