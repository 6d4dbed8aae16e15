//! How large one object may be, in numbers of things.

use serde_json::Value;
use sexton_model::{FieldError, Status, Stored};

use super::Change;
use crate::api::{Result, Target};

/// Counts that one object may not exceed.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Labels: each is looked at by every selector.
    pub labels: usize,
    /// Finalizers: each is a controller that has to act.
    pub finalizers: usize,
    /// Owner references: each is an edge of the graph.
    pub owners: usize,
    /// All annotations together, in bytes.
    pub annotation_bytes: usize,
    /// The whole object as it is kept, in bytes. A request is bounded anyway; many patches one after the other are not.
    pub bytes: usize,
}

impl Limits {
    /// Far above what people use, far below what hurts.
    pub const DEFAULT: Limits =
        Limits { labels: 256, finalizers: 64, owners: 256, annotation_bytes: 256 << 10, bytes: 3 << 20 };
}

/// Refuses an object that has grown too large. One that shrinks is never refused, however large it is.
pub fn check_size(old: Option<&Stored>, new: &Stored) -> Result<()> {
    let (was, is) = (old.map_or(0, |old| old.bytes().len()), new.bytes().len());
    if is > Limits::DEFAULT.bytes && is > was {
        return Err(Status::too_large(Limits::DEFAULT.bytes).into());
    }
    Ok(())
}

pub(super) fn counts(_: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let limits = Limits::DEFAULT;
    let metadata = change.new.metadata();
    let count = |field: &str| match metadata.get(field) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(map)) => map.len(),
        _ => 0,
    };
    for (field, most) in
        [("labels", limits.labels), ("finalizers", limits.finalizers), ("ownerReferences", limits.owners)]
    {
        if count(field) > most {
            errors.push(FieldError::too_many(format!("metadata.{field}"), count(field), most));
        }
    }
    let annotations = metadata.get("annotations").and_then(Value::as_object);
    let bytes: usize = annotations
        .into_iter()
        .flatten()
        .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len))
        .sum();
    if bytes > limits.annotation_bytes {
        errors.push(FieldError::too_long("metadata.annotations", limits.annotation_bytes));
    }
}
