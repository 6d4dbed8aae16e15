//! The words of a schema, one by one: those that are not supported, and those that say what cannot be.

use serde_json::{Map, Value};

use super::super::expressions::Expression;
use super::super::node::Type;
use super::super::pattern;
use super::{Checking, Place, text};
use crate::invalid::FieldError;

/// Words that a structural schema cannot use.
const NOT_SUPPORTED: [(&str, &str); 6] = [
    ("$ref", "$ref is not supported"),
    ("id", "id is not supported"),
    ("additionalItems", "additionalItems is not supported"),
    ("patternProperties", "patternProperties is not supported"),
    ("definitions", "definitions is not supported"),
    ("dependencies", "dependencies is not supported"),
];

/// What a word must be followed by.
type Expected = (&'static str, fn(&Value) -> bool, &'static [&'static str]);

const EXPECTED: [Expected; 6] = [
    (
        "must be a string",
        Value::is_string,
        &[
            "type",
            "format",
            "title",
            "description",
            "pattern",
            "x-kubernetes-list-type",
            "x-kubernetes-map-type",
        ],
    ),
    (
        "must be a whole number of at least 0",
        Value::is_u64,
        &["maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"],
    ),
    ("must be a number", Value::is_number, &["maximum", "minimum", "multipleOf"]),
    (
        "must be true or false",
        Value::is_boolean,
        &[
            "nullable",
            "uniqueItems",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "x-kubernetes-preserve-unknown-fields",
            "x-kubernetes-embedded-resource",
            "x-kubernetes-int-or-string",
        ],
    ),
    (
        "must be a list",
        Value::is_array,
        &[
            "enum",
            "required",
            "allOf",
            "anyOf",
            "oneOf",
            "x-kubernetes-list-map-keys",
            "x-kubernetes-validations",
        ],
    ),
    ("must be an object", Value::is_object, &["properties", "not"]),
];

impl Checking {
    pub(super) fn keywords(&mut self, map: &Map<String, Value>, place: &Place) {
        for (detail, fits, names) in EXPECTED {
            for (name, value) in names.iter().filter_map(|name| map.get(*name).map(|value| (*name, value))) {
                if !fits(value) {
                    self.invalid(place, name, value, detail);
                }
            }
        }
        for (name, detail) in NOT_SUPPORTED.into_iter().filter(|(name, _)| map.contains_key(*name)) {
            self.forbidden(place, name, detail);
        }
        self.kind(map, place);
        if map.get("uniqueItems") == Some(&Value::Bool(true)) {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.forbidden(place, "uniqueItems", detail);
        }
        match map.get("items") {
            None | Some(Value::Object(_)) => {}
            Some(Value::Array(_)) => {
                self.forbidden(place, "items", "items must be a schema object and not an array");
            }
            Some(other) => self.invalid(place, "items", other, "must be an object"),
        }
        self.additional(map, place);
        if map.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
            let value = Value::Bool(false);
            self.invalid(place, "x-kubernetes-preserve-unknown-fields", &value, "must be true or undefined");
        }
        self.texts(map, "required", place);
        self.texts(map, "x-kubernetes-list-map-keys", place);
        self.numbers(map, place);
        self.expressions(map, place);
    }

    /// A rule that cannot be run is refused now: later its silence would not be noticed.
    fn expressions(&mut self, map: &Map<String, Value>, place: &Place) {
        if !map.contains_key("x-kubernetes-validations") {
            return;
        }
        let schema = Value::Object(map.clone());
        let rules = map.get("x-kubernetes-validations").and_then(Value::as_array);
        for (at, rule) in rules.into_iter().flatten().enumerate() {
            self.expressions += 1;
            if self.expressions > super::MOST_PATTERNS {
                return;
            }
            if let Err((part, why)) = Expression::read(rule).and_then(|read| read.check(&schema)) {
                let part_of = format!("x-kubernetes-validations[{at}].{part}");
                self.invalid(place, &part_of, rule.get(part).unwrap_or(&Value::Null), why);
            }
        }
    }

    fn kind(&mut self, map: &Map<String, Value>, place: &Place) {
        match text(map, "type") {
            "" => {}
            "null" => {
                let detail = "type cannot be set to null, use nullable as an alternative";
                self.forbidden(place, "type", detail);
            }
            name if Type::named(name).is_none() => {
                let error = FieldError::not_supported(place.child("type"), name, &Type::NAMES);
                self.complaints.add(error);
            }
            _ => {}
        }
    }

    fn additional(&mut self, map: &Map<String, Value>, place: &Place) {
        let named = map.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty());
        match map.get("additionalProperties") {
            None | Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => {
                self.forbidden(place, "additionalProperties", "additionalProperties cannot be set to false");
            }
            Some(Value::Object(_)) if named => {
                let detail = "additionalProperties and properties are mutual exclusive";
                self.forbidden(place, "additionalProperties", detail);
            }
            Some(Value::Object(_)) => {}
            Some(other) => self.invalid(place, "additionalProperties", other, "must be an object or true"),
        }
    }

    fn texts(&mut self, map: &Map<String, Value>, name: &str, place: &Place) {
        let list = map.get(name).and_then(Value::as_array);
        if let Some(other) = list.into_iter().flatten().find(|item| !item.is_string()) {
            self.invalid(place, name, other, "must be a list of strings");
        }
    }

    fn numbers(&mut self, map: &Map<String, Value>, place: &Place) {
        if let Some(of) = map.get("multipleOf").filter(|of| of.as_f64().is_some_and(|of| of <= 0.0)) {
            self.invalid(place, "multipleOf", of, "must be greater than 0");
        }
        let given = text(map, "pattern");
        if !given.is_empty() {
            self.patterns += 1;
            if self.patterns <= super::MOST_PATTERNS
                && let Err(why) = pattern::compiled(given)
            {
                let detail = format!("must be a valid regular expression, but isn't: {why}");
                self.invalid(place, "pattern", &given.into(), detail);
            }
        }
    }
}
