//! A picture for programs: lines of a stream.

use super::Picture;
use crate::output::ndjson::{Event, line};

/// The whole picture, nodes first. A node has a kind of its own, so it stands one level deeper.
pub(crate) fn ndjson(picture: &Picture) -> String {
    let Picture { title, nodes, edges, more, .. } = picture;
    let head = Event::Picture { title, nodes: nodes.len(), edges: edges.len(), more: *more };
    let nodes = nodes.iter().map(|node| Event::Node { node });
    let edges = edges.iter().map(|edge| Event::Edge { edge });
    std::iter::once(head).chain(nodes).chain(edges).map(|event| line(&event)).collect()
}
