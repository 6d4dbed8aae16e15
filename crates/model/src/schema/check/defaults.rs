//! Defaults are values like any other: they have no unknown fields, and they are valid.

use super::super::complaints::{Complaints, Place};
use super::super::node::Structural;
use crate::invalid::FieldError;

/// Checks the defaults of a schema and of those below. What every resource has is given by others.
pub(super) fn check(schema: &Structural, resource: bool, place: &mut Place, complaints: &mut Complaints) {
    if !schema.has_defaults || !complaints.step(1) {
        return;
    }
    if let Some(default) = &schema.default {
        let field = place.child("default");
        let mut pruned = default.clone();
        if resource {
            let detail = "must not be set at the root, or on what every resource has";
            complaints.add(FieldError::forbidden(field, detail));
        } else if !schema.prune_part(&mut pruned).is_empty() {
            let detail = "must not have unknown fields";
            complaints.add(FieldError::invalid(field, default.clone(), detail));
        } else {
            match schema.fill(&mut pruned) {
                Ok(()) => {
                    schema.validate_part(&pruned, &field).into_iter().for_each(|error| complaints.add(error))
                }
                Err(error) => complaints.add(FieldError::forbidden(field, error.to_string())),
            }
        }
    }
    for (name, property) in &schema.properties {
        let of_any =
            (resource || schema.embedded) && matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
        place.in_field("properties", |place| {
            place.in_item(name, |place| check(property, of_any, place, complaints));
        });
    }
    if let Some(each) = schema.additional.schema() {
        place.in_field("additionalProperties", |place| check(each, false, place, complaints));
    }
    if let Some(items) = &schema.items {
        place.in_field("items", |place| check(items, false, place, complaints));
    }
}
