//! What single values must be like: bounds of numbers, lengths, patterns, formats, counts, known values.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::complaints::{Complaints, Place};
use super::node::{Structural, Type};
use super::numbers;
use super::validate::shown;
use crate::invalid::FieldError;

/// Texts and numbers.
pub(super) fn scalar(schema: &Structural, value: &Value, place: &Place, complaints: &mut Complaints) {
    match value {
        Value::String(given) => text(schema, given, place, complaints),
        Value::Number(given) => number(schema, given, place, complaints),
        _ => {}
    }
}

fn invalid(place: &Place, value: impl Into<Value>, detail: String, complaints: &mut Complaints) {
    let detail = format!("{} in body {detail}", place.text());
    complaints.add(FieldError::invalid(shown(place), value, detail));
}

fn text(schema: &Structural, given: &str, place: &Place, complaints: &mut Complaints) {
    let rules = &schema.rules;
    if rules.max_length.is_some() || rules.min_length.is_some() {
        let length = given.chars().count() as u64;
        if let Some(most) = rules.max_length.filter(|most| length > *most) {
            complaints.add(FieldError::too_long(shown(place), usize::try_from(most).unwrap_or(usize::MAX)));
        }
        if let Some(least) = rules.min_length.filter(|least| length < *least) {
            invalid(place, given, format!("should be at least {least} chars long"), complaints);
        }
    }
    if let Some(pattern) = &rules.pattern
        && complaints.step(1 + given.len() / 16)
        && !pattern.matches(given)
    {
        invalid(place, given, format!("should match '{}'", pattern.text), complaints);
    }
    let texts = matches!(schema.kind, None | Some(Type::String));
    if let Some((format, check)) =
        rules.format.filter(|_| texts).and_then(|format| Some((format, format.check?)))
        && !check(given)
    {
        let detail = format!("{} in body must be of type {}: {given:?}", place.text(), format.name);
        complaints.add(FieldError::type_invalid(shown(place), given, detail));
    }
}

fn number(schema: &Structural, given: &Number, place: &Place, complaints: &mut Complaints) {
    let rules = &schema.rules;
    let value = || Value::Number(given.clone());
    if let Some(format) = rules.format.filter(|format| format.check.is_none())
        && !numbers::fits(given, format.name)
    {
        let kind = schema.type_names();
        let detail = format!("Checked value must be of type {kind} with format {}", format.name);
        complaints.add(FieldError::invalid(shown(place), value(), detail));
    }
    if let Some(of) = rules.multiple_of.as_ref().filter(|of| !numbers::is_multiple(given, of)) {
        invalid(place, value(), format!("should be a multiple of {}", numbers::shown(of)), complaints);
    }
    if let Some(most) = &rules.maximum {
        let order = numbers::compare(given, &most.number);
        if order == Ordering::Greater || (most.exclusive && order == Ordering::Equal) {
            let or_equal = if most.exclusive { "" } else { " or equal to" };
            let bound = numbers::shown(&most.number);
            invalid(place, value(), format!("should be less than{or_equal} {bound}"), complaints);
        }
    }
    if let Some(least) = &rules.minimum {
        let order = numbers::compare(given, &least.number);
        if order == Ordering::Less || (least.exclusive && order == Ordering::Equal) {
            let or_equal = if least.exclusive { "" } else { " or equal to" };
            let bound = numbers::shown(&least.number);
            invalid(place, value(), format!("should be greater than{or_equal} {bound}"), complaints);
        }
    }
}

/// How many items a list has.
pub(super) fn items(schema: &Structural, items: &[Value], place: &Place, complaints: &mut Complaints) {
    let count = items.len() as u64;
    if let Some(least) = schema.rules.min_items.filter(|least| count < *least) {
        invalid(place, count, format!("should have at least {least} items"), complaints);
    }
    if let Some(most) = schema.rules.max_items.filter(|most| count > *most) {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        complaints.add(FieldError::too_many(shown(place), items.len(), most));
    }
}

/// How many fields a map has. With too few or too many there is no need to look at them.
pub(super) fn properties(
    schema: &Structural,
    map: &Map<String, Value>,
    place: &Place,
    complaints: &mut Complaints,
) -> bool {
    let count = map.len() as u64;
    if let Some(least) = schema.rules.min_properties.filter(|least| count < *least) {
        invalid(place, count, format!("should have at least {least} properties"), complaints);
        return false;
    }
    if let Some(most) = schema.rules.max_properties.filter(|most| count > *most) {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        complaints.add(FieldError::too_many(shown(place), map.len(), most));
        return false;
    }
    true
}

/// Whether a value is one of those that may be.
pub(super) fn known(schema: &Structural, value: &Value, place: &Place, complaints: &mut Complaints) {
    let Some(known) = &schema.rules.known else { return };
    if !complaints.step(known.len()) || known.iter().any(|known| same(known, value)) {
        return;
    }
    let texts = known.iter().map(|known| match known {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let texts: Vec<String> = texts.take(64).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    complaints.add(FieldError::not_supported(shown(place), value.clone(), &texts));
}

/// One is one, however it is written.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers::compare(a, b) == Ordering::Equal,
        _ => a == b,
    }
}
