//! Lists whose items are told apart, and maps that are one: what the schema around them must say.

use serde_json::{Map, Value};

use super::{Checking, Place, is_set, text};
use crate::invalid::FieldError;
use crate::schema::node::Type;

impl Checking {
    pub(super) fn lists(&mut self, map: &Map<String, Value>, place: &mut Place) {
        let list_type = text(map, "x-kubernetes-list-type");
        if !matches!(list_type, "" | "atomic" | "set" | "map") {
            let field = place.child("x-kubernetes-list-type");
            self.complaints.add(FieldError::not_supported(field, list_type, &["atomic", "map", "set"]));
        }
        if !list_type.is_empty() {
            self.must_be(map, "array", "must be array if x-kubernetes-list-type is specified", place);
        }
        let map_type = text(map, "x-kubernetes-map-type");
        if !matches!(map_type, "" | "atomic" | "granular") {
            let field = place.child("x-kubernetes-map-type");
            self.complaints.add(FieldError::not_supported(field, map_type, &["atomic", "granular"]));
        }
        if !map_type.is_empty() {
            self.must_be(map, "object", "must be object if x-kubernetes-map-type is specified", place);
        }
        let keys = map.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
        let keys: Vec<&str> = keys.into_iter().flatten().filter_map(Value::as_str).collect();
        if list_type != "map" {
            if !keys.is_empty() {
                let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
                match list_type {
                    "" => self.required(place, "x-kubernetes-list-type", detail),
                    other => self.invalid(place, "x-kubernetes-list-type", &other.into(), detail),
                }
            }
            if list_type == "set" {
                self.set(map, place);
            }
            return;
        }
        if keys.is_empty() {
            let detail = "must not be empty if x-kubernetes-list-type is map";
            self.required(place, "x-kubernetes-list-map-keys", detail);
        }
        match map.get("items").and_then(Value::as_object) {
            None => self.required(place, "items", "must have a schema if x-kubernetes-list-type is map"),
            Some(items) => self.keyed(items, &keys, place),
        }
    }

    fn must_be(&mut self, map: &Map<String, Value>, kind: &str, detail: &str, place: &Place) {
        match text(map, "type") {
            is if is == kind => {}
            "" => self.required(place, "type", detail),
            other => self.invalid(place, "type", &other.into(), detail),
        }
    }

    /// Items that are fields themselves are compared whole.
    fn set(&mut self, map: &Map<String, Value>, place: &mut Place) {
        let Some(items) = map.get("items").and_then(Value::as_object) else {
            return self.required(place, "items", "must have a schema if x-kubernetes-list-type is set");
        };
        place.in_field("items", |place| {
            if is_set(items, "nullable") {
                let detail = "cannot be nullable when x-kubernetes-list-type is set";
                self.forbidden(place, "nullable", detail);
            }
            let atomic = |word: &str| matches!(text(items, word), "atomic");
            match text(items, "type") {
                "array" if !matches!(text(items, "x-kubernetes-list-type"), "" | "atomic") => {
                    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
                    self.invalid(place, "x-kubernetes-list-type", &items["x-kubernetes-list-type"], detail);
                }
                "object" if !atomic("x-kubernetes-map-type") => {
                    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
                    let is = items.get("x-kubernetes-map-type").cloned().unwrap_or_default();
                    self.invalid(place, "x-kubernetes-map-type", &is, detail);
                }
                _ => {}
            }
        });
    }

    fn keyed(&mut self, items: &Map<String, Value>, keys: &[&str], place: &mut Place) {
        let kind = text(items, "type");
        if kind != "object" {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            place.in_field("items", |place| self.invalid(place, "type", &kind.into(), detail));
        }
        let properties = items.get("properties").and_then(Value::as_object);
        let required = items.get("required").and_then(Value::as_array);
        let is_required = |key: &str| required.is_some_and(|names| names.iter().any(|name| name == key));
        for (at, key) in keys.iter().enumerate() {
            let Some(property) = properties.and_then(|named| named.get(*key)).and_then(Value::as_object)
            else {
                let detail = "entries must all be names of item properties";
                self.invalid(place, "x-kubernetes-list-map-keys", &(*key).into(), detail);
                continue;
            };
            if keys[..at].contains(key) {
                let detail = "must not contain duplicate entries";
                self.invalid(place, "x-kubernetes-list-map-keys", &(*key).into(), detail);
            }
            place.in_field("items.properties", |place| {
                place.in_item(key, |place| {
                    let kind = text(property, "type");
                    if !Type::named(kind).is_none_or(Type::is_scalar) {
                        let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                        self.invalid(place, "type", &kind.into(), detail);
                    }
                    if is_set(property, "nullable") {
                        let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
                        self.forbidden(place, "nullable", detail);
                    }
                    if !is_required(key) && property.get("default").is_none_or(Value::is_null) {
                        let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be \
                                      a required property";
                        self.required(place, "default", detail);
                    }
                });
            });
        }
    }
}
