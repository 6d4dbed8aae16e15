//! Validating: what a document must be like, place by place.
//!
//! What an update leaves as it was is not validated again: a schema that became stricter must not keep users from
//! changing something else.

use serde_json::{Map, Value};

use super::complaints::{Complaints, NOWHERE, Place};
use super::node::{Additional, Structural, Type};
use super::{expressions, lists, numbers, values};
use crate::invalid::{FieldError, Wrong};

impl Structural {
    /// What is wrong with a document, within bounds. With what it replaces, only what is new is looked at; what differs
    /// in nothing but its metadata is not looked at.
    pub fn validate(&self, document: &Value, old: Option<&Value>) -> Vec<FieldError> {
        if old.is_some_and(|old| same_but_metadata(old, document)) {
            return Vec::new();
        }
        let mut complaints = Complaints::default();
        visit(&Visit { schema: self, old, root: true }, document, &mut Place::default(), &mut complaints);
        if self.has_expressions {
            self.run_expressions(document, old, &mut complaints);
        }
        complaints.finish()
    }

    /// Expressions rely on types and sizes being as the rest of the schema says.
    fn run_expressions(&self, document: &Value, old: Option<&Value>, complaints: &mut Complaints) {
        let blocks = |error: &FieldError| {
            matches!(error.wrong, Wrong::Required | Wrong::TooLong | Wrong::TooMany | Wrong::TypeInvalid)
        };
        if complaints.errors.iter().any(blocks) {
            let detail = "some validation rules were not checked because the object was invalid; correct the existing \
                          errors to complete validation";
            complaints.add(FieldError::invalid(NOWHERE, "null", detail));
        } else {
            expressions::run(self, document, old, complaints);
        }
    }

    /// What is wrong with a value that stands somewhere in a document.
    pub(super) fn validate_part(&self, value: &Value, place: &str) -> Vec<FieldError> {
        let mut complaints = Complaints::default();
        visit(&Visit { schema: self, old: None, root: false }, value, &mut Place::at(place), &mut complaints);
        complaints.finish()
    }
}

fn same_but_metadata(old: &Value, new: &Value) -> bool {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return false };
    let others = |map: &Map<String, Value>| map.keys().filter(|name| *name != "metadata").count();
    others(old) == others(new)
        && new.iter().all(|(name, value)| name == "metadata" || old.get(name) == Some(value))
}

/// What is compared with a value.
#[derive(Clone, Copy)]
struct Visit<'a> {
    schema: &'a Structural,
    /// What stood there before.
    old: Option<&'a Value>,
    /// Whether this is the whole document.
    root: bool,
}

impl<'a> Visit<'a> {
    fn below(schema: &'a Structural, old: Option<&'a Value>) -> Visit<'a> {
        Visit { schema, old, root: false }
    }
}

fn visit(visit: &Visit<'_>, value: &Value, place: &mut Place, complaints: &mut Complaints) {
    if visit.old == Some(value) || !complaints.step(1) {
        return;
    }
    let schema = visit.schema;
    check_type(schema, value, place, complaints);
    if value.is_null() {
        return values::known(schema, value, place, complaints);
    }
    combined(schema, value, place, complaints);
    values::scalar(schema, value, place, complaints);
    match value {
        Value::Array(items) => {
            each_item(visit, items, place, complaints);
            values::items(schema, items, place, complaints);
            lists::unique(schema, items, visit.old, place, complaints);
        }
        Value::Object(map) => {
            values::known(schema, value, place, complaints);
            if values::properties(schema, map, place, complaints) {
                each_field(visit, map, place, complaints);
            }
            return;
        }
        _ => {}
    }
    values::known(schema, value, place, complaints);
}

fn check_type(schema: &Structural, value: &Value, place: &Place, complaints: &mut Complaints) {
    let expected = schema.type_names();
    let is = Type::of(value);
    let fits = match value {
        _ if expected.is_empty() => true,
        Value::Null => schema.nullable,
        Value::Number(number) if schema.int_or_string || schema.kind == Some(Type::Integer) => {
            numbers::is_whole(number)
        }
        Value::Number(_) => schema.kind == Some(Type::Number),
        Value::String(_) if schema.int_or_string => true,
        _ => expected == is,
    };
    if !fits {
        let detail = format!("{} in body must be of type {expected}: {is:?}", place.text());
        complaints.add(FieldError::type_invalid(shown(place), is, detail));
    }
}

/// The whole document has no name.
pub(super) fn shown(place: &Place) -> &str {
    if place.text().is_empty() { NOWHERE } else { place.text() }
}

fn each_item(visit_: &Visit<'_>, items: &[Value], place: &mut Place, complaints: &mut Complaints) {
    let Some(schema) = visit_.schema.items.as_deref() else { return };
    let before = lists::Before::new(visit_.schema, visit_.old);
    for (at, item) in items.iter().enumerate() {
        let below = Visit::below(schema, before.find(item));
        place.in_item(at, |place| visit(&below, item, place, complaints));
    }
}

