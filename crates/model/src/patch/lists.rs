//! Merging keyed lists and sets of a strategic merge patch.
//!
//! It must not know directives of maps, except the `$patch` that an item of a keyed list carries.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::order::{Keyed, arrange, is_subsequence};
use super::strategic::{PATCH, StrategicError, merge_maps};
use crate::fields::Node;

/// What the items of a patch list ask for.
#[derive(Default)]
struct Items<'a> {
    /// Start from an empty list.
    replace: bool,
    /// Items to take out, by key.
    gone: HashSet<String>,
    /// Items to merge or add, by key, in the order of the patch.
    merge: Vec<(String, &'a Map<String, Value>)>,
}

/// Merges a list of maps that are told apart by the field `key`.
pub(super) fn merge_keyed(
    mut before: Vec<Value>,
    patch: &[Value],
    order: Option<&[Value]>,
    key: &str,
    rules: &Node,
    path: &str,
) -> Result<Vec<Value>, StrategicError> {
    let items = sort_out(patch, key, path)?;
    let names: Vec<String> = items.merge.iter().map(|(name, _)| name.clone()).collect();
    let wanted = match order {
        None => names,
        Some(order) => {
            let order = keys_of(order, key, path)?;
            if !order.is_empty() && !is_subsequence(&names, &order) {
                return Err(StrategicError::OrderMismatch(path.to_owned()));
            }
            order
        }
    };
    if items.replace {
        before.clear();
    }
    let named = |item: Value| (item.get(key).map(Value::to_string), item);
    let mut merged: Vec<Keyed> = before
        .into_iter()
        .map(named)
        .filter(|(name, _)| !name.as_ref().is_some_and(|name| items.gone.contains(name)))
        .collect();
    let mut stood = places(&merged);
    let document = stood.clone();
    for (name, patch) in items.merge {
        let at = *stood.entry(name.clone()).or_insert_with(|| {
            merged.push((Some(name), Value::Object(Map::new())));
            merged.len() - 1
        });
        if let Value::Object(item) = &mut merged[at].1 {
            merge_maps(item, patch, Some(rules), path)?;
        }
    }
    Ok(arrange(merged, &wanted, &document))
}

/// Merges a list of primitives that is a set.
pub(super) fn merge_set(
    before: Vec<Value>,
    patch: &[Value],
    order: Option<&[Value]>,
    path: &str,
) -> Result<Vec<Value>, StrategicError> {
    let names = primitives(patch, path)?;
    let wanted = match order {
        None => names,
        Some(order) => {
            let order = primitives(order, path)?;
            if !order.is_empty() && !is_subsequence(&names, &order) {
                return Err(StrategicError::OrderMismatch(path.to_owned()));
            }
            order
        }
    };
    let mut seen = HashSet::new();
    let mut merged: Vec<Keyed> = Vec::with_capacity(before.len() + patch.len());
    let count = before.len();
    for (at, item) in before.into_iter().chain(patch.iter().cloned()).enumerate() {
        let name = item.to_string();
        // What the document has twice is not the patch's business.
        if seen.insert(name.clone()) || at < count {
            merged.push((Some(name), item));
        }
    }
    let document = places(&merged[..count]);
    Ok(arrange(merged, &wanted, &document))
}

/// Where each key stands; the first of doubles counts.
fn places(items: &[Keyed]) -> HashMap<String, usize> {
    let mut places = HashMap::with_capacity(items.len());
    for (at, (name, _)) in items.iter().enumerate() {
        if let Some(name) = name {
            places.entry(name.clone()).or_insert(at);
        }
    }
    places
}

fn sort_out<'a>(patch: &'a [Value], key: &str, path: &str) -> Result<Items<'a>, StrategicError> {
    let mut items = Items::default();
    for item in patch {
        let map = item.as_object().ok_or_else(|| StrategicError::BadItem(path.to_owned()))?;
        let name = map.get(key).map(Value::to_string);
        let missing = || StrategicError::MissingKey(key.to_owned(), path.to_owned());
        match map.get(PATCH) {
            None => items.merge.push((name.ok_or_else(missing)?, map)),
            Some(directive) => match directive.as_str() {
                Some("merge") => items.merge.push((name.ok_or_else(missing)?, map)),
                Some("replace") => items.replace = true,
                Some("delete") => {
                    items.gone.insert(name.ok_or_else(missing)?);
                }
                _ => {
                    return Err(StrategicError::BadDirective(directive.clone(), path.to_owned()));
                }
            },
        }
    }
    Ok(items)
}

fn keys_of(order: &[Value], key: &str, path: &str) -> Result<Vec<String>, StrategicError> {
    let missing = || StrategicError::MissingKey(key.to_owned(), path.to_owned());
    order.iter().map(|item| item.get(key).map(Value::to_string).ok_or_else(missing)).collect()
}

fn primitives(items: &[Value], path: &str) -> Result<Vec<String>, StrategicError> {
    let name = |item: &Value| match item {
        Value::Array(_) | Value::Object(_) => Err(StrategicError::BadItem(path.to_owned())),
        primitive => Ok(primitive.to_string()),
    };
    items.iter().map(name).collect()
}
