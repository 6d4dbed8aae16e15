//! A picture for Mermaid, which many places that show Markdown draw.

use super::escape::mermaid as escape;
use super::{Meaning, Node, Picture, State};
use crate::output::style::count;

/// How each state looks, by the name of its class.
const CLASSES: &[(&str, &str)] = &[
    ("doomed", "fill:#fef2f2,stroke:#dc2626,color:#991b1b"),
    ("marked", "fill:#fff7ed,stroke:#ea580c,color:#9a3412"),
    ("destroyed", "fill:#f1f5f9,stroke:#cbd5e1,color:#94a3b8"),
    ("protected", "stroke:#1d4ed8,stroke-width:3px"),
    ("absent", "fill:none,stroke:#94a3b8,stroke-dasharray:4 3,color:#64748b"),
];

/// The picture as a `flowchart`. Owners stand left of what they own.
pub(crate) fn mermaid(picture: &Picture) -> String {
    // The title is YAML, and a string of JSON is one of YAML.
    let title = serde_json::Value::from(picture.title.as_str());
    let mut text = format!("---\ntitle: {title}\n---\nflowchart LR\n");
    for (place, node) in picture.nodes.iter().enumerate() {
        let class = class(node.state).map(|class| format!(":::{class}")).unwrap_or_default();
        text.push_str(&format!("  n{place}[\"{}\"]{class}\n", label(node)));
    }
    if picture.more > 0 {
        text.push_str(&format!("  more[\"and {} more\"]\n", count(picture.more)));
    }
    for (from, to, meaning) in picture.links() {
        let line = match meaning {
            Meaning::Owns => format!("n{from} --> n{to}"),
            Meaning::DiesBefore { dropped: false } => format!("n{from} -. dies before .-> n{to}"),
            Meaning::DiesBefore { dropped: true } => format!("n{from} -. order given up .-> n{to}"),
            Meaning::Inside => format!("n{to} -- contains --- n{from}"),
        };
        text.push_str(&format!("  {line}\n"));
    }
    let used = |name: &str| picture.nodes.iter().any(|node| class(node.state) == Some(name));
    for (name, look) in CLASSES.iter().filter(|(name, _)| used(name)) {
        text.push_str(&format!("  classDef {name} {look}\n"));
    }
    text
}

fn label(node: &Node) -> String {
    let mut label = escape(&node.label);
    if !node.namespace.is_empty() {
        label.push_str(&format!("<br/>in {}", escape(&node.namespace)));
    }
    if let Some(word) = node.state.word() {
        label.push_str(&format!("<br/>{word}"));
    }
    label
}

fn class(state: State) -> Option<&'static str> {
    match state {
        State::Alive => None,
        State::Doomed { .. } => Some("doomed"),
        State::Marked => Some("marked"),
        State::Destroyed => Some("destroyed"),
        State::Protected => Some("protected"),
        State::Absent => Some("absent"),
    }
}
