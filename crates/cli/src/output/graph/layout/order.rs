//! Who stands above whom in a column: near the middle of its neighbours, as long as that makes fewer crossings.

use super::net::Net;

/// There and back counts as two.
const SWEEPS: usize = 16;

/// Orders all columns.
pub(super) fn sweep(net: &mut Net) {
    let mut best = (crossings(net), net.layers.clone());
    for sweep in 0..SWEEPS {
        let rightwards = sweep % 2 == 0;
        let columns = net.layers.len();
        for step in 1..columns {
            let layer = if rightwards { step } else { columns - 1 - step };
            reorder(net, layer, rightwards);
        }
        let now = crossings(net);
        if now < best.0 {
            best = (now, net.layers.clone());
        }
    }
    net.layers = best.1;
}

/// Sorts a column by the mean place of the neighbours on one side; who has none stays where it is.
fn reorder(net: &mut Net, layer: usize, rightwards: bool) {
    let places = places(net);
    let neighbours = if rightwards { &net.left } else { &net.right };
    let mut keyed: Vec<(f64, usize)> = net.layers[layer]
        .iter()
        .map(|&vertex| {
            let near = &neighbours[vertex];
            let sum: f64 = near.iter().map(|&near| places[near]).sum();
            (if near.is_empty() { places[vertex] } else { sum / near.len() as f64 }, vertex)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    net.layers[layer] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
}

/// The place of each vertex in its column, from 0 to 1, so that columns of different length can be compared.
fn places(net: &Net) -> Vec<f64> {
    let mut places = vec![0.0; net.layer_of.len()];
    for layer in &net.layers {
        for (place, &vertex) in layer.iter().enumerate() {
            places[vertex] = (place as f64 + 0.5) / layer.len() as f64;
        }
    }
    places
}

/// How many pairs of lines cross between neighbouring columns.
pub(super) fn crossings(net: &Net) -> usize {
    let mut place = vec![0; net.layer_of.len()];
    for layer in &net.layers {
        layer.iter().enumerate().for_each(|(at, &vertex)| place[vertex] = at);
    }
    let mut crossed = 0;
    for pair in net.layers.windows(2) {
        // Lines sorted by their left end: each crosses those before it that end lower. Counted in a Fenwick tree.
        let mut tree = vec![0_usize; pair[1].len() + 1];
        let mut before = 0;
        for &vertex in &pair[0] {
            let mut ends: Vec<usize> = net.right[vertex].iter().map(|&end| place[end] + 1).collect();
            ends.sort_unstable();
            for &end in &ends {
                let (mut at, mut upper) = (end, 0);
                while at > 0 {
                    upper += tree[at];
                    at &= at - 1;
                }
                crossed += before - upper;
            }
            for end in ends {
                let mut at = end;
                while at < tree.len() {
                    tree[at] += 1;
                    at += at & at.wrapping_neg();
                }
                before += 1;
            }
        }
    }
    crossed
}
