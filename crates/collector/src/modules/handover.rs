//! The part of an object that a field manager has applied: the fields that a transfer moves to another manager.
//!
//! It must not know which modules are involved.

use serde_json::{Map, Value};
use sexton_client::resources::text;

/// The part of an object that a manager has applied: maps by their fields, lists by their items.
pub(super) fn applied_by(live: &Value, field_manager: &str) -> Value {
    let managed = live.pointer("/metadata/managedFields").and_then(Value::as_array);
    let own = |entry: &&Value| {
        text(entry, "/manager") == field_manager
            && text(entry, "/operation") == "Apply"
            && text(entry, "/subresource").is_empty()
    };
    let entry = managed.into_iter().flatten().find(own).and_then(|entry| entry.get("fieldsV1"));
    entry.and_then(|fields| part(live, fields)).unwrap_or_else(|| Value::Object(Map::new()))
}

/// The part of a value that managed fields name. The recursion is as deep as the request was, which is bounded.
fn part(live: &Value, fields: &Value) -> Option<Value> {
    let fields = fields.as_object().filter(|fields| !fields.is_empty());
    match (live, fields) {
        (_, None) => Some(live.clone()),
        (Value::Object(live), Some(fields)) => {
            let inner = |(name, fields): (&String, &Value)| {
                let name = name.strip_prefix("f:")?;
                Some((name.to_owned(), part(live.get(name)?, fields)?))
            };
            Some(Value::Object(fields.iter().filter_map(inner).collect()))
        }
        (Value::Array(live), Some(fields)) => {
            // Whole items of lists: other managers keep their fields of them.
            let named = |item: &&Value| fields.keys().any(|key| is_named(item, key));
            Some(Value::Array(live.iter().filter(named).cloned().collect()))
        }
        _ => None,
    }
}

/// Whether an item of a list is the one that a key such as `k:{"port":80}` or `v:"a"` names.
fn is_named(item: &Value, key: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    if let Some(value) = key.strip_prefix("v:").and_then(read) {
        return *item == value;
    }
    let Some(Value::Object(keys)) = key.strip_prefix("k:").and_then(read) else { return false };
    keys.iter().all(|(name, value)| item.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_applied_and_nothing_else() {
        let live = json!({
            "metadata": {
                "name": "a", "labels": {"x": "1", "y": "2"}, "finalizers": ["f", "g"],
                "managedFields": [{"manager": "us", "operation": "Apply", "fieldsV1": {
                    "f:metadata": {"f:labels": {"f:x": {}}, "f:finalizers": {"v:\"f\"": {}}},
                    "f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:name": {}}}, "f:atomic": {}, "f:gone": {}},
                }}, {"manager": "us", "operation": "Update", "fieldsV1": {"f:data": {}}}],
            },
            "spec": {"ports": [{"port": 80, "name": "a"}, {"port": 81}], "atomic": [1, 2], "other": 1},
            "data": {},
        });
        let expected = json!({
            "metadata": {"labels": {"x": "1"}, "finalizers": ["f"]},
            "spec": {"ports": [{"port": 80, "name": "a"}], "atomic": [1, 2]},
        });
        assert_eq!(applied_by(&live, "us"), expected);
        assert_eq!(applied_by(&live, "them"), json!({}));
    }
}