fn each_field(visit_: &Visit<'_>, map: &Map<String, Value>, place: &mut Place, complaints: &mut Complaints) {
    let Visit { schema, old, root } = *visit_;
    let old_field = |name: &str| old.and_then(|old| old.get(name));
    if let Additional::Each(each) = &schema.additional {
        for (name, value) in map.iter().filter(|(name, _)| !schema.properties.contains_key(*name)) {
            place.in_field(name, |place| {
                visit(&Visit::below(each, old_field(name)), value, place, complaints)
            });
        }
    }
    for (name, property) in &schema.properties {
        let Some(value) = map.get(name) else { continue };
        place.in_field(name, |place| {
            visit(&Visit::below(property, old_field(name)), value, place, complaints)
        });
    }
    for name in schema.rules.required.iter().filter(|name| !map.contains_key(*name)) {
        complaints.add(FieldError::required(place.child(name), ""));
    }
    if schema.embedded && !root {
        embedded(map, place, complaints);
    }
}

/// A resource inside of another says what it is.
fn embedded(map: &Map<String, Value>, place: &Place, complaints: &mut Complaints) {
    for name in ["apiVersion", "kind"] {
        match map.get(name) {
            Some(Value::String(text)) if !text.is_empty() => {}
            None | Some(Value::String(_)) => {
                complaints.add(FieldError::required(place.child(name), "must not be empty"));
            }
            Some(other) => {
                complaints.add(FieldError::invalid(place.child(name), other.clone(), "must be a string"))
            }
        }
    }
    if let Some(other) = map.get("metadata").filter(|metadata| !metadata.is_object()) {
        complaints.add(FieldError::invalid(place.child("metadata"), other.clone(), "must be an object"));
    }
}

/// Several schemas for one value.
fn combined(schema: &Structural, value: &Value, place: &mut Place, complaints: &mut Complaints) {
    let rules = &schema.rules;
    if rules.any_of.is_empty() && rules.one_of.is_empty() && rules.all_of.is_empty() && rules.not.is_none() {
        return;
    }
    let path = place.text().to_owned();
    let complain = |complaints: &mut Complaints, why: String| {
        complaints.add(FieldError::invalid(NOWHERE, "", format!("{path:?} must {why}")));
    };
    if !rules.any_of.is_empty() {
        let tried = Tried::all(&rules.any_of, value, place, complaints, true);
        if tried.fitting == 0 {
            complain(complaints, "validate at least one schema (anyOf)".into());
            tried.nearest.into_iter().for_each(|error| complaints.add(error));
        }
    }
    if !rules.one_of.is_empty() {
        let tried = Tried::all(&rules.one_of, value, place, complaints, false);
        if tried.fitting != 1 {
            let found = match tried.fitting {
                0 => "Found none valid".to_owned(),
                many => format!("Found {many} valid alternatives"),
            };
            complain(complaints, format!("validate one and only one schema (oneOf). {found}"));
            tried.nearest.into_iter().for_each(|error| complaints.add(error));
        }
    }
    let mut fitting = 0;
    for alternative in &rules.all_of {
        let errors = complaints.aside(|aside| visit(&Visit::below(alternative, None), value, place, aside));
        fitting += usize::from(errors.is_empty());
        errors.into_iter().for_each(|error| complaints.add(error));
    }
    if fitting < rules.all_of.len() {
        let none = if fitting == 0 { ". None validated" } else { "" };
        complain(complaints, format!("validate all the schemas (allOf){none}"));
    }
    if let Some(not) = &rules.not
        && complaints.aside(|aside| visit(&Visit::below(not, None), value, place, aside)).is_empty()
    {
        complain(complaints, "not validate the schema (not)".into());
    }
}

/// What became of trying one schema after the other.
struct Tried {
    fitting: usize,
    /// What is wrong according to the one that looked furthest.
    nearest: Vec<FieldError>,
}

impl Tried {
    fn all(
        alternatives: &[Structural],
        value: &Value,
        place: &mut Place,
        complaints: &mut Complaints,
        first_is_enough: bool,
    ) -> Tried {
        let mut tried = Tried { fitting: 0, nearest: Vec::new() };
        let mut furthest = 0;
        for alternative in alternatives {
            let before = complaints.steps_left();
            let errors =
                complaints.aside(|aside| visit(&Visit::below(alternative, None), value, place, aside));
            let looked = before - complaints.steps_left();
            if errors.is_empty() {
                tried.fitting += 1;
                if first_is_enough {
                    break;
                }
            } else if tried.fitting == 0 && looked > furthest {
                (furthest, tried.nearest) = (looked, errors);
            }
        }
        if tried.fitting > 0 {
            tried.nearest.clear();
        }
        tried
    }
}
