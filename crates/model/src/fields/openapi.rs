//! Shape rules from the OpenAPI v3 schema of a custom resource definition.
//!
//! Reads `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and `x-kubernetes-map-type`.
//! It must not know validation, nor any other part of a definition.

use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use super::schema::{ListKey, Node, Schema, SsaList};

/// Why a schema gives no rules.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OpenApiError {
    /// The schema or a part of it is not a map.
    #[error("a schema must be an object")]
    NotAnObject,
    /// The list type is not one of the three.
    #[error("unknown x-kubernetes-list-type {0:?}")]
    ListType(String),
    /// A list of type `map` has no keys.
    #[error("x-kubernetes-list-map-keys must name at least one key")]
    NoKeys,
}

impl Schema {
    /// The rules of a custom resource from its `openAPIV3Schema`. The schema is a document of its own,
    /// so its depth is bounded like that of any other.
    pub fn from_openapi(schema: &Value, has_status: bool) -> Result<Self, OpenApiError> {
        let mut root = node(schema)?;
        // Metadata has the same rules for every kind; what a definition says of it does not count.
        root.set("metadata", super::kinds::metadata());
        Ok(Self::new(root, has_status))
    }
}

fn node(schema: &Value) -> Result<Node, OpenApiError> {
    let map = schema.as_object().ok_or(OpenApiError::NotAnObject)?;
    let mut out = match map.get("items") {
        Some(items) => list_node(schema, items)?,
        None => Node::default(),
    };
    if map.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic") {
        out.atomic = true;
    }
    if let Some(properties) = map.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            out.set(name.clone(), Arc::new(node(property)?));
        }
    }
    if let Some(values @ Value::Object(_)) = map.get("additionalProperties") {
        out.set("*", Arc::new(node(values)?));
    }
    Ok(out)
}

/// The node of a list: the rules of its items, and how the items are told apart.
fn list_node(schema: &Value, items: &Value) -> Result<Node, OpenApiError> {
    let mut out = node(items)?;
    // A list of lists is atomic below the first level: items of lists have no keys.
    out.ssa = match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
        None | Some("atomic") => SsaList::Atomic,
        Some("set") => SsaList::Set,
        Some("map") => SsaList::Map(keys(schema, items)?),
        Some(other) => return Err(OpenApiError::ListType(other.to_owned())),
    };
    Ok(out)
}

fn keys(schema: &Value, items: &Value) -> Result<Vec<ListKey>, OpenApiError> {
    let names = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let key = |name: &str| ListKey {
        name: name.to_owned().into(),
        default: items.get("properties").and_then(|properties| properties.get(name)?.get("default")).cloned(),
    };
    let mut keys: Vec<ListKey> = names.into_iter().flatten().filter_map(Value::as_str).map(key).collect();
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    if keys.is_empty() {
        return Err(OpenApiError::NoKeys);
    }
    Ok(keys)
}
