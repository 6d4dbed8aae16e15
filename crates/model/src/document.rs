//! A resource document while it is being worked on: a JSON object whose metadata has names for its parts.
//!
//! Documents are short-lived. What is kept is [`crate::stored::Stored`], because a JSON tree takes thirteen times the
//! memory of its text.

use serde_json::{Map, Value};

use crate::ids::{Revision, Uid};

/// A resource as a JSON object.
#[derive(Debug, Clone, PartialEq)]
pub struct Document(
    /// Always an object.
    Value,
);

/// A JSON value that is not a resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotADocument {
    /// The top is not an object.
    #[error("the document is {0}, expected an object")]
    NotAnObject(&'static str),
    /// `metadata` is there and not an object.
    #[error("metadata is {0}, expected an object")]
    BadMetadata(&'static str),
    /// A part of the metadata has the wrong type.
    #[error("metadata.{field} is {got}, expected {expected}")]
    BadField {
        /// Which part.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        got: &'static str,
    },
}

/// What a JSON value is, for error messages.
pub fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

const TEXTS: [&str; 9] = [
    "name",
    "namespace",
    "generateName",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "selfLink",
    "clusterName",
];
const TEXT_MAPS: [&str; 2] = ["labels", "annotations"];

impl Document {
    /// Takes a JSON value as a document: types of the metadata are checked, its rules are not.
    pub fn from_value(value: Value) -> Result<Document, NotADocument> {
        let mut value = value;
        let Value::Object(object) = &mut value else {
            return Err(NotADocument::NotAnObject(type_of(&value)));
        };
        match object.get_mut("metadata") {
            None | Some(Value::Null) => {
                object.insert("metadata".into(), Value::Object(Map::new()));
            }
            Some(Value::Object(metadata)) => check_types(metadata)?,
            Some(other) => return Err(NotADocument::BadMetadata(type_of(other))),
        }
        Ok(Document(value))
    }

    /// The JSON object.
    pub fn object(&self) -> &Map<String, Value> {
        match &self.0 {
            Value::Object(object) => object,
            _ => unreachable!("a document is an object"),
        }
    }

    /// The JSON object, to change.
    pub fn object_mut(&mut self) -> &mut Map<String, Value> {
        match &mut self.0 {
            Value::Object(object) => object,
            _ => unreachable!("a document is an object"),
        }
    }

    /// The document as a JSON value.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The document as a JSON value, to change. It must stay an object with an object as metadata.
    pub fn value_mut(&mut self) -> &mut Value {
        &mut self.0
    }

    /// Changes a copy of the document as a JSON value; what is not a document afterwards is refused and changes nothing.
    pub fn rewrite<E: From<NotADocument>>(
        &self,
        change: impl FnOnce(&mut Value) -> Result<(), E>,
    ) -> Result<Document, E> {
        let mut value = self.0.clone();
        change(&mut value)?;
        Ok(Document::from_value(value)?)
    }

    /// The document as a JSON value.
    pub fn into_value(self) -> Value {
        self.0
    }

    /// `metadata`.
    pub fn metadata(&self) -> &Map<String, Value> {
        static NOTHING: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        self.object().get("metadata").and_then(Value::as_object).unwrap_or(&NOTHING)
    }

    /// `metadata`, to change.
    pub fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        let slot = self.object_mut().entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        match slot {
            Value::Object(metadata) => metadata,
            _ => unreachable!("made an object right above"),
        }
    }

    fn text(&self, field: &str) -> &str {
        self.metadata().get(field).and_then(Value::as_str).unwrap_or("")
    }

    /// `apiVersion`, empty if missing.
    pub fn api_version(&self) -> &str {
        self.0.get("apiVersion").and_then(Value::as_str).unwrap_or("")
    }

    /// `kind`, empty if missing.
    pub fn kind(&self) -> &str {
        self.0.get("kind").and_then(Value::as_str).unwrap_or("")
    }

    /// `metadata.name`, empty if missing.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// `metadata.namespace`, empty if missing.
    pub fn namespace(&self) -> &str {
        self.text("namespace")
    }

    /// `metadata.uid`, empty if missing.
    pub fn uid(&self) -> &str {
        self.text("uid")
    }

    /// `metadata.uid` as an id.
    pub fn life(&self) -> Uid {
        Uid(self.uid().to_owned())
    }

    /// `metadata.resourceVersion`, empty if missing.
    pub fn resource_version(&self) -> &str {
        self.text("resourceVersion")
    }

    /// `metadata.generation`.
    pub fn generation(&self) -> i64 {
        self.metadata().get("generation").and_then(Value::as_i64).unwrap_or(0)
    }

    /// Whether the deletion timestamp is set.
    pub fn is_terminating(&self) -> bool {
        !self.text("deletionTimestamp").is_empty()
    }

    /// `metadata.finalizers`.
    pub fn finalizers(&self) -> Vec<&str> {
        let list = self.metadata().get("finalizers").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Replaces `metadata.finalizers`; an empty list removes the field.
    pub fn set_finalizers(&mut self, finalizers: Vec<String>) {
        self.set_or_remove("finalizers", (!finalizers.is_empty()).then(|| finalizers.into()));
    }

    /// `metadata.ownerReferences` as they are.
    pub fn owner_references(&self) -> &[Value] {
        self.metadata().get("ownerReferences").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// An annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata().get("annotations")?.get(name)?.as_str()
    }

    /// Sets an annotation.
    pub fn set_annotation(&mut self, name: &str, value: &str) {
        let all = self.metadata_mut().entry("annotations").or_insert_with(|| Value::Object(Map::new()));
        if !all.is_object() {
            *all = Value::Object(Map::new());
        }
        if let Value::Object(all) = all {
            all.insert(name.to_owned(), value.into());
        }
    }

    /// Sets a field of the metadata, or removes it.
    pub fn set_or_remove(&mut self, field: &str, value: Option<Value>) {
        match value {
            Some(value) => self.metadata_mut().insert(field.to_owned(), value),
            None => self.metadata_mut().remove(field),
        };
    }

    /// Sets `metadata.resourceVersion`.
    pub fn set_resource_version(&mut self, revision: Revision) {
        self.set_or_remove("resourceVersion", Some(revision.to_string().into()));
    }

    /// A value by its dotted path, as text if it is a text, a number or a boolean.
    pub fn field_text(&self, path: &str) -> Option<String> {
        let mut words = path.split('.');
        let mut value = self.0.get(words.next()?)?;
        for word in words {
            value = value.get(word)?;
        }
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => None,
        }
    }
}

