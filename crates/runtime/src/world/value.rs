//! Values of properties and arguments: [`Value`] outside of the store, with handles; [`StoredValue`] in it, with keys.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Handle, ObjectKey, World};

/// The maximum depth of nested lists and maps.
pub const MAX_DEPTH: usize = 64;
/// The maximum length of a text in bytes.
const MAX_TEXT_BYTES: usize = 16 << 20;
/// The maximum number of parts of a value, items and entries at any depth included.
const MAX_PARTS: usize = 4 << 20;

/// A value outside of the store. It keeps the objects in it alive.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    String(Rc<str>),
    /// Values in an order.
    List(Vec<Value>),
    /// Values by name.
    Map(BTreeMap<String, Value>),
    /// An object.
    Object(Handle),
}

/// Why a value cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// It is nested too deeply.
    #[error("it is nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// It has too many parts, or a text in it is too long.
    #[error("it has more than {MAX_PARTS} parts, or a text of more than {MAX_TEXT_BYTES} bytes")]
    TooLarge,
    /// It contains an object of another world.
    #[error("object {0} is of another world")]
    Foreign(String),
    /// It contains an object with a failed `init`.
    #[error("object {0} cannot be referred to: its init failed")]
    InitFailed(String),
}

impl Value {
    /// The value for a text.
    pub fn text(text: impl Into<Rc<str>>) -> Value {
        Value::String(text.into())
    }

    /// The type of the value, as error messages name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Object(_) => "an object",
        }
    }

    /// The object, if the value is one.
    pub fn as_object(&self) -> Option<&Handle> {
        if let Value::Object(object) = self { Some(object) } else { None }
    }

    /// All objects in the value, at any depth.
    pub fn objects(&self) -> Vec<&Handle> {
        let (mut found, mut left) = (Vec::new(), vec![self]);
        while let Some(value) = left.pop() {
            match value {
                Value::Object(object) => found.push(object),
                Value::List(items) => left.extend(items.iter().rev()),
                Value::Map(entries) => left.extend(entries.values().rev()),
                _ => {}
            }
        }
        found
    }

    /// The value in the form of the store.
    ///
    /// # Errors
    /// See [`ValueError`].
    pub(crate) fn stored(&self, world: &World) -> Result<StoredValue, ValueError> {
        let mut parts = 0;
        self.store(world, 0, &mut parts)
    }

    fn store(&self, world: &World, depth: usize, parts: &mut usize) -> Result<StoredValue, ValueError> {
        if depth > MAX_DEPTH {
            return Err(ValueError::TooDeep);
        }
        *parts += 1;
        if *parts > MAX_PARTS {
            return Err(ValueError::TooLarge);
        }
        Ok(match self {
            Value::Null => StoredValue::Null,
            Value::Bool(value) => StoredValue::Bool(*value),
            Value::Number(value) => StoredValue::Number(*value),
            Value::String(text) if text.len() > MAX_TEXT_BYTES => return Err(ValueError::TooLarge),
            Value::String(text) => StoredValue::String(text.clone()),
            Value::List(items) => {
                let items: Result<_, _> =
                    items.iter().map(|item| item.store(world, depth + 1, parts)).collect();
                StoredValue::List(items?)
            }
            Value::Map(entries) => {
                let entry = |(name, value): (&String, &Value)| {
                    Ok((name.as_str().into(), value.store(world, depth + 1, parts)?))
                };
                let entries: Result<_, ValueError> = entries.iter().map(entry).collect();
                StoredValue::Map(entries?)
            }
            Value::Object(object) if !object.world().is(world) => {
                return Err(ValueError::Foreign(object.id().to_string()));
            }
            Value::Object(object) if object.init_failed() => {
                return Err(ValueError::InitFailed(object.id().to_string()));
            }
            Value::Object(object) => {
                object.note_reference();
                StoredValue::Object(object.key())
            }
        })
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Number(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.into())
    }
}

impl From<&Handle> for Value {
    fn from(object: &Handle) -> Value {
        Value::Object(object.clone())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::List(items)
    }
}

/// A value in the store. References are keys, which keep nothing alive.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum StoredValue {
    #[default]
    Null,
    Bool(bool),
    Number(f64),
    String(Rc<str>),
    List(Box<[StoredValue]>),
    /// Sorted by name.
    Map(Box<[(Rc<str>, StoredValue)]>),
    Object(ObjectKey),
}

impl StoredValue {
    /// Visits every reference in the value. Recursive: the depth is bounded by [`MAX_DEPTH`].
    pub(crate) fn visit(&self, found: &mut impl FnMut(ObjectKey)) {
        match self {
            StoredValue::Object(key) => found(*key),
            StoredValue::List(items) => items.iter().for_each(|item| item.visit(found)),
            StoredValue::Map(entries) => entries.iter().for_each(|(_, value)| value.visit(found)),
            StoredValue::Null | StoredValue::Bool(_) | StoredValue::Number(_) | StoredValue::String(_) => {}
        }
    }

    /// Removes references to `gone` objects: items and entries of lists and maps disappear, any other value becomes
    /// `Null`.
    pub(crate) fn forget(&mut self, gone: &impl Fn(ObjectKey) -> bool) {
        let mut refers = false;
        self.visit(&mut |key| refers |= gone(key));
        if !refers {
            return;
        }
        let is_gone = |item: &StoredValue| matches!(item, StoredValue::Object(key) if gone(*key));
        match self {
            StoredValue::List(items) => {
                let mut kept = std::mem::take(items).into_vec();
                kept.retain(|item| !is_gone(item));
                kept.iter_mut().for_each(|item| item.forget(gone));
                *items = kept.into();
            }
            StoredValue::Map(entries) => {
                let mut kept = std::mem::take(entries).into_vec();
                kept.retain(|(_, item)| !is_gone(item));
                kept.iter_mut().for_each(|(_, item)| item.forget(gone));
                *entries = kept.into();
            }
            _ => *self = StoredValue::Null,
        }
    }

    /// The value with handles. References to removed objects become `Null`.
    pub(crate) fn value(&self, world: &World) -> Value {
        match self {
            StoredValue::Null => Value::Null,
            StoredValue::Bool(value) => Value::Bool(*value),
            StoredValue::Number(value) => Value::Number(*value),
            StoredValue::String(text) => Value::String(text.clone()),
            StoredValue::List(items) => Value::List(items.iter().map(|item| item.value(world)).collect()),
            StoredValue::Map(entries) => {
                Value::Map(entries.iter().map(|(name, item)| (name.to_string(), item.value(world))).collect())
            }
            StoredValue::Object(key) => world.handle(*key).map_or(Value::Null, Value::Object),
        }
    }
}
