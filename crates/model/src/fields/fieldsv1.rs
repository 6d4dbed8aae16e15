//! FieldsV1: the JSON form of a field set in `managedFields[].fieldsV1`.
//!
//! `{"f:a":{}}` holds `.a`; `{"f:a":{".":{},"f:b":{}}}` holds `.a` and `.a.b`; without the `"."` only
//! `.a.b`. It must not know entries or managers.

use serde_json::{Map, Value};
use thiserror::Error;

use super::edit::ITSELF;
use super::element::{ElementError, canonical};
use super::extract::Tree;
use super::set::{Entry, FieldSet};

/// Why FieldsV1 JSON is not a field set.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FieldsError {
    /// A node of the tree is not a map.
    #[error("fieldsV1 must be made of maps")]
    NotAMap,
    /// A key cannot be read.
    #[error(transparent)]
    Element(#[from] ElementError),
}

impl FieldSet {
    /// Reads FieldsV1 JSON. Path elements of unknown types are skipped, as they may come from the future.
    pub fn decode(fields: &Value) -> Result<Self, FieldsError> {
        match fields {
            Value::Null => Ok(Self::new()),
            Value::Object(map) => decode_map(map),
            _ => Err(FieldsError::NotAMap),
        }
    }

    /// The FieldsV1 JSON of the set.
    pub fn encode(&self) -> Value {
        self.clone().into_fields()
    }

    /// The FieldsV1 JSON, built from the set's own strings.
    pub fn into_fields(self) -> Value {
        Value::Object(into_map(self, false))
    }
}

fn decode_map(map: &Map<String, Value>) -> Result<FieldSet, FieldsError> {
    let mut entries: Vec<Entry> = Vec::with_capacity(map.len());
    for (text, below) in map {
        if text == ITSELF {
            continue;
        }
        let key = match canonical(text) {
            Ok(key) => key,
            Err(ElementError::Unknown(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        let below = match below {
            Value::Object(below) => below,
            _ => return Err(FieldsError::NotAMap),
        };
        let children = decode_map(below)?;
        entries.push(Entry { key, member: children.is_empty() || below.contains_key(ITSELF), children });
    }
    let before = entries.len();
    let mut set = FieldSet::from_entries(entries);
    set.entries.dedup_by(|later, first| {
        let same = later.key == first.key;
        if same {
            // Two spellings of one key, such as `v:1` and `v: 1`: both count.
            first.member |= later.member;
            first.children.add(std::mem::take(&mut later.children));
        }
        same
    });
    debug_assert!(set.entries.len() <= before);
    Ok(set)
}

fn into_map(set: FieldSet, itself: bool) -> Map<String, Value> {
    let mut map: Map<String, Value> = set.entries.into_iter().map(encode_entry).collect();
    if itself && !map.is_empty() {
        map.insert(ITSELF.to_owned(), Value::Object(Map::new()));
    }
    map
}

/// The key and the node of one entry.
pub(super) fn encode_entry(entry: Entry) -> (String, Value) {
    let node = if entry.children.is_empty() { Map::new() } else { into_map(entry.children, entry.member) };
    (entry.key, Value::Object(node))
}

/// Encoded fields as they grow while a document is read.
impl Tree for Map<String, Value> {
    fn with_capacity(_: usize) -> Self {
        Self::new()
    }

    fn is_bare(&self) -> bool {
        self.is_empty()
    }

    fn put(&mut self, key: String, member: bool, mut below: Self) {
        if member && !below.is_empty() {
            below.insert(ITSELF.to_owned(), Value::Object(Self::new()));
        }
        self.insert(key, Value::Object(below));
    }

    fn finish(self) -> Self {
        self
    }
}
