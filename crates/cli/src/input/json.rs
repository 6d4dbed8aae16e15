//! JSON in which no key stands twice: of two values one would be lost without a word.
//!
//! It must not know what the values mean.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// All values of a text, one after the other.
pub(super) fn values(text: &str) -> Result<Vec<Value>, serde_json::Error> {
    let read = serde_json::Deserializer::from_str(text).into_iter::<Exact>();
    read.map(|value| value.map(|Exact(value)| value)).collect()
}

/// A value as it is written.
struct Exact(Value);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader).map(Exact)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Exact(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key} is there twice")));
            }
            let Exact(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_are() {
        let text = r#"{"a": [1, -2, 0.5, true, null, "x", {"b": {}}], "c": 18446744073709551615} {"d": 1}"#;
        let plain: Vec<Value> =
            serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap();
        assert_eq!(values(text).unwrap(), plain);
    }

    #[test]
    fn a_key_that_stands_twice_is_told_with_its_place() {
        let error = values("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2}}").unwrap_err();
        assert!(error.to_string().starts_with("the key c is there twice at line 2"), "{error}");
    }
}
