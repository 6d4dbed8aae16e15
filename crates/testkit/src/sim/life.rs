//! An object as the oracle sees it: read from the stored document, with nothing of the collector's code.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sexton_model::{Key, Stored, marks, subscription};

/// Finalizers that the collector may take off by itself.
const OURS: [&str; 6] = [
    "cascade_deletion",
    "foregroundDeletion",
    "orphan",
    "sexton.dev/destroy",
    "sexton.dev/in-use",
    "customresourcecleanup.apiextensions.k8s.io",
];
/// Fields of the metadata that a deletion may change.
const CHANGING: [&str; 7] = [
    "finalizers",
    "ownerReferences",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "generation",
    "annotations",
];
/// Annotations that are the collector's.
const NOTES: [&str; 5] =
    [marks::JOURNAL, marks::DESTROYED, marks::DELETED_BY, marks::COLLECTION, marks::REQUEST];

/// A reference to an owner.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Empty for the core group.
    pub group: String,
    /// The kind's name.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
    /// Whether it holds a foreground deletion up.
    pub blocks: bool,
}

/// An object at one revision.
#[derive(Debug, Clone)]
pub struct Life {
    /// Where it is.
    pub key: Key,
    /// Group and version.
    pub api_version: String,
    /// The kind's name.
    pub kind: String,
    /// The uid.
    pub uid: String,
    /// When it became terminating.
    pub marked: Option<String>,
    /// What holds it.
    pub finalizers: BTreeSet<String>,
    /// Its owners.
    pub owners: Vec<Owner>,
    /// What it subscribes to.
    pub subscriptions: Vec<subscription::Subscription>,
    /// All annotations.
    pub annotations: BTreeMap<String, String>,
    /// The whole document.
    pub document: Value,
}

impl Life {
    /// Reads a stored value.
    pub fn read(key: &[u8], value: &std::sync::Arc<[u8]>) -> Option<Life> {
        let key = Key::decode(key)?;
        let stored = Stored::from_bytes(value.clone());
        let document: Value = serde_json::from_slice(stored.text().ok()?).ok()?;
        let metadata = &document["metadata"];
        let annotations: BTreeMap<String, String> = metadata["annotations"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or("").to_owned()))
            .collect();
        let declared = subscription::declared(|name| annotations.get(name).map(String::as_str));
        Some(Life {
            api_version: text(&document["apiVersion"]),
            kind: text(&document["kind"]),
            uid: text(&metadata["uid"]),
            marked: metadata["deletionTimestamp"].as_str().map(str::to_owned),
            finalizers: list(&metadata["finalizers"]).iter().map(text).collect(),
            owners: list(&metadata["ownerReferences"]).iter().map(owner).collect(),
            subscriptions: declared.subscriptions,
            annotations,
            key,
            document,
        })
    }

    /// Empty for the core group.
    pub fn group(&self) -> &str {
        &self.key.kind.group
    }

    /// Empty for cluster-scoped kinds.
    pub fn namespace(&self) -> &str {
        &self.key.namespace
    }

    /// The plural of its kind.
    pub fn resource(&self) -> &str {
        &self.key.kind.resource
    }

    /// Whether a deletion left this policy.
    pub fn has(&self, finalizer: &str) -> bool {
        self.finalizers.contains(finalizer)
    }

    /// Whether it must not be destroyed.
    pub fn protected(&self) -> bool {
        self.annotations.get(marks::PROTECT).is_some_and(|why| !why.is_empty() && why != "false")
    }

    /// Whether the sweep of a module says that it is garbage, and the module has not put it again since.
    pub fn accused(&self) -> bool {
        let said = self.annotations.get(marks::ACCUSED);
        let said = said.and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or(Value::Null);
        let deployment = self.annotations.get(marks::DEPLOYMENT_ID).map(String::as_str);
        said.is_object() && deployment.is_some() && said["deployment"].as_str() == deployment
    }

    /// Whether it was destroyed.
    pub fn destroyed(&self) -> bool {
        self.annotations.get(marks::DESTROYED).is_some_and(|value| value == "true")
    }

    /// The finalizers of others.
    pub fn foreign(&self) -> impl Iterator<Item = &String> {
        self.finalizers.iter().filter(|finalizer| !OURS.contains(&finalizer.as_str()))
    }

    /// The journal of its destruction, as plain JSON.
    pub fn journal(&self) -> Option<Value> {
        let text = self.annotations.get(marks::JOURNAL)?;
        serde_json::from_str::<Value>(text).ok().map(|mut value| value["state"].take())
    }

    /// What belongs to people: everything that the collector has no business to change.
    pub fn of_people(&self) -> Value {
        let mut document = self.document.clone();
        let metadata = document["metadata"].as_object_mut();
        let mut kept = Map::new();
        for (name, value) in metadata.cloned().unwrap_or_default() {
            if name == "annotations" {
                let notes = value.as_object().cloned().unwrap_or_default();
                let notes = notes.into_iter().filter(|(name, _)| !NOTES.contains(&name.as_str()));
                let notes: Map<String, Value> = notes.collect();
                if !notes.is_empty() {
                    kept.insert(name, Value::Object(notes));
                }
            } else if !CHANGING.contains(&name.as_str()) {
                kept.insert(name, value);
            }
        }
        document["metadata"] = Value::Object(kept);
        if matches!(self.resource(), "namespaces" | "customresourcedefinitions")
            && let Some(fields) = document.as_object_mut()
        {
            fields.remove("status");
            if self.resource() == "namespaces" {
                fields.remove("spec");
            }
        }
        document
    }

    /// Its name for people.
    pub fn named(&self) -> String {
        format!("{} ({})", self.key, self.uid)
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn owner(value: &Value) -> Owner {
    let version = text(&value["apiVersion"]);
    Owner {
        group: version.split_once('/').map_or(String::new(), |(group, _)| group.to_owned()),
        kind: text(&value["kind"]),
        name: text(&value["name"]),
        uid: text(&value["uid"]),
        blocks: value["blockOwnerDeletion"].as_bool().unwrap_or(false),
    }
}
