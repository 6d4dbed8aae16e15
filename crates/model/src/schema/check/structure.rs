//! What makes a schema structural: every place of a document has one type, said in one place.

use serde_json::{Map, Value};

use super::{Checking, Level, Place, is_set, text};

impl Checking {
    pub(super) fn structure(&mut self, map: &Map<String, Value>, level: Level, place: &mut Place) {
        let kind = text(map, "type");
        let embedded = is_set(map, "x-kubernetes-embedded-resource");
        let either = is_set(map, "x-kubernetes-int-or-string");
        let open = is_set(map, "x-kubernetes-preserve-unknown-fields");
        if embedded && kind != "object" {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            match kind {
                "" => self.required(place, "type", detail),
                kind => self.invalid(place, "type", &kind.into(), detail),
            }
        } else if kind.is_empty() && !either && !open {
            self.required(
                place,
                "type",
                match level {
                    Level::Root => "must not be empty at the root",
                    Level::Item => "must not be empty for specified array items",
                    _ => "must not be empty for specified object fields",
                },
            );
        }
        if level == Level::Root && !kind.is_empty() && kind != "object" {
            self.invalid(place, "type", &kind.into(), "must be object at the root");
        }
        if either && !kind.is_empty() {
            self.invalid(place, "type", &kind.into(), "must be empty if x-kubernetes-int-or-string is true");
        }
        if either && embedded {
            let detail = "must be false if x-kubernetes-embedded-resource is true";
            self.invalid(place, "x-kubernetes-int-or-string", &Value::Bool(true), detail);
        }
        if kind == "array" && !map.contains_key("items") {
            self.required(place, "items", "must be specified");
        }
        if map.contains_key("additionalProperties") {
            if level == Level::Root {
                self.forbidden(place, "additionalProperties", "must not be used at the root");
            }
            if embedded {
                let detail = "must not be used if x-kubernetes-embedded-resource is set";
                self.forbidden(place, "additionalProperties", detail);
            }
        }
        let properties = map.get("properties").and_then(Value::as_object).filter(|named| !named.is_empty());
        if embedded && !open && properties.is_none() {
            let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                          x-kubernetes-preserve-unknown-fields";
            self.required(place, "properties", detail);
        }
        if let Some(properties) = properties.filter(|_| level == Level::Root || embedded) {
            self.resource(properties, place);
        }
    }

    /// What every resource has may be described, and not made into something else.
    fn resource(&mut self, properties: &Map<String, Value>, place: &mut Place) {
        for (name, expected) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
            let Some(property) = properties.get(name).and_then(Value::as_object) else { continue };
            let kind = text(property, "type");
            place.in_field("properties", |place| {
                place.in_item(name, |place| {
                    if !kind.is_empty() && kind != expected {
                        self.invalid(place, "type", &kind.into(), format!("must be {expected}"));
                    }
                    if name == "metadata" {
                        self.metadata(property, place);
                    }
                });
            });
        }
    }

    fn metadata(&mut self, metadata: &Map<String, Value>, place: &Place) {
        let named = metadata.get("properties").and_then(Value::as_object);
        let others =
            named.is_some_and(|named| named.keys().any(|name| name != "name" && name != "generateName"));
        let harmless = ["type", "description", "title", "properties"];
        if others || metadata.keys().any(|word| !harmless.contains(&word.as_str())) {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            let error = crate::invalid::FieldError::forbidden(place.text(), detail);
            self.complaints.add(error);
        }
    }
}
