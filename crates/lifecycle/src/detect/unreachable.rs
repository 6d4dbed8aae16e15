//! Objects that nothing alive refers to. References are given by numbers; what they stand for it must not know.

use super::condemned::{Found, condemned};
use super::{Judgement, Settings};
use crate::graph::Node;
use crate::snapshot::{LifeId, Snapshot};

/// Who refers to whom.
pub trait References {
    /// How many nodes there are.
    fn count(&self) -> usize;

    /// Some nodes are visited next: whoever keeps them far apart can begin to look for all of them at once.
    fn prepare(&self, _next: &[Node]) {}

    /// Names everybody to whom a node refers, as often as it does. Nodes that do not exist count for nothing.
    fn visit(&self, from: Node, found: &mut impl FnMut(Node));
}

/// So many nodes are visited without looking up from the work.
const TOGETHER: usize = 16;

/// What can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reachable {
    bits: Vec<u64>,
}

impl Reachable {
    /// Whether a node can be reached.
    pub fn contains(&self, node: Node) -> bool {
        self.bits.get(node as usize / 64).is_some_and(|bits| bits >> (node % 64) & 1 == 1)
    }

    /// Notes that it can be; says whether that is new.
    fn insert(&mut self, node: Node) -> bool {
        let Some(bits) = self.bits.get_mut(node as usize / 64) else { return false };
        let bit = 1 << (node % 64);
        let new = *bits & bit == 0;
        *bits |= bit;
        new
    }
}

/// What can be reached from roots, themselves included. With a list of work, so that no chain is too long.
pub fn reachable(references: &impl References, roots: impl Iterator<Item = Node>) -> Reachable {
    let count = references.count();
    let mut reached = Reachable { bits: vec![0; count.div_ceil(64)] };
    let mut work: Vec<Node> = Vec::new();
    for root in roots.filter(|root| (*root as usize) < count) {
        if reached.insert(root) {
            work.push(root);
        }
    }
    let mut some: Vec<Node> = Vec::with_capacity(TOGETHER);
    while !work.is_empty() {
        some.clear();
        some.extend(work.drain(work.len().saturating_sub(TOGETHER)..));
        references.prepare(&some);
        for node in &some {
            references.visit(*node, &mut |to| {
                if (to as usize) < count && reached.insert(to) {
                    work.push(to);
                }
            });
        }
    }
    reached
}

/// What follows from lives being unreachable: each dies, those that others of them own as their followers.
pub fn unreachable(snapshot: &Snapshot, lives: &[LifeId], settings: &Settings) -> Judgement {
    condemned(snapshot, lives, Found::Unreachable, settings)
}
