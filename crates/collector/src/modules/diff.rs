//! The changes between two states of an object, field by field, without our own marks and the fields that servers
//! maintain.
//!
//! It must not know how the object was changed.

use serde_json::Value;
use sexton_model::secrets;

/// A field with another value.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// Where: `spec.size`, `spec.ports[0].port`, `metadata.labels[a.b/c]`.
    pub path: String,
    /// What is there now.
    pub old: Option<Value>,
    /// What would be there.
    pub new: Option<Value>,
}

/// Fields that servers maintain, and the marks of a module.
const IGNORED: [&str; 11] = [
    "metadata.managedFields",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.uid",
    "metadata.creationTimestamp",
    "metadata.selfLink",
    "metadata.labels[sexton.dev/manager]",
    "metadata.labels[sexton.dev/deployment-id]",
    "metadata.annotations[sexton.dev/deployment-id]",
    "metadata.annotations[sexton.dev/dependency-order]",
    "metadata.annotations[sexton.dev/accused]",
];

/// The object with every value of the document. Lists are replaced as a whole.
pub(super) fn overlaid(live: &Value, document: &Value) -> Value {
    match (live, document) {
        (Value::Object(live), Value::Object(document)) => {
            let mut both = live.clone();
            for (name, said) in document {
                let value = live.get(name).map_or_else(|| said.clone(), |live| overlaid(live, said));
                both.insert(name.clone(), value);
            }
            Value::Object(both)
        }
        _ => document.clone(),
    }
}

/// The fields in which two states of an object differ, by path. Those of Secrets are named without their values.
pub(super) fn changes(old: &Value, new: &Value) -> Vec<FieldChange> {
    let mut found = Vec::new();
    let mut work = vec![(String::new(), Some(old), Some(new))];
    while let Some((path, old, new)) = work.pop() {
        if old == new || IGNORED.contains(&path.as_str()) {
            continue;
        }
        let empty = Value::Object(serde_json::Map::new());
        match (old, new) {
            // A map of labels or annotations that only our marks add or remove is no change.
            (Some(Value::Object(_)) | None, Some(Value::Object(_)) | None) if is_marked_map(&path) => {
                let both = (old.unwrap_or(&empty), new.unwrap_or(&empty));
                compare_maps(&path, both.0, both.1, &mut |path, old, new| {
                    if !IGNORED.contains(&path.as_str()) && old != new {
                        found.push(change(path, old, new));
                    }
                });
            }
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => {
                compare_maps(&path, old, new, &mut |path, old, new| work.push((path, old, new)));
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
                let pairs = old.iter().zip(new).enumerate();
                work.extend(pairs.map(|(at, (old, new))| (format!("{path}[{at}]"), Some(old), Some(new))));
            }
            (old, new) => found.push(change(path, old, new)),
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    if secrets::is_secret(old) || secrets::is_secret(new) {
        for change in found.iter_mut().filter(|change| secrets::is_hidden(&change.path)) {
            [&mut change.old, &mut change.new].into_iter().flatten().for_each(secrets::hide);
        }
    }
    found
}

fn is_marked_map(path: &str) -> bool {
    matches!(path, "metadata.labels" | "metadata.annotations")
}

fn change(path: String, old: Option<&Value>, new: Option<&Value>) -> FieldChange {
    FieldChange { path, old: old.cloned(), new: new.cloned() }
}

fn compare_maps<'v>(
    path: &str,
    old: &'v Value,
    new: &'v Value,
    tell: &mut dyn FnMut(String, Option<&'v Value>, Option<&'v Value>),
) {
    let keys = |value: &'v Value| value.as_object().into_iter().flat_map(|map| map.keys());
    for key in keys(old) {
        tell(within(path, key), old.get(key), new.get(key));
    }
    for key in keys(new).filter(|key| old.get(key.as_str()).is_none()) {
        tell(within(path, key), None, new.get(key));
    }
}

pub(super) fn within(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match (path.is_empty(), plain && !is_marked_map(path)) {
        (true, _) => key.to_owned(),
        (false, true) => format!("{path}.{key}"),
        (false, false) => format!("{path}[{key}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(old: &Value, new: &Value) -> Vec<String> {
        let text = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
        changes(old, new)
            .iter()
            .map(|change| format!("{} {} {}", change.path, text(&change.old), text(&change.new)))
            .collect()
    }

    #[test]
    fn each_field_with_what_it_was_and_what_it_will_be() {
        let old = json!({"spec": {"size": 1, "ports": [{"port": 80}], "list": [1], "gone": true}});
        let new = json!({"spec": {"size": 2, "ports": [{"port": 81}], "list": [1, 2], "new": {"a": 1}}});
        let expected = [
            "spec.gone true -",
            "spec.list [1] [1,2]",
            "spec.new - {\"a\":1}",
            "spec.ports[0].port 80 81",
            "spec.size 1 2",
        ];
        assert_eq!(shown(&old, &new), expected);
        assert!(shown(&old, &old).is_empty());
    }

    /// REQ-CLD-2: a put that only marks is no change of the resource.
    #[test]
    fn marks_and_what_the_server_counts_are_no_changes() {
        let old = json!({"metadata": {"name": "a", "resourceVersion": "1", "annotations": {"x": "1"}}});
        let new = json!({"metadata": {
            "name": "a", "resourceVersion": "2", "generation": 3, "managedFields": [{}],
            "labels": {"sexton.dev/manager": "shop"},
            "annotations": {"x": "2", "sexton.dev/deployment-id": "d", "sexton.dev/dependency-order": "1"},
        }});
        assert_eq!(shown(&old, &new), ["metadata.annotations[x] \"1\" \"2\""]);
    }
}
