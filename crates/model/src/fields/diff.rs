//! What changed between two versions of a document, as field sets.
//!
//! It must not know managers: which of them owns what is decided by the callers.

use serde_json::{Map, Value};

use super::element::field_key;
use super::extract::{Reading, Tree, content, is_atomic, items, of_items, put_field, put_item};
use super::schema::{Node, Schema};
use super::scope::Scope;
use super::set::FieldSet;

/// The two ways in which fields differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Diff {
    /// Fields that are new or have another value.
    pub(super) changed: FieldSet,
    /// Fields that are gone.
    pub(super) removed: FieldSet,
}

impl Diff {
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty()
    }
}

impl Diff {
    fn done(self) -> Self {
        Self { changed: self.changed.finish(), removed: self.removed.finish() }
    }

    /// Adds what was found below `key`; `leaf` says that the thing itself has another value.
    fn put(&mut self, key: impl Fn() -> String, below: Self, leaf: bool) {
        if leaf || !below.changed.is_empty() {
            self.changed.put(key(), leaf, below.changed);
        }
        if !below.removed.is_empty() {
            self.removed.put(key(), false, below.removed);
        }
    }
}

/// The difference of two documents within a scope.
pub(super) fn documents(old: &Value, new: &Value, schema: &Schema, scope: Scope) -> Diff {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    let (old, new) = (old.as_object().unwrap_or(&EMPTY), new.as_object().unwrap_or(&EMPTY));
    let mut out = Diff::default();
    let rules = Some(schema.root());
    fields(old, new, rules, &|name| name != "metadata" && scope.owns_root(name), &mut out);
    let inner = rules.and_then(|rules| rules.child("metadata"));
    let old_meta = old.get("metadata").and_then(Value::as_object).unwrap_or(&EMPTY);
    let new_meta = new.get("metadata").and_then(Value::as_object).unwrap_or(&EMPTY);
    let mut below = Diff::default();
    fields(old_meta, new_meta, inner, &|name| scope.owns_metadata(name), &mut below);
    out.put(|| field_key("metadata"), below.done(), false);
    out.done()
}

/// The difference of two maps, over the fields that `wanted` lets through.
fn fields(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    rules: Option<&Node>,
    wanted: &dyn Fn(&str) -> bool,
    out: &mut Diff,
) {
    for (name, value) in new {
        if !wanted(name) {
            continue;
        }
        match old.get(name) {
            None => put_field(&mut out.changed, name, value, rules, Reading::Added),
            Some(before) => {
                let inner = rules.and_then(|rules| rules.child(name));
                let (diff, leaf) = values(before, value, inner);
                out.put(|| field_key(name), diff, leaf);
            }
        }
    }
    for (name, value) in old {
        if !new.contains_key(name) && wanted(name) {
            put_field(&mut out.removed, name, value, rules, Reading::Added);
        }
    }
}

/// The difference below two values, and whether the value itself counts as changed.
fn values(old: &Value, new: &Value, rules: Option<&Node>) -> (Diff, bool) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) if !is_atomic(rules) => (maps(old, new, rules), false),
        (Value::Array(old), Value::Array(new)) => {
            if old == new {
                return (Diff::default(), false);
            }
            match (items(old, rules), items(new, rules)) {
                (Some(old), Some(new)) => (lists(old, new, rules), false),
                _ => (replaced_lists(old, new, rules), true),
            }
        }
        (old, new) if old == new => (Diff::default(), false),
        // Another type of value: what was inside is gone, what is inside now is new.
        (old, new) => {
            let diff = Diff {
                changed: content(new, rules, Reading::Added),
                removed: content(old, rules, Reading::Added),
            };
            (diff, true)
        }
    }
}

fn maps(old: &Map<String, Value>, new: &Map<String, Value>, rules: Option<&Node>) -> Diff {
    let mut out = Diff::default();
    fields(old, new, rules, &|_| true, &mut out);
    out.done()
}

/// Lists of which at least one is a single value: the identified items of the other come or go.
fn replaced_lists(old: &[Value], new: &[Value], rules: Option<&Node>) -> Diff {
    let all = |list: &[Value]| match items(list, rules) {
        Some(items) => of_items(items, rules, Reading::Added),
        None => FieldSet::new(),
    };
    Diff { changed: all(new), removed: all(old) }
}

fn lists(old: Vec<(String, &Value)>, new: Vec<(String, &Value)>, rules: Option<&Node>) -> Diff {
    let mut out = Diff::default();
    let before = index(old);
    let after = index(new);
    for item in &after {
        match find(&before, &item.0) {
            None => put_item(&mut out.changed, item.0.clone(), item.1, rules, Reading::Added),
            Some(old) => {
                let (diff, leaf) = match (old, item.1) {
                    (Value::Object(old), Value::Object(new)) if !is_atomic(rules) => {
                        (maps(old, new, rules), false)
                    }
                    (old, new) => (Diff::default(), old != new),
                };
                out.put(|| item.0.clone(), diff, leaf);
            }
        }
    }
    for item in &before {
        if find(&after, &item.0).is_none() {
            put_item(&mut out.removed, item.0.clone(), item.1, rules, Reading::Added);
        }
    }
    out.done()
}

/// Items in the order of their keys, so that long lists are compared without a quadratic search.
fn index(mut items: Vec<(String, &Value)>) -> Vec<(String, &Value)> {
    items.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    items
}

fn find<'a>(items: &[(String, &'a Value)], key: &str) -> Option<&'a Value> {
    let at = items.binary_search_by(|item| item.0.as_str().cmp(key)).ok()?;
    Some(items[at].1)
}
