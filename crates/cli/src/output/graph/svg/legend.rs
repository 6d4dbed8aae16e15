//! The legend: colours and lines that occur in the picture, with their meanings.

use super::{edge, font, node};
use crate::output::graph::escape::xml;
use crate::output::graph::{Meaning, Picture, State};
use crate::output::style::count;

const SIZE: f64 = 12.0;
const ROW: f64 = 26.0;
/// A sample, and the space behind it.
const SAMPLE: f64 = 30.0;
const AFTER_SAMPLE: f64 = 8.0;
const BETWEEN: f64 = 24.0;

/// A legend, drawn from 0, 0.
pub(super) struct Legend {
    pub(super) text: String,
    pub(super) height: f64,
}

/// The legend of a picture, in as many rows as it takes.
pub(super) fn legend(picture: &Picture, links: &[(usize, usize, Meaning)], room: f64) -> Legend {
    let mut items: Vec<(String, String)> = Vec::new();
    if picture.more > 0 {
        items.push((pile(), format!("{} more are not drawn", count(picture.more))));
    }
    items.extend(states(picture).into_iter().map(|(state, words)| (sample_box(state), words.to_owned())));
    items
        .extend(meanings(links).into_iter().map(|(meaning, words)| (sample_line(meaning), words.to_owned())));
    let (mut x, mut y, mut text) = (0.0, 0.0, String::new());
    for (sample, words) in items {
        let width = SAMPLE + AFTER_SAMPLE + font::width(&words, SIZE);
        if x > 0.0 && x + width > room {
            (x, y) = (0.0, y + ROW);
        }
        text.push_str(&format!(
            "<g transform=\"translate({x} {y})\">\n{sample}<text x=\"{}\" y=\"14\" font-size=\"{SIZE}\" \
             fill=\"#475569\">{}</text>\n</g>\n",
            SAMPLE + AFTER_SAMPLE,
            xml(&words),
        ));
        x = (x + width + BETWEEN).round();
    }
    let height = if text.is_empty() { 0.0 } else { y + ROW - 6.0 };
    Legend { text, height }
}

fn states(picture: &Picture) -> Vec<(State, &'static str)> {
    let all = [
        (State::Doomed { order: 1 }, "dies, in this wave"),
        (State::Marked, "being destroyed"),
        (State::Destroyed, "destroyed"),
        (State::Protected, "protected"),
        (State::Absent, "not there"),
    ];
    let same = |a: State, b: State| std::mem::discriminant(&a) == std::mem::discriminant(&b);
    let used = |state: State| picture.nodes.iter().any(|node| same(node.state, state));
    all.into_iter().filter(|(state, _)| used(*state)).collect()
}

fn meanings(links: &[(usize, usize, Meaning)]) -> Vec<(Meaning, &'static str)> {
    let all = [
        (Meaning::Owns, "owns"),
        (Meaning::Inside, "contains"),
        (Meaning::DiesBefore { dropped: false }, "dies before"),
        (Meaning::DiesBefore { dropped: true }, "order given up"),
    ];
    all.into_iter().filter(|(meaning, _)| links.iter().any(|(_, _, used)| used == meaning)).collect()
}

fn sample_box(state: State) -> String {
    let look = node::look(state);
    let (fill, line, frame) = (look.fill, look.line, look.frame);
    let mut sample = format!(
        "<rect x=\"1\" y=\"1\" width=\"28\" height=\"17\" rx=\"5\" fill=\"{fill}\" stroke=\"{line}\" {frame}/>\n"
    );
    match state {
        State::Doomed { .. } => sample.push_str(&node::badge("1", 31.0, 4.0, line)),
        State::Destroyed => {
            sample.push_str(&format!("<path d=\"M7 9.5 H23\" stroke=\"{line}\" stroke-width=\"1.5\"/>\n"));
        }
        _ => {}
    }
    sample
}

fn sample_line(meaning: Meaning) -> String {
    let look = edge::look(meaning, false);
    let (colour, stroke) = (look.colour, look.stroke);
    let mut sample = format!("<path d=\"M0 10 H30\" fill=\"none\" stroke=\"{colour}\" {stroke}/>\n");
    if look.arrow {
        sample.push_str(&edge::head(30.0, 10.0, true, colour));
    }
    sample
}

/// Several cards on top of each other.
fn pile() -> String {
    let card = |shift: f64| {
        format!(
            "<rect x=\"{}\" y=\"{}\" width=\"22\" height=\"13\" rx=\"4\" fill=\"#ffffff\" stroke=\"#94a3b8\"/>\n",
            8.0 - shift,
            1.0 + shift,
        )
    };
    [0.0, 3.0, 6.0].map(card).concat()
}
