//! The order of a module's documents: as they are written, later where something demands it.
//!
//! Namespaces, definitions and classes come before what needs them, and whoever is named first in an explicit edge
//! before the other: these always hold, and a circle of them is refused. Owners come before what they own, as far as
//! that is possible: a circle of owners is legal. It must not know how anything is put.

use std::collections::{HashMap, VecDeque};

use sexton_model::module::{Dependency, ModuleOrder};

use crate::graph::{Graph, Node, components, order};

/// A document, as far as its place is concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Empty for the core group.
    pub group: String,
    /// The kind's name.
    pub kind: String,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Its owners, as group, kind, and name. They are in its namespace or in none.
    pub owners: Vec<(String, String, String)>,
    /// The file that it is in.
    pub file: String,
    /// Group and kind that it defines or is the class of, if it is such a document.
    pub provides: Option<(String, String)>,
}

/// Why documents have no order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// Each has to come before the next, and the last before the first.
    #[error("each of these has to come before the next: {}", chain(.0))]
    Cycle(Vec<String>),
    /// An edge names a document that is not there.
    #[error("the dependency of {then} on {first} names {missing}, which is not in the module")]
    Missing {
        /// As it is written.
        first: String,
        /// As it is written.
        then: String,
        /// Which of them.
        missing: String,
    },
    /// An edge names more than one document.
    #[error("the dependency of {then} on {first} names {which}, which can mean {}", .meanings.join(" or "))]
    Ambiguous {
        /// As it is written.
        first: String,
        /// As it is written.
        then: String,
        /// Which of them.
        which: String,
        /// What it can mean.
        meanings: Vec<String>,
    },
}

fn chain(names: &[String]) -> String {
    let first = names.first().map(String::as_str).unwrap_or_default();
    format!("{}, {first}", names.join(", "))
}

impl Entry {
    /// As people type it.
    pub fn label(&self) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!(".{}", self.group) };
        let namespace =
            if self.namespace.is_empty() { String::new() } else { format!("/{}", self.namespace) };
        format!("{}{group}{namespace}/{}", self.kind, self.name)
    }

    fn is_called(&self, word: &str) -> bool {
        let parts: Vec<&str> = word.split('/').collect();
        let (kind, namespace, name) = match parts[..] {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace), name),
            _ => return false,
        };
        let (kind, group) = kind.split_once('.').map_or((kind, None), |(kind, group)| (kind, Some(group)));
        self.name == name
            && self.kind.eq_ignore_ascii_case(kind)
            && group.is_none_or(|group| group == self.group)
            && namespace.is_none_or(|namespace| namespace == self.namespace)
    }
}

/// The documents in the order in which they are put, each with its place. Places begin with 1, and a document has a higher
/// place than all that it depends on. What is destroyed goes in the reverse order of places; equals may go in parallel.
///
/// For the documents `a`, `b`, `c` of one file and `d` of another, where `c` depends on `a`:
///
/// | order | a | b | c | d |
/// |---|---|---|---|---|
/// | documents | 1 | 2 | 3 | 4 |
/// | files | 1 | 1 | 2 | 3 |
/// | edges | 1 | 1 | 2 | 1 |
///
/// # Errors
/// See [`OrderError`].
pub fn arrange(
    entries: &[Entry],
    dependencies: &[Dependency],
    how: ModuleOrder,
) -> Result<Vec<(usize, i64)>, OrderError> {
    let (order, edges) = sequence(entries, dependencies)?;
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
    edges.iter().for_each(|(first, then)| before[*then as usize].push(*first as usize));
    let mut places = vec![0; entries.len()];
    // Documents that may be equal are placed above all that came before them.
    let (mut base, mut highest, mut last): (i64, i64, Option<usize>) = (0, 0, None);
    for at in &order {
        let may_be_equal = match how {
            ModuleOrder::Documents => false,
            ModuleOrder::Files => last.is_none_or(|last: usize| entries[last].file == entries[*at].file),
            ModuleOrder::Edges => true,
        };
        base = if may_be_equal { base } else { highest };
        let after = before[*at].iter().map(|first| places[*first]).max().unwrap_or(0);
        places[*at] = after.max(base) + 1;
        highest = highest.max(places[*at]);
        last = Some(*at);
    }
    Ok(order.into_iter().map(|at| (at, places[at])).collect())
}

/// From a document to one that comes after it.
type Edge = (Node, Node);

