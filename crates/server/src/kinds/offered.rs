//! What a definition may offer: columns, scales, conversions, words of warning. Complains about everything else.

use serde_json::Value;
use sexton_model::FieldError;
use sexton_model::jsonpath::JsonPath;

use super::offer::{ColumnType, plain_path};
use super::selectable;

/// More columns fit on no screen.
const MOST_COLUMNS: usize = 64;
/// Longer texts are not warnings.
const MOST_WARNING: usize = 256;
/// How many versions are looked at; more are refused elsewhere.
const MOST_VERSIONS: usize = 32;

const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// Complains about what the versions of a definition offer.
pub(super) fn check(spec: &Value, errors: &mut Vec<FieldError>) {
    conversion(spec, errors);
    let versions = spec.get("versions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (at, version) in versions.iter().take(MOST_VERSIONS).enumerate() {
        let place = format!("spec.versions[{at}]");
        columns(version, &format!("{place}.additionalPrinterColumns"), errors);
        subresources(version, &format!("{place}.subresources"), errors);
        selectable::check(version, &place, errors);
        deprecation(version, &place, errors);
        truths(version, &["served", "storage"], &place, errors);
    }
}

fn conversion(spec: &Value, errors: &mut Vec<FieldError>) {
    let Some(conversion) = spec.get("conversion").filter(|conversion| !conversion.is_null()) else { return };
    let place = "spec.conversion.strategy";
    match conversion.get("strategy").and_then(Value::as_str) {
        Some("None") => {}
        Some("Webhook") => {
            let detail = "conversion webhooks are not called here: all versions of a kind share their objects, which \
                          differ in nothing but apiVersion; the only strategy is None";
            errors.push(FieldError::invalid(place, "Webhook", detail));
        }
        None | Some("") => errors.push(FieldError::required(place, "")),
        Some(other) => errors.push(FieldError::not_supported(place, other, &["None"])),
    }
}

fn columns(version: &Value, place: &str, errors: &mut Vec<FieldError>) {
    let Some(columns) = version.get("additionalPrinterColumns").filter(|columns| !columns.is_null()) else {
        return;
    };
    let Some(columns) = columns.as_array() else {
        errors.push(FieldError::invalid(place, columns.clone(), "must be a list"));
        return;
    };
    if columns.len() > MOST_COLUMNS {
        errors.push(FieldError::too_many(place, columns.len(), MOST_COLUMNS));
        return;
    }
    columns.iter().enumerate().for_each(|(at, given)| column(given, &format!("{place}[{at}]"), errors));
}

fn column(column: &Value, place: &str, errors: &mut Vec<FieldError>) {
    if !column.is_object() {
        errors.push(FieldError::invalid(place, column.clone(), "must be an object"));
        return;
    }
    texts(column, &["name", "type", "format", "description", "jsonPath"], place, errors);
    let text = |field: &str| column.get(field).and_then(Value::as_str).unwrap_or("");
    if text("name").is_empty() {
        errors.push(FieldError::required(format!("{place}.name"), ""));
    }
    let types = format!("must be one of {}", ColumnType::WORDS.join(","));
    match text("type") {
        "" => errors.push(FieldError::required(format!("{place}.type"), types)),
        word if ColumnType::parse(word).is_none() => {
            errors.push(FieldError::invalid(format!("{place}.type"), word, types));
        }
        _ => {}
    }
    let format = text("format");
    if !format.is_empty() && !FORMATS.contains(&format) {
        let detail = format!("must be one of {}", FORMATS.join(","));
        errors.push(FieldError::invalid(format!("{place}.format"), format, detail));
    }
    match text("jsonPath") {
        "" => errors.push(FieldError::required(format!("{place}.jsonPath"), "")),
        path => column_path(path, &format!("{place}.jsonPath"), errors),
    }
    if let Some(priority) = column.get("priority")
        && priority.as_i64().is_none_or(|priority| i32::try_from(priority).is_err())
    {
        errors.push(FieldError::invalid(format!("{place}.priority"), priority.clone(), "must be a number"));
    }
}

