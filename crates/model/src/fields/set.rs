//! A set of fields of a document, kept as a tree, and the algebra of such sets.
//!
//! Steps are kept in their FieldsV1 spelling, so that encoding and comparing are cheap.
//! It must not know documents or managers.

use std::cmp::Ordering;

use super::element::PathElement;

/// A set of field paths. A container may be in the set without its content, and the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Sorted by key, without doubles, without entries that hold nothing.
    pub(super) entries: Vec<Entry>,
}

/// One step below a node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Whether the thing itself is in the set.
    pub(super) member: bool,
    /// What is in the set below it.
    pub(super) children: FieldSet,
}

impl Entry {
    /// An entry for the thing itself only.
    pub(super) fn leaf(key: String) -> Self {
        Self { key, member: true, children: FieldSet::default() }
    }

    fn holds_nothing(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

impl FieldSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// A set from entries in any order, each key once.
    pub(super) fn from_entries(mut entries: Vec<Entry>) -> Self {
        if !entries.is_sorted_by(|a, b| a.key < b.key) {
            entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        }
        Self { entries }
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many paths are in the set.
    pub fn len(&self) -> usize {
        self.entries.iter().map(|entry| usize::from(entry.member) + entry.children.len()).sum()
    }

    /// Adds a path; its parents are not added. The empty path is never in a set.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((first, rest)) = path.split_first() else {
            return;
        };
        let key = first.encode();
        let at = match self.entries.binary_search_by(|entry| entry.key.cmp(&key)) {
            Ok(at) => at,
            Err(at) => {
                let mut entry = Entry::leaf(key);
                entry.member = false;
                self.entries.insert(at, entry);
                at
            }
        };
        if rest.is_empty() {
            self.entries[at].member = true;
        } else {
            self.entries[at].children.insert(rest);
        }
    }

    /// Whether the path is in the set.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return false;
        };
        match self.get(&first.encode()) {
            Some(entry) if rest.is_empty() => entry.member,
            Some(entry) => entry.children.contains(rest),
            None => false,
        }
    }

    /// The entry with this spelled key.
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| entry.key.as_str().cmp(key));
        at.ok().map(|at| &self.entries[at])
    }

    /// What is in either set.
    pub fn union(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.add(other.clone());
        out
    }

    /// Adds all of `other` to this set.
    pub fn add(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        if other.is_empty() {
            return;
        }
        let mine = std::mem::take(&mut self.entries);
        let mut out = Vec::with_capacity(mine.len() + other.entries.len());
        let (mut left, mut right) = (mine.into_iter().peekable(), other.entries.into_iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) => a.key.cmp(&b.key),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            match order {
                Ordering::Less => out.extend(left.next()),
                Ordering::Greater => out.extend(right.next()),
                Ordering::Equal => out.extend(left.next().zip(right.next()).map(|(mut a, b)| {
                    a.member |= b.member;
                    a.children.add(b.children);
                    a
                })),
            }
        }
        self.entries = out;
    }

    /// What is in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let common = |entry: &Entry| {
            let theirs = other.get(&entry.key)?;
            let both = Entry {
                key: entry.key.clone(),
                member: entry.member && theirs.member,
                children: entry.children.intersection(&theirs.children),
            };
            (!both.holds_nothing()).then_some(both)
        };
        Self { entries: self.entries.iter().filter_map(common).collect() }
    }

    /// What is in this set and not in `other`. Only the very paths go, not what is below them.
    pub fn difference(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.subtract(other);
        out
    }

    /// Takes all of `other` out of this set; says whether that changed it.
    pub fn subtract(&mut self, other: &Self) -> bool {
        if other.is_empty() {
            return false;
        }
        let mut changed = false;
        self.entries.retain_mut(|entry| {
            if let Some(theirs) = other.get(&entry.key) {
                changed |= entry.member && theirs.member;
                entry.member &= !theirs.member;
                changed |= entry.children.subtract(&theirs.children);
            }
            !entry.holds_nothing()
        });
        changed
    }

    /// The paths of the set that have nothing of the set below them.
    pub fn leaves(&self) -> Self {
        let leaf = |entry: &Entry| Entry {
            key: entry.key.clone(),
            member: entry.children.is_empty(),
            children: entry.children.leaves(),
        };
        Self { entries: self.entries.iter().map(leaf).collect() }
    }

    /// All paths in display form (`.spec.ports[port=80].name`), at each level the members first.
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect_paths("", &mut out);
        out
    }

    fn collect_paths(&self, prefix: &str, out: &mut Vec<String>) {
        let shown: Vec<String> = self
            .entries
            .iter()
            .map(|entry| match PathElement::parse(&entry.key) {
                Ok(element) => format!("{prefix}{element}"),
                // Keys are canonical by construction; show the raw spelling rather than fail.
                Err(_) => format!("{prefix}.{}", entry.key),
            })
            .collect();
        for (entry, path) in self.entries.iter().zip(&shown) {
            if entry.member {
                out.push(path.clone());
            }
        }
        for (entry, path) in self.entries.iter().zip(&shown) {
            entry.children.collect_paths(path, out);
        }
    }
}
