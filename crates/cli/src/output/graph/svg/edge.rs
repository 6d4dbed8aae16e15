//! The lines: gently curved between columns, straight where they pass one.

use std::collections::{BTreeMap, BTreeSet};

use crate::output::graph::layout::{Route, Stop};
use crate::output::graph::{Meaning, Picture, State};

/// How a meaning looks.
pub(super) struct Look {
    pub(super) colour: &'static str,
    /// More of the line.
    pub(super) stroke: &'static str,
    /// Whether it has a head.
    pub(super) arrow: bool,
}

pub(super) fn look(meaning: Meaning, dying: bool) -> Look {
    match meaning {
        Meaning::Owns if dying => Look { colour: "#e0837d", stroke: "stroke-width=\"1.5\"", arrow: true },
        Meaning::Owns => Look { colour: "#94a3b8", stroke: "stroke-width=\"1.5\"", arrow: true },
        Meaning::Inside => Look { colour: "#cbd5e1", stroke: "stroke-width=\"1.2\"", arrow: false },
        Meaning::DiesBefore { dropped: false } => {
            Look { colour: "#7c3aed", stroke: "stroke-width=\"1.5\" stroke-dasharray=\"6 4\"", arrow: true }
        }
        Meaning::DiesBefore { dropped: true } => Look {
            colour: "#a8a29e",
            stroke: "stroke-width=\"1.4\" stroke-dasharray=\"1.5 4\" stroke-linecap=\"round\"",
            arrow: true,
        },
    }
}

/// The head of an arrow. Lines reach boxes level, so it points to the right or to the left and nowhere else.
pub(super) fn head(x: f64, y: f64, right: bool, colour: &str) -> String {
    let back = if right { -8.0 } else { 8.0 };
    let (far, near) = (x + back, x + back * 0.78);
    let (upper, lower) = (y - 3.6, y + 3.6);
    format!("<path d=\"M{x} {y} L{far} {upper} L{near} {y} L{far} {lower} Z\" fill=\"{colour}\"/>\n")
}

/// Lines of different meaning leave a box this far from each other, so that none hides another.
const BESIDE: f64 = 10.0;

/// Where lines leave boxes: which meanings there are on each side of each box.
#[derive(Default)]
pub(super) struct Ports(BTreeMap<(usize, Side), BTreeSet<Meaning>>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
}

/// The boxes at the left and at the right end of a line.
fn ends((from, to, meaning): (usize, usize, Meaning), route: &Route) -> (usize, usize) {
    if points_right(meaning, route) { (from, to) } else { (to, from) }
}

/// Whether the edge points from left to right. Owners are on the left, and so are objects that are destroyed later.
fn points_right(meaning: Meaning, route: &Route) -> bool {
    (meaning == Meaning::Owns) != route.turned
}

impl Ports {
    pub(super) fn new(links: &[(usize, usize, Meaning)], routes: &[Option<Route>]) -> Ports {
        let mut ports = Ports::default();
        for (link, route) in links.iter().zip(routes) {
            let Some(route) = route else { continue };
            let (left, right) = ends(*link, route);
            ports.0.entry((left, Side::Right)).or_default().insert(link.2);
            ports.0.entry((right, Side::Left)).or_default().insert(link.2);
        }
        ports
    }

    /// How far from the middle of the box.
    fn beside(&self, place: usize, side: Side, meaning: Meaning) -> f64 {
        let Some(all) = self.0.get(&(place, side)) else { return 0.0 };
        let before = all.iter().take_while(|other| **other != meaning).count();
        (before as f64 - (all.len() as f64 - 1.0) / 2.0) * BESIDE
    }
}

/// The line of a link.
pub(super) fn draw(
    picture: &Picture,
    link: (usize, usize, Meaning),
    route: Option<&Route>,
    ports: &Ports,
) -> String {
    let Some(route) = route else { return String::new() };
    let (from, to, meaning) = link;
    let dies = |place: usize| {
        picture
            .nodes
            .get(place)
            .is_some_and(|node| matches!(node.state, State::Doomed { .. } | State::Marked))
    };
    let look = look(meaning, dies(from) && dies(to));
    let (colour, stroke) = (look.colour, look.stroke);
    let (left, right) = ends(link, route);
    let mut stops = route.stops.clone();
    if let [first, .., last] = &mut stops[..] {
        first.y += ports.beside(left, Side::Right, meaning);
        last.y += ports.beside(right, Side::Left, meaning);
        // It ends at the box, and does not pass it.
        last.to = last.from;
    }
    let mut line = format!("<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" {stroke}/>\n", path(&stops));
    if let ([first, .., last], true) = (&stops[..], look.arrow) {
        line.push_str(&match points_right(meaning, route) {
            true => head(last.from, last.y, true, colour),
            false => head(first.to, first.y, false, colour),
        });
    }
    line
}

fn path(stops: &[Stop]) -> String {
    let Some((first, others)) = stops.split_first() else { return String::new() };
    let (mut x, mut y) = (first.to, first.y);
    let mut path = format!("M{x} {y}");
    for stop in others {
        let middle = (x + stop.from) / 2.0;
        path.push_str(&format!(" C{middle} {y} {middle} {} {} {}", stop.y, stop.from, stop.y));
        if stop.to > stop.from {
            path.push_str(&format!(" H{}", stop.to));
        }
        (x, y) = (stop.to, stop.y);
    }
    path
}
