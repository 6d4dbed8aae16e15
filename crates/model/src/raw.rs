//! JSON objects as names and texts: what is not looked at is copied, not read.
//!
//! It must not know what is in them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// A piece of JSON as text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// A value as text.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn of(value: &impl Serialize) -> Result<Raw, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Raw)
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.text() == other.text()
    }
}

/// An object as names and texts, in the order of the names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawObject<'a>(Vec<(&'a str, Cow<'a, str>)>);

impl<'a> RawObject<'a> {
    /// The fields of an object, if their names are plain and each occurs once.
    pub fn read(text: &'a [u8]) -> Option<RawObject<'a>> {
        serde_json::from_slice(text).ok()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, field: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(name, _)| (*name).cmp(field))
    }

    /// The text of a field.
    pub fn get(&self, field: &str) -> Option<&Cow<'a, str>> {
        self.find(field).ok().map(|at| &self.0[at].1)
    }

    /// Gives a field this text, or takes it away.
    pub fn set(&mut self, field: &'a str, text: Option<String>) {
        match (self.find(field), text) {
            (Ok(at), Some(text)) => self.0[at].1 = text.into(),
            (Ok(at), None) => drop(self.0.remove(at)),
            (Err(at), Some(text)) => self.0.insert(at, (field, text.into())),
            (Err(_), None) => {}
        }
    }

    /// Appends it as JSON. Says where name and text of this field are; nothing if it is not there.
    pub fn write(&self, out: &mut Vec<u8>, field: &str) -> Range<usize> {
        let mut place = 0..0;
        out.push(b'{');
        for (at, (name, text)) in self.0.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let start = out.len();
            // Plain, so it needs no escapes.
            out.push(b'"');
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            out.extend_from_slice(text.as_bytes());
            if *name == field {
                place = start..out.len();
            }
        }
        out.push(b'}');
        place
    }

    /// It as JSON.
    pub fn text(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out, "");
        // What was put together from text is text.
        String::from_utf8(out).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for RawObject<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<RawObject<'de>, D::Error> {
        let mut fields = reader.deserialize_map(Read(PhantomData))?;
        if !fields.is_sorted_by(|(a, _), (b, _)| a < b) {
            fields.sort_unstable_by_key(|(name, _)| *name);
        }
        let once = fields.is_sorted_by(|(a, _), (b, _)| a < b);
        if once { Ok(RawObject(fields)) } else { Err(D::Error::custom("a field twice")) }
    }
}

struct Read<'a>(PhantomData<&'a ()>);

impl<'de> Visitor<'de> for Read<'de> {
    type Value = Vec<(&'de str, Cow<'de, str>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(16);
        // A name with escapes cannot be borrowed, and is an error here.
        while let Some(name) = map.next_key::<&'de str>()? {
            let text: &'de RawValue = map.next_value()?;
            fields.push((name, Cow::Borrowed(text.get())));
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_ordered_and_changed_as_text() {
        let mut object = RawObject::read(br#"{"b":[1, 2],"a":{"x":"\n"}}"#).unwrap();
        object.set("c", Some("null".into()));
        object.set("b", None);
        object.set("a", Some("0".into()));
        object.set("none", None);
        assert_eq!((object.text().as_str(), object.is_empty()), (r#"{"a":0,"c":null}"#, false));
        assert_eq!(object.get("c").map(|text| &**text), Some("null"));
    }

    #[test]
    fn what_is_odd_is_nothing() {
        for odd in [r#"{"a":1,"a":2}"#, r#"{"\u0061":1}"#, "[]", "7", "", "{", r#"{"a":1} x"#] {
            assert_eq!(RawObject::read(odd.as_bytes()), None, "{odd}");
        }
    }
}
