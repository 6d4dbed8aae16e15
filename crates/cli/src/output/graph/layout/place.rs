//! How high everything stands: as near to the middle of its neighbours as the others in its column allow.

use super::net::Net;

/// Between two boxes of a column.
pub(super) const BOX_GAP: f64 = 18.0;
/// Between a line and a box, or two lines.
pub(super) const LINE_GAP: f64 = 12.0;
/// There and back counts as two.
const SWEEPS: usize = 24;
/// The weight of a vertex without neighbours, which hardly pulls at its column.
const LOOSE: f64 = 0.01;
/// Lines should be straight where they pass a column.
const STRAIGHT: f64 = 3.0;

/// The height of the middle of each vertex; the uppermost box begins at 0.
pub(super) fn heights(net: &Net) -> Vec<f64> {
    let mut heights = vec![0.0; net.layer_of.len()];
    for layer in &net.layers {
        // All columns begin centred.
        let offsets = offsets(net, layer);
        let middle = offsets.last().copied().unwrap_or(0.0) / 2.0;
        layer.iter().zip(offsets).for_each(|(&vertex, offset)| heights[vertex] = offset - middle);
    }
    let columns = net.layers.len();
    for sweep in 0..SWEEPS {
        let both = sweep + 4 >= SWEEPS;
        for step in 0..columns {
            let layer = if sweep % 2 == 0 { step } else { columns - 1 - step };
            settle(net, layer, sweep % 2 == 0, both, &mut heights);
        }
    }
    let top =
        (0..heights.len()).map(|vertex| heights[vertex] - net.height(vertex) / 2.0).fold(f64::MAX, f64::min);
    heights.iter_mut().for_each(|height| *height = (*height - top).round());
    heights
}

/// How far each of a column is at least below the first.
fn offsets(net: &Net, layer: &[usize]) -> Vec<f64> {
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (place, &vertex) in layer.iter().enumerate() {
        if let Some(&upper) = place.checked_sub(1).and_then(|upper| layer.get(upper)) {
            offset += net.apart(upper, vertex);
        }
        offsets.push(offset);
    }
    offsets
}

/// Moves a column as near to where its vertices want to be as their order and distances allow.
///
/// The least sum of squares under an order is found by merging neighbours that push each other into one block.
fn settle(net: &Net, layer: usize, rightwards: bool, both: bool, heights: &mut [f64]) {
    let layer = &net.layers[layer];
    let offsets = offsets(net, layer);
    // Blocks: the sum of weights, the weighted sum of wishes, how many.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (&vertex, offset) in layer.iter().zip(&offsets) {
        let (wish, weight) = wish(net, vertex, rightwards, both, heights);
        blocks.push((weight, weight * (wish - offset), 1));
        while let [.., upper, lower] = blocks[..]
            && upper.1 / upper.0 > lower.1 / lower.0
        {
            blocks.truncate(blocks.len() - 2);
            blocks.push((upper.0 + lower.0, upper.1 + lower.1, upper.2 + lower.2));
        }
    }
    let settled = blocks.iter().flat_map(|(weight, sum, count)| std::iter::repeat_n(sum / weight, *count));
    for ((&vertex, offset), base) in layer.iter().zip(&offsets).zip(settled) {
        heights[vertex] = base + offset;
    }
}

/// Where a vertex would like to be, and how much.
fn wish(net: &Net, vertex: usize, rightwards: bool, both: bool, heights: &[f64]) -> (f64, f64) {
    let (left, right) = (&net.left[vertex], &net.right[vertex]);
    let used: [&[usize]; 2] = match (both, rightwards) {
        (true, _) => [left, right],
        (false, true) => [left, &[]],
        (false, false) => [right, &[]],
    };
    let count = used[0].len() + used[1].len();
    if count == 0 {
        return (heights[vertex], LOOSE);
    }
    let sum: f64 = used.iter().flat_map(|near| near.iter()).map(|&near| heights[near]).sum();
    (sum / count as f64, if vertex < net.boxes { 1.0 } else { STRAIGHT })
}
