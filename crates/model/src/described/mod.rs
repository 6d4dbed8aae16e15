//! Our own kinds, described field by field: the one source of what people are told about them.
//!
//! Schemas say what there is, for explanations and completion; they refuse nothing. What is refused is decided where
//! documents are read. It must not know requests.

mod records;
mod words;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::class::{API_VERSION, Class};
use crate::invalid::FieldError;
use crate::rule::Rule;

/// The group of our kinds.
const GROUP: &str = "sexton.dev";

/// Each kind and its description: what it is, then a line per field with path, type and what it means. `[]` goes into
/// the items of a list, `{}` into the values of a map.
const KINDS: &[(&str, &str)] = &[
    ("Class", words::CLASS),
    ("Collection", records::COLLECTION),
    ("Environment", records::ENVIRONMENT),
    ("Module", words::MODULE),
    ("Rule", words::RULE),
    ("Tombstone", records::TOMBSTONE),
];

static SCHEMAS: LazyLock<BTreeMap<&'static str, Value>> =
    LazyLock::new(|| KINDS.iter().map(|(kind, text)| (*kind, read(text))).collect());

/// The schema of a kind of ours, as the `openAPIV3Schema` of a definition. Fields that it does not name are kept.
pub fn schema(group: &str, kind: &str) -> Option<Value> {
    (group == GROUP).then(|| SCHEMAS.get(kind).cloned()).flatten()
}

/// What is wrong with a document of a kind of ours that is read strictly, each with its place. Empty for other documents.
/// A server of ours refuses such documents itself, any other stores what its definitions let through.
pub fn complaints(document: &Value) -> Vec<FieldError> {
    let is = |field: &str, value: &str| document.get(field).and_then(Value::as_str) == Some(value);
    match is("apiVersion", API_VERSION) {
        true if is("kind", "Class") => Class::parse(document).err().unwrap_or_default(),
        true if is("kind", "Rule") => Rule::parse(document).err().unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn open_object() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn read(text: &str) -> Value {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut root = open_object();
    root["description"] = lines.next().unwrap_or_default().into();
    for line in lines {
        let (field, description) = line.split_once(": ").unwrap_or((line, ""));
        let (path, kind) = field.split_once(' ').unwrap_or((field, "object"));
        let place = at(&mut root, path);
        *place = typed(kind);
        place["description"] = description.into();
    }
    root
}

/// The place of a field. What is on the way has lines of its own before it.
fn at<'a>(root: &'a mut Value, path: &str) -> &'a mut Value {
    let mut place = root;
    for word in path.split('.') {
        let name = word.trim_end_matches("[]").trim_end_matches("{}");
        place = &mut place["properties"][name];
        if word.ends_with("[]") {
            place = &mut place["items"];
        }
        if word.ends_with("{}") {
            place = &mut place["additionalProperties"];
        }
    }
    place
}

fn typed(kind: &str) -> Value {
    match kind {
        "object" => open_object(),
        "any" => json!({"x-kubernetes-preserve-unknown-fields": true}),
        // Not by its format: what is not known yet may be empty.
        "time" => json!({"type": "string"}),
        "strings" => json!({"type": "array", "items": {"type": "string"}}),
        "objects" => json!({"type": "array", "items": open_object()}),
        "anys" => json!({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}}),
        "texts" => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        "numbers" => json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        "map" => json!({"type": "object", "additionalProperties": open_object()}),
        "number-or-text" => json!({"x-kubernetes-int-or-string": true}),
        other => json!({"type": other}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &Value, place: &str) {
        let kind = schema["type"].as_str();
        let known = [Some("object"), Some("array"), Some("string"), Some("integer"), Some("boolean"), None];
        assert!(known.contains(&kind), "{place}: {schema}");
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{place}.{name}");
            assert!(field["description"].as_str().is_some_and(|text| text.len() > 2), "{place} says nothing");
            check(field, &place);
        }
        for below in ["items", "additionalProperties"] {
            if let Some(below) = schema.get(below) {
                check(below, place);
            }
        }
    }

    #[test]
    fn every_field_says_what_it_is() {
        for (kind, _) in KINDS {
            let schema = schema(GROUP, kind).unwrap();
            assert!(schema["properties"]["spec"]["properties"].is_object(), "{kind}");
            check(&schema, kind);
        }
        assert_eq!(schema("example.com", "Rule"), None);
    }
}
