//! The order of the vertices in each column: each near the middle of its neighbours, as long as crossings get fewer.

use std::collections::HashMap;

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
    for vertex in 0..net.layer_of.len() {
        tidy_up(net, vertex);
    }
}

/// What hangs on one vertex alone takes its natural order again, as far as that makes no more crossings.
fn tidy_up(net: &mut Net, vertex: usize) {
    let own: Vec<usize> = net.fan(vertex).into_iter().filter(|&to| net.left[to].len() == 1).collect();
    let layer = net.layer_of[vertex] + 1;
    if own.len() < 2 {
        return;
    }
    let before = net.layers[layer].clone();
    let crossed = |net: &Net| crossings_before(net, layer) + crossings_before(net, layer + 1);
    let best = crossed(net);
    let mut own = own.into_iter();
    let places = before.iter().map(|&at| match net.left[at][..] {
        [only] if only == vertex => own.next().unwrap_or(at),
        _ => at,
    });
    net.layers[layer] = places.collect();
    if crossed(net) > best {
        net.layers[layer] = before;
    }
}

/// Sorts a column by the mean place of the neighbours on one side; a vertex without neighbours keeps its place.
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

/// How many pairs of lines cross.
fn crossings(net: &Net) -> usize {
    (1..net.layers.len()).map(|layer| crossings_before(net, layer)).sum()
}

/// How many pairs of lines cross between a column and the one to its left.
fn crossings_before(net: &Net, layer: usize) -> usize {
    let (Some(left), Some(right)) = (net.layers.get(layer.wrapping_sub(1)), net.layers.get(layer)) else {
        return 0;
    };
    let place: HashMap<usize, usize> = right.iter().enumerate().map(|(at, &vertex)| (vertex, at)).collect();
    // Lines sorted by their left end: each crosses those before it that end lower. Counted in a Fenwick tree.
    let mut tree = vec![0_usize; right.len() + 1];
    let (mut before, mut crossed) = (0, 0);
    for &vertex in left {
        let ends = || net.right[vertex].iter().filter_map(|end| place.get(end)).map(|place| place + 1);
        for end in ends() {
            let (mut at, mut upper) = (end, 0);
            while at > 0 {
                upper += tree[at];
                at &= at - 1;
            }
            crossed += before - upper;
        }
        for end in ends() {
            let mut at = end;
            while at < tree.len() {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
            before += 1;
        }
    }
    crossed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Two columns of boxes and the lines between them.
    fn net(left: usize, right: usize, pairs: &[(usize, usize)]) -> Net {
        let mut net = Net { boxes: left + right, ..Net::default() };
        net.layers = vec![(0..left).collect(), (left..left + right).collect()];
        net.layer_of = (0..left + right).map(|at| usize::from(at >= left)).collect();
        (net.left, net.right) = (vec![Vec::new(); left + right], vec![Vec::new(); left + right]);
        for (from, to) in pairs {
            net.right[*from].push(left + to);
            net.left[left + to].push(*from);
        }
        net
    }

    fn crossed(a: &(usize, usize), b: &(usize, usize)) -> bool {
        (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1)
    }

    proptest! {
        #[test]
        fn crossings_are_counted_as_a_child_would(
            pairs in prop::collection::btree_set((0..9_usize, 0..9_usize), 0..30),
        ) {
            let pairs: Vec<_> = pairs.into_iter().collect();
            let others = |at: usize, a| pairs[at + 1..].iter().filter(move |b| crossed(a, b)).count();
            let naive: usize = pairs.iter().enumerate().map(|(at, a)| others(at, a)).sum();
            let mut net = net(9, 9, &pairs);
            prop_assert_eq!(crossings(&net), naive);
            sweep(&mut net);
            prop_assert!(crossings(&net) <= naive);
        }
    }
}
