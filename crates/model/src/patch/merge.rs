//! JSON merge patch (RFC 7396).
//!
//! It must not know schemas.

use serde_json::{Map, Value};

/// Applies a merge patch: maps merge, null deletes, everything else replaces.
pub fn merge_patch(document: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        document.clone_from(patch);
        return;
    };
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    let Value::Object(map) = document else {
        return;
    };
    for (name, value) in patch {
        if value.is_null() {
            map.remove(name);
        } else {
            merge_patch(map.entry(name.as_str()).or_insert(Value::Null), value);
        }
    }
}
