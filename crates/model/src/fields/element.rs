//! One step of a field path, its FieldsV1 spelling and its display form.
//!
//! Sets keep steps in their FieldsV1 spelling; this file is where that spelling is made and read.
//! It must not know sets or documents beyond one list item.

use std::fmt;

use serde_json::{Map, Value};
use thiserror::Error;

use super::schema::{ListKey, SsaList};

/// One step from a container to something inside it.
#[derive(Clone, Debug, PartialEq)]
pub enum PathElement {
    /// A field of a map.
    Field(String),
    /// The item of an associative list with these key values, sorted by name.
    Key(Vec<(String, Value)>),
    /// The item of a set with this value.
    Value(Value),
    /// The item of a list at this position.
    Index(i64),
}

/// Why a FieldsV1 path element cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ElementError {
    /// The prefix is of a kind that is not known; readers skip such elements.
    #[error("unknown path element type: {0:?}")]
    Unknown(String),
    /// The prefix is known, what follows it is not readable.
    #[error("malformed path element: {0:?}")]
    Malformed(String),
}

impl PathElement {
    /// Reads the FieldsV1 spelling.
    pub fn parse(text: &str) -> Result<Self, ElementError> {
        let malformed = || ElementError::Malformed(text.to_owned());
        let bytes = text.as_bytes();
        if bytes.len() < 2 || bytes[1] != b':' {
            return Err(malformed());
        }
        let rest = &text[2..];
        match bytes[0] {
            b'f' => Ok(Self::Field(rest.to_owned())),
            b'v' => serde_json::from_str(rest).map(Self::Value).map_err(|_| malformed()),
            b'i' => rest.parse().map(Self::Index).map_err(|_| malformed()),
            b'k' => {
                let map: Map<String, Value> = serde_json::from_str(rest).map_err(|_| malformed())?;
                let mut keys: Vec<_> = map.into_iter().collect();
                keys.sort_by(|a, b| a.0.cmp(&b.0));
                Ok(Self::Key(keys))
            }
            _ => Err(ElementError::Unknown(text.to_owned())),
        }
    }

    /// The FieldsV1 spelling.
    pub fn encode(&self) -> String {
        match self {
            Self::Field(name) => field_key(name),
            Self::Key(keys) => {
                let mut text = String::from("k:{");
                for (index, (name, value)) in keys.iter().enumerate() {
                    push_pair(&mut text, index, name, value);
                }
                text.push('}');
                text
            }
            Self::Value(value) => format!("v:{value}"),
            Self::Index(index) => format!("i:{index}"),
        }
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                f.write_str("[")?;
                for (index, (name, value)) in keys.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={value}")?;
                }
                f.write_str("]")
            }
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// The spelling of a map field: `f:<name>`.
pub(super) fn field_key(name: &str) -> String {
    let mut key = String::with_capacity(name.len() + 2);
    key.push_str("f:");
    key.push_str(name);
    key
}

/// The spelling a key read from outside must have, so that equal elements are equal strings.
pub(super) fn canonical(text: &str) -> Result<String, ElementError> {
    if text.starts_with("f:") {
        return Ok(text.to_owned());
    }
    PathElement::parse(text).map(|element| element.encode())
}

/// The spelling of a list item under a list rule; `None` if the item cannot be identified by it.
pub(super) fn item_key(item: &Value, rule: &SsaList) -> Option<String> {
    match rule {
        SsaList::Atomic => None,
        SsaList::Set => match item {
            Value::Null | Value::Array(_) | Value::Object(_) => None,
            scalar => {
                let mut text = String::from("v:");
                push_json(&mut text, scalar);
                Some(text)
            }
        },
        SsaList::Map(keys) => keyed_item_key(item.as_object()?, keys),
    }
}

fn keyed_item_key(item: &Map<String, Value>, keys: &[ListKey]) -> Option<String> {
    let mut text = String::with_capacity(32);
    text.push_str("k:{");
    for (index, key) in keys.iter().enumerate() {
        let value = match item.get(key.name.as_ref()) {
            Some(Value::Null) | None => key.default.as_ref()?,
            Some(Value::Array(_) | Value::Object(_)) => return None,
            Some(scalar) => scalar,
        };
        push_pair(&mut text, index, &key.name, value);
    }
    text.push('}');
    Some(text)
}

fn push_pair(text: &mut String, index: usize, name: &str, value: &Value) {
    if index > 0 {
        text.push(',');
    }
    push_string(text, name);
    text.push(':');
    push_json(text, value);
}

/// Appends the JSON of a value.
fn push_json(text: &mut String, value: &Value) {
    use std::fmt::Write;
    match value {
        Value::String(string) => push_string(text, string),
        other => {
            // Writing to a string cannot fail.
            let _ = write!(text, "{other}");
        }
    }
}

/// Appends a JSON string; the usual ones need no escapes and no serializer.
fn push_string(text: &mut String, string: &str) {
    use std::fmt::Write;
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
    if string.bytes().all(plain) {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", Value::from(string));
    }
}
