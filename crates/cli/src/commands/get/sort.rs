//! The order of what is shown, by a path into the objects.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::Value;
use sexton_client::ServedKind;
use sexton_client::resources::{Table, text};
use sexton_model::jsonpath::JsonPath;

use crate::failure::Failure;
use crate::output::template::{TemplateError, order, relaxed};

/// Reads a path as people type it.
pub(super) fn path(typed: &str) -> Result<JsonPath, TemplateError> {
    relaxed(typed)
}

/// Sorts objects, and the rows of tables as their objects are.
pub(super) fn by(
    path: &JsonPath,
    objects: &mut [(ServedKind, Value)],
    tables: &mut [(ServedKind, Table)],
) -> Result<(), Failure> {
    if !objects.is_empty() && !objects.iter().any(|(_, object)| path.first(object).is_some()) {
        return Err(Failure::new(format!("--sort-by {}: none of the objects has that field", path.text()))
            .next("see which there are", "sexton get KIND NAME -o yaml"));
    }
    objects.sort_by(|(_, one), (_, other)| compare(path, one, other));
    let places: HashMap<&str, usize> =
        objects.iter().enumerate().map(|(at, (_, object))| (text(object, "/metadata/uid"), at)).collect();
    for (_, table) in tables {
        // A row of an object that was created between the two lists is at the end.
        let place = |object: &Value| places.get(text(object, "/metadata/uid")).copied().unwrap_or(usize::MAX);
        table.rows.sort_by_key(|row| place(&row.object));
    }
    Ok(())
}

fn compare(path: &JsonPath, one: &Value, other: &Value) -> Ordering {
    order(path.first(one), path.first(other))
}
