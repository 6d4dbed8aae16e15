//! What can be reached from where, and by which shortest way.

use super::{Graph, Node};

const NOT: u32 = u32::MAX;

/// What is reachable from some nodes, with the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The node before each one on its way; itself for a source.
    before: Vec<Node>,
    /// In the order in which they were reached: nearer ones first.
    found: Vec<Node>,
}

impl Reached {
    /// Whether a node is reachable.
    pub fn contains(&self, node: Node) -> bool {
        self.before[node as usize] != NOT
    }

    /// All that is reachable, nearer ones first.
    pub fn nodes(&self) -> &[Node] {
        &self.found
    }

    /// A shortest way from a source to the node, both included; empty if there is none. Of several shortest ways it is
    /// always the same one.
    pub fn chain(&self, node: Node) -> Vec<Node> {
        let mut chain = Vec::new();
        let mut at = node;
        while self.before[at as usize] != NOT {
            chain.push(at);
            if self.before[at as usize] == at {
                break;
            }
            at = self.before[at as usize];
        }
        chain.reverse();
        chain
    }
}

/// What is reachable from the given nodes, themselves included.
pub fn reach(graph: &Graph, sources: &[Node]) -> Reached {
    let mut sources: Vec<Node> = sources.to_vec();
    sources.sort_unstable();
    sources.dedup();
    let mut before = vec![NOT; graph.len()];
    sources.iter().for_each(|source| before[*source as usize] = *source);
    let mut found = sources;
    let mut at = 0;
    while let Some(node) = found.get(at).copied() {
        at += 1;
        for to in graph.successors(node) {
            if before[*to as usize] == NOT {
                before[*to as usize] = node;
                found.push(*to);
            }
        }
    }
    Reached { before, found }
}
