//! Server-side apply: merge, take away what is no longer applied, move ownership, find conflicts.
//!
//! It must not know requests. Preconditions that a configuration may carry (`metadata.uid`,
//! `metadata.resourceVersion`) are the caller's to check; they are neither merged nor owned.

use serde_json::{Map, Value};
use thiserror::Error;

use super::Writer;
use super::conflict::{Conflict, Conflicts};
use super::diff::{self, Diff};
use super::extract::{Reading, of_document};
use super::managed::{ManagedEntry, ManagedFields, Operation};
use super::merge::{self, MergeError};
use super::schema::Schema;
use super::scope::Scope;
use super::set::FieldSet;
use super::update::{finish, metadata_mut, stored};

/// Owns the fields that an untracked object had before its first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Why a configuration is not applied.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ApplyError {
    /// The configuration, or its metadata, is not a map. A bad request.
    #[error("the applied configuration must be an object with metadata")]
    NotAnObject,
    /// The configuration has `managedFields` itself. A bad request.
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsSet,
    /// A list of the configuration cannot be merged. Invalid.
    #[error("failed to merge the applied configuration: {0}")]
    Merge(#[from] MergeError),
    /// Other managers own some of the fields. A conflict.
    #[error(transparent)]
    Conflicts(#[from] Conflicts),
}

/// Applies `config` to `live` (`None`: there is no such object yet) and returns the object to store.
///
/// Nulls in the configuration count as not mentioned. An apply that changes neither a field nor an owner
/// returns the live document as it is, with its times.
pub fn apply(
    live: Option<&Value>,
    config: &Value,
    writer: &Writer<'_>,
    force: bool,
    schema: &Schema,
) -> Result<Value, ApplyError> {
    let scope = Scope::of(writer.subresource, schema);
    let nothing = Value::Object(Map::new());
    let before = live.unwrap_or(&nothing);
    let config = Value::Object(cleaned(config, scope, live.is_none())?);
    let claimed: FieldSet = of_document(&config, schema, scope, Reading::Claimed);
    let mut managed = managers(live, writer, scope, schema);
    let mine = |entry: &ManagedEntry| entry.is(writer, Operation::Apply);
    let last = managed.entries.iter().position(mine).map(|at| managed.entries.remove(at));

    let mut result = merged(before, &config, schema)?;
    if let Some(last) = &last {
        prune(&mut result, &last.fields, &claimed, &managed, schema);
    }
    let diff = diff::documents(before, &result, schema, scope);
    let owners_stay = match &last {
        Some(last) => last.fields == claimed && last.api_version == writer.api_version,
        None => claimed.is_empty(),
    };
    if owners_stay && diff.is_empty() && live.is_some() {
        return Ok(before.clone());
    }
    yield_to(&mut managed, &diff, force)?;
    let moved = !diff.is_empty() || last.as_ref().is_none_or(|last| last.fields != claimed);
    let mut entry = ManagedEntry::new(writer, Operation::Apply, claimed);
    if let (false, Some(last)) = (moved, last) {
        entry.time = last.time;
    }
    managed.entries.push(entry);
    if let (Some(list), Some(metadata)) = (finish(managed), metadata_mut(&mut result)) {
        metadata.insert("managedFields".to_owned(), list);
    }
    Ok(result)
}

/// The owners before this apply. An untracked object is owned as a whole by a manager made up for it.
fn managers(live: Option<&Value>, writer: &Writer<'_>, scope: Scope, schema: &Schema) -> ManagedFields {
    let Some(live) = live else {
        return ManagedFields::default();
    };
    let mut managed = stored(live).and_then(|list| ManagedFields::decode(list).ok()).unwrap_or_default();
    if managed.entries.is_empty() {
        let first = Writer { manager: BEFORE_FIRST_APPLY, ..*writer };
        let fields = of_document(live, schema, scope, Reading::Added);
        managed.put(ManagedEntry::new(&first, Operation::Update, fields));
    }
    managed
}

/// The part of the configuration that is merged: without nulls, bookkeeping fields and what is out of scope.
fn cleaned(config: &Value, scope: Scope, create: bool) -> Result<Map<String, Value>, ApplyError> {
    let config = config.as_object().ok_or(ApplyError::NotAnObject)?;
    let mut out = Map::new();
    for (name, value) in config {
        let identity = name == "apiVersion" || name == "kind";
        if name == "metadata" {
            let metadata = cleaned_metadata(value, scope, create)?;
            out.insert(name.clone(), Value::Object(metadata));
        } else if !value.is_null() && (scope.owns_root(name) || (identity && create)) {
            out.insert(name.clone(), without_nulls(value));
        }
    }
    Ok(out)
}

fn cleaned_metadata(value: &Value, scope: Scope, create: bool) -> Result<Map<String, Value>, ApplyError> {
    let metadata = match value {
        Value::Null => return Ok(Map::new()),
        Value::Object(metadata) => metadata,
        _ => return Err(ApplyError::NotAnObject),
    };
    if metadata.get("managedFields").is_some_and(|list| !list.is_null()) {
        return Err(ApplyError::ManagedFieldsSet);
    }
    let identity = |name: &str| create && (name == "name" || name == "namespace");
    let kept = metadata
        .iter()
        .filter(|(name, value)| !value.is_null() && (scope.owns_metadata(name) || identity(name)))
        .map(|(name, value)| (name.clone(), without_nulls(value)));
    Ok(kept.collect())
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(without_nulls).collect()),
        leaf => leaf.clone(),
    }
}

/// The live document with the configuration merged in, without its managed fields.
fn merged(live: &Value, config: &Value, schema: &Schema) -> Result<Value, MergeError> {
    let mut result = live.clone();
    if let Some(metadata) = result.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    merge::merge_value(&mut result, config, Some(schema.root()), &merge::Path::ROOT)?;
    Ok(result)
}

/// Takes out the fields that this manager applied before, does not mention now, and no other manager owns.
fn prune(result: &mut Value, last: &FieldSet, claimed: &FieldSet, others: &ManagedFields, schema: &Schema) {
    let gone = last.difference(claimed);
    if gone.is_empty() {
        return;
    }
    let mut keep = claimed.clone();
    for entry in &others.entries {
        keep.add(entry.fields.clone());
    }
    gone.remove_from(result, &keep, schema);
}

/// Takes changed and removed fields from the other managers, or says why that must not be.
fn yield_to(managed: &mut ManagedFields, diff: &Diff, force: bool) -> Result<(), Conflicts> {
    if !force {
        let conflicts: Vec<Conflict> = managed
            .entries
            .iter()
            .flat_map(|entry| Conflict::with(entry, &entry.fields.intersection(&diff.changed)))
            .collect();
        if !conflicts.is_empty() {
            return Err(Conflicts::new(conflicts));
        }
    }
    for entry in &mut managed.entries {
        entry.fields.subtract(&diff.changed);
        entry.fields.subtract(&diff.removed);
    }
    Ok(())
}