fn column_path(path: &str, place: &str, errors: &mut Vec<FieldError>) {
    if !path.starts_with('.') {
        errors.push(FieldError::invalid(place, path, "must be a simple json path starting with ."));
    } else if let Err(error) = JsonPath::parse(path) {
        errors.push(FieldError::invalid(place, path, error.to_string()));
    }
}

/// What stands there must be text.
fn texts(value: &Value, fields: &[&str], place: &str, errors: &mut Vec<FieldError>) {
    for field in fields {
        if let Some(other) = value.get(field).filter(|value| !value.is_string()) {
            errors.push(FieldError::invalid(format!("{place}.{field}"), other.clone(), "must be a string"));
        }
    }
}

/// What stands there must be true or false.
fn truths(value: &Value, fields: &[&str], place: &str, errors: &mut Vec<FieldError>) {
    for field in fields {
        if let Some(other) = value.get(field).filter(|value| !value.is_boolean() && !value.is_null()) {
            errors.push(FieldError::invalid(
                format!("{place}.{field}"),
                other.clone(),
                "must be true or false",
            ));
        }
    }
}

fn subresources(version: &Value, place: &str, errors: &mut Vec<FieldError>) {
    let Some(subresources) = version.get("subresources").filter(|value| !value.is_null()) else { return };
    if !subresources.is_object() {
        errors.push(FieldError::invalid(place, subresources.clone(), "must be an object"));
        return;
    }
    let Some(scale) = subresources.get("scale").filter(|scale| !scale.is_null()) else { return };
    let place = format!("{place}.scale");
    if !scale.is_object() {
        errors.push(FieldError::invalid(place, scale.clone(), "must be an object"));
        return;
    }
    texts(scale, &["specReplicasPath", "statusReplicasPath", "labelSelectorPath"], &place, errors);
    scale_path(scale, "specReplicasPath", &place, &["spec"], errors);
    scale_path(scale, "statusReplicasPath", &place, &["status"], errors);
    scale_path(scale, "labelSelectorPath", &place, &["spec", "status"], errors);
}

fn scale_path(scale: &Value, field: &str, place: &str, roots: &[&str], errors: &mut Vec<FieldError>) {
    let place = format!("{place}.{field}");
    let optional = field == "labelSelectorPath";
    let path = match scale.get(field).and_then(Value::as_str).unwrap_or("") {
        "" if optional => return,
        "" => return errors.push(FieldError::required(place, "")),
        path => path,
    };
    if !path.starts_with('.') {
        return errors.push(FieldError::invalid(place, path, "must be a simple json path starting with ."));
    }
    match plain_path(path) {
        None => errors.push(FieldError::invalid(place, path, "must be a json path in the dot notation")),
        Some(fields) if fields.len() < 2 || !roots.contains(&fields[0].as_str()) => {
            let detail = match roots {
                [root] => format!("must be a json path under .{root}"),
                _ => "must be a json path under either .spec or .status".to_owned(),
            };
            errors.push(FieldError::invalid(place, path, detail));
        }
        Some(_) => {}
    }
}

fn deprecation(version: &Value, place: &str, errors: &mut Vec<FieldError>) {
    truths(version, &["deprecated"], place, errors);
    let deprecated = version.get("deprecated");
    let Some(warning) = version.get("deprecationWarning").filter(|warning| !warning.is_null()) else {
        return;
    };
    let place = format!("{place}.deprecationWarning");
    let Some(text) = warning.as_str() else {
        return errors.push(FieldError::invalid(place, warning.clone(), "must be a string"));
    };
    if deprecated != Some(&Value::Bool(true)) {
        errors.push(FieldError::invalid(place, text, "can only be set for deprecated versions"));
    } else if text.is_empty() {
        errors.push(FieldError::invalid(place, text, "must not be empty"));
    } else if text.chars().count() > MOST_WARNING {
        errors.push(FieldError::too_long(place, MOST_WARNING));
    } else if text.chars().any(char::is_control) {
        errors.push(FieldError::invalid(place, text, "must only contain printable UTF-8 characters"));
    }
}
