//! Strategic merge patch: maps merge, and lists do what the schema says of them.
//!
//! Directives: `$patch`, `$retainKeys`, `$setElementOrder/<field>`, `$deleteFromPrimitiveList/<field>`.
//! It must not know ownership; rules that hold only for ownership do not count here.

use std::collections::HashSet;

use serde_json::{Map, Value};
use thiserror::Error;

use super::lists;
use crate::fields::{Node, Schema, SmpList};

pub(super) const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Why a strategic merge patch was not applied. All of these are the fault of the patch: a bad request.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum StrategicError {
    /// The patch or the document is not a map.
    #[error("a strategic merge patch and what it patches must be objects")]
    NotAnObject,
    /// `$patch` has a value that means nothing there.
    #[error("unknown patch type {0} at {1:?}")]
    BadDirective(Value, String),
    /// A directive has a value of the wrong form.
    #[error("the directive {0} at {1:?} is malformed")]
    BadFormat(&'static str, String),
    /// An item of a keyed list lacks the key.
    #[error("an item of the list {1:?} does not contain the merge key {0:?}")]
    MissingKey(String, String),
    /// An item of a list is not of the type that the list holds.
    #[error("an item of the list {0:?} has the wrong type")]
    BadItem(String),
    /// A list of the patch and its `$setElementOrder` do not fit together.
    #[error("the order in the patch list {0:?} doesn't match its $setElementOrder list")]
    OrderMismatch(String),
}

/// Applies a strategic merge patch. On error the document is as it was.
pub fn strategic_merge(document: &mut Value, patch: &Value, schema: &Schema) -> Result<(), StrategicError> {
    let (Value::Object(before), Value::Object(patch)) = (&*document, patch) else {
        return Err(StrategicError::NotAnObject);
    };
    let mut result = before.clone();
    merge_maps(&mut result, patch, Some(schema.root()), "")?;
    *document = Value::Object(result);
    Ok(())
}

/// Merges a map of the patch into a map of the document. `path` is where we are, for errors.
pub(super) fn merge_maps(
    map: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    rules: Option<&Node>,
    path: &str,
) -> Result<(), StrategicError> {
    match patch.get(PATCH).map(|directive| (directive, directive.as_str())) {
        None | Some((_, Some("merge"))) => {}
        Some((_, Some("replace"))) => map.clear(),
        Some((_, Some("delete"))) => {
            map.clear();
            return Ok(());
        }
        Some((other, _)) => {
            return Err(StrategicError::BadDirective(other.clone(), path.to_owned()));
        }
    }
    retain_keys(map, patch, path)?;
    for (name, value) in patch {
        if let Some(field) = name.strip_prefix(ORDER) {
            // With a list of the same field the order is applied together with it.
            if !patch.contains_key(field) {
                merge_field(map, field, &Value::Array(Vec::new()), Some(value), rules, path)?;
            }
        } else if name != PATCH && name != RETAIN_KEYS && !name.starts_with(DELETE_FROM) {
            let order = patch.get(&format!("{ORDER}{name}"));
            merge_field(map, name, value, order, rules, path)?;
        }
    }
    for (name, value) in patch {
        if let Some(field) = name.strip_prefix(DELETE_FROM) {
            delete_from(map, field, value, path)?;
        }
    }
    Ok(())
}

fn retain_keys(
    map: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    path: &str,
) -> Result<(), StrategicError> {
    let Some(retain) = patch.get(RETAIN_KEYS) else {
        return Ok(());
    };
    let bad = || StrategicError::BadFormat(RETAIN_KEYS, path.to_owned());
    let names: Option<HashSet<&str>> =
        retain.as_array().and_then(|names| names.iter().map(Value::as_str).collect());
    let names = names.ok_or_else(bad)?;
    let listed = |name: &str| names.contains(name);
    let directive = |name: &str| {
        name == PATCH || name == RETAIN_KEYS || name.starts_with(ORDER) || name.starts_with(DELETE_FROM)
    };
    let fits = patch.iter().all(|(name, value)| value.is_null() || directive(name) || listed(name));
    if !fits {
        return Err(bad());
    }
    map.retain(|name, _| listed(name));
    Ok(())
}

fn merge_field(
    map: &mut Map<String, Value>,
    name: &str,
    value: &Value,
    order: Option<&Value>,
    rules: Option<&Node>,
    path: &str,
) -> Result<(), StrategicError> {
    let inner = rules.and_then(|rules| rules.child(name));
    let path = format!("{path}.{name}");
    match value {
        Value::Null => {
            map.remove(name);
        }
        Value::Object(patch) => {
            let deletes = patch.get(PATCH).and_then(Value::as_str) == Some("delete");
            if deletes && !map.contains_key(name) {
                return Ok(());
            }
            let slot = map.entry(name).or_insert(Value::Null);
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            if let Value::Object(content) = slot {
                merge_maps(content, patch, inner, &path)?;
            }
        }
        Value::Array(patch) => {
            let before = map.get_mut(name).map(Value::take);
            let had = before.is_some();
            let before = match before {
                Some(Value::Array(list)) => list,
                _ => Vec::new(),
            };
            let list = merge_list(before, patch, order, inner, &path)?;
            // An order for a list that is nowhere makes no list.
            if had || order.is_none() || !list.is_empty() {
                map.insert(name.to_owned(), Value::Array(list));
            }
        }
        leaf => {
            map.insert(name.to_owned(), leaf.clone());
        }
    }
    Ok(())
}

fn merge_list(
    before: Vec<Value>,
    patch: &[Value],
    order: Option<&Value>,
    rules: Option<&Node>,
    path: &str,
) -> Result<Vec<Value>, StrategicError> {
    let order = match order {
        None => None,
        Some(Value::Array(order)) => Some(order.as_slice()),
        Some(_) => return Err(StrategicError::BadFormat(ORDER, path.to_owned())),
    };
    match rules.map(|rules| (&rules.smp, rules)) {
        Some((SmpList::Map(key), rules)) => lists::merge_keyed(before, patch, order, key, rules, path),
        Some((SmpList::Set, _)) => lists::merge_set(before, patch, order, path),
        // An order alone says nothing about the content of a list that is one value.
        _ if order.is_some() && patch.is_empty() => Ok(before),
        _ => Ok(patch.to_vec()),
    }
}

fn delete_from(
    map: &mut Map<String, Value>,
    field: &str,
    gone: &Value,
    path: &str,
) -> Result<(), StrategicError> {
    let gone =
        gone.as_array().ok_or_else(|| StrategicError::BadFormat(DELETE_FROM, format!("{path}.{field}")))?;
    if let Some(Value::Array(list)) = map.get_mut(field) {
        let gone: HashSet<String> = gone.iter().map(Value::to_string).collect();
        list.retain(|item| !gone.contains(&item.to_string()));
    }
    Ok(())
}
