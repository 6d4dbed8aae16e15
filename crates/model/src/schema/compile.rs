//! From the JSON of a schema to what is used on documents.
//!
//! Never refuses: what cannot be understood says nothing. Schemas are checked before they are stored.

use serde_json::{Map, Value};

use super::check::MOST_DEPTH;
use super::expressions::Expression;
use super::formats::Format;
use super::node::{Additional, Bound, List, Rules, Structural, Type};
use super::pattern::Pattern;

impl Structural {
    /// Reads an `openAPIV3Schema`.
    pub fn compile(schema: &Value) -> Structural {
        compile(schema, MOST_DEPTH)
    }
}

fn compile(schema: &Value, levels: usize) -> Structural {
    let (Some(map), Some(levels)) = (schema.as_object(), levels.checked_sub(1)) else {
        return Structural { preserves: true, ..Structural::default() };
    };
    let flag = |name: &str| map.get(name).and_then(Value::as_bool).unwrap_or(false);
    let mut node = Structural {
        kind: text(map, "type").and_then(Type::named),
        nullable: flag("nullable"),
        preserves: flag("x-kubernetes-preserve-unknown-fields"),
        embedded: flag("x-kubernetes-embedded-resource"),
        int_or_string: flag("x-kubernetes-int-or-string"),
        default: map.get("default").filter(|default| !default.is_null()).cloned(),
        list: list(map),
        rules: rules(map, levels),
        ..Structural::default()
    };
    for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        node.properties.insert(name.clone(), compile(property, levels));
    }
    node.additional = match map.get("additionalProperties") {
        Some(schema @ Value::Object(_)) => Additional::Each(Box::new(compile(schema, levels))),
        Some(Value::Bool(true)) => Additional::Any,
        _ => Additional::No,
    };
    node.items =
        map.get("items").filter(|items| items.is_object()).map(|items| Box::new(compile(items, levels)));
    node.has_defaults = node.default.is_some()
        || node.properties.values().any(|property| property.has_defaults)
        || node.additional.schema().is_some_and(|each| each.has_defaults)
        || node.items.as_ref().is_some_and(|items| items.has_defaults);
    let rules = map.get("x-kubernetes-validations").and_then(Value::as_array);
    node.expressions = rules.into_iter().flatten().filter_map(|rule| Expression::read(rule).ok()).collect();
    node.has_expressions = !node.expressions.is_empty()
        || node.properties.values().any(|property| property.has_expressions)
        || node.additional.schema().is_some_and(|each| each.has_expressions)
        || node.items.as_ref().is_some_and(|items| items.has_expressions);
    node
}

fn text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

fn list(map: &Map<String, Value>) -> List {
    match text(map, "x-kubernetes-list-type") {
        Some("set") => List::Set,
        Some("map") => List::Map(texts(map, "x-kubernetes-list-map-keys")),
        _ => List::Atomic,
    }
}

fn texts(map: &Map<String, Value>, name: &str) -> Vec<String> {
    let list = map.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
}

fn rules(map: &Map<String, Value>, levels: usize) -> Rules {
    let count = |name: &str| map.get(name).and_then(Value::as_u64);
    let bound = |name: &str, exclusive: &str| {
        let exclusive = map.get(exclusive).and_then(Value::as_bool).unwrap_or(false);
        map.get(name).and_then(Value::as_number).map(|number| Bound { number: number.clone(), exclusive })
    };
    let schemas = |name: &str| -> Vec<Structural> {
        let list = map.get(name).and_then(Value::as_array);
        list.into_iter().flatten().map(|schema| compile(schema, levels)).collect()
    };
    Rules {
        required: texts(map, "required"),
        known: map.get("enum").and_then(Value::as_array).filter(|known| !known.is_empty()).cloned(),
        maximum: bound("maximum", "exclusiveMaximum"),
        minimum: bound("minimum", "exclusiveMinimum"),
        multiple_of: map.get("multipleOf").and_then(Value::as_number).cloned(),
        max_length: count("maxLength"),
        min_length: count("minLength"),
        pattern: text(map, "pattern").filter(|pattern| !pattern.is_empty()).map(Pattern::new),
        max_items: count("maxItems"),
        min_items: count("minItems"),
        max_properties: count("maxProperties"),
        min_properties: count("minProperties"),
        format: text(map, "format").and_then(Format::named),
        all_of: schemas("allOf"),
        any_of: schemas("anyOf"),
        one_of: schemas("oneOf"),
        not: map.get("not").map(|schema| Box::new(compile(schema, levels))),
    }
}
