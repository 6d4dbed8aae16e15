//! A picture for Graphviz.

use super::escape::dot as escape;
use super::{Meaning, Node, Picture, State};
use crate::output::style::count;

/// The picture as a `digraph`. Owners stand left of what they own.
pub(crate) fn dot(picture: &Picture) -> String {
    let title = escape(&picture.title);
    let mut text = format!(
        "digraph sexton {{\n  graph [rankdir=LR, label=\"{title}\", labelloc=t, fontname=\"sans-serif\"];\n  \
         node [shape=box, style=\"rounded,filled\", fillcolor=white, color=\"#64748b\", fontname=\"sans-serif\"];\n  \
         edge [color=\"#64748b\"];\n"
    );
    for (place, node) in picture.nodes.iter().enumerate() {
        text.push_str(&format!("  n{place} [label=\"{}\"{}];\n", label(node), look(node.state)));
    }
    if picture.more > 0 {
        text.push_str(&format!(
            "  more [label=\"and {} more\", shape=plaintext, style=\"\"];\n",
            count(picture.more)
        ));
    }
    for (from, to, meaning) in picture.links() {
        // Like owners, containers and objects that are destroyed later are on the left: the edge starts there.
        let (left, right, look) = match meaning {
            Meaning::Owns => (from, to, ""),
            Meaning::DiesBefore { dropped: false } => {
                (to, from, " [dir=back, style=dashed, color=\"#7c3aed\"]")
            }
            Meaning::DiesBefore { dropped: true } => {
                (to, from, " [dir=back, style=dotted, color=\"#a1a1aa\"]")
            }
            Meaning::Inside => (to, from, " [dir=none, color=\"#cbd5e1\"]"),
        };
        text.push_str(&format!("  n{left} -> n{right}{look};\n"));
    }
    text.push_str("}\n");
    text
}

fn label(node: &Node) -> String {
    let mut label = escape(&node.label);
    if !node.namespace.is_empty() {
        label.push_str(&format!("\\nin {}", escape(&node.namespace)));
    }
    if let Some(word) = node.state.word() {
        label.push_str(&format!("\\n{word}"));
    }
    label
}

fn look(state: State) -> &'static str {
    match state {
        State::Alive => "",
        State::Doomed { .. } => ", fillcolor=\"#fef2f2\", color=\"#dc2626\", fontcolor=\"#991b1b\"",
        State::Marked => ", fillcolor=\"#fff7ed\", color=\"#ea580c\", fontcolor=\"#9a3412\"",
        State::Destroyed => ", fillcolor=\"#f1f5f9\", color=\"#cbd5e1\", fontcolor=\"#94a3b8\"",
        State::Protected => ", color=\"#1d4ed8\", penwidth=2, peripheries=2",
        State::Absent => ", style=\"rounded,dashed\", color=\"#94a3b8\", fontcolor=\"#64748b\"",
    }
}
