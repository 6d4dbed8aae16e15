//! Environments: where the objects of a program live between its runs, and the record that is kept of each.
//!
//! It must not know how a program is run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::names;

/// The group of the kinds of objects: one kind for each class.
pub const CLASSES_GROUP: &str = "classes.sexton.dev";
/// The version of these kinds.
pub const CLASSES_VERSION: &str = "v1";
/// The kind of the record.
pub const KIND: &str = "Environment";
/// Its plural.
pub const RESOURCE: &str = "environments";
/// The annotation with the id of an object, where that is not its uid.
pub const OBJECT_ID: &str = "sexton.dev/object-id";
/// The annotation with the name of an object, where its resource is called otherwise.
pub const OBJECT_NAME: &str = "sexton.dev/object-name";

/// The annotation with the uid under which a run made an object. A copy has another uid, and an object that others made
/// has no such annotation: neither belongs to the environment.
pub const OBJECT_UID: &str = "sexton.dev/object-uid";

/// What is recorded of an environment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvironmentSpec {
    /// The program whose classes the stored objects have.
    pub program: ProgramSpec,
}

/// A program, complete: destroying its objects later needs no file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProgramSpec {
    /// The name of its file, for messages.
    pub name: String,
    /// Its text.
    pub source: String,
    /// Programs of the machine that it may run, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exec: Vec<String>,
    /// Hosts that it may ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<String>,
}

/// How it stands with an environment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvironmentStatus {
    /// Where it stands.
    pub phase: EnvironmentPhase,
    /// Rises with each model that is stored.
    pub generation: i64,
    /// How many objects the model has.
    pub objects: usize,
    /// The id of the object from which all others are reached.
    pub root: String,
    /// The last run, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunRecord>,
    /// Uids of objects whose `destroy` was about to be called. The next run that finds them here calls it once more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub destroying: Vec<String>,
    /// What handlers changed while the stored program destroyed objects for a new one, until a run of that one is done: it
    /// wins over the incoming model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: ChangedProperties,
    /// A model that is decided but not completely stored: the next run that finds it here finishes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingModel>,
}

/// Properties that were changed, by the ids of their objects. `?` stands for the subscriptions of the object.
pub type ChangedProperties = BTreeMap<String, BTreeSet<String>>;

/// Where an environment stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EnvironmentPhase {
    /// Nothing was run in it yet, or the last run is over.
    #[default]
    Idle,
    /// A program runs.
    Running,
    /// The last run failed; what it made is stored.
    Failed,
}

/// One run of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunRecord {
    /// When it began.
    pub at: String,
    /// The requester.
    pub by: String,
    /// What became of it, in a line; empty while it runs.
    pub outcome: String,
}

/// A model on its way into the store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PendingModel {
    /// The generation that it becomes.
    pub generation: i64,
    /// In how many parts it is written down.
    pub parts: usize,
    /// Why the server refused it, if it did.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub refused: String,
}

/// Whether an environment can be called so: it is also the name of a namespace.
///
/// # Errors
/// Why not, in words.
pub fn environment_name(name: &str) -> Result<(), names::Complaint> {
    names::dns_label(name)
}

/// The plural of a class's kind, as it is in paths.
pub fn plural_of(class: &str) -> String {
    let singular = class.to_lowercase();
    match singular.as_bytes() {
        [.., b's'] | [.., b'x'] => format!("{singular}es"),
        _ => format!("{singular}s"),
    }
}

/// The only field of a value that stands for another object.
pub const REF: &str = "$ref";

/// A reference to another object of the same environment, as it is written in `spec`: `{"$ref": {kind, name, uid}}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The class.
    pub kind: String,
    /// The name of its resource.
    pub name: String,
    /// The uid.
    pub uid: String,
}

impl Reference {
    /// As it is written.
    pub fn to_value(&self) -> Value {
        json!({REF: {"kind": self.kind, "name": self.name, "uid": self.uid}})
    }

    /// What a value refers to, if it is a reference.
    pub fn of(value: &Value) -> Option<Reference> {
        let map = value.as_object().filter(|map| map.len() == 1)?;
        Reference::deserialize(map.get(REF)?).ok()
    }
}

/// All references in a value, in their order. Values come from documents, whose depth is bounded.
pub fn references(value: &Value) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(map) => match Reference::of(value) {
                Some(reference) => found.push(reference),
                None => open.extend(map.values().rev()),
            },
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_at_any_depth_are_found_in_their_order() {
        let to = |name: &str| Reference { kind: "Vm".into(), name: name.into(), uid: format!("u-{name}") };
        let value = json!({
            "a": to("1").to_value(),
            "b": [{"c": [to("2").to_value(), 7, "text"]}, to("3").to_value()],
            "d": {REF: "no reference"},
            "e": {REF: {"kind": "Vm", "name": "4", "uid": "u", "more": 1}},
        });
        assert_eq!(references(&value), [to("1"), to("2"), to("3")]);
    }
}
