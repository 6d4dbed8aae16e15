//! The boxes: what it is in small letters, its name, and how it is with it.

use super::font;
use crate::output::graph::escape::xml;
use crate::output::graph::layout::Area;
use crate::output::graph::{Node, State};
use crate::output::style::count;

const NAME_SIZE: f64 = 14.0;
const KIND_SIZE: f64 = 11.0;
const PADDING: f64 = 14.0;
const WIDTH_LEAST: f64 = 104.0;
/// Longer names lose their middle; the whole name is shown as a tooltip.
const WIDTH_MOST: f64 = 216.0;

/// How a state looks.
pub(super) struct Look {
    pub(super) fill: &'static str,
    pub(super) line: &'static str,
    name: &'static str,
    kind: &'static str,
    /// More of the box.
    pub(super) frame: &'static str,
    /// More of the name.
    letters: &'static str,
}

pub(super) fn look(state: State) -> Look {
    let calm = Look {
        fill: "#ffffff",
        line: "#94a3b8",
        name: "#0f172a",
        kind: "#64748b",
        frame: "stroke-width=\"1.2\"",
        letters: "",
    };
    match state {
        State::Alive => calm,
        State::Doomed { .. } => Look {
            fill: "#fef2f2",
            line: "#dc2626",
            name: "#7f1d1d",
            kind: "#b91c1c",
            frame: "stroke-width=\"1.6\"",
            ..calm
        },
        State::Marked => Look {
            fill: "#fff7ed",
            line: "#ea580c",
            name: "#7c2d12",
            kind: "#c2410c",
            frame: "stroke-width=\"1.6\"",
            ..calm
        },
        State::Destroyed => Look {
            fill: "#f1f5f9",
            line: "#cbd5e1",
            name: "#94a3b8",
            kind: "#94a3b8",
            letters: " text-decoration=\"line-through\"",
            ..calm
        },
        State::Protected => {
            Look { line: "#1d4ed8", name: "#1e3a8a", kind: "#1d4ed8", frame: "stroke-width=\"2.6\"", ..calm }
        }
        State::Absent => Look {
            fill: "#fbfcfe",
            name: "#64748b",
            kind: "#94a3b8",
            frame: "stroke-width=\"1.2\" stroke-dasharray=\"4 3\"",
            letters: " font-style=\"italic\"",
            ..calm
        },
    }
}

/// `Vm · team-a`
fn above(node: &Node) -> String {
    match (node.kind.is_empty(), node.namespace.is_empty()) {
        (_, true) => node.kind.clone(),
        (true, false) => node.namespace.clone(),
        (false, false) => format!("{} · {}", node.kind, node.namespace),
    }
}

/// How wide its box has to be.
pub(super) fn width(node: &Node) -> f64 {
    let text = font::width(node.name(), NAME_SIZE).max(font::width(&above(node), KIND_SIZE));
    // Rounded, so that columns of similar names are equally wide.
    let wide = ((text + 2.0 * PADDING) / 8.0).ceil() * 8.0;
    wide.clamp(WIDTH_LEAST, WIDTH_MOST)
}

/// The box. `own`: it refers to itself.
pub(super) fn draw(node: &Node, area: Area, own: bool) -> String {
    let Area { x, y, width, height } = area;
    let look = look(node.state);
    let room = width - 2.0 * PADDING + 4.0;
    let (above, name) = (font::fit(&above(node), KIND_SIZE, room), font::fit(node.name(), NAME_SIZE, room));
    let mut told = node.label.clone();
    if !node.namespace.is_empty() {
        told.push_str(&format!(" in {}", node.namespace));
    }
    if let Some(word) = node.state.word() {
        told.push_str(&format!(", {word}"));
    }
    let (fill, line, frame) = (look.fill, look.line, look.frame);
    let mut out = format!("<g>\n<title>{}</title>\n", xml(&told));
    out.push_str(&format!(
        "<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"9\" fill=\"{fill}\" \
         stroke=\"{line}\" {frame}/>\n"
    ));
    if node.state == State::Protected {
        out.push_str(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"none\" stroke=\"{line}\" \
             stroke-width=\"0.8\"/>\n",
            x + 3.5,
            y + 3.5,
            width - 7.0,
            height - 7.0,
        ));
    }
    let left = x + PADDING;
    out.push_str(&format!(
        "<text x=\"{left}\" y=\"{}\" font-size=\"{KIND_SIZE}\" fill=\"{}\">{}</text>\n",
        y + 17.0,
        look.kind,
        xml(&above),
    ));
    out.push_str(&format!(
        "<text x=\"{left}\" y=\"{}\" font-size=\"{NAME_SIZE}\" font-weight=\"600\" fill=\"{}\"{}>{}</text>\n",
        y + 34.0,
        look.name,
        look.letters,
        xml(&name),
    ));
    if own {
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"13\" text-anchor=\"end\" fill=\"{}\">↻</text>\n",
            x + width - 8.0,
            y + height - 8.0,
            look.kind,
        ));
    }
    if let State::Doomed { order } = node.state {
        out.push_str(&badge(&count(order), x + width - 6.0, y, line));
    }
    out.push_str("</g>\n");
    out
}

/// The number of a wave, on the corner that ends at `right`.
pub(super) fn badge(number: &str, right: f64, middle: f64, colour: &str) -> String {
    let width = (font::width(number, 11.0) + 11.0).max(20.0).round();
    let x = right - width;
    format!(
        "<rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"18\" rx=\"9\" fill=\"{colour}\" stroke=\"#fbfcfe\" \
         stroke-width=\"2\"/>\n<text x=\"{}\" y=\"{}\" font-size=\"11\" font-weight=\"700\" text-anchor=\"middle\" \
         fill=\"#ffffff\">{number}</text>\n",
        middle - 9.0,
        x + width / 2.0,
        middle + 4.0,
    )
}
