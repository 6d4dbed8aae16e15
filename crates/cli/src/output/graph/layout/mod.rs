//! Where boxes and lines of a drawing go: columns from left to right, as few crossings and as straight lines as a few
//! sweeps find. Boxes never overlap, whatever the graph; the same graph is always drawn the same way.
//!
//! It must not know what boxes and lines mean.

mod layers;
mod net;
mod order;
mod place;

use net::Net;

/// What is to be laid out.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    /// How wide each box has to be at least.
    pub(super) widths: Vec<f64>,
    pub(super) links: Vec<Link>,
}

/// A line between two boxes; `left` should stand left of `right`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) left: usize,
    pub(super) right: usize,
    /// Lines of one class that leave the same box may share their way.
    pub(super) class: u8,
}

/// Where everything is. The left upper corner is at 0, 0.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    pub(super) boxes: Vec<Area>,
    /// For each link the way from its left end to its right end; nothing for a link of a box to itself.
    pub(super) routes: Vec<Option<Route>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A box.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A way through the columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Route {
    /// Each column that is passed: from where to where, and how high. The first and the last are the boxes themselves.
    pub(super) stops: Vec<Stop>,
    /// The link's `left` had to go to the right.
    pub(super) turned: bool,
}

/// A part of a way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Stop {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) y: f64,
}

/// How high a box is.
pub(super) const BOX_HEIGHT: f64 = 44.0;
/// Between columns, at least; more if many lines run there.
const COLUMN_GAP: f64 = 60.0;
const COLUMN_GAP_MORE: f64 = 60.0;
const GAP_PER_LINE: f64 = 1.5;

/// Lays it out.
pub(super) fn layout(shape: &Shape) -> Layout {
    let layers = layers::assign(shape.widths.len(), &shape.links);
    let mut net = Net::new(shape, &layers);
    order::sweep(&mut net);
    let heights = place::heights(&net);
    let boxed = shape.widths.len();
    let (mut columns, mut x) = (Vec::new(), 0.0);
    for layer in &net.layers {
        let width = layer.iter().filter_map(|vertex| shape.widths.get(*vertex)).copied().fold(0.0, f64::max);
        columns.push((x, x + width));
        let lines: usize = layer.iter().map(|vertex| net.right[*vertex].len()).sum();
        x += width + COLUMN_GAP + (lines as f64 * GAP_PER_LINE).min(COLUMN_GAP_MORE);
    }
    let column = |vertex: usize| columns[net.layer_of[vertex]];
    let area = |vertex: usize| {
        let (x, end) = column(vertex);
        Area { x, y: heights[vertex] - BOX_HEIGHT / 2.0, width: end - x, height: BOX_HEIGHT }
    };
    let stop = |vertex: &usize| {
        let (from, to) = column(*vertex);
        Stop { from, to, y: heights[*vertex] }
    };
    let route = |(chain, turned): &(Vec<usize>, bool)| {
        let stops: Vec<Stop> = chain.iter().map(stop).collect();
        (stops.len() > 1).then_some(Route { stops, turned: *turned })
    };
    let boxes: Vec<Area> = (0..boxed).map(area).collect();
    let way = net.way(&heights);
    Layout {
        routes: net.chains.iter().map(route).collect(),
        width: columns.last().map_or(0.0, |(_, end)| *end),
        height: boxes.iter().map(|area| area.y + area.height).fold(way, f64::max),
        boxes,
    }
}
