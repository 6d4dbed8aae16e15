//! JSON or YAML as a value, and which fields stand in it twice: found while reading, so that looking for them costs
//! nothing. How deep it nests and how much memory it takes are bounded in passing, too.
//!
//! It must not know what is done about either.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use sexton_model::weight;

/// More are not told.
const MOST: usize = 64;
/// So much memory may a body take once it is read. Its text is bounded, but small maps take eighty times their text, and
/// a YAML alias stands for as much as it likes.
pub(super) const MAX_READ_BYTES: usize = 64 << 20;

/// Why nothing was read.
#[derive(Debug)]
pub(super) enum Unread {
    TooDeep,
    TooHeavy,
    NotJson(serde_json::Error),
    NotYaml(serde_saphyr::Error),
}

/// Reads a value with at most so many brackets inside of each other. Of a field that stands there twice the last one
/// counts; its path is told.
pub(super) fn read(bytes: &[u8], most_depth: usize) -> Result<(Value, Vec<String>), Unread> {
    let mut found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Reading { found: &mut found, levels: most_depth }.deserialize(&mut reader);
    match value.and_then(|value| reader.end().map(|()| value)) {
        Ok(value) => Ok((value, found.paths)),
        Err(error) => Err(found.unread().unwrap_or(Unread::NotJson(error))),
    }
}

/// The same for YAML; a field that stands there twice is refused by its reader.
pub(super) fn read_yaml(text: &str, most_depth: usize) -> Result<Value, Unread> {
    let mut found = Found::default();
    // As Kubernetes reads it: 0644 is what the permissions of a file look like.
    let options = serde_saphyr::options! { legacy_octal_numbers: true };
    let value = serde_saphyr::with_deserializer_from_str_with_options(text, options, |reader| {
        Reading { found: &mut found, levels: most_depth }.deserialize(reader)
    });
    value.map_err(|error| found.unread().unwrap_or(Unread::NotYaml(error)))
}

struct Found {
    paths: Vec<String>,
    too_deep: bool,
    /// How many bytes may still be read; `None` if that was not enough.
    left: Option<usize>,
}

impl Default for Found {
    fn default() -> Self {
        Found { paths: Vec::new(), too_deep: false, left: Some(MAX_READ_BYTES) }
    }
}

impl Found {
    /// Why reading was broken off, if it was.
    fn unread(&self) -> Option<Unread> {
        match self.left {
            _ if self.too_deep => Some(Unread::TooDeep),
            None => Some(Unread::TooHeavy),
            Some(_) => None,
        }
    }

    /// Takes what was read from what may be.
    fn weigh<E: serde::de::Error>(&mut self, bytes: usize) -> Result<(), E> {
        self.left = self.left.and_then(|left| left.checked_sub(bytes));
        self.left.map(drop).ok_or_else(|| E::custom("too much memory"))
    }
}

/// One value, in which brackets may still nest so deep.
struct Reading<'a> {
    found: &'a mut Found,
    levels: usize,
}

