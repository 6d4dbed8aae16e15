//! What of a Secret stands nowhere but in the Secret itself: records, plans and answers of methods have it redacted.
//!
//! It must not know where something is written down; code that writes something of an object down asks here.

mod scrub;

pub use scrub::scrub;

use serde_json::Value;

/// What stands where a value was.
pub const REDACTED: &str = "(redacted)";

/// kubectl keeps the whole document there, values included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields that hold secret values.
const FIELDS: [&str; 2] = ["data", "stringData"];

/// Whether a document is a Secret.
pub fn is_secret(document: &Value) -> bool {
    document["apiVersion"] == "v1" && document["kind"] == "Secret"
}

/// Takes the values out of a Secret, and leaves their names. Other documents stay as they are.
pub fn redact(document: &mut Value) {
    if !is_secret(document) {
        return;
    }
    for field in FIELDS {
        if let Some(value) = document.get_mut(field) {
            hide(value);
        }
    }
    let annotations = document.pointer_mut("/metadata/annotations");
    if let Some(applied) = annotations.and_then(|all| all.get_mut(LAST_APPLIED)) {
        hide(applied);
    }
}

/// Whether a field of a Secret holds values, by its path: `data.password`, `metadata.annotations[…]`.
pub fn is_hidden(path: &str) -> bool {
    let below = |field: &str| {
        path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    FIELDS.iter().any(|field| below(field))
        || path == "metadata.annotations"
        || path.starts_with("metadata.annotations") && path.contains(LAST_APPLIED)
}

/// Puts something else in the place of every value; names and the shape stay.
pub fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(hide),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => *value = REDACTED.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret() -> Value {
        json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": "a", "annotations": {LAST_APPLIED: "{\"hunter2\"}", "note": "kept"}},
            "data": {"password": "aHVudGVyMg=="}, "stringData": {"again": "hunter2"}})
    }

    #[test]
    fn only_names_of_values_are_left() {
        let mut document = secret();
        redact(&mut document);
        assert_eq!(document["data"], json!({"password": REDACTED}));
        assert_eq!(document["stringData"], json!({"again": REDACTED}));
        assert_eq!(document["metadata"]["annotations"], json!({LAST_APPLIED: REDACTED, "note": "kept"}));
        assert_eq!(document["type"], "Opaque");
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}});
        let mut same = map.clone();
        redact(&mut same);
        assert_eq!(same, map, "a ConfigMap is no Secret");
    }

    #[test]
    fn fields_with_values_are_known_by_their_paths() {
        let applied = format!("metadata.annotations[{LAST_APPLIED}]");
        for path in ["data", "data.a", "data[a.b]", "stringData.a", "metadata.annotations", applied.as_str()]
        {
            assert!(is_hidden(path), "{path}");
        }
        for path in ["type", "database", "metadata.annotations[note]", "metadata.labels[data]"] {
            assert!(!is_hidden(path), "{path}");
        }
    }
}
