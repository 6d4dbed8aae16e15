//! Whether putting a document would change nothing but its marks, found out without asking the server.
//!
//! It is so if the object has everything that the document says, and if the fields that the module manages of it are
//! exactly those of the document: then there is nothing to set and nothing to take away. Whatever is not that simple is
//! left to a dry run: only a yes counts.

use serde_json::{Map, Value, json};
use sexton_client::resources::text;

/// Whether a put of the marked document would only change the marks of the object.
pub(super) fn is_unchanged(document: &Value, marked: &Value, live: &Value, field_manager: &str) -> bool {
    let managed = live.pointer("/metadata/managedFields").and_then(Value::as_array);
    let own = |entry: &&Value| {
        text(entry, "/manager") == field_manager
            && text(entry, "/operation") == "Apply"
            && text(entry, "/subresource").is_empty()
            && text(entry, "/apiVersion") == text(document, "/apiVersion")
    };
    let mut entries = managed.into_iter().flatten().filter(own);
    let (Some(entry), None) = (entries.next(), entries.next()) else { return false };
    entry.get("fieldsV1") == Some(&fields(marked)) && has(live, document)
}

/// The fields of a document as managed fields write them. Lists are one field: where they are not, it is not the same.
fn fields(document: &Value) -> Value {
    let mut fields = Map::new();
    for (name, value) in document.as_object().into_iter().flatten() {
        match name.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" => {
                let mut metadata = inner(value);
                for name in ["f:name", "f:namespace"] {
                    metadata.as_object_mut().map(|map| map.remove(name));
                }
                fields.insert("f:metadata".into(), metadata);
            }
            _ => {
                fields.insert(format!("f:{name}"), inner(value));
            }
        }
    }
    Value::Object(fields)
}

fn inner(value: &Value) -> Value {
    let Some(map) = value.as_object() else { return json!({}) };
    map.iter().map(|(name, value)| (format!("f:{name}"), inner(value))).collect::<Map<String, Value>>().into()
}

/// Whether an object has everything that a document says.
fn has(live: &Value, document: &Value) -> bool {
    match (live, document) {
        (Value::Object(live), Value::Object(document)) => {
            document.iter().all(|(name, said)| live.get(name).is_some_and(|live| has(live, said)))
        }
        (live, document) => live == document,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(fields: &Value, data: &Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {"name": "a", "uid": "u", "labels": {"m": "x"}, "managedFields": [
                {"manager": "other", "operation": "Update", "fieldsV1": {}},
                {"manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields},
            ]},
        })
    }

    #[test]
    fn only_what_is_surely_the_same_is() {
        let document = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"},
        });
        let mut marked = document.clone();
        marked["metadata"]["labels"] = json!({"m": "x"});
        let ours = json!({"f:metadata": {"f:labels": {"f:m": {}}}, "f:data": {"f:k": {}}});
        let more = json!({"f:metadata": {"f:labels": {"f:m": {}}}, "f:data": {"f:k": {}, "f:old": {}}});
        let same = |live: &Value| is_unchanged(&document, &marked, live, "us");
        assert!(same(&live(&ours, &json!({"k": "v", "theirs": "1"}))));
        assert!(!same(&live(&ours, &json!({"k": "other"}))), "somebody changed it");
        assert!(
            !same(&live(&more, &json!({"k": "v", "old": "1"}))),
            "a field is not in the document any more"
        );
        assert!(!is_unchanged(&document, &marked, &live(&ours, &json!({"k": "v"})), "them"));
    }
}
