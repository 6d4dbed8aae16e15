//! Several schemas for one value: they say what values are like, and nothing of the structure.

use serde_json::{Map, Value};

use super::{Checking, Level, Place, is_set, text};

/// Words that belong to the structure, and what they must be elsewhere.
const STRUCTURE: [(&str, &str); 12] = [
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
];

/// The schemas that a value must be compared with beside the one that gives its structure.
pub(super) fn alternatives(
    map: &Map<String, Value>,
) -> impl Iterator<Item = (&'static str, Option<usize>, &Value)> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| {
        let list = map.get(name).and_then(Value::as_array);
        list.into_iter().flatten().enumerate().map(move |(at, schema)| (name, Some(at), schema))
    });
    lists.chain(map.get("not").map(|schema| ("not", None, schema)))
}

/// What is either a number or a text may say so once more, as tools do: as the two alternatives themselves, or as the
/// first of several parts.
pub(super) fn may_be_typed(map: &Map<String, Value>, level: Level, list: &str, at: Option<usize>) -> bool {
    let either = is_set(map, "x-kubernetes-int-or-string");
    match (list, level) {
        ("anyOf", Level::Nested { typed }) => typed && is_either(map.get("anyOf")),
        ("anyOf", _) => either && is_either(map.get("anyOf")),
        ("allOf", _) => either && at == Some(0),
        _ => false,
    }
}

fn is_either(alternatives: Option<&Value>) -> bool {
    let Some(Value::Array(list)) = alternatives else { return false };
    let kind = |schema: &Value| schema.as_object().map(|map| text(map, "type").to_owned());
    list.len() == 2
        && kind(&list[0]).as_deref() == Some("integer")
        && kind(&list[1]).as_deref() == Some("string")
}

impl Checking {
    pub(super) fn nested(&mut self, map: &Map<String, Value>, typed: bool, place: &mut Place) {
        if !typed && !text(map, "type").is_empty() {
            self.forbidden(place, "type", "must be empty to be structural");
        }
        for (name, detail) in STRUCTURE {
            let empty = match map.get(name) {
                None | Some(Value::Bool(false) | Value::Null) => true,
                Some(Value::String(text)) => text.is_empty(),
                Some(Value::Array(list)) => list.is_empty(),
                Some(_) => false,
            };
            if !empty {
                self.forbidden(place, name, detail);
            }
        }
        let properties = map.get("properties").and_then(Value::as_object);
        if properties.is_some_and(|named| named.contains_key("metadata")) {
            place.in_field("properties", |place| {
                place.in_item("metadata", |place| {
                    let detail = "must not be specified in a nested context";
                    self.complaints.add(crate::invalid::FieldError::forbidden(place.text(), detail));
                });
            });
        }
    }

    /// What is said of a place must not be the first that is said of it.
    pub(super) fn complete(&mut self, map: &Map<String, Value>, place: &mut Place) {
        for (list, at, schema) in alternatives(map) {
            let source = match at {
                Some(at) => format!("{}.{list}[{at}]", place.text()),
                None => format!("{}.{list}", place.text()),
            };
            self.covered(schema, map, &source, place, super::MOST_DEPTH);
        }
    }

    fn covered(
        &mut self,
        schema: &Value,
        core: &Map<String, Value>,
        source: &str,
        place: &mut Place,
        levels: usize,
    ) {
        let (Some(map), Some(levels)) = (schema.as_object(), levels.checked_sub(1)) else { return };
        if !self.complaints.step(1) {
            return;
        }
        for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let named = core.get("properties").and_then(|named| named.get(name));
            let source = format!("{source}.properties[{name}]");
            match named.or_else(|| core.get("additionalProperties")) {
                Some(Value::Object(core)) => place.in_field("properties", |place| {
                    place.in_item(name, |place| self.covered(property, core, &source, place, levels));
                }),
                Some(_) => {}
                None => place.in_field("properties", |place| {
                    place.in_item(name, |place| {
                        let detail = format!("because it is defined in {source}");
                        self.complaints.add(crate::invalid::FieldError::required(place.text(), detail));
                    });
                }),
            }
        }
        if let Some(items) = map.get("items") {
            let source = format!("{source}.items");
            match core.get("items") {
                Some(Value::Object(core)) => {
                    place.in_field("items", |place| self.covered(items, core, &source, place, levels));
                }
                _ => self.required(place, "items", format!("because it is defined in {source}")),
            }
        }
        for (list, at, schema) in alternatives(map) {
            let source = match at {
                Some(at) => format!("{source}.{list}[{at}]"),
                None => format!("{source}.{list}"),
            };
            self.covered(schema, core, &source, place, levels);
        }
    }
}
