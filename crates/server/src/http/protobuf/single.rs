//! Single values of messages as JSON has them: texts, numbers, times, quantities, and JSON itself.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value};
use sexton_model::time;

use super::super::body;
use super::decode::Is;
use super::wire::{Garbled, Raw, Reader};

/// A value that is no message of its own kind; nothing, if it is empty and not kept.
pub(super) fn value(is: Is, name: &'static str, raw: Raw<'_>) -> Result<Option<Value>, Garbled> {
    Ok(match is {
        Is::Text => some(text(name, raw)?, |text| !text.is_empty()),
        Is::TextKept => Some(text(name, raw)?.into()),
        Is::Number => some(raw.number(name)?, |number| *number != 0),
        Is::NumberKept => Some(raw.number(name)?.into()),
        Is::Bool => some(raw.number(name)? != 0, |truth| *truth),
        Is::BoolKept => Some((raw.number(name)? != 0).into()),
        Is::Double => Some(double(name, raw)?),
        Is::Bytes => some(base64(name, raw)?, |text| !text.is_empty()),
        Is::Quantity => Some(quantity(name, raw)?.into()),
        Is::IntOrText => some(int_or_text(name, raw)?, |value| *value != 0),
        Is::IntOrTextKept => Some(int_or_text(name, raw)?),
        Is::Time => timestamp(name, raw, false)?.map(Value::from),
        Is::MicroTime => timestamp(name, raw, true)?.map(Value::from),
        Is::Json => json(name, raw)?,
        _ => return Err(Garbled::OtherType(name)),
    })
}

fn some<T: Into<Value>>(value: T, keep: impl Fn(&T) -> bool) -> Option<Value> {
    keep(&value).then(|| value.into())
}

pub(super) fn text(name: &'static str, raw: Raw<'_>) -> Result<String, Garbled> {
    std::str::from_utf8(raw.bytes(name)?).map(str::to_owned).map_err(|_| Garbled::NotText(name))
}

/// Bytes as JSON has them.
pub(super) fn base64(name: &'static str, raw: Raw<'_>) -> Result<String, Garbled> {
    raw.bytes(name).map(|bytes| STANDARD.encode(bytes))
}

/// Without a point if there is nothing behind it, as Go writes it.
fn double(name: &'static str, raw: Raw<'_>) -> Result<Value, Garbled> {
    /// Up to here, every whole number is one.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Raw::Eight(bits) = raw else { return Err(Garbled::OtherType(name)) };
    let number = f64::from_bits(bits);
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[allow(clippy::cast_possible_truncation, reason = "it is whole, and not too large")]
        return Ok((number as i64).into());
    }
    Number::from_f64(number).map(Value::Number).ok_or(Garbled::NotANumber(name))
}

/// A message of one text. An empty one is an amount that was never set.
pub(super) fn quantity(name: &'static str, raw: Raw<'_>) -> Result<String, Garbled> {
    let mut amount = String::new();
    let mut reader = Reader(raw.bytes(name)?);
    while let Some((number, raw)) = reader.next()? {
        match number {
            1 => amount = text(name, raw)?,
            other => return Err(Garbled::unknown(other)),
        }
    }
    Ok(if amount.is_empty() { "0".into() } else { amount })
}

/// A message that says which of the two it is, and both.
fn int_or_text(name: &'static str, raw: Raw<'_>) -> Result<Value, Garbled> {
    let (mut is_text, mut int, mut words) = (false, 0, String::new());
    let mut reader = Reader(raw.bytes(name)?);
    while let Some((number, raw)) = reader.next()? {
        match number {
            1 => is_text = raw.number(name)? != 0,
            2 => int = raw.number(name)?,
            3 => words = text(name, raw)?,
            other => return Err(Garbled::unknown(other)),
        }
    }
    Ok(if is_text { words.into() } else { int.into() })
}

/// Seconds and nanoseconds; a time that was never set has no bytes at all.
fn timestamp(name: &'static str, raw: Raw<'_>, micros: bool) -> Result<Option<String>, Garbled> {
    let bytes = raw.bytes(name)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let (mut seconds, mut nanos) = (0_i64, 0_i64);
    let mut reader = Reader(bytes);
    while let Some((number, raw)) = reader.next()? {
        match number {
            1 => seconds = raw.number(name)?,
            2 => nanos = raw.number(name)?,
            other => return Err(Garbled::unknown(other)),
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
pub(super) fn json(name: &'static str, raw: Raw<'_>) -> Result<Option<Value>, Garbled> {
    let (mut reader, mut json) = (Reader(raw.bytes(name)?), &[][..]);
    while let Some((number, raw)) = reader.next()? {
        match number {
            1 => json = raw.bytes(name)?,
            other => return Err(Garbled::unknown(other)),
        }
    }
    if json.is_empty() {
        return Ok(None);
    }
    body::json(json).map(Some).map_err(|failure| Garbled::NotJson(name, failure.0.message.clone()))
}
