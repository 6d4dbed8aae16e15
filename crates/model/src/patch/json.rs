//! JSON patch (RFC 6902) with bounds on what a small request may ask for, and errors that tell a bad patch from an
//! object that it does not fit.
//!
//! It must not know schemas.

use json_patch::{Patch, PatchOperation};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// The most operations one patch may have, so that a small request cannot ask for endless work.
pub const MAX_OPERATIONS: usize = 10_000;

/// The most that all `copy` operations of one patch may copy, in bytes of JSON: copying in a circle
/// doubles a document with every operation.
pub const MAX_COPIED: usize = 3 << 20;

/// How deep a document may become. Every single value may be within bounds and the result of nesting
/// them with `add` or `move` without end would still not be.
pub const MAX_DEPTH: usize = 64;

/// Why a JSON patch was not applied.
#[derive(Debug, Error)]
pub enum JsonPatchError {
    /// The bytes are not a JSON patch. A bad request.
    #[error("error decoding patch: {0}")]
    Undecodable(#[from] serde_json::Error),
    /// Too many operations. A request that is too large.
    #[error("the allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {0}")]
    TooManyOperations(usize),
    /// Too much copied. A request that is too large.
    #[error("the copy operations of a JSON patch may copy {MAX_COPIED} bytes at most")]
    TooMuchCopied,
    /// The result would be nested too deeply. Invalid.
    #[error("operation {0} of the JSON patch nests the document deeper than {MAX_DEPTH} levels")]
    TooDeep(usize),
    /// An operation does not fit the document: a failing test, a missing path. Invalid.
    #[error("operation {operation} of the JSON patch at path {path:?}: {source}")]
    Unappliable {
        /// Which operation, counted from 0.
        operation: usize,
        /// Where it was to be applied.
        path: String,
        /// What does not fit.
        source: json_patch::PatchErrorKind,
    },
}

/// Decodes and applies a JSON patch. On error the document is as it was.
pub fn json_patch_bytes(document: &mut Value, patch: &[u8]) -> Result<(), JsonPatchError> {
    let patch: Patch = serde_json::from_slice(patch)?;
    run(document, &patch)
}

/// Applies a JSON patch that is already a JSON value. On error the document is as it was.
pub fn json_patch(document: &mut Value, patch: &Value) -> Result<(), JsonPatchError> {
    run(document, &Patch::deserialize(patch)?)
}

fn run(document: &mut Value, patch: &Patch) -> Result<(), JsonPatchError> {
    if patch.0.len() > MAX_OPERATIONS {
        return Err(JsonPatchError::TooManyOperations(patch.0.len()));
    }
    let mut copied = 0;
    let mut result = document.clone();
    for (index, operation) in patch.0.iter().enumerate() {
        check_bounds(&result, operation, index, &mut copied)?;
        if tests_absence(&result, operation) {
            continue;
        }
        json_patch::patch_unsafe(&mut result, std::slice::from_ref(operation)).map_err(|error| {
            JsonPatchError::Unappliable { operation: index, path: error.path.to_string(), source: error.kind }
        })?;
    }
    *document = result;
    Ok(())
}

/// Whether the operation tests that a field is null, and the object that would have it does not. To the letter that is
/// an error; in Kubernetes it holds, and clients use it to say "this is not set yet".
fn tests_absence(document: &Value, operation: &PatchOperation) -> bool {
    let PatchOperation::Test(test) = operation else { return false };
    let path = test.path.as_str();
    let parent = path.rsplit_once('/').and_then(|(parent, _)| document.pointer(parent));
    test.value.is_null() && parent.is_some_and(Value::is_object) && document.pointer(path).is_none()
}

fn check_bounds(
    document: &Value,
    operation: &PatchOperation,
    index: usize,
    copied: &mut usize,
) -> Result<(), JsonPatchError> {
    let placed = match operation {
        PatchOperation::Add(operation) => Some(&operation.value),
        PatchOperation::Replace(operation) => Some(&operation.value),
        PatchOperation::Move(operation) => document.pointer(operation.from.as_str()),
        PatchOperation::Copy(operation) => {
            let source = document.pointer(operation.from.as_str());
            *copied = copied.saturating_add(source.map_or(0, size));
            source
        }
        PatchOperation::Remove(_) | PatchOperation::Test(_) => None,
    };
    if *copied > MAX_COPIED {
        return Err(JsonPatchError::TooMuchCopied);
    }
    let levels = operation.path().tokens().count();
    match placed {
        Some(value) if levels + depth(value) > MAX_DEPTH => Err(JsonPatchError::TooDeep(index)),
        _ => Ok(()),
    }
}

/// How many containers lie around the deepest leaf.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// About how many bytes the value has as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(list) => 2 + list.iter().map(|item| 1 + size(item)).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(name, value)| 4 + name.len() + size(value)).sum::<usize>(),
        Value::String(text) => 2 + text.len(),
        _ => 5,
    }
}
