//! A picture of resources: which one owns, precedes or contains which other one, and which are doomed.
//!
//! - [`dot`], [`mermaid`]: for programs that draw. [`svg`]: drawn here, by [`layout`]. [`json`]: for other programs.
//! - [`select`]: which of too many are drawn. [`escape`]: names as each form takes them.
//!
//! It must not know where resources come from.

pub(crate) mod dot;
mod escape;
pub(crate) mod json;
mod layout;
pub(crate) mod mermaid;
mod select;
pub(crate) mod svg;
#[cfg(test)]
mod tests;

use serde::Serialize;

use super::style::count;

/// What is drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Picture {
    /// What it shows: `Cluster/prod on .sexton (embedded)`.
    pub(crate) title: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// How many resources there are besides.
    pub(crate) more: usize,
    /// What it is about, by id: drawn in any case.
    pub(crate) roots: Vec<String>,
}

/// How many resources of a picture are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// All of them.
    All,
    /// The most interesting ones.
    AtMost(usize),
}

impl Size {
    /// More than this cannot be read at a glance.
    pub(crate) const READABLE: Size = Size::AtMost(50);
}

/// A resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Node {
    /// What edges call it; a uid, for instance.
    pub(crate) id: String,
    /// `Vm/web-1`
    pub(crate) label: String,
    /// `Vm`
    pub(crate) kind: String,
    /// Empty: none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) namespace: String,
    #[serde(flatten)]
    pub(crate) state: State,
}

/// The state of a resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub(crate) enum State {
    #[default]
    Alive,
    /// In the plan: it would be destroyed, or is about to be.
    Doomed {
        /// The wave, from 1.
        order: usize,
    },
    /// Terminating and not in the plan.
    Marked,
    /// Destroyed; its record may remain.
    Destroyed,
    /// Protected: never destroyed as a candidate.
    Protected,
    /// Referred to by another resource, and does not exist.
    Absent,
}

/// A relation of two resources, by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Edge {
    pub(crate) from: String,
    pub(crate) to: String,
    #[serde(flatten)]
    pub(crate) meaning: Meaning,
}

/// What an edge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(tag = "meaning", rename_all = "camelCase")]
pub(crate) enum Meaning {
    /// `from` owns `to`.
    Owns,
    /// `from` is destroyed before `to`.
    DiesBefore {
        /// Whether that order was given up, because it was part of a cycle.
        dropped: bool,
    },
    /// `from` is inside of `to`: a namespace, a definition.
    Inside,
}

impl Picture {
    /// The picture with as many resources as are wanted; the others are counted.
    #[must_use]
    pub(crate) fn limited(self, size: Size) -> Picture {
        match size {
            Size::AtMost(most) if self.nodes.len() > most => select::limited(&self, most),
            _ => self,
        }
    }

    /// How many resources are in the picture. What is only referred to, and does not exist, is not counted.
    pub(crate) fn drawn(&self) -> usize {
        self.nodes.iter().filter(|node| node.state != State::Absent).count()
    }

    /// `50 of 1,000 resources`
    pub(crate) fn counted(&self) -> String {
        let drawn = self.drawn();
        match (drawn, self.more) {
            (1, 0) => "1 resource".to_owned(),
            (drawn, 0) => format!("{} resources", count(drawn)),
            (drawn, more) => format!("{} of {} resources", count(drawn), count(drawn + more)),
        }
    }

    /// The edges of which both ends are in the picture, by the places of the nodes.
    fn links(&self) -> Vec<(usize, usize, Meaning)> {
        let mut places = std::collections::HashMap::new();
        for (place, node) in self.nodes.iter().enumerate() {
            places.entry(node.id.as_str()).or_insert(place);
        }
        let place = |id: &str| places.get(id).copied();
        let link = |edge: &Edge| Some((place(&edge.from)?, place(&edge.to)?, edge.meaning));
        self.edges.iter().filter_map(link).collect()
    }
}

impl Node {
    /// The label without its kind and namespace.
    fn name<'a>(&'a self) -> &'a str {
        let rest = self.label.strip_prefix(self.kind.as_str()).and_then(|rest| rest.strip_prefix('/'));
        // The namespace stands beside the kind.
        let short = |rest: &'a str| rest.strip_prefix(self.namespace.as_str())?.strip_prefix('/');
        let rest = rest.map(|rest| short(rest).unwrap_or(rest));
        rest.filter(|name| !name.is_empty()).unwrap_or(&self.label)
    }
}

impl State {
    /// The state in words, for readers without colours. `None`: nothing special.
    fn word(self) -> Option<String> {
        match self {
            State::Alive => None,
            State::Doomed { order } => Some(format!("dies {}", super::style::ordinal(order))),
            State::Marked => Some("being destroyed".into()),
            State::Destroyed => Some("destroyed".into()),
            State::Protected => Some("protected".into()),
            State::Absent => Some("absent".into()),
        }
    }
}
