//! Values of properties, from and to what is written in `spec`.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};
use sexton_model::environment::Reference;

use crate::model::Plain;
use crate::world::ObjectId;

/// Numbers up to here are whole in every reader.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// A value as it is written in `spec`. `find` says where an object is; who is nowhere becomes `null`. The depth of values
/// is bounded.
pub(super) fn to_spec(value: &Plain, find: &dyn Fn(&ObjectId) -> Option<Reference>) -> Value {
    match value {
        Plain::Null => Value::Null,
        Plain::Bool(value) => Value::Bool(*value),
        Plain::Number(value) => number(*value),
        Plain::String(text) => Value::String(text.clone()),
        Plain::List(items) => items.iter().map(|item| to_spec(item, find)).collect(),
        Plain::Ref(id) => find(id).map_or(Value::Null, |reference| reference.to_value()),
        Plain::Map(map) => {
            // A name that begins like that of a reference gets another sign, so that it is none.
            let escape = |key: &str| if key.starts_with('$') { format!("${key}") } else { key.to_owned() };
            map.iter().map(|(key, value)| (escape(key), to_spec(value, find))).collect::<Map<_, _>>().into()
        }
    }
}

/// Whole numbers without a fraction, as people write them.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < WHOLE {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// A value as it is in a model. `find` says which object a reference is about; who is nowhere becomes nothing, and is
/// left out of lists and maps: a list of machines is one of those that there are.
pub(super) fn from_spec(value: &Value, find: &mut dyn FnMut(&Reference) -> Option<ObjectId>) -> Plain {
    match value {
        Value::Null => Plain::Null,
        Value::Bool(value) => Plain::Bool(*value),
        Value::Number(value) => Plain::Number(value.as_f64().unwrap_or_default()),
        Value::String(text) => Plain::String(text.clone()),
        Value::Array(items) => {
            let there = |item: &Value| match (from_spec(item, find), Reference::of(item)) {
                (Plain::Null, Some(_)) => None,
                (plain, _) => Some(plain),
            };
            Plain::List(items.iter().filter_map(there).collect())
        }
        Value::Object(map) => match Reference::of(value) {
            Some(reference) => find(&reference).map_or(Plain::Null, Plain::Ref),
            None => {
                let plain = |key: &str| {
                    let rest = key.strip_prefix('$').filter(|rest| rest.starts_with('$'));
                    rest.unwrap_or(key).to_owned()
                };
                let there =
                    |(key, value): (&String, &Value)| match (from_spec(value, find), Reference::of(value)) {
                        (Plain::Null, Some(_)) => None,
                        (value, _) => Some((plain(key), value)),
                    };
                Plain::Map(map.iter().filter_map(there).collect::<BTreeMap<_, _>>())
            }
        },
    }
}
