//! Which objects of a model its roots refer to. Objects are vertices of a graph here; what they stand for is not known.

use crate::graph::Vertex;

/// The references between the objects of a model.
pub trait References {
    /// The number of vertices.
    fn count(&self) -> usize;

    /// Announces the vertices that are visited next, so that an implementation with slow memory can fetch them all at
    /// once.
    fn prepare(&self, _next: &[Vertex]) {}

    /// Calls `found` for every reference of a vertex. Repeated references and unknown vertices are allowed.
    fn visit(&self, from: Vertex, found: &mut impl FnMut(Vertex));
}

/// How many vertices are announced and visited together.
const BATCH_VERTICES: usize = 16;

/// A set of vertices, one bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachableSet {
    bits: Vec<u64>,
}

impl ReachableSet {
    /// Whether a vertex is reachable.
    pub fn contains(&self, vertex: Vertex) -> bool {
        self.bits.get(vertex as usize / 64).is_some_and(|bits| bits >> (vertex % 64) & 1 == 1)
    }

    /// Adds a vertex; returns whether it was new.
    fn insert(&mut self, vertex: Vertex) -> bool {
        let Some(bits) = self.bits.get_mut(vertex as usize / 64) else { return false };
        let bit = 1 << (vertex % 64);
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }
}

/// The vertices that are reachable from the roots, roots included. Uses a worklist, so chains may have any length.
pub fn reachable(references: &impl References, roots: impl Iterator<Item = Vertex>) -> ReachableSet {
    let count = references.count();
    let mut reached = ReachableSet { bits: vec![0; count.div_ceil(64)] };
    let mut worklist: Vec<Vertex> = Vec::new();
    for root in roots.filter(|root| (*root as usize) < count) {
        if reached.insert(root) {
            worklist.push(root);
        }
    }
    let mut batch: Vec<Vertex> = Vec::with_capacity(BATCH_VERTICES);
    while !worklist.is_empty() {
        batch.clear();
        batch.extend(worklist.drain(worklist.len().saturating_sub(BATCH_VERTICES)..));
        references.prepare(&batch);
        for vertex in &batch {
            references.visit(*vertex, &mut |to| {
                if (to as usize) < count && reached.insert(to) {
                    worklist.push(to);
                }
            });
        }
    }
    reached
}
