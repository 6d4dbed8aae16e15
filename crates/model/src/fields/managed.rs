//! `metadata.managedFields`: which manager owns which fields, decoded and encoded.
//!
//! It must not know how ownership changes.

use std::collections::HashMap;

use serde_json::{Map, Value};
use thiserror::Error;

use super::Writer;
use super::fieldsv1::FieldsError;
use super::set::FieldSet;

/// How many entries a list may have to be read; a bound on the work that a client's list can ask for.
const MAX_ENTRIES: usize = 1_000;

/// How many entries of updaters are kept apart; older ones are merged.
pub(super) const MAX_UPDATERS: usize = 10;

/// The manager of merged old entries.
const OLD_UPDATES: &str = "ancient-changes";

/// How a manager came to own its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// One entry of `metadata.managedFields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedEntry {
    /// The field manager.
    pub manager: String,
    /// How it came to own the fields.
    pub operation: Operation,
    /// The version the fields are spelled in.
    pub api_version: String,
    /// When the manager last changed something.
    pub time: Option<String>,
    /// The subresource written through, or empty.
    pub subresource: String,
    /// What it owns.
    pub fields: FieldSet,
}

/// Why `metadata.managedFields` cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ManagedFieldsError {
    /// Not a list of maps.
    #[error("managedFields must be a list of maps")]
    NotAList,
    /// More entries than any object needs.
    #[error("managedFields may have {MAX_ENTRIES} entries at most")]
    TooMany,
    /// A field of an entry is not a string.
    #[error("{0} must be a string in managed fields entry {1}")]
    NotAString(&'static str, usize),
    /// The operation is neither of the two.
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// The version is missing.
    #[error("apiVersion must not be empty")]
    ApiVersion,
    /// The fields type is not FieldsV1.
    #[error("invalid fieldsType {0:?} in managed fields entry {1}")]
    FieldsType(String, usize),
    /// The fields cannot be read.
    #[error(transparent)]
    Fields(#[from] FieldsError),
}

/// All entries of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFields {
    /// The entries, one for each manager, operation, subresource and (of updates) version.
    pub entries: Vec<ManagedEntry>,
}

impl ManagedFields {
    /// Reads the list; null is an empty list.
    pub fn decode(list: &Value) -> Result<Self, ManagedFieldsError> {
        let list = match list {
            Value::Null => return Ok(Self::default()),
            Value::Array(list) => list,
            _ => return Err(ManagedFieldsError::NotAList),
        };
        if list.len() > MAX_ENTRIES {
            return Err(ManagedFieldsError::TooMany);
        }
        let mut out = Self::default();
        for (index, entry) in list.iter().enumerate() {
            let entry = entry.as_object().ok_or(ManagedFieldsError::NotAList)?;
            out.put(decode_entry(entry, index)?);
        }
        Ok(out)
    }

    /// The list in its canonical order.
    pub fn encode(mut self) -> Value {
        self.sort();
        Value::Array(self.entries.into_iter().map(encode_entry).collect())
    }

    /// Adds an entry in place of one of the same identity.
    pub(super) fn put(&mut self, entry: ManagedEntry) {
        match self.entries.iter_mut().find(|other| other.same(&entry)) {
            Some(other) => *other = entry,
            None => self.entries.push(entry),
        }
    }

    /// Operation, then time, then name; what was there first stays first among equals.
    pub(super) fn sort(&mut self) {
        self.entries.sort_by(|a, b| {
            (a.operation.cmp(&b.operation))
                .then_with(|| a.time.cmp(&b.time))
                .then_with(|| a.manager.cmp(&b.manager))
                .then_with(|| a.api_version.cmp(&b.api_version))
                .then_with(|| a.subresource.cmp(&b.subresource))
        });
    }

