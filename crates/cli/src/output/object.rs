//! Objects as programs and people want them: JSON, YAML, names.

use serde_json::{Value, json};

use super::{Output, screen, yaml};
use crate::failure::Failure;

/// Takes away what only field owners need.
pub(crate) fn without_managers(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

/// A list of objects, as `put -f` takes it.
pub(crate) fn list(items: Vec<Value>) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items})
}

impl Output {
    /// Writes a value as JSON that people can read.
    pub(crate) fn json(&self, value: &Value) -> Result<(), Failure> {
        self.data(&screen::json(&format!("{value:#}\n")))
    }

    /// Writes a value as YAML.
    pub(crate) fn yaml(&self, value: &Value) -> Result<(), Failure> {
        self.data(&yaml::text(value)?)
    }
}