/// The order in which documents are put, and the edges that hold.
fn sequence(entries: &[Entry], dependencies: &[Dependency]) -> Result<(Vec<usize>, Vec<Edge>), OrderError> {
    let mut hard = provided(entries);
    for edge in dependencies {
        let find = |word: &str| find(entries, edge, word);
        hard.push((find(&edge.first)?, find(&edge.then)?));
    }
    let owned = owned(entries);
    let all: Vec<Edge> = hard.iter().chain(&owned).copied().collect();
    let together = components(&Graph::new(entries.len(), &all));
    // Within a circle nobody can say which owner is meant to come first.
    let soft = owned.into_iter().filter(|(first, then)| together.of(*first) != together.of(*then));
    let edges: Vec<Edge> = hard.iter().copied().chain(soft).collect();
    match order(&Graph::new(entries.len(), &edges)) {
        Some(order) => Ok((order.into_iter().map(|node| node as usize).collect(), edges)),
        None => Err(OrderError::Cycle(cycle(entries, &hard))),
    }
}

fn number(at: usize) -> Node {
    Node::try_from(at).unwrap_or(Node::MAX)
}

/// Edges from what others need to be served or to end.
fn provided(entries: &[Entry]) -> Vec<Edge> {
    let mut namespaces: HashMap<&str, usize> = HashMap::new();
    let mut providers: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.kind == "Namespace" && entry.group.is_empty() {
            namespaces.insert(&entry.name, at);
        }
        if let Some((group, kind)) = &entry.provides {
            providers.entry((group, kind)).or_default().push(at);
        }
    }
    let mut edges = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let inside = namespaces.get(entry.namespace.as_str()).into_iter();
        let of_kind = providers.get(&(entry.group.as_str(), entry.kind.as_str())).into_iter().flatten();
        edges.extend(
            inside.chain(of_kind).filter(|first| **first != at).map(|first| (number(*first), number(at))),
        );
    }
    edges
}

/// Edges from owners to what they own.
fn owned(entries: &[Entry]) -> Vec<Edge> {
    let mut slots: HashMap<(&str, &str, &str, &str), usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        slots.insert((&entry.group, &entry.kind, &entry.namespace, &entry.name), at);
    }
    let mut edges = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        for (group, kind, name) in &entry.owners {
            let beside = slots.get(&(group.as_str(), kind.as_str(), entry.namespace.as_str(), name.as_str()));
            let above = || slots.get(&(group.as_str(), kind.as_str(), "", name.as_str()));
            if let Some(owner) = beside.or_else(above) {
                edges.push((number(*owner), number(at)));
            }
        }
    }
    edges
}

fn find(entries: &[Entry], edge: &Dependency, word: &str) -> Result<Node, OrderError> {
    let found: Vec<usize> =
        entries.iter().enumerate().filter(|(_, entry)| entry.is_called(word)).map(|(at, _)| at).collect();
    let (first, then) = (edge.first.clone(), edge.then.clone());
    match found[..] {
        [one] => Ok(number(one)),
        [] => Err(OrderError::Missing { first, then, missing: word.to_owned() }),
        _ => {
            let meanings = found.into_iter().map(|at| entries[at].label()).collect();
            Err(OrderError::Ambiguous { first, then, which: word.to_owned(), meanings })
        }
    }
}

/// A shortest circle of edges that always hold, beginning with the first document that is on one.
fn cycle(entries: &[Entry], hard: &[(Node, Node)]) -> Vec<String> {
    let graph = Graph::new(entries.len(), hard);
    let together = components(&graph);
    let sizes = together.sizes();
    let on_one = |node: &Node| sizes[together.of(*node) as usize] > 1 || graph.has(*node, *node);
    let Some(start) = graph.nodes().find(on_one) else { return Vec::new() };
    let mut before: HashMap<Node, Node> = HashMap::new();
    let mut work = VecDeque::from([start]);
    while let Some(node) = work.pop_front() {
        for next in graph.successors(node) {
            if *next == start {
                let mut path = vec![node];
                while let Some(from) =
                    path.last().filter(|last| **last != start).and_then(|last| before.get(last))
                {
                    path.push(*from);
                }
                return path.into_iter().rev().map(|node| entries[node as usize].label()).collect();
            }
            if !before.contains_key(next) {
                before.insert(*next, node);
                work.push_back(*next);
            }
        }
    }
    Vec::new()
}
