//! The grammar of metadata: names, labels, annotations, finalizers, owner references.

use serde_json::Value;
use sexton_model::FieldError;
use sexton_model::delete_options::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER};
use sexton_model::names;

use super::Change;
use crate::api::Target;

pub(super) fn names(target: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let document = &change.new;
    if let Err(why) = target.kind.names.check(document.name()) {
        errors.push(FieldError::invalid("metadata.name", document.name(), why));
    }
    if let Some(prefix) =
        document.metadata().get("generateName").and_then(Value::as_str).filter(|p| !p.is_empty())
    {
        // The server adds letters, so a prefix may end in a dash.
        let example = format!("{}x", prefix.chars().take(62).collect::<String>());
        if let Err(why) = target.kind.names.check(&example) {
            errors.push(FieldError::invalid("metadata.generateName", prefix, why));
        }
    }
    if target.kind.namespaced
        && let Err(why) = names::dns_label(document.namespace())
    {
        errors.push(FieldError::invalid("metadata.namespace", document.namespace(), why));
    }
}

pub(super) fn labels_and_annotations(_: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let map = |field: &str| change.new.metadata().get(field).and_then(Value::as_object).into_iter().flatten();
    for (key, value) in map("labels") {
        if let Err(why) = names::qualified_name(key) {
            errors.push(FieldError::invalid("metadata.labels", key.as_str(), why));
        }
        if let Some(Err(why)) = value.as_str().map(names::label_value) {
            errors.push(FieldError::invalid("metadata.labels", value.clone(), why));
        }
    }
    for (key, _) in map("annotations") {
        if let Err(why) = names::qualified_name(&key.to_lowercase()) {
            errors.push(FieldError::invalid("metadata.annotations", key.as_str(), why));
        }
    }
}

pub(super) fn finalizers(_: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let finalizers = change.new.finalizers();
    for finalizer in &finalizers {
        if let Err(why) = names::qualified_name(finalizer) {
            errors.push(FieldError::invalid("metadata.finalizers", *finalizer, why));
        }
    }
    if finalizers.contains(&ORPHAN_FINALIZER) && finalizers.contains(&FOREGROUND_FINALIZER) {
        let detail = format!("finalizer {ORPHAN_FINALIZER} and {FOREGROUND_FINALIZER} cannot be both set");
        let list: Vec<String> = finalizers.iter().map(|name| (*name).to_owned()).collect();
        errors.push(FieldError::invalid("metadata.finalizers", list, detail));
    }
}

pub(super) fn owner_references(_: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let references = change.new.owner_references();
    for (at, reference) in references.iter().enumerate() {
        owner_reference(&format!("metadata.ownerReferences[{at}]"), reference, errors);
    }
    let controllers: Vec<&str> = references
        .iter()
        .filter(|reference| reference["controller"] == true)
        .filter_map(|reference| reference["name"].as_str())
        .collect();
    if let [first, second, ..] = controllers.as_slice() {
        let detail =
            format!("only one reference can have controller set to true, found it for {first} and {second}");
        errors.push(FieldError::invalid("metadata.ownerReferences", references.to_vec(), detail));
    }
}

fn owner_reference(field: &str, reference: &Value, errors: &mut Vec<FieldError>) {
    for part in ["apiVersion", "kind", "name", "uid"] {
        match reference.get(part) {
            Some(Value::String(text)) if !text.is_empty() => {}
            None | Some(Value::Null | Value::String(_)) => {
                errors.push(FieldError::required(
                    format!("{field}.{part}"),
                    format!("{part} must not be empty"),
                ));
            }
            Some(other) => {
                errors.push(FieldError::invalid(
                    format!("{field}.{part}"),
                    other.clone(),
                    "must be a string",
                ));
            }
        }
    }
    for part in ["controller", "blockOwnerDeletion"] {
        if let Some(other) = reference.get(part).filter(|value| !value.is_boolean() && !value.is_null()) {
            errors.push(FieldError::invalid(
                format!("{field}.{part}"),
                other.clone(),
                "must be true or false",
            ));
        }
    }
    let api_version = reference["apiVersion"].as_str().unwrap_or("");
    if api_version.matches('/').count() > 1 || api_version.ends_with('/') {
        let detail = "must be a version, or a group and a version with a '/' between them";
        errors.push(FieldError::invalid(format!("{field}.apiVersion"), api_version, detail));
    }
    if (api_version, reference["kind"].as_str()) == ("v1", Some("Event")) {
        let detail = "an event is disallowed from being an owner";
        errors.push(FieldError::invalid(field, reference.clone(), detail));
    }
}
