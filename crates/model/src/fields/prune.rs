//! Taking fields out of a document: those an applier no longer mentions and no other manager owns.
//!
//! It must not know managers; it gets what goes and what must stay as sets.

use serde_json::{Map, Value};

use super::element::item_key;
use super::extract::is_atomic;
use super::schema::{Node, Schema, SsaList};
use super::set::{Entry, FieldSet};

impl FieldSet {
    /// Takes the fields of this set out of a document. Containers that become empty by it go as well,
    /// unless they or something in them is in `keep`. Maps are emptied field by field, so that what is
    /// in neither set stays; items of associative lists go as a whole.
    pub fn remove_from(&self, document: &mut Value, keep: &FieldSet, schema: &Schema) {
        let Value::Object(root) = document else {
            return;
        };
        let rules = Some(schema.root());
        for entry in &self.entries {
            let kept = keep.get(&entry.key);
            if entry.key == "f:metadata" {
                // Metadata itself always stays, whatever it holds.
                if let Some(Value::Object(metadata)) = root.get_mut("metadata") {
                    let inner = rules.and_then(|rules| rules.child("metadata"));
                    prune_map(metadata, &entry.children, below(kept), inner, &[]);
                }
            } else {
                prune_field(root, entry, kept, rules, &[]);
            }
        }
    }
}

const NOTHING: &FieldSet = &FieldSet { entries: Vec::new() };

/// What must stay below an entry.
fn below(kept: Option<&Entry>) -> &FieldSet {
    kept.map_or(NOTHING, |entry| &entry.children)
}

fn prune_map(
    map: &mut Map<String, Value>,
    gone: &FieldSet,
    keep: &FieldSet,
    rules: Option<&Node>,
    identity: &[&str],
) {
    for entry in &gone.entries {
        prune_field(map, entry, keep.get(&entry.key), rules, identity);
    }
}

/// Takes one field out of a map. `identity` are fields that must stay as they are an item's keys.
fn prune_field(
    map: &mut Map<String, Value>,
    entry: &Entry,
    kept: Option<&Entry>,
    rules: Option<&Node>,
    identity: &[&str],
) {
    let Some(name) = entry.key.strip_prefix("f:") else {
        return;
    };
    if identity.contains(&name) {
        return;
    }
    let Some(value) = map.get_mut(name) else {
        return;
    };
    let inner = rules.and_then(|rules| rules.child(name));
    let goes = match value {
        Value::Object(content) if !is_atomic(inner) => {
            let before = content.len();
            prune_map(content, &entry.children, below(kept), inner, &[]);
            content.is_empty() && (entry.member || before > 0)
        }
        Value::Array(list) if inner.is_some_and(|inner| inner.ssa != SsaList::Atomic) => {
            let before = list.len();
            if let Some(inner) = inner {
                prune_list(list, &entry.children, below(kept), inner);
            }
            list.is_empty() && (entry.member || before > 0)
        }
        _ => entry.member,
    };
    if goes && kept.is_none() {
        map.remove(name);
    }
}

fn prune_list(list: &mut Vec<Value>, gone: &FieldSet, keep: &FieldSet, rules: &Node) {
    let identity: Vec<&str> = match &rules.ssa {
        SsaList::Map(keys) => keys.iter().map(|key| key.name.as_ref()).collect(),
        _ => Vec::new(),
    };
    list.retain_mut(|item| {
        let Some(key) = item_key(item, &rules.ssa) else {
            return true;
        };
        let Some(entry) = gone.get(&key) else {
            return true;
        };
        let kept = keep.get(&key);
        // An updater that owns a field in an item does not keep the item; a manager that owns the item does.
        if entry.member && !kept.is_some_and(|kept| kept.member) {
            return false;
        }
        if let Value::Object(content) = item
            && !rules.atomic
        {
            prune_map(content, &entry.children, below(kept), Some(rules), &identity);
        }
        true
    });
}