/// Wrong types are an undecodable body (400), not a rule that was broken (422). Explicit nulls mean "not there".
fn check_types(metadata: &mut Map<String, Value>) -> Result<(), NotADocument> {
    metadata.retain(|_, value| !value.is_null());
    let wrong = |field, expected, got: &Value| NotADocument::BadField { field, expected, got: type_of(got) };
    for field in TEXTS {
        match metadata.get(field) {
            Some(Value::String(_)) | None => {}
            Some(other) => return Err(wrong(field, "a string", other)),
        }
    }
    for field in TEXT_MAPS {
        match metadata.get(field) {
            Some(Value::Object(map)) => {
                if let Some(other) = map.values().find(|value| !value.is_string()) {
                    return Err(wrong(field, "an object of strings", other));
                }
            }
            None => {}
            Some(other) => return Err(wrong(field, "an object of strings", other)),
        }
    }
    check_list(metadata, "finalizers", "a list of strings", Value::is_string)?;
    check_list(metadata, "ownerReferences", "a list of objects", Value::is_object)?;
    check_list(metadata, "managedFields", "a list of objects", Value::is_object)?;
    match metadata.get("generation") {
        Some(other) if !other.is_i64() => Err(wrong("generation", "a whole number", other)),
        _ => Ok(()),
    }
}

fn check_list(
    metadata: &Map<String, Value>,
    field: &'static str,
    expected: &'static str,
    fits: fn(&Value) -> bool,
) -> Result<(), NotADocument> {
    let got = match metadata.get(field) {
        None => return Ok(()),
        Some(Value::Array(items)) => match items.iter().find(|item| !fits(item)) {
            Some(item) => item,
            None => return Ok(()),
        },
        Some(other) => other,
    };
    Err(NotADocument::BadField { field, expected, got: type_of(got) })
}
