//! The graph with a stop in every column that a line passes, so that lines find their way between boxes.

use std::collections::{BTreeSet, HashMap};

use super::layers::Layers;
use super::place::{BOX_GAP, LINE_GAP};
use super::{BOX_HEIGHT, Shape};

/// Boxes come first, then the stops of lines. All neighbours are one column away.
#[derive(Debug, Clone, Default)]
pub(super) struct Net {
    pub(super) boxes: usize,
    /// The vertices of each column, from top to bottom.
    pub(super) layers: Vec<Vec<usize>>,
    pub(super) layer_of: Vec<usize>,
    /// Neighbours in the column to the left, and to the right.
    pub(super) left: Vec<Vec<usize>>,
    pub(super) right: Vec<Vec<usize>>,
    /// The way of each link, from left to right, and whether it was turned round.
    pub(super) chains: Vec<(Vec<usize>, bool)>,
}

impl Net {
    pub(super) fn new(shape: &Shape, layers: &Layers) -> Net {
        let boxes = shape.widths.len();
        let mut net = Net { boxes, layer_of: layers.of.clone(), ..Net::default() };
        // Lines of one class from the same box to columns further on share their stops.
        let mut shared: HashMap<(usize, u8, usize), usize> = HashMap::new();
        let mut pairs = BTreeSet::new();
        for (link, turned) in shape.links.iter().zip(&layers.turned) {
            if link.left == link.right {
                net.chains.push((Vec::new(), false));
                continue;
            }
            let (from, to) = if *turned { (link.right, link.left) } else { (link.left, link.right) };
            let mut chain = vec![from];
            for layer in layers.of[from] + 1..layers.of[to] {
                let fresh = net.layer_of.len();
                let stop = *shared.entry((from, link.class, layer)).or_insert(fresh);
                if stop == fresh {
                    net.layer_of.push(layer);
                }
                chain.push(stop);
            }
            chain.push(to);
            pairs.extend(chain.windows(2).map(|pair| (pair[0], pair[1])));
            net.chains.push((chain, *turned));
        }
        let count = net.layer_of.len();
        (net.left, net.right) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (from, to) in pairs {
            net.right[from].push(to);
            net.left[to].push(from);
        }
        let last = net.layer_of.iter().max().map_or(0, |last| last + 1);
        net.layers = vec![Vec::new(); last];
        for vertex in net.walk() {
            net.layers[net.layer_of[vertex]].push(vertex);
        }
        net
    }

    /// All vertices in the order of a walk through the depth: what hangs together begins side by side.
    fn walk(&self) -> Vec<usize> {
        let count = self.layer_of.len();
        let (mut seen, mut order) = (vec![false; count], Vec::with_capacity(count));
        let mut starts: Vec<usize> = (0..count).collect();
        starts.sort_by_key(|&vertex| (self.right[vertex].is_empty(), self.layer_of[vertex], vertex));
        for start in starts {
            let mut stack = vec![start];
            while let Some(vertex) = stack.pop() {
                if !std::mem::replace(&mut seen[vertex], true) {
                    order.push(vertex);
                    stack.extend(self.fan(vertex).into_iter().rev());
                }
            }
        }
        order
    }

    /// What a vertex leads to: the lines that go on in the middle, so that what is behind stands in the middle, too.
    pub(super) fn fan(&self, vertex: usize) -> Vec<usize> {
        let (mut fan, lines): (Vec<usize>, Vec<usize>) =
            self.right[vertex].iter().partition(|&&to| to < self.boxes);
        let middle = fan.len() / 2;
        fan.splice(middle..middle, lines);
        fan
    }

    /// How high a vertex is.
    pub(super) fn height(&self, vertex: usize) -> f64 {
        if vertex < self.boxes { BOX_HEIGHT } else { 0.0 }
    }

    /// How far the middles of two vertices of a column have to be apart.
    pub(super) fn apart(&self, upper: usize, lower: usize) -> f64 {
        let gap = if upper < self.boxes && lower < self.boxes { BOX_GAP } else { LINE_GAP };
        (self.height(upper) + self.height(lower)) / 2.0 + gap
    }

    /// The lowest point of all lines.
    pub(super) fn way(&self, heights: &[f64]) -> f64 {
        heights.iter().skip(self.boxes).copied().fold(0.0, f64::max)
    }
}
