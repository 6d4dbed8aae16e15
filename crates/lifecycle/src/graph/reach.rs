//! Reachability by breadth-first search, with a shortest path to each vertex.

use super::{Graph, Vertex};

const UNREACHED: u32 = u32::MAX;

/// The vertices that are reachable from some sources, with a shortest path to each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reachability {
    /// The vertex before each one on its path; itself for a source.
    before: Vec<Vertex>,
    /// All reachable vertices, nearer ones first.
    found: Vec<Vertex>,
}

impl Reachability {
    /// Whether a vertex is reachable.
    pub fn contains(&self, vertex: Vertex) -> bool {
        self.before[vertex as usize] != UNREACHED
    }

    /// All reachable vertices, nearer ones first.
    pub fn vertices(&self) -> &[Vertex] {
        &self.found
    }

    /// A shortest path from a source to the vertex, both included; empty if there is none. Of several shortest paths it
    /// is always the same one.
    pub fn chain(&self, vertex: Vertex) -> Vec<Vertex> {
        let mut chain = Vec::new();
        let mut at = vertex;
        while self.before[at as usize] != UNREACHED {
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

/// The vertices that are reachable from the sources, sources included.
pub fn reach(graph: &Graph, sources: &[Vertex]) -> Reachability {
    let mut sources: Vec<Vertex> = sources.to_vec();
    sources.sort_unstable();
    sources.dedup();
    let mut before = vec![UNREACHED; graph.len()];
    sources.iter().for_each(|source| before[*source as usize] = *source);
    let mut found = sources;
    let mut at = 0;
    while let Some(vertex) = found.get(at).copied() {
        at += 1;
        for to in graph.successors(vertex) {
            if before[*to as usize] == UNREACHED {
                before[*to as usize] = vertex;
                found.push(*to);
            }
        }
    }
    Reachability { before, found }
}
