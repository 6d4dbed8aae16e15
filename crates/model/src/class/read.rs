//! Reading strictly: each field by name, everything else refused with its place.
//!
//! It must not know what is read.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::invalid::FieldError;

/// What was wrong so far.
pub(crate) type Errors = Vec<FieldError>;

/// The place of a field within another.
pub(crate) fn within(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A map that has no other fields than these.
pub(crate) fn object<'v>(
    value: &'v Value,
    path: &str,
    known: &[&str],
    errors: &mut Errors,
) -> Option<&'v Map<String, Value>> {
    let Some(map) = value.as_object() else {
        let detail = format!("must be a map with {}", known.join(", "));
        errors.push(FieldError::invalid(path, value.clone(), detail));
        return None;
    };
    for name in map.keys().filter(|name| !known.contains(&name.as_str())) {
        let detail = format!("unknown field; there are {}", known.join(", "));
        errors.push(FieldError::forbidden(within(path, name), detail));
    }
    Some(map)
}

/// A text that has to be there and may not be empty.
pub(crate) fn text<'v>(
    map: &'v Map<String, Value>,
    path: &str,
    name: &str,
    errors: &mut Errors,
) -> Option<&'v str> {
    let place = within(path, name);
    match map.get(name) {
        None => errors.push(FieldError::required(place, "must be a text")),
        Some(Value::String(text)) => return Some(text),
        Some(other) => errors.push(FieldError::invalid(place, other.clone(), "must be a text")),
    }
    None
}

/// A whole number within bounds; without it, the usual one.
pub(crate) fn number(
    map: &Map<String, Value>,
    path: &str,
    name: &str,
    bounds: RangeInclusive<u64>,
    usual: u64,
    errors: &mut Errors,
) -> Option<u64> {
    let Some(value) = map.get(name) else { return Some(usual) };
    match value.as_u64().filter(|number| bounds.contains(number)) {
        Some(number) => Some(number),
        None => {
            let detail = format!("must be a whole number from {} to {}", bounds.start(), bounds.end());
            errors.push(FieldError::invalid(within(path, name), value.clone(), detail));
            None
        }
    }
}
