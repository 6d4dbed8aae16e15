//! The field set of a document: what an applied configuration claims, and what appears with a value.
//!
//! Two readings differ in containers: an applier claims list items and empty maps but not the maps it
//! only passes through; whoever adds a container by writing it owns the container as well.
//! It must not know managers.

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

impl FieldSet {
    /// The fields a document sets under the rules of its schema, as an applied configuration claims them.
    /// Identity and bookkeeping fields are never part of it.
    pub fn of(document: &Value, schema: &Schema) -> Self {
        of_document(document, schema, Scope::All, Reading::Claimed)
    }
}

/// The fields of a whole document within a scope.
pub(super) fn of_document(document: &Value, schema: &Schema, scope: Scope, reading: Reading) -> FieldSet {
    let Value::Object(root) = document else {
        return FieldSet::new();
    };
    let rules = Some(schema.root());
    let mut entries = Vec::with_capacity(root.len());
    for (name, value) in root {
        if name == "metadata" {
            entries.extend(of_metadata(value, rules, scope, reading));
        } else if scope.owns_root(name) {
            entries.push(of_field(name, value, rules, reading));
        }
    }
    FieldSet::from_entries(entries)
}

fn of_metadata(value: &Value, rules: Option<&Node>, scope: Scope, reading: Reading) -> Option<Entry> {
    let rules = rules.and_then(|rules| rules.child("metadata"));
    let owned = value
        .as_object()?
        .iter()
        .filter(|(name, _)| scope.owns_metadata(name))
        .map(|(name, value)| of_field(name, value, rules, reading))
        .collect();
    metadata_entry(FieldSet::from_entries(owned))
}

/// The entry of `metadata`, which is never in a set itself.
pub(super) fn metadata_entry(children: FieldSet) -> Option<Entry> {
    (!children.is_empty()).then(|| Entry { key: field_key("metadata"), member: false, children })
}

/// The entry of one field of a map; `rules` are those of the map.
pub(super) fn of_field(name: &str, value: &Value, rules: Option<&Node>, reading: Reading) -> Entry {
    let children = content(value, rules.and_then(|rules| rules.child(name)), reading);
    let member = children.is_empty() || reading == Reading::Added;
    Entry { key: field_key(name), member, children }
}

/// What is in the set below a value; empty for a leaf.
pub(super) fn content(value: &Value, rules: Option<&Node>, reading: Reading) -> FieldSet {
    match value {
        Value::Object(map) if !is_atomic(rules) => of_map(map, rules, reading),
        Value::Array(list) => match items(list, rules) {
            Some(items) => of_items(&items, rules, reading),
            None => FieldSet::new(),
        },
        _ => FieldSet::new(),
    }
}

fn of_map(map: &Map<String, Value>, rules: Option<&Node>, reading: Reading) -> FieldSet {
    let fields = map.iter().map(|(name, value)| of_field(name, value, rules, reading));
    FieldSet::from_entries(fields.collect())
}

fn of_items(items: &[(String, &Value)], rules: Option<&Node>, reading: Reading) -> FieldSet {
    let entries = items.iter().map(|(key, item)| Entry {
        key: key.clone(),
        member: true,
        children: item_content(item, rules, reading),
    });
    FieldSet::from_entries(entries.collect())
}

/// What is in the set below a list item; `rules` are those of the list.
pub(super) fn item_content(item: &Value, rules: Option<&Node>, reading: Reading) -> FieldSet {
    match item {
        Value::Object(map) if !is_atomic(rules) => of_map(map, rules, reading),
        _ => FieldSet::new(),
    }
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
    let mut keys: Vec<&str> = items.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    let unique = keys.windows(2).all(|pair| pair[0] != pair[1]);
    unique.then_some(items)
}
