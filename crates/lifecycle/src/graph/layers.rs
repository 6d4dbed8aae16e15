//! Layers: how many edges the longest path to a vertex has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Graph, Vertex};

/// The layer of each vertex: 0 without predecessors, else one more than the highest of theirs. `None` if there is a
/// cycle.
pub fn layers(graph: &Graph) -> Option<Vec<u32>> {
    weighted_layers(graph, |_| 1)
}

/// The same where the edges from a vertex are as long as `length` says.
pub fn weighted_layers(graph: &Graph, length: impl Fn(Vertex) -> u32) -> Option<Vec<u32>> {
    let mut missing = graph.incoming();
    let mut layers = vec![0; graph.len()];
    let mut ready: Vec<Vertex> = graph.vertices().filter(|vertex| missing[*vertex as usize] == 0).collect();
    let mut done = 0;
    while let Some(vertex) = ready.pop() {
        done += 1;
        for to in graph.successors(vertex) {
            layers[*to as usize] = layers[*to as usize].max(layers[vertex as usize] + length(vertex));
            missing[*to as usize] -= 1;
            if missing[*to as usize] == 0 {
                ready.push(*to);
            }
        }
    }
    (done == graph.len()).then_some(layers)
}

/// The vertices in an order in which all edges lead forwards; of several that could come next, the lowest does. `None`
/// if there is a cycle.
pub fn topological_order(graph: &Graph) -> Option<Vec<Vertex>> {
    let mut missing = graph.incoming();
    let free = graph.vertices().filter(|vertex| missing[*vertex as usize] == 0);
    let mut ready: BinaryHeap<Reverse<Vertex>> = free.map(Reverse).collect();
    let mut order = Vec::with_capacity(graph.len());
    while let Some(Reverse(vertex)) = ready.pop() {
        order.push(vertex);
        for to in graph.successors(vertex) {
            missing[*to as usize] -= 1;
            if missing[*to as usize] == 0 {
                ready.push(Reverse(*to));
            }
        }
    }
    (order.len() == graph.len()).then_some(order)
}
