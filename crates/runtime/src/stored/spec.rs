//! Conversion of property values to and from a resource's `spec`.
//!
//! ```text
//! ModelValue::Ref(id)               {"$ref": {"kind": …, "name": …, "uid": …}}
//! ModelValue::Map({"$ref": 1})      {"$$ref": 1}      a key that begins with $ gets another $
//! ModelValue::Number(2.0)           2
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use sexton_model::environment::{REF, Reference};

use crate::model::ModelValue;
use crate::world::ObjectId;

/// Whole numbers below this are exact in every JSON reader.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Looks up the resource of an object; none if it has no resource.
pub(super) type ReferenceLookup<'a> = dyn Fn(&ObjectId) -> Option<Cow<'a, Reference>> + 'a;

/// A value as it is serialized in `spec`. References to objects without a resource become `null`. Recursive: the depth
/// of values is bounded.
pub(super) struct SpecValue<'a, 'f> {
    pub(super) value: &'a ModelValue,
    pub(super) find: &'a ReferenceLookup<'f>,
}

impl Serialize for SpecValue<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let inner = |value| SpecValue { value, find: self.find };
        match self.value {
            ModelValue::Null => to.serialize_unit(),
            ModelValue::Bool(value) => to.serialize_bool(*value),
            ModelValue::Number(value) => number(*value).serialize(to),
            ModelValue::String(text) => to.serialize_str(text),
            ModelValue::List(items) => to.collect_seq(items.iter().map(inner)),
            ModelValue::Ref(id) => match (self.find)(id) {
                Some(reference) => to.collect_map([(REF, reference)]),
                None => to.serialize_unit(),
            },
            ModelValue::Map(map) => {
                to.collect_map(map.iter().map(|(key, value)| (escape(key), inner(value))))
            }
        }
    }
}

/// Escapes a map's key that begins with `$`, so that the map is not taken for a reference.
fn escape(key: &str) -> Cow<'_, str> {
    if key.starts_with('$') { format!("${key}").into() } else { key.into() }
}

/// A number, without a fraction if it is whole.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < WHOLE {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// The model form of a value in `spec`. `find` resolves references; a reference to a missing object becomes `Null`, and
/// is left out of lists and maps: a list of machines contains those that exist.
pub(super) fn from_spec(value: &Value, find: &mut dyn FnMut(&Reference) -> Option<ObjectId>) -> ModelValue {
    match value {
        Value::Null => ModelValue::Null,
        Value::Bool(value) => ModelValue::Bool(*value),
        Value::Number(value) => ModelValue::Number(value.as_f64().unwrap_or_default()),
        Value::String(text) => ModelValue::String(text.clone()),
        Value::Array(items) => {
            let there = |item: &Value| match (from_spec(item, find), Reference::of(item)) {
                (ModelValue::Null, Some(_)) => None,
                (plain, _) => Some(plain),
            };
            ModelValue::List(items.iter().filter_map(there).collect())
        }
        Value::Object(map) => match Reference::of(value) {
            Some(reference) => find(&reference).map_or(ModelValue::Null, ModelValue::Ref),
            None => {
                let plain = |key: &str| {
                    let rest = key.strip_prefix('$').filter(|rest| rest.starts_with('$'));
                    rest.unwrap_or(key).to_owned()
                };
                let there =
                    |(key, value): (&String, &Value)| match (from_spec(value, find), Reference::of(value)) {
                        (ModelValue::Null, Some(_)) => None,
                        (value, _) => Some((plain(key), value)),
                    };
                ModelValue::Map(map.iter().filter_map(there).collect::<BTreeMap<_, _>>())
            }
        },
    }
}
