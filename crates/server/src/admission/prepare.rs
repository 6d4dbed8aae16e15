//! Filling in what the server owns, before a document is checked.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};
use sexton_model::marks::{APPROVED, DELETED_BY, NAMESPACE_HOLD, OF_THE_COLLECTOR};
use sexton_model::{Document, Status};

use crate::api::{Part, Result, Target};
use crate::kinds::{Special, complete_definition};

/// Compares what a document says of itself with where it was sent. What it leaves out is filled in.
pub fn match_target(target: &Target, document: &mut Document, name: Option<&str>) -> Result<()> {
    let refuse = |message: String| Err(Status::bad_request(message).into());
    let api_version = target.kind.api_version();
    for (field, is, expected) in [
        ("apiVersion", document.api_version(), api_version.as_str()),
        ("kind", document.kind(), &target.kind.kind),
    ] {
        if document.object().get(field).is_some_and(|value| !value.is_string()) {
            return refuse(format!("{field} is not a string"));
        }
        if !is.is_empty() && is != expected {
            return refuse(format!(
                "the {field} in the data ({is}) does not match the expected {field} ({expected})"
            ));
        }
    }
    let namespace = document.namespace();
    if !namespace.is_empty() && namespace != target.namespace {
        return refuse(format!(
            "the namespace of the object ({namespace}) does not match the namespace on the request ({})",
            target.namespace
        ));
    }
    if let Some(name) = name
        && !document.name().is_empty()
        && document.name() != name
    {
        let is = document.name();
        return refuse(format!("the name of the object ({is}) does not match the name on the URL ({name})"));
    }
    document.object_mut().insert("apiVersion".into(), api_version.into());
    document.object_mut().insert("kind".into(), target.kind.kind.clone().into());
    if target.kind.namespaced {
        document.set_or_remove("namespace", Some(target.namespace.clone().into()));
    }
    if let Some(name) = name {
        document.set_or_remove("name", Some(name.into()));
    }
    Ok(())
}

/// Completes a new object.
pub fn prepare_create(target: &Target, document: &mut Document) -> Result<()> {
    if target.kind.status {
        document.object_mut().remove("status");
    }
    complete(target, document, None)?;
    if target.kind.special == Special::Namespace {
        let object = document.object_mut();
        object.insert("spec".into(), json!({"finalizers": [NAMESPACE_HOLD]}));
        object.insert("status".into(), json!({"phase": "Active"}));
    }
    Ok(())
}

fn complete(target: &Target, document: &mut Document, old: Option<&Document>) -> Result<()> {
    match target.kind.special {
        Special::Namespace => label_with_name(target, document),
        Special::Definition => complete_definition(document, old),
        Special::Secret => merge_string_data(document)?,
        Special::Event
        | Special::Class
        | Special::Module
        | Special::Rule
        | Special::Environment
        | Special::Lease
        | Special::Record
        | Special::None => {}
    }
    Ok(())
}

/// A namespace carries its name as a label, so that it can be selected by it. One whose name is still to be found gets
/// the label with the name.
pub(crate) fn label_with_name(target: &Target, document: &mut Document) {
    if target.kind.special != Special::Namespace || document.name().is_empty() {
        return;
    }
    let name = document.name().to_owned();
    let labels = document.metadata_mut().entry("labels").or_insert_with(|| Value::Object(Map::new()));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert("kubernetes.io/metadata.name".into(), name.into());
    }
}

/// `stringData` is how people write secrets; what is kept is `data`.
fn merge_string_data(document: &mut Document) -> Result<()> {
    let object = document.object_mut();
    object.entry("type").or_insert_with(|| "Opaque".into());
    let Some(plain) = object.remove("stringData").filter(|plain| !plain.is_null()) else { return Ok(()) };
    let Value::Object(plain) = plain else {
        return Err(Status::bad_request("stringData is not an object of strings").into());
    };
    let data = object.entry("data").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(data) = data else {
        return Err(Status::bad_request("data is not an object").into());
    };
    for (key, value) in plain {
        let Value::String(value) = value else {
            return Err(Status::bad_request(format!("stringData.{key} is not a string")).into());
        };
        data.insert(key, BASE64_STANDARD.encode(value).into());
    }
    Ok(())
}

/// Completes an update: takes over what the server owns, and what this part of the object does not speak of. A server that
/// looks like any other keeps no marks of ours.
pub fn prepare_update(
    target: &Target,
    part: Part,
    old: &Document,
    new: &mut Document,
    keeps_marks: bool,
) -> Result<()> {
    keep_other_parts(target, part, old, new);
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if !new.metadata().contains_key(field) {
            new.set_or_remove(field, old.metadata().get(field).cloned());
        }
    }
    // The times of creation and deletion stay once they are set: others in the body are passed over, as in Kubernetes.
    for field in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(time) = old.metadata().get(field) {
            new.set_or_remove(field, Some(time.clone()));
        }
    }
    if keeps_marks {
        keep_annotations(old, new);
    }
    new.set_or_remove("selfLink", None);
    if part == Part::Main {
        complete(target, new, Some(old))?;
    }
    if target.kind.generation {
        let generation = old.generation() + i64::from(desired_state_differs(target, old, new));
        new.set_or_remove("generation", Some(generation.into()));
    } else {
        new.set_or_remove("generation", old.metadata().get("generation").cloned());
    }
    Ok(())
}

/// The requester of a deletion is as irreversible as the deletion itself. What the collector wrote is kept by a write
/// that does not speak of it; a write that says something else is refused by a check.
fn keep_annotations(old: &Document, new: &mut Document) {
    if let Some(asker) = old.annotation(DELETED_BY).filter(|_| old.is_terminating()) {
        new.set_annotation(DELETED_BY, asker);
    }
    for name in OF_THE_COLLECTOR.into_iter().chain([APPROVED]) {
        if let (Some(written), None) = (old.annotation(name), new.annotation(name)) {
            new.set_annotation(name, written);
        }
    }
}

fn keep_other_parts(target: &Target, part: Part, old: &Document, new: &mut Document) {
    let take = |from: &Document, field: &str, into: &mut Document| match from.object().get(field) {
        Some(value) => into.object_mut().insert(field.to_owned(), value.clone()),
        None => into.object_mut().remove(field),
    };
    match part {
        Part::Main => {
            if target.kind.status {
                take(old, "status", new);
            }
            if target.kind.special == Special::Namespace {
                take(old, "spec", new);
            }
        }
        // Made of what was there, but for one number.
        Part::Scale => {}
        Part::Status => {
            let mut kept = old.clone();
            take(new, "status", &mut kept);
            kept.set_or_remove("managedFields", new.metadata().get("managedFields").cloned());
            *new = kept;
        }
        Part::Finalize => {
            let mut kept = old.clone();
            take(new, "spec", &mut kept);
            *new = kept;
        }
    }
}

/// Whether anything but metadata changed, and the status where that is kept apart.
fn desired_state_differs(target: &Target, old: &Document, new: &Document) -> bool {
    let counted = |field: &str| match field {
        "metadata" | "apiVersion" | "kind" => false,
        "status" => !target.kind.status,
        _ => true,
    };
    let fields = |document: &Document| document.object().keys().filter(|field| counted(field)).count();
    fields(old) != fields(new)
        || new.object().iter().any(|(field, value)| counted(field) && old.object().get(field) != Some(value))
}
