//! Values of properties, from and to what is written in `spec`.

use serde_json::{Map, Value, json};
use sexton_model::environment::Reference;

/// The field of a model that stands for an object.
const HEADER: &str = "?";

/// The id that a value of a model refers to, if it is a reference.
fn reference(value: &Value) -> Option<&str> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    map.get(HEADER)?.get("ref")?.as_str()
}

/// A value as it is written in `spec`. `find` says where an object is; who is nowhere becomes `null`.
pub(super) fn to_spec(value: &Value, find: &mut dyn FnMut(&str) -> Option<Reference>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| to_spec(item, find)).collect(),
        Value::Object(map) => match reference(value) {
            Some(id) => find(id).map_or(Value::Null, |reference| reference.to_value()),
            None => {
                // A name that begins like that of a reference gets another sign, so that it is none.
                let escape =
                    |key: &str| if key.starts_with('$') { format!("${key}") } else { key.to_owned() };
                map.iter()
                    .map(|(key, value)| (escape(key), to_spec(value, find)))
                    .collect::<Map<_, _>>()
                    .into()
            }
        },
        plain => plain.clone(),
    }
}

/// A value as it is in a model. `find` says which object a reference is about; who is nowhere becomes `null`.
pub(super) fn from_spec(value: &Value, find: &mut dyn FnMut(&Reference) -> Option<String>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| from_spec(item, find)).collect(),
        Value::Object(map) => match Reference::of(value) {
            Some(reference) => find(&reference).map_or(Value::Null, |id| json!({HEADER: {"ref": id}})),
            None => {
                let plain = |key: &str| {
                    key.strip_prefix('$').filter(|rest| rest.starts_with('$')).unwrap_or(key).to_owned()
                };
                map.iter()
                    .map(|(key, value)| (plain(key), from_spec(value, find)))
                    .collect::<Map<_, _>>()
                    .into()
            }
        },
        plain => plain.clone(),
    }
}
