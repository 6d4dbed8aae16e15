//! A picture for programs: one JSON document per line, a version in the first.

use serde::Serialize;

use super::{Edge, Node, Picture};
use crate::output::ndjson::line;

#[derive(Serialize)]
struct Head<'a> {
    version: u32,
    kind: &'a str,
    title: &'a str,
    nodes: usize,
    edges: usize,
    more: usize,
}

/// Any further line. A node has a kind of its own, so it stands one level deeper.
#[derive(Serialize)]
#[serde(tag = "kind")]
enum Line<'a> {
    Node { node: &'a Node },
    Edge { edge: &'a Edge },
}

/// The whole picture, nodes first.
pub(crate) fn ndjson(picture: &Picture) -> String {
    let Picture { title, nodes, edges, more } = picture;
    let head =
        Head { version: 1, kind: "Picture", title, nodes: nodes.len(), edges: edges.len(), more: *more };
    let nodes = nodes.iter().map(|node| Line::Node { node });
    let edges = edges.iter().map(|edge| Line::Edge { edge });
    std::iter::once(line(&head)).chain(nodes.chain(edges).map(|document| line(&document))).collect()
}
