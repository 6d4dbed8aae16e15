//! The field set of a document: what an applied configuration claims, and what appears with a value.
//!
//! Two readings differ in containers: an applier claims list items and empty maps but not the maps it only passes
//! through; an updater that adds a container by writing it owns the container as well. It must not know managers.

use serde_json::{Map, Value};

use super::element::{field_key, item_key};
use super::schema::{Node, Schema, SsaList};
use super::scope::Scope;
use super::set::{Entry, FieldSet};

/// Whether a container that has content is in the set itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Only list items and containers without content.
    Claimed,
    /// Every container.
    Added,
}

/// What a document is read into: a set, or straight the encoded form of one.
pub(super) trait Tree: Sized {
    /// An empty tree with room for some entries.
    fn with_capacity(entries: usize) -> Self;
    /// Whether nothing was put.
    fn is_bare(&self) -> bool;
    /// Adds an entry; no key is put twice.
    fn put(&mut self, key: String, member: bool, below: Self);
    /// The tree when all is put.
    fn finish(self) -> Self;
    /// An empty tree.
    fn bare() -> Self {
        Self::with_capacity(0)
    }
}

impl Tree for FieldSet {
    fn with_capacity(entries: usize) -> Self {
        Self { entries: Vec::with_capacity(entries) }
    }

    fn is_bare(&self) -> bool {
        self.is_empty()
    }

    fn put(&mut self, key: String, member: bool, children: Self) {
        self.entries.push(Entry { key, member, children });
    }

    fn finish(self) -> Self {
        Self::from_entries(self.entries)
    }
}

impl FieldSet {
    /// The fields a document sets under the rules of its schema, as an applied configuration claims them.
    /// Identity and bookkeeping fields are never part of it.
    pub fn of(document: &Value, schema: &Schema) -> Self {
        of_document(document, schema, Scope::All, Reading::Claimed)
    }
}

/// The fields of a whole document within a scope.
pub(super) fn of_document<T: Tree>(document: &Value, schema: &Schema, scope: Scope, reading: Reading) -> T {
    let Value::Object(root) = document else {
        return T::bare();
    };
    let rules = Some(schema.root());
    let mut out = T::with_capacity(root.len());
    for (name, value) in root {
        if name == "metadata" {
            let below: T = of_metadata(value, rules, scope, reading);
            if !below.is_bare() {
                out.put(field_key(name), false, below);
            }
        } else if scope.owns_root(name) {
            put_field(&mut out, name, value, rules, reading);
        }
    }
    out.finish()
}

fn of_metadata<T: Tree>(value: &Value, rules: Option<&Node>, scope: Scope, reading: Reading) -> T {
    let rules = rules.and_then(|rules| rules.child("metadata"));
    let mut out = T::bare();
    for (name, value) in value.as_object().into_iter().flatten() {
        if scope.owns_metadata(name) {
            put_field(&mut out, name, value, rules, reading);
        }
    }
    out.finish()
}

/// Puts one field of a map; `rules` are those of the map.
pub(super) fn put_field<T: Tree>(
    out: &mut T,
    name: &str,
    value: &Value,
    rules: Option<&Node>,
    reading: Reading,
) {
    let below: T = content(value, rules.and_then(|rules| rules.child(name)), reading);
    let member = below.is_bare() || reading == Reading::Added;
    out.put(field_key(name), member, below);
}

/// What is in the set below a value; nothing for a leaf.
pub(super) fn content<T: Tree>(value: &Value, rules: Option<&Node>, reading: Reading) -> T {
    match value {
        Value::Object(map) if !is_atomic(rules) => of_map(map, rules, reading),
        Value::Array(list) => match items(list, rules) {
            Some(items) => of_items(items, rules, reading),
            None => T::bare(),
        },
        _ => T::bare(),
    }
}

fn of_map<T: Tree>(map: &Map<String, Value>, rules: Option<&Node>, reading: Reading) -> T {
    let mut out = T::with_capacity(map.len());
    for (name, value) in map {
        put_field(&mut out, name, value, rules, reading);
    }
    out.finish()
}

/// What is in the set for items of an associative list; `rules` are those of the list.
pub(super) fn of_items<T: Tree>(items: Vec<(String, &Value)>, rules: Option<&Node>, reading: Reading) -> T {
    let mut out = T::with_capacity(items.len());
    for (key, item) in items {
        put_item(&mut out, key, item, rules, reading);
    }
    out.finish()
}

/// Puts one item of an associative list; `rules` are those of the list.
pub(super) fn put_item<T: Tree>(
    out: &mut T,
    key: String,
    item: &Value,
    rules: Option<&Node>,
    reading: Reading,
) {
    let below = match item {
        Value::Object(map) if !is_atomic(rules) => of_map(map, rules, reading),
        _ => T::bare(),
    };
    out.put(key, true, below);
}

/// Whether a map (or each item of a list) under these rules has one owner as a whole.
pub(super) fn is_atomic(rules: Option<&Node>) -> bool {
    rules.is_some_and(|rules| rules.atomic)
}

/// The items of an associative list or set with their keys. `None` where the list is to be treated as
/// one value: by its rule, or because an item cannot be identified or two have the same identity.
pub(super) fn items<'a>(list: &'a [Value], rules: Option<&Node>) -> Option<Vec<(String, &'a Value)>> {
    let rule = &rules?.ssa;
    if *rule == SsaList::Atomic {
        return None;
    }
    let mut items = Vec::with_capacity(list.len());
    for item in list {
        items.push((item_key(item, rule)?, item));
    }
    all_differ(&items).then_some(items)
}

fn all_differ(items: &[(String, &Value)]) -> bool {
    if items.len() < 2 {
        return true;
    }
    let mut keys: Vec<&str> = items.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2).all(|pair| pair[0] != pair[1])
}
