//! From a message to the JSON that the same client would have sent as JSON, led by a table of its fields.
//!
//! Nothing is built in between: what comes out is as large as the same document read from JSON. A number that its table
//! does not have is a reason to refuse: what it means would be lost. It does not know kinds.

use serde_json::{Map, Value};

use super::single;
use super::wire::{Garbled, Raw, Reader};

/// The fields of a message.
#[derive(Debug)]
pub(super) struct Message(pub(super) &'static [Field]);

/// A field: its number on the wire, its name in JSON, and what it is.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) name: &'static str,
    pub(super) is: Is,
}

/// What a field is. Go writes a field that is no pointer even if it is empty, and may leave it out of JSON then; what a
/// pointer points to is there in both. What is in JSON although it is empty is called *kept*.
#[derive(Debug, Clone, Copy)]
pub(super) enum Is {
    Text,
    TextKept,
    Number,
    NumberKept,
    Bool,
    BoolKept,
    /// Of eight bytes, with a point; always kept.
    Double,
    /// In JSON they are base64.
    Bytes,
    Part(&'static Message),
    PartKept(&'static Message),
    /// A message whose fields stand beside the others in JSON.
    Inline(&'static Message),
    /// A message of which JSON has the one field that is there; if several are, the one with the highest number.
    Either(&'static Message),
    Parts(&'static Message),
    Texts,
    Numbers,
    /// Names and texts.
    TextMap,
    /// Names and bytes, which are base64 in JSON.
    BytesMap,
    /// Names and lists of texts.
    TextsMap,
    /// Names and quantities.
    QuantityMap,
    /// Names and messages.
    PartMap(&'static Message),
    /// An amount with its unit, as text; always kept.
    Quantity,
    /// A number or a text.
    IntOrText,
    IntOrTextKept,
    /// Whole seconds.
    Time,
    /// With six digits behind the point.
    MicroTime,
    /// Bytes that are JSON already.
    Json,
    /// Several of them.
    Jsons,
    /// Known, and of no meaning here.
    Ignored,
}

/// More values than the largest object that is ever kept here has.
const MOST_VALUES: usize = 500_000;
/// Schemas hold schemas: this many messages within each other are more than any document may have levels.
const MOST_LEVELS: usize = 64;

/// Reads a message.
pub(super) fn decode(message: &'static Message, bytes: &[u8]) -> Result<Map<String, Value>, Garbled> {
    Decoding { values: MOST_VALUES, levels: MOST_LEVELS }.part(message, bytes, None)
}

struct Decoding {
    values: usize,
    levels: usize,
}

impl Decoding {
    /// A message. If it comes in pieces, they are put together.
    fn part(
        &mut self,
        message: &'static Message,
        bytes: &[u8],
        before: Option<Value>,
    ) -> Result<Map<String, Value>, Garbled> {
        let mut part = match before {
            Some(Value::Object(part)) => part,
            _ => Map::new(),
        };
        self.fill(message, bytes, &mut part)?;
        Ok(part)
    }

    /// Reads a message into an object that may hold a part of it already. Levels are counted, so this ends.
    fn fill(
        &mut self,
        message: &'static Message,
        bytes: &[u8],
        object: &mut Map<String, Value>,
    ) -> Result<(), Garbled> {
        self.levels = self.levels.checked_sub(1).ok_or(Garbled::TooDeep(MOST_LEVELS))?;
        let mut reader = Reader(bytes);
        while let Some((number, raw)) = reader.next()? {
            self.count()?;
            let field = message.0.iter().find(|field| field.number == number);
            let field = field.ok_or_else(|| Garbled::unknown(number))?;
            self.set(field, raw, object).map_err(|garbled| garbled.within(field.name))?;
        }
        self.levels += 1;
        Ok(())
    }

    fn count(&mut self) -> Result<(), Garbled> {
        self.values = self.values.checked_sub(1).ok_or(Garbled::TooMany(MOST_VALUES))?;
        Ok(())
    }

    fn set(
        &mut self,
        field: &'static Field,
        raw: Raw<'_>,
        object: &mut Map<String, Value>,
    ) -> Result<(), Garbled> {
        let name = field.name;
        let value = match field.is {
            Is::Ignored => return Ok(()),
            Is::Inline(message) => return self.fill(message, raw.bytes(name)?, object),
            Is::Parts(message) => {
                let part = self.part(message, raw.bytes(name)?, None)?;
                return push(object, name, part.into());
            }
            Is::Texts => return push(object, name, single::text(name, raw)?.into()),
            Is::Jsons => return push(object, name, single::json(name, raw)?.unwrap_or(Value::Null)),
            Is::Numbers => return self.numbers(name, raw, object),
            Is::TextMap | Is::BytesMap | Is::TextsMap | Is::QuantityMap | Is::PartMap(_) => {
                let (key, value) = self.entry(field, raw.bytes(name)?)?;
                return enter(object, name, key, value);
            }
            Is::Part(message) => {
                some(self.part(message, raw.bytes(name)?, object.remove(name))?, |part| !part.is_empty())
            }
            Is::PartKept(message) => Some(self.part(message, raw.bytes(name)?, object.remove(name))?.into()),
            Is::Either(message) => self.either(message, raw.bytes(name)?)?,
            is => single::value(is, name, raw)?,
        };
        match value {
            Some(value) => object.insert(name.to_owned(), value),
            // The last one counts, also if it is empty.
            None => object.remove(name),
        };
        Ok(())
    }

    /// One of several forms. A boolean that is left out is false, as for every reader of protobuf.
    fn either(&mut self, message: &'static Message, bytes: &[u8]) -> Result<Option<Value>, Garbled> {
        let mut part = self.part(message, bytes, None)?;
        let there = message.0.iter().rev().find_map(|field| part.remove(field.name));
        let is_bool = message.0.iter().any(|field| matches!(field.is, Is::BoolKept));
        Ok(there.or_else(|| is_bool.then(|| false.into())))
    }

    /// One number, or several in one value.
    fn numbers(
        &mut self,
        name: &'static str,
        raw: Raw<'_>,
        object: &mut Map<String, Value>,
    ) -> Result<(), Garbled> {
        let Raw::Bytes(bytes) = raw else {
            return push(object, name, raw.number(name)?.into());
        };
        let mut reader = Reader(bytes);
        while !reader.0.is_empty() {
            self.count()?;
            push(object, name, reader.number()?.cast_signed().into())?;
        }
        Ok(())
    }

    /// An entry of a map is a message of a key and a value, either of which may be left out.
    fn entry(&mut self, field: &'static Field, bytes: &[u8]) -> Result<(String, Value), Garbled> {
        static LIST: Message = Message(&[Field { number: 1, name: "items", is: Is::Texts }]);
        let (mut key, mut value) = (String::new(), Raw::Bytes(&[]));
        let mut reader = Reader(bytes);
        while let Some((number, raw)) = reader.next()? {
            self.count()?;
            match number {
                1 => key = single::text(field.name, raw)?,
                2 => value = raw,
                other => return Err(Garbled::unknown(other)),
            }
        }
        let value = match field.is {
            Is::BytesMap => single::base64(field.name, value)?.into(),
            Is::QuantityMap => single::quantity(field.name, value)?.into(),
            Is::PartMap(message) => self.part(message, value.bytes(field.name)?, None)?.into(),
            Is::TextsMap => {
                let items = self.part(&LIST, value.bytes(field.name)?, None)?.remove("items");
                items.unwrap_or_else(|| Value::Array(Vec::new()))
            }
            _ => single::text(field.name, value)?.into(),
        };
        Ok((key, value))
    }
}

fn some<T: Into<Value>>(value: T, keep: impl Fn(&T) -> bool) -> Option<Value> {
    keep(&value).then(|| value.into())
}

#[allow(clippy::unnecessary_wraps, reason = "it ends the reading of a field")]
fn push(object: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), Garbled> {
    match object.get_mut(name) {
        Some(Value::Array(list)) => list.push(value),
        _ => {
            object.insert(name.to_owned(), Value::Array(vec![value]));
        }
    }
    Ok(())
}

#[allow(clippy::unnecessary_wraps, reason = "it ends the reading of a field")]
fn enter(object: &mut Map<String, Value>, name: &str, key: String, value: Value) -> Result<(), Garbled> {
    match object.get_mut(name) {
        Some(Value::Object(map)) => {
            map.insert(key, value);
        }
        _ => {
            object.insert(name.to_owned(), Value::Object(Map::from_iter([(key, value)])));
        }
    }
    Ok(())
}