    /// Merges the oldest updaters of each version until no more than the maximum are left.
    pub(super) fn cap(&mut self) {
        let is_update = |entry: &&ManagedEntry| entry.operation == Operation::Update;
        let mut excess = (self.entries.iter().filter(is_update).count()).saturating_sub(MAX_UPDATERS);
        if excess == 0 {
            return;
        }
        self.sort();
        let mut buckets: HashMap<String, usize> = HashMap::new();
        let mut out: Vec<ManagedEntry> = Vec::with_capacity(self.entries.len());
        for entry in self.entries.drain(..) {
            let joins = entry.operation == Operation::Update && (excess > 0 || entry.manager == OLD_UPDATES);
            match buckets.get(&entry.api_version) {
                Some(&at) if joins => {
                    let bucket = &mut out[at];
                    bucket.manager = OLD_UPDATES.to_owned();
                    bucket.subresource = String::new();
                    bucket.time = entry.time;
                    bucket.fields.add(entry.fields);
                    excess = excess.saturating_sub(1);
                }
                _ => {
                    if joins {
                        buckets.insert(entry.api_version.clone(), out.len());
                    }
                    out.push(entry);
                }
            }
        }
        self.entries = out;
    }
}

impl ManagedEntry {
    /// A new entry for a writer.
    pub(super) fn new(writer: &Writer<'_>, operation: Operation, fields: FieldSet) -> Self {
        Self {
            manager: writer.name().to_owned(),
            operation,
            api_version: writer.api_version.to_owned(),
            time: Some(writer.time.to_owned()),
            subresource: writer.subresource.to_owned(),
            fields,
        }
    }

    /// Whether this is the entry a writer's operation would change. Appliers have one over all versions.
    pub(super) fn is(&self, writer: &Writer<'_>, operation: Operation) -> bool {
        self.operation == operation
            && self.manager == writer.name()
            && self.subresource == writer.subresource
            && (operation == Operation::Apply || self.api_version == writer.api_version)
    }

    fn same(&self, other: &Self) -> bool {
        self.operation == other.operation
            && self.manager == other.manager
            && self.subresource == other.subresource
            && (self.operation == Operation::Apply || self.api_version == other.api_version)
    }
}

fn decode_entry(entry: &Map<String, Value>, index: usize) -> Result<ManagedEntry, ManagedFieldsError> {
    let text = |name: &'static str| match entry.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(ManagedFieldsError::NotAString(name, index)),
    };
    let operation = match text("operation")? {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err(ManagedFieldsError::Operation),
    };
    let api_version = text("apiVersion")?.to_owned();
    if api_version.is_empty() {
        return Err(ManagedFieldsError::ApiVersion);
    }
    match text("fieldsType")? {
        "FieldsV1" => {}
        other => return Err(ManagedFieldsError::FieldsType(other.to_owned(), index)),
    }
    let time = text("time")?;
    Ok(ManagedEntry {
        manager: text("manager")?.to_owned(),
        operation,
        api_version,
        time: (!time.is_empty()).then(|| time.to_owned()),
        subresource: text("subresource")?.to_owned(),
        fields: FieldSet::decode(entry.get("fieldsV1").unwrap_or(&Value::Null))?,
    })
}

/// The JSON of an entry.
pub(super) fn encode_entry(entry: ManagedEntry) -> Value {
    let mut map = Map::new();
    map.insert("apiVersion".to_owned(), entry.api_version.into());
    map.insert("fieldsType".to_owned(), "FieldsV1".into());
    map.insert("fieldsV1".to_owned(), entry.fields.into_fields());
    if !entry.manager.is_empty() {
        map.insert("manager".to_owned(), entry.manager.into());
    }
    map.insert("operation".to_owned(), entry.operation.as_str().into());
    if !entry.subresource.is_empty() {
        map.insert("subresource".to_owned(), entry.subresource.into());
    }
    if let Some(time) = entry.time {
        map.insert("time".to_owned(), time.into());
    }
    Value::Object(map)
}

/// The JSON of a new entry of a writer whose fields are already encoded.
pub(super) fn encode_parts(writer: &Writer<'_>, operation: Operation, fields: Map<String, Value>) -> Value {
    let mut entry = encode_entry(ManagedEntry::new(writer, operation, FieldSet::new()));
    entry["fieldsV1"] = Value::Object(fields);
    entry
}
