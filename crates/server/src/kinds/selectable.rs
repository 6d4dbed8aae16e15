//! Fields that a definition lets objects be selected by: each is a plain path to one text, number or truth.

use serde_json::Value;
use sexton_model::FieldError;

use super::offer::plain_path;

/// As many as in Kubernetes.
const MOST: usize = 8;

/// Complains about the selectable fields of a version.
pub(super) fn check(version: &Value, place: &str, errors: &mut Vec<FieldError>) {
    let Some(fields) = version.get("selectableFields").filter(|fields| !fields.is_null()) else { return };
    let place = format!("{place}.selectableFields");
    let Some(fields) = fields.as_array() else {
        return errors.push(FieldError::invalid(place, fields.clone(), "must be a list"));
    };
    if fields.len() > MOST {
        errors.push(FieldError::too_many(place.clone(), fields.len(), MOST));
    }
    let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
    for (at, field) in fields.iter().enumerate().take(MOST) {
        let place = format!("{place}[{at}].jsonPath");
        match field.get("jsonPath").and_then(Value::as_str).unwrap_or("") {
            "" => errors.push(FieldError::required(place, "")),
            path if fields[..at].iter().any(|other| other["jsonPath"] == path) => {
                errors.push(FieldError::duplicate(place, path));
            }
            path => {
                if let Err(why) = selects(path, schema) {
                    errors.push(FieldError::invalid(place, path, why));
                }
            }
        }
    }
}

/// Whether a path leads to something that can be compared with a text.
fn selects(path: &str, schema: &Value) -> Result<(), &'static str> {
    let fields = plain_path(path).filter(|_| path.starts_with('.'));
    let fields = fields.ok_or("is an invalid path: does not match allowed grammar: .<fieldname>")?;
    if fields[0] == "metadata" {
        return Err("must not point to fields in metadata");
    }
    let mut place = schema;
    for field in &fields {
        place = &place["properties"][field];
    }
    match place["type"].as_str() {
        None => Err("is an invalid path: does not refer to a valid field"),
        Some("string" | "boolean" | "integer") => Ok(()),
        Some(_) => Err(
            "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
        ),
    }
}
