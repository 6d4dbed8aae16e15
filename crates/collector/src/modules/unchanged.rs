//! Whether a put of a document would change nothing but its marks, found out without a request.
//!
//! It is so if the object has every value of the document, and if the fields that the module manages are exactly
//! those of the document: then there is nothing to set and nothing to remove. `false` means that a dry run must
//! decide.

use serde_json::{Map, Value};
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
    entry.get("fieldsV1").is_some_and(|fields| are_fields(fields, marked)) && has(live, document)
}

/// Whether managed fields are exactly those of a document. A list must be managed as one field; otherwise the answer
/// is no.
fn are_fields(fields: &Value, document: &Value) -> bool {
    are_same(fields, document, &["apiVersion", "kind"], |name, fields, value| match name {
        "metadata" => are_same(fields, value, &["name", "namespace"], are_inner),
        _ => are_inner(name, fields, value),
    })
}

fn are_inner(_: &str, fields: &Value, value: &Value) -> bool {
    match value {
        Value::Object(_) => are_same(fields, value, &[], are_inner),
        _ => fields.as_object().is_some_and(Map::is_empty),
    }
}

/// Whether fields are those of an object but for some, and what is below each of them is `same`. Both are in the
/// order of their names.
fn are_same(fields: &Value, object: &Value, but: &[&str], same: fn(&str, &Value, &Value) -> bool) -> bool {
    let (Value::Object(fields), Value::Object(object)) = (fields, object) else { return false };
    let mut fields = fields.iter();
    let mut said = object.iter().filter(|(name, _)| !but.contains(&name.as_str()));
    let all = said.all(|(name, value)| {
        let is_it = |(field, _): &(&String, &Value)| field.strip_prefix("f:") == Some(name);
        fields.next().filter(is_it).is_some_and(|(_, below)| same(name, below, value))
    });
    all && fields.next().is_none()
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
    use serde_json::json;

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
        for other in [
            json!({"f:metadata": {"f:labels": {"f:m": {}}}}),
            json!({"f:metadata": {"f:labels": {}}, "f:data": {"f:k": {}}}),
            json!({"f:metadata": {"f:labels": {"f:m": {}}}, "f:data": {"f:k": {"f:k": {}}}}),
            json!({"f:metadata": {"f:labels": {"f:m": {}}}, "f:data": {"f:j": {}}}),
            json!({"f:metadata": {"f:labels": {"f:m": {}}}, "f:data": {"k": {}}}),
            json!({"f:metadata": {"f:labels": {"f:m": {}}, "f:name": {}}, "f:data": {"f:k": {}}}),
        ] {
            assert!(!same(&live(&other, &json!({"k": "v"}))), "{other}");
        }
        assert!(!is_unchanged(&document, &marked, &live(&ours, &json!({"k": "v"})), "them"));
    }
}