impl Reading<'_> {
    /// What is inside of brackets.
    fn inside<E: serde::de::Error>(&mut self) -> Result<Reading<'_>, E> {
        match self.levels.checked_sub(1) {
            Some(levels) => Ok(Reading { found: self.found, levels }),
            None => {
                self.found.too_deep = true;
                Err(E::custom("nested too deep"))
            }
        }
    }

    /// Says of what was found below where that is.
    fn below(&mut self, before: usize, above: impl fmt::Display) {
        for path in &mut self.found.paths[before..] {
            let dot = if path.starts_with('[') { "" } else { "." };
            *path = format!("{above}{dot}{path}");
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        self.found.weigh(weight::VALUE_BYTES)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.found.weigh(weight::VALUE_BYTES)?;
        Ok(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.found.weigh(weight::VALUE_BYTES)?;
        Ok(value.into())
    }

    /// A whole number is one however it is spelled: clients that read a number of a field made for whole ones would
    /// stumble over `1.0`.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.found.weigh(weight::VALUE_BYTES)?;
        const EXACT: f64 = (1_u64 << 53) as f64;
        if value.fract() == 0.0 && value.abs() < EXACT {
            return Ok((value as i64).into());
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.found.weigh(weight::VALUE_BYTES + weight::TEXT_BYTES + value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        self.found.weigh(weight::VALUE_BYTES + weight::TEXT_BYTES + value.len())?;
        Ok(Value::String(value))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.found.weigh(weight::VALUE_BYTES)?;
        Ok(Value::Null)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        self.deserialize(reader)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        self.found.weigh(weight::VALUE_BYTES)?;
        let mut list = Vec::new();
        let mut before = self.found.paths.len();
        while let Some(item) = items.next_element_seed(self.inside()?)? {
            if self.found.paths.len() > before {
                self.below(before, format_args!("[{}]", list.len()));
                before = self.found.paths.len();
            }
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Value, A::Error> {
        self.found.weigh(weight::VALUE_BYTES)?;
        let (mut map, mut fields_read) = (Map::new(), 0);
        self.inside()?;
        while let Some(name) = fields.next_key::<String>()? {
            let before = self.found.paths.len();
            let value = fields.next_value_seed(self.inside()?)?;
            if self.found.paths.len() > before {
                self.below(before, &name);
            }
            match map.entry(name) {
                Entry::Vacant(free) => {
                    fields_read += 1;
                    let room = weight::map_of(fields_read) - weight::map_of(fields_read - 1);
                    self.found.weigh(weight::TEXT_BYTES + free.key().len() + room)?;
                    free.insert(value);
                }
                Entry::Occupied(mut taken) => {
                    if self.found.paths.len() < MOST {
                        self.found.paths.push(taken.key().clone());
                    }
                    taken.insert(value);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_that_stand_twice_are_told_with_their_paths() {
        let text = br#"{"a":1,"b":{"c":1,"c":2},"l":[{},{"d":1,"d":2,"e":[{"f":1,"f":1}]}],"a":2}"#;
        let (value, found) = read(text, 8).unwrap();
        assert_eq!(value["a"], 2);
        assert_eq!(found, ["b.c", "l[1].d", "l[1].e[0].f", "a"]);
    }

    #[test]
    fn it_is_not_read_deeper_than_told() {
        for text in ["[[]]", r#"{"a":[]}"#, r#"[{"a":"[[[["}]"#, r#"[1,{"a":2,"b":3}]"#] {
            assert!(read(text.as_bytes(), 2).is_ok(), "{text}");
            assert!(matches!(read(text.as_bytes(), 1), Err(Unread::TooDeep)), "{text}");
        }
        assert!(matches!(read(b"[[[", 2), Err(Unread::TooDeep)));
        assert!(matches!(read(b"[[", 2), Err(Unread::NotJson(_))));
    }

    /// Three megabytes of the smallest maps would take two hundred and fifty, and a YAML alias stands for any amount.
    #[test]
    fn what_takes_too_much_memory_is_not_read() {
        let maps = format!("[{}{{}}]", r#"{"":0},"#.repeat(400_000));
        assert!(matches!(read(maps.as_bytes(), 8), Err(Unread::TooHeavy)));
        let alias = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), vec!["*a"; 200].join(", "));
        assert!(matches!(read_yaml(&alias, 8), Err(Unread::TooHeavy | Unread::NotYaml(_))));
        // What is measured is about what it is measured to be.
        let text = br#"{"a":["b",1,null,{"c":{}}],"d":1.5}"#;
        let value = read(text, 8).unwrap().0;
        let mut found = Found::default();
        let reading = Reading { found: &mut found, levels: 8 };
        reading.deserialize(&mut serde_json::Deserializer::from_slice(text)).unwrap();
        assert_eq!(MAX_READ_BYTES - found.left.unwrap(), weight::of(&value));
    }

    #[test]
    fn whole_numbers_are_spelled_as_such() {
        for (text, told) in [
            ("[1.0,1e3,-2.0,0.0]", "[1,1000,-2,0]"),
            ("[1.5,1e300,18446744073709551615]", "[1.5,1e+300,18446744073709551615]"),
        ] {
            assert_eq!(read(text.as_bytes(), 8).unwrap().0.to_string(), told);
        }
    }

    /// The same with whole numbers spelled as such.
    fn spelled(value: Value) -> Value {
        match value {
            Value::Array(list) => list.into_iter().map(spelled).collect(),
            Value::Object(map) => map.into_iter().map(|(name, value)| (name, spelled(value))).collect(),
            Value::Number(number) => {
                let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0);
                whole.filter(|float| float.abs() < 9e15).map_or(number.into(), |float| (float as i64).into())
            }
            other => other,
        }
    }

    proptest! {
        /// The value is the one that any other parser reads, and so are the errors.
        #[test]
        fn it_reads_what_others_read(text in r#"[\[\]{}:,"a-c0-9.eE+ \\-]{0,40}|[\[{]{0,200}"#) {
            let other: serde_json::Result<Value> = serde_json::from_str(&text);
            match (read(text.as_bytes(), 127), other) {
                (Ok((value, _)), Ok(other)) => prop_assert_eq!(value, spelled(other)),
                (one, other) => prop_assert!(one.is_err() && other.is_err(), "{text}"),
            }
        }
    }
}
