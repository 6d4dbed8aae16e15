//! The selector of a rule: as text, or as `matchLabels` and `matchExpressions`. Kept as text, which every server reads.

use serde_json::{Map, Value};

use crate::LabelSelector;
use crate::class::read::{Errors, object, text};
use crate::invalid::FieldError;

const PLACE: &str = "spec.selector";

/// Reads a selector and gives it back as text.
pub(super) fn read(value: &Value, errors: &mut Errors) -> Option<String> {
    let written = match value {
        Value::String(text) => text.clone(),
        value => {
            let map = object(value, PLACE, &["matchLabels", "matchExpressions"], errors)?;
            let mut terms = labels(map, errors)?;
            terms.extend(expressions(map, errors)?);
            terms.join(",")
        }
    };
    match LabelSelector::parse(&written) {
        Ok(_) => Some(written),
        Err(bad) => {
            errors.push(FieldError::invalid(PLACE, value.clone(), bad.to_string()));
            None
        }
    }
}

fn labels(map: &Map<String, Value>, errors: &mut Errors) -> Option<Vec<String>> {
    let Some(value) = map.get("matchLabels") else { return Some(Vec::new()) };
    let place = "spec.selector.matchLabels";
    let term = |(key, value): (&String, &Value)| Some(format!("{key}={}", value.as_str()?));
    let terms = value.as_object().and_then(|labels| labels.iter().map(term).collect());
    if terms.is_none() {
        errors.push(FieldError::invalid(place, value.clone(), "must be a map of texts to texts"));
    }
    terms
}

fn expressions(map: &Map<String, Value>, errors: &mut Errors) -> Option<Vec<String>> {
    let Some(value) = map.get("matchExpressions") else { return Some(Vec::new()) };
    let Some(list) = value.as_array() else {
        errors.push(FieldError::invalid("spec.selector.matchExpressions", value.clone(), "must be a list"));
        return None;
    };
    list.iter().enumerate().map(|(at, value)| expression(value, at, errors)).collect()
}

fn expression(value: &Value, at: usize, errors: &mut Errors) -> Option<String> {
    let place = format!("spec.selector.matchExpressions[{at}]");
    let map = object(value, &place, &["key", "operator", "values"], errors)?;
    let (key, operator) = (text(map, &place, "key", errors)?, text(map, &place, "operator", errors)?);
    let values = map.get("values").and_then(Value::as_array).into_iter().flatten();
    let values: Option<Vec<&str>> = values.map(Value::as_str).collect();
    let values = values.unwrap_or_default();
    match (operator, values.is_empty()) {
        ("In", false) => Some(format!("{key} in ({})", values.join(","))),
        ("NotIn", false) => Some(format!("{key} notin ({})", values.join(","))),
        ("Exists", true) => Some(key.to_owned()),
        ("DoesNotExist", true) => Some(format!("!{key}")),
        ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {
            let detail = "In and NotIn have values, Exists and DoesNotExist have none";
            errors.push(FieldError::invalid(format!("{place}.values"), value.clone(), detail));
            None
        }
        _ => {
            let known = ["In", "NotIn", "Exists", "DoesNotExist"];
            errors.push(FieldError::not_supported(format!("{place}.operator"), operator, &known));
            None
        }
    }
}
