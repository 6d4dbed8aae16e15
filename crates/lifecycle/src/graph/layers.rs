//! Layers: how many edges the longest path to a node has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Graph, Node};

/// The layer of each node: 0 without predecessors, else one more than the highest of theirs. `None` if there is a
/// cycle.
pub fn layers(graph: &Graph) -> Option<Vec<u32>> {
    weighted_layers(graph, |_| 1)
}

/// The same where the edges from a node are as long as `length` says.
pub fn weighted_layers(graph: &Graph, length: impl Fn(Node) -> u32) -> Option<Vec<u32>> {
    let mut missing = graph.incoming();
    let mut layers = vec![0; graph.len()];
    let mut ready: Vec<Node> = graph.nodes().filter(|node| missing[*node as usize] == 0).collect();
    let mut done = 0;
    while let Some(node) = ready.pop() {
        done += 1;
        for to in graph.successors(node) {
            layers[*to as usize] = layers[*to as usize].max(layers[node as usize] + length(node));
            missing[*to as usize] -= 1;
            if missing[*to as usize] == 0 {
                ready.push(*to);
            }
        }
    }
    (done == graph.len()).then_some(layers)
}

/// The nodes in an order that follows all edges; of those that could come next, the lowest does. `None` if there is
/// a cycle.
pub fn order(graph: &Graph) -> Option<Vec<Node>> {
    let mut missing = graph.incoming();
    let free = graph.nodes().filter(|node| missing[*node as usize] == 0);
    let mut ready: BinaryHeap<Reverse<Node>> = free.map(Reverse).collect();
    let mut order = Vec::with_capacity(graph.len());
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for to in graph.successors(node) {
            missing[*to as usize] -= 1;
            if missing[*to as usize] == 0 {
                ready.push(Reverse(*to));
            }
        }
    }
    (order.len() == graph.len()).then_some(order)
}
