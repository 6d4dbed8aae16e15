//! Merging an applied configuration into a live document by the rules of its schema.
//!
//! It must not know which manager owns what; taking away what is no longer applied is another file's work.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};
use thiserror::Error;

use super::element::{PathElement, item_key};
use super::extract::is_atomic;
use super::schema::{Node, SsaList};

/// Why a configuration cannot be merged.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MergeError {
    /// An item of an associative list lacks a key, or an item of a set is not a primitive.
    #[error("{0}: element {1}: the item cannot be identified by the keys of its list")]
    BadItem(String, usize),
    /// Two items of the configuration have the same keys.
    #[error("{0}: duplicate entries for key {1}")]
    Duplicate(String, String),
}

/// Where we are in the document, spelled only when an error needs it. As long as the document is deep.
#[derive(Clone, Copy)]
pub(super) struct Path<'a>(Option<&'a Path<'a>>, &'a str);

impl Path<'_> {
    /// The document itself.
    pub(super) const ROOT: Self = Path(None, "");
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(parent) => write!(f, "{parent}.{}", self.1),
            None => Ok(()),
        }
    }
}

/// Merges a map of the configuration into a live map. `path` is where we are, for errors.
pub(super) fn maps(
    live: &mut Map<String, Value>,
    config: &Map<String, Value>,
    rules: Option<&Node>,
    path: &Path<'_>,
) -> Result<(), MergeError> {
    for (name, value) in config {
        let inner = rules.and_then(|rules| rules.child(name));
        let path = Path(Some(path), name);
        let slot = live.entry(name.as_str()).or_insert(Value::Null);
        merge_value(slot, value, inner, &path)?;
    }
    Ok(())
}

/// Merges one value of the configuration into its live place.
pub(super) fn merge_value(
    live: &mut Value,
    config: &Value,
    rules: Option<&Node>,
    path: &Path<'_>,
) -> Result<(), MergeError> {
    match config {
        Value::Object(config) if !is_atomic(rules) => {
            if !live.is_object() {
                *live = Value::Object(Map::new());
            }
            match live {
                Value::Object(live) => maps(live, config, rules, path),
                _ => Ok(()),
            }
        }
        Value::Array(config) => match rules {
            Some(rules) if rules.ssa != SsaList::Atomic => {
                let before = match live.take() {
                    Value::Array(list) => list,
                    _ => Vec::new(),
                };
                *live = Value::Array(lists(before, config, rules, path)?);
                Ok(())
            }
            _ => {
                *live = Value::Array(config.clone());
                Ok(())
            }
        },
        leaf => {
            live.clone_from(leaf);
            Ok(())
        }
    }
}

/// Merges an associative list or set. Items of the configuration keep its order; live-only items keep
/// their place among the items that both have.
fn lists(
    live: Vec<Value>,
    config: &[Value],
    rules: &Node,
    path: &Path<'_>,
) -> Result<Vec<Value>, MergeError> {
    let places = identify(config, rules, path)?;
    let keys: Vec<Option<String>> = live.iter().map(|item| item_key(item, &rules.ssa)).collect();
    let upcoming = upcoming_shared(&keys, &places, config.len());
    // The live counterpart of every item of the configuration; the first of doubles counts.
    let mut counterparts: Vec<Option<Value>> = vec![None; config.len()];
    let mut order = Vec::with_capacity(live.len() + config.len());
    for (item, key) in live.into_iter().zip(&keys) {
        match key.as_ref().and_then(|key| places.get(key)) {
            None => order.push(Place::Live(item)),
            Some(&at) => {
                counterparts[at].get_or_insert(item);
                order.push(Place::Shared(at));
            }
        }
    }
    let mut out = Vec::with_capacity(order.len() + config.len());
    let mut next = 0;
    let mut emit = |out: &mut Vec<Value>, at: usize| -> Result<(), MergeError> {
        let mut item = counterparts[at].take().unwrap_or(Value::Null);
        merge_item(&mut item, &config[at], rules, path)?;
        out.push(item);
        Ok(())
    };
    for place in order {
        match place {
            Place::Live(item) => out.push(item),
            Place::Shared(at) => {
                // An item that the configuration has later comes with the configuration's order.
                if upcoming.get(next) == Some(&at) {
                    for at in next..=at {
                        emit(&mut out, at)?;
                    }
                    next = at + 1;
                }
            }
        }
    }
    for at in next..config.len() {
        emit(&mut out, at)?;
    }
    Ok(out)
}

/// For every place of the configuration, the next one from there on that is live as well.
fn upcoming_shared(live: &[Option<String>], places: &HashMap<String, usize>, len: usize) -> Vec<usize> {
    let mut shared = vec![false; len];
    for &at in live.iter().flatten().filter_map(|key| places.get(key)) {
        shared[at] = true;
    }
    let mut upcoming = vec![len; len];
    let mut next = len;
    for at in (0..len).rev() {
        if shared[at] {
            next = at;
        }
        upcoming[at] = next;
    }
    upcoming
}

/// Where an item of the merged list comes from.
enum Place {
    Live(Value),
    Shared(usize),
}

fn merge_item(live: &mut Value, config: &Value, rules: &Node, path: &Path<'_>) -> Result<(), MergeError> {
    match config {
        Value::Object(config) if !rules.atomic => {
            if !live.is_object() {
                *live = Value::Object(Map::new());
            }
            match live {
                Value::Object(live) => maps(live, config, Some(rules), path),
                _ => Ok(()),
            }
        }
        leaf => {
            live.clone_from(leaf);
            Ok(())
        }
    }
}

/// The place of every item of the configuration by its key.
fn identify(config: &[Value], rules: &Node, path: &Path<'_>) -> Result<HashMap<String, usize>, MergeError> {
    let mut places = HashMap::with_capacity(config.len());
    for (at, item) in config.iter().enumerate() {
        let key = item_key(item, &rules.ssa).ok_or_else(|| MergeError::BadItem(path.to_string(), at))?;
        let shown = || match PathElement::parse(&key) {
            Ok(element) => element.to_string(),
            Err(_) => key.clone(),
        };
        if places.contains_key(&key) {
            return Err(MergeError::Duplicate(path.to_string(), shown()));
        }
        places.insert(key, at);
    }
    Ok(places)
}
