//! From a message to the JSON that the same client would have sent as JSON, led by a table of its fields.
//!
//! Nothing is built in between: what comes out is as large as the same document read from JSON. Numbers that no table
//! knows are passed over. It does not know kinds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use sexton_model::time;

use super::super::body;
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

/// What a field is. Go writes a field that is no pointer even if it is empty, and leaves it out of JSON then; what a
/// pointer points to is there in both. So the two have to be told apart.
#[derive(Debug, Clone, Copy)]
pub(super) enum Is {
    Text,
    TextPointer,
    Number,
    NumberPointer,
    BoolPointer,
    Part(&'static Message),
    PartPointer(&'static Message),
    Parts(&'static Message),
    Texts,
    /// Names and texts.
    TextMap,
    /// Names and bytes, which are base64 in JSON.
    BytesMap,
    /// Names and lists of texts.
    TextsMap,
    /// Whole seconds.
    Time,
    /// With six digits behind the point.
    MicroTime,
    /// Bytes that are JSON already.
    Json,
}

/// More values than the largest object that anybody keeps here has.
const MOST_VALUES: usize = 500_000;

/// Reads a message.
pub(super) fn decode(message: &'static Message, bytes: &[u8]) -> Result<Map<String, Value>, Garbled> {
    let mut object = Map::new();
    Decoding { left: MOST_VALUES }.fill(message, bytes, &mut object)?;
    Ok(object)
}

struct Decoding {
    left: usize,
}

impl Decoding {
    /// Reads a message into an object that may hold a part of it already. Tables do not refer to themselves, so this
    /// ends.
    fn fill(
        &mut self,
        message: &'static Message,
        bytes: &[u8],
        object: &mut Map<String, Value>,
    ) -> Result<(), Garbled> {
        let mut reader = Reader(bytes);
        while let Some((number, raw)) = reader.next()? {
            self.left = self.left.checked_sub(1).ok_or(Garbled::TooMany(MOST_VALUES))?;
            if let Some(field) = message.0.iter().find(|field| field.number == number) {
                self.set(field, raw, object)?;
            }
        }
        Ok(())
    }

    fn set(
        &mut self,
        field: &'static Field,
        raw: Raw<'_>,
        object: &mut Map<String, Value>,
    ) -> Result<(), Garbled> {
        let name = field.name;
        let value = match (field.is, raw) {
            (Is::Text, Raw::Bytes(bytes)) => some(text(name, bytes)?, |text| !text.is_empty()),
            (Is::TextPointer, Raw::Bytes(bytes)) => Some(text(name, bytes)?.into()),
            (Is::Number, Raw::Number(number)) => some(number.cast_signed(), |number| *number != 0),
            (Is::NumberPointer, Raw::Number(number)) => Some(number.cast_signed().into()),
            (Is::BoolPointer, Raw::Number(number)) => Some((number != 0).into()),
            (Is::Part(message), Raw::Bytes(bytes)) => {
                some(self.part(message, bytes, object.remove(name))?, |part| !part.is_empty())
            }
            (Is::PartPointer(message), Raw::Bytes(bytes)) => {
                Some(self.part(message, bytes, object.remove(name))?.into())
            }
            (Is::Parts(message), Raw::Bytes(bytes)) => {
                let part = self.part(message, bytes, None)?;
                push(object, name, part.into());
                return Ok(());
            }
            (Is::Texts, Raw::Bytes(bytes)) => {
                push(object, name, text(name, bytes)?.into());
                return Ok(());
            }
            (Is::TextMap | Is::BytesMap | Is::TextsMap, Raw::Bytes(bytes)) => {
                let (key, value) = self.entry(field, bytes)?;
                enter(object, name, key, value);
                return Ok(());
            }
            (Is::Time, Raw::Bytes(bytes)) => timestamp(name, bytes, false)?.map(Value::from),
            (Is::MicroTime, Raw::Bytes(bytes)) => timestamp(name, bytes, true)?.map(Value::from),
            (Is::Json, Raw::Bytes(bytes)) => embedded(name, bytes)?,
            _ => return Err(Garbled::OtherType(name)),
        };
        match value {
            Some(value) => object.insert(name.to_owned(), value),
            // The last one counts, also if it is empty.
            None => object.remove(name),
        };
        Ok(())
    }

    /// A message within a message. If it comes in pieces, they are put together.
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

    /// An entry of a map is a message of a key and a value, either of which may be left out.
    fn entry(&mut self, field: &'static Field, bytes: &[u8]) -> Result<(String, Value), Garbled> {
        static LIST: Message = Message(&[Field { number: 1, name: "items", is: Is::Texts }]);
        let (mut key, mut value) = (String::new(), &[][..]);
        let mut reader = Reader(bytes);
        while let Some((number, raw)) = reader.next()? {
            self.left = self.left.checked_sub(1).ok_or(Garbled::TooMany(MOST_VALUES))?;
            match (number, raw) {
                (1, Raw::Bytes(bytes)) => key = text(field.name, bytes)?,
                (2, Raw::Bytes(bytes)) => value = bytes,
                (1 | 2, _) => return Err(Garbled::OtherType(field.name)),
                _ => {}
            }
        }
        let value = match field.is {
            Is::BytesMap => STANDARD.encode(value).into(),
            Is::TextsMap => {
                let items = self.part(&LIST, value, None)?.remove("items");
                items.unwrap_or_else(|| Value::Array(Vec::new()))
            }
            _ => text(field.name, value)?.into(),
        };
        Ok((key, value))
    }
}

fn some<T: Into<Value>>(value: T, keep: impl Fn(&T) -> bool) -> Option<Value> {
    keep(&value).then(|| value.into())
}

fn push(object: &mut Map<String, Value>, name: &str, value: Value) {
    match object.get_mut(name) {
        Some(Value::Array(list)) => list.push(value),
        _ => {
            object.insert(name.to_owned(), Value::Array(vec![value]));
        }
    }
}

fn enter(object: &mut Map<String, Value>, name: &str, key: String, value: Value) {
    match object.get_mut(name) {
        Some(Value::Object(map)) => {
            map.insert(key, value);
        }
        _ => {
            object.insert(name.to_owned(), Value::Object(Map::from_iter([(key, value)])));
        }
    }
}

fn text(name: &'static str, bytes: &[u8]) -> Result<String, Garbled> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Garbled::NotText(name))
}

/// Seconds and nanoseconds; a time that was never set has no bytes at all.
fn timestamp(name: &'static str, bytes: &[u8], micros: bool) -> Result<Option<String>, Garbled> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (mut seconds, mut nanos) = (0_i64, 0_i64);
    let mut reader = Reader(bytes);
    while let Some((number, raw)) = reader.next()? {
        match (number, raw) {
            (1, Raw::Number(number)) => seconds = number.cast_signed(),
            (2, Raw::Number(number)) => nanos = number.cast_signed(),
            (1 | 2, _) => return Err(Garbled::OtherType(name)),
            _ => {}
        }
    }
    let whole = time::format(seconds);
    if !(0..1_000_000_000).contains(&nanos) || time::parse(&whole) != Some(seconds) {
        return Err(Garbled::NotATime(name));
    }
    let digits = whole.trim_end_matches('Z');
    Ok(Some(if micros { format!("{digits}.{:06}Z", nanos / 1000) } else { whole }))
}

/// JSON that came along as bytes, in a message of its own.
fn embedded(name: &'static str, bytes: &[u8]) -> Result<Option<Value>, Garbled> {
    let (mut reader, mut json) = (Reader(bytes), &[][..]);
    while let Some((number, raw)) = reader.next()? {
        match (number, raw) {
            (1, Raw::Bytes(bytes)) => json = bytes,
            (1, _) => return Err(Garbled::OtherType(name)),
            _ => {}
        }
    }
    if json.is_empty() {
        return Ok(None);
    }
    body::json(json).map(Some).map_err(|failure| Garbled::NotJson(name, failure.0.message.clone()))
}
