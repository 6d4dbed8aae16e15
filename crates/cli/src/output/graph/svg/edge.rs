//! The lines: gently curved between columns, straight where they pass one.

use crate::output::graph::layout::{Route, Stop};
use crate::output::graph::{Meaning, Picture, State};

/// How a meaning looks.
pub(super) struct Look {
    pub(super) colour: &'static str,
    /// More of the line.
    pub(super) stroke: &'static str,
    /// The head of its arrow, if it has one.
    pub(super) head: Option<&'static str>,
    /// How far from the middle of a box it begins and ends, so that lines of different meaning do not hide each other.
    beside: f64,
}

pub(super) fn look(meaning: Meaning, dying: bool) -> Look {
    match meaning {
        Meaning::Owns if dying => {
            Look { colour: "#e0837d", stroke: "stroke-width=\"1.5\"", head: Some("dying"), beside: -6.0 }
        }
        Meaning::Owns => {
            Look { colour: "#94a3b8", stroke: "stroke-width=\"1.5\"", head: Some("owns"), beside: -6.0 }
        }
        Meaning::Inside => {
            Look { colour: "#cbd5e1", stroke: "stroke-width=\"1.2\"", head: None, beside: 1.0 }
        }
        Meaning::DiesBefore { dropped: false } => Look {
            colour: "#7c3aed",
            stroke: "stroke-width=\"1.5\" stroke-dasharray=\"6 4\"",
            head: Some("before"),
            beside: 8.0,
        },
        Meaning::DiesBefore { dropped: true } => Look {
            colour: "#a8a29e",
            stroke: "stroke-width=\"1.4\" stroke-dasharray=\"1.5 4\" stroke-linecap=\"round\"",
            head: Some("dropped"),
            beside: 15.0,
        },
    }
}

/// The heads of all arrows.
pub(super) fn markers() -> String {
    let heads = [("owns", "#94a3b8"), ("dying", "#e0837d"), ("before", "#7c3aed"), ("dropped", "#a8a29e")];
    let marker = |(id, colour): (&str, &str)| {
        format!(
            "<marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto-start-reverse\"><path d=\"M0 0.6 L8 4 L0 7.4 L1.8 4 Z\" \
             fill=\"{colour}\"/></marker>\n"
        )
    };
    heads.into_iter().map(marker).collect()
}

/// The line of a link.
pub(super) fn draw(picture: &Picture, link: (usize, usize, Meaning), route: Option<&Route>) -> String {
    let Some(route) = route else { return String::new() };
    let (from, to, meaning) = link;
    let dies = |place: usize| {
        picture
            .nodes
            .get(place)
            .is_some_and(|node| matches!(node.state, State::Doomed { .. } | State::Marked))
    };
    let look = look(meaning, dies(from) && dies(to));
    // The way is from left to right. An arrow points to what the edge leads to: owners stand on the left, but so do
    // those who die later.
    let to_the_right = matches!(meaning, Meaning::Owns) != route.turned;
    let arrow = match (look.head, to_the_right) {
        (None, _) => String::new(),
        (Some(head), true) => format!(" marker-end=\"url(#{head})\""),
        (Some(head), false) => format!(" marker-start=\"url(#{head})\""),
    };
    let (colour, stroke) = (look.colour, look.stroke);
    let way = path(&route.stops, look.beside);
    format!("<path d=\"{way}\" fill=\"none\" stroke=\"{colour}\" {stroke}{arrow}/>\n")
}

fn path(stops: &[Stop], beside: f64) -> String {
    let [first, inner @ .., last] = stops else { return String::new() };
    let (mut x, mut y) = (first.to, first.y + beside);
    let mut path = format!("M{x} {y}");
    let end = Stop { y: last.y + beside, to: last.from, ..*last };
    for stop in inner.iter().chain([&end]) {
        let middle = (x + stop.from) / 2.0;
        path.push_str(&format!(" C{middle} {y} {middle} {} {} {}", stop.y, stop.from, stop.y));
        if stop.to > stop.from {
            path.push_str(&format!(" H{}", stop.to));
        }
        (x, y) = (stop.to, stop.y);
    }
    path
}
