//! Whether a schema is one that objects can be kept by: structural, within bounds, and not at odds with itself.
//!
//! It must not know definitions: the caller says where the schema stands.

mod defaults;
mod keywords;
mod lists;
mod nested;
mod structure;

use serde_json::{Map, Value};

use super::complaints::{Complaints, Place};
use super::node::Structural;
use crate::invalid::FieldError;

/// Deeper schemas are not read. Documents are not deeper either.
pub(super) const MOST_DEPTH: usize = 64;
/// More patterns or expressions than this take more memory than a definition is worth.
const MOST_PATTERNS: usize = 1024;

/// What is wrong with an `openAPIV3Schema`; `path` is where it stands, such as `spec.versions[0].schema.openAPIV3Schema`.
pub fn check(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut checking = Checking { complaints: Complaints::default(), patterns: 0, expressions: 0 };
    let mut place = Place::at(path);
    checking.visit(schema, Level::Root, &mut place, MOST_DEPTH);
    if checking.patterns > MOST_PATTERNS {
        checking.complaints.add(FieldError::too_many(path, checking.patterns, MOST_PATTERNS));
    }
    if checking.expressions > MOST_PATTERNS {
        checking.complaints.add(FieldError::too_many(path, checking.expressions, MOST_PATTERNS));
    }
    if checking.complaints.errors.is_empty() {
        let compiled = Structural::compile(schema);
        defaults::check(&compiled, true, &mut place, &mut checking.complaints);
    }
    checking.complaints.finish()
}

/// Where in a schema another one stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Field,
    Item,
    /// In one of several schemas for a value: only what values are like may be said there.
    Nested {
        /// Whether the type may be said all the same.
        typed: bool,
    },
}

/// The state of a check.
struct Checking {
    complaints: Complaints,
    patterns: usize,
    expressions: usize,
}

impl Checking {
    fn forbidden(&mut self, place: &Place, name: &str, detail: &str) {
        self.complaints.add(FieldError::forbidden(place.child(name), detail));
    }

    fn required(&mut self, place: &Place, name: &str, detail: impl Into<String>) {
        self.complaints.add(FieldError::required(place.child(name), detail));
    }

    fn invalid(&mut self, place: &Place, name: &str, value: &Value, detail: impl Into<String>) {
        self.complaints.add(FieldError::invalid(place.child(name), value.clone(), detail));
    }

    /// Checks a schema and those below.
    fn visit(&mut self, schema: &Value, level: Level, place: &mut Place, levels: usize) {
        let Some(levels) = levels.checked_sub(1) else {
            let detail = format!("must not be nested deeper than {MOST_DEPTH} levels");
            return self.complaints.add(FieldError::forbidden(place.text(), detail));
        };
        if !self.complaints.step(1) {
            return;
        }
        let Some(map) = schema.as_object() else {
            let error = FieldError::invalid(place.text(), schema.clone(), "must be an object");
            return self.complaints.add(error);
        };
        self.keywords(map, place);
        match level {
            Level::Nested { typed } => self.nested(map, typed, place),
            level => {
                self.structure(map, level, place);
                self.lists(map, place);
                self.complete(map, place);
            }
        }
        self.below(map, level, place, levels);
    }

    fn below(&mut self, map: &Map<String, Value>, level: Level, place: &mut Place, levels: usize) {
        let nested = matches!(level, Level::Nested { .. });
        let at = |level: Level| if nested { Level::Nested { typed: false } } else { level };
        for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            place.in_field("properties", |place| {
                place.in_item(name, |place| self.visit(property, at(Level::Field), place, levels));
            });
        }
        if let Some(each @ Value::Object(_)) = map.get("additionalProperties") {
            place.in_field("additionalProperties", |place| self.visit(each, at(Level::Field), place, levels));
        }
        if let Some(items @ Value::Object(_)) = map.get("items") {
            place.in_field("items", |place| self.visit(items, at(Level::Item), place, levels));
        }
        for (list, at, schema) in nested::alternatives(map) {
            let typed = nested::may_be_typed(map, level, list, at);
            let level = Level::Nested { typed };
            place.in_field(list, |place| match at {
                Some(at) => place.in_item(at, |place| self.visit(schema, level, place, levels)),
                None => self.visit(schema, level, place, levels),
            });
        }
    }
}

fn text<'a>(map: &'a Map<String, Value>, name: &str) -> &'a str {
    map.get(name).and_then(Value::as_str).unwrap_or("")
}

fn is_set(map: &Map<String, Value>, name: &str) -> bool {
    map.get(name) == Some(&Value::Bool(true))
}
