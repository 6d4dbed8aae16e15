//! The order of a module's documents: as written, apart from edges that demand another one.
//!
//! Namespaces, definitions and classes come before what needs them, and the first document of an explicit edge before
//! the second: these edges always hold, and a cycle of them is refused. Owners come before their dependents as far as
//! possible: a cycle of owners is legal. How a document is put is not known here.
//!
//! Also the places of unmarked resources when a deployment does not sweep: [`renumber`].

use std::collections::{HashMap, VecDeque};

use sexton_model::module::{Dependency, ModuleOrder};

use crate::graph::{Graph, Vertex, components, topological_order};

/// A document, as far as its place in the order is concerned.
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
    /// An edge names a document that the module does not have.
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
    /// As users type it.
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

/// The documents in the order in which they are put, each with its place. Places begin with 1, and a document has a
/// higher place than all that it depends on. What is destroyed goes in the reverse order of places; equals may go in
/// parallel.
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
type Edge = (Vertex, Vertex);

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
    // Within a cycle no owner comes first by itself: the order of the documents decides.
    let soft = owned.into_iter().filter(|(first, then)| together.of(*first) != together.of(*then));
    let edges: Vec<Edge> = hard.iter().copied().chain(soft).collect();
    match topological_order(&Graph::new(entries.len(), &edges)) {
        Some(order) => Ok((order.into_iter().map(|vertex| vertex as usize).collect(), edges)),
        None => Err(OrderError::Cycle(cycle(entries, &hard))),
    }
}

fn number(at: usize) -> Vertex {
    Vertex::try_from(at).unwrap_or(Vertex::MAX)
}

/// Edges from namespaces, definitions and classes to the documents that need them.
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
    let mut by_key: HashMap<(&str, &str, &str, &str), usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        by_key.insert((&entry.group, &entry.kind, &entry.namespace, &entry.name), at);
    }
    let mut edges = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        for (group, kind, name) in &entry.owners {
            let beside =
                by_key.get(&(group.as_str(), kind.as_str(), entry.namespace.as_str(), name.as_str()));
            let above = || by_key.get(&(group.as_str(), kind.as_str(), "", name.as_str()));
            if let Some(owner) = beside.or_else(above) {
                edges.push((number(*owner), number(at)));
            }
        }
    }
    edges
}

fn find(entries: &[Entry], edge: &Dependency, word: &str) -> Result<Vertex, OrderError> {
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

/// A shortest cycle of hard edges, beginning with the first document that is on one.
fn cycle(entries: &[Entry], hard: &[(Vertex, Vertex)]) -> Vec<String> {
    let graph = Graph::new(entries.len(), hard);
    let together = components(&graph);
    let sizes = together.sizes();
    let on_one = |vertex: &Vertex| sizes[together.of(*vertex) as usize] > 1 || graph.has(*vertex, *vertex);
    let Some(start) = graph.vertices().find(on_one) else { return Vec::new() };
    let mut before: HashMap<Vertex, Vertex> = HashMap::new();
    let mut work = VecDeque::from([start]);
    while let Some(vertex) = work.pop_front() {
        for next in graph.successors(vertex) {
            if *next == start {
                let mut path = vec![vertex];
                while let Some(from) =
                    path.last().filter(|last| **last != start).and_then(|last| before.get(last))
                {
                    path.push(*from);
                }
                return path.into_iter().rev().map(|vertex| entries[vertex as usize].label()).collect();
            }
            if !before.contains_key(next) {
                before.insert(*next, vertex);
                work.push_back(*next);
            }
        }
    }
    Vec::new()
}

/// New places for unmarked resources that are not swept: behind all marked ones, in the order that they had.
///
/// Returns one place for each resource in `unmarked`.
///
/// All are shifted by (highest marked + 1 − lowest unmarked), which is (number of marked + 1 − lowest unmarked) where
/// the places of the marked count up from 1 without gaps. Those without a place share one below
/// all other unmarked ones. The shift may be negative, so places do not grow without end.
pub fn renumber(highest_marked: Option<i64>, unmarked: &[Option<i64>]) -> Vec<i64> {
    let base = highest_marked.unwrap_or(0).max(0).saturating_add(1);
    let lowest = unmarked.iter().flatten().min().copied();
    let room = i64::from(unmarked.iter().any(Option::is_none));
    let Some(lowest) = lowest else { return vec![base; unmarked.len()] };
    let shift = i128::from(base) + i128::from(room) - i128::from(lowest);
    let shifted: Option<Vec<i64>> = unmarked
        .iter()
        .map(|order| order.map_or(Some(base), |order| i64::try_from(i128::from(order) + shift).ok()))
        .collect();
    // Places so far apart that shifting overflows are packed close together instead.
    shifted.unwrap_or_else(|| dense(base, unmarked))
}

fn dense(base: i64, unmarked: &[Option<i64>]) -> Vec<i64> {
    let mut places: Vec<Option<i64>> = unmarked.to_vec();
    places.sort_unstable();
    places.dedup();
    let place =
        |order: &Option<i64>| i64::try_from(places.partition_point(|place| place < order)).unwrap_or(0);
    unmarked.iter().map(|order| base.saturating_add(place(order))).collect()
}
