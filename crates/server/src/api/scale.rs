//! The scale of an object: how many of something are wanted and there, in the same form for every kind.
//!
//! A scale is not stored: it is read from an object and written into it. It must not know HTTP.

use serde_json::{Map, Value, json};
use sexton_model::patch;
use sexton_model::{Document, FieldError, Status};
use sexton_store::CommitError;

use super::commit::{Attempt, Ownership};
use super::update::{modified, uid_mismatch};
use super::{Api, GetOptions, Outcome, Part, PatchBody, RACES, Result, Target, WriteOptions};
use crate::kinds::{ScalePaths, ScaleSelector};

/// What is asked of a scale.
#[derive(Debug, Clone)]
pub enum ScaleChange {
    /// The whole of it.
    Replace(Document),
    /// A change of it.
    Patch(PatchBody),
}

impl Api {
    /// Reads the scale of an object.
    pub async fn scale(&self, target: &Target, name: &str, options: &GetOptions) -> Result<Value> {
        let paths = paths(target)?;
        let document = target.read(&self.get(target, name, options).await?)?;
        if wanted(paths, &document).is_none() {
            let path = paths.wanted.join(".");
            return Err(
                Status::internal(format!("the spec replicas field \".{path}\" does not exist")).into()
            );
        }
        Ok(shown(paths, &document))
    }

    /// Writes the number of replicas into an object. Returns its scale and warnings.
    pub async fn rescale(
        &self,
        target: &Target,
        name: &str,
        change: ScaleChange,
        options: &WriteOptions,
    ) -> Result<(Value, Vec<String>)> {
        let paths = paths(target)?;
        for _ in 0..RACES {
            let current = self.find(target, name).await?;
            let old = target.read(&current)?;
            let scale = changed(target, name, shown(paths, &old), &change)?;
            let mut new = old.clone();
            put(new.value_mut(), &paths.wanted, replicas(target, name, &old, &scale)?.into());
            match self.replace(target, Part::Scale, (&current, &old), new, Ownership::Track, options).await? {
                Attempt::Done(written) => {
                    let document = match &written.outcome {
                        Outcome::Stored(object) => target.read(object)?,
                        Outcome::Document(document) => (**document).clone(),
                        Outcome::Removed { .. } => old,
                    };
                    return Ok((shown(paths, &document), written.warnings));
                }
                Attempt::Lost => {}
            }
        }
        Err(CommitError::Conflict { guard: 0 }.into())
    }
}

fn paths(target: &Target) -> Result<&ScalePaths> {
    target.kind.offer.scale.as_ref().ok_or_else(|| Status::no_such_path().into())
}

fn at<'a>(document: &'a Document, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(document.value(), |value, field| value.get(field))
}

fn wanted(paths: &ScalePaths, document: &Document) -> Option<i64> {
    at(document, &paths.wanted).and_then(Value::as_i64).or(paths.unsaid)
}

/// Puts a value at a path. What stands in the way there is no map, and gives way.
fn put(value: &mut Value, path: &[String], number: Value) {
    let mut value = value;
    for field in path {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        value = &mut value[field.as_str()];
    }
    *value = number;
}

/// The scale of an object.
fn shown(paths: &ScalePaths, document: &Document) -> Value {
    let mut metadata = json!({"name": document.name()});
    for field in ["namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = document.metadata().get(field) {
            metadata[field] = value.clone();
        }
    }
    let present = at(document, &paths.present).and_then(Value::as_i64).unwrap_or(0);
    let mut status = json!({"replicas": present});
    let selector = match &paths.selector {
        ScaleSelector::None => String::new(),
        ScaleSelector::Text(path) => at(document, path).and_then(Value::as_str).unwrap_or("").to_owned(),
        ScaleSelector::Labels => labels(document.value().pointer("/spec/selector")).join(","),
        ScaleSelector::Selector => selector(document.value().pointer("/spec/selector")),
    };
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    let spec = match wanted(paths, document) {
        Some(0) | None => json!({}),
        Some(replicas) => json!({"replicas": replicas}),
    };
    json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status})
}

fn labels(map: Option<&Value>) -> Vec<String> {
    let map = map.and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or(""))).collect()
}

/// A selector of labels and expressions, as text.
fn selector(selector: Option<&Value>) -> String {
    let Some(selector) = selector else { return String::new() };
    let mut terms = labels(selector.get("matchLabels"));
    for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or("");
        let values = expression["values"].as_array();
        let mut values: Vec<&str> = values.into_iter().flatten().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        terms.push(match expression["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    terms.sort();
    terms.join(",")
}

/// The scale that is asked for.
fn changed(target: &Target, name: &str, mut scale: Value, change: &ScaleChange) -> Result<Value> {
    match change {
        ScaleChange::Replace(document) => Ok(document.value().clone()),
        // Nothing in a scale merges in a way of its own.
        ScaleChange::Patch(PatchBody::Merge(change) | PatchBody::Strategic(change)) => {
            if !change.is_object() {
                return Err(Status::bad_request("error decoding patch: a merge patch is an object").into());
            }
            patch::merge_patch(&mut scale, change);
            Ok(scale)
        }
        ScaleChange::Patch(PatchBody::Json(operations)) => {
            let refused = |error: patch::JsonPatchError| {
                let message = "the server rejected our request due to an error in our request";
                Status::unprocessable(format!("{message}: {} {name:?}: {error}", target.kind.resource))
            };
            patch::json_patch(&mut scale, operations).map_err(refused)?;
            Ok(scale)
        }
        ScaleChange::Patch(PatchBody::Apply(_)) => {
            let offered = "application/json-patch+json, application/merge-patch+json";
            Err(Status::unsupported_media_type("application/apply-patch+yaml", offered).into())
        }
    }
}

/// The number that a scale asks for, if it is a scale of this very object.
fn replicas(target: &Target, name: &str, old: &Document, scale: &Value) -> Result<i64> {
    let text = |pointer: &str| scale.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    for (field, is, expected) in [
        ("apiVersion", text("/apiVersion"), "autoscaling/v1"),
        ("kind", text("/kind"), "Scale"),
        ("name", text("/metadata/name"), name),
        ("namespace", text("/metadata/namespace"), &target.namespace),
    ] {
        if !is.is_empty() && is != expected {
            let message =
                format!("the {field} of the scale ({is}) does not match the expected one ({expected})");
            return Err(Status::bad_request(message).into());
        }
    }
    if let Some(other) =
        ["metadata", "spec"].iter().filter_map(|part| scale.get(part)).find(|part| !part.is_object())
    {
        return Err(Status::bad_request(format!("a part of a scale is no object: {other}")).into());
    }
    let uid = text("/metadata/uid");
    if !uid.is_empty() && uid != old.uid() {
        return Err(uid_mismatch(target, name, uid, old.uid()).into());
    }
    if !matches!(text("/metadata/resourceVersion"), "" | "0")
        && text("/metadata/resourceVersion") != old.resource_version()
    {
        return Err(modified(target, name).into());
    }
    let refuse = |value: Value, detail: &str| {
        let error = FieldError::invalid("spec.replicas", value, detail);
        Status::invalid("autoscaling", "Scale", name, &[error]).into()
    };
    let replicas = scale.pointer("/spec/replicas").cloned().unwrap_or_else(|| 0.into());
    match replicas.as_i64().map(i32::try_from) {
        Some(Ok(number)) if number >= 0 => Ok(number.into()),
        Some(Ok(_)) => Err(refuse(replicas, "must be greater than or equal to 0")),
        _ => Err(refuse(replicas, "must be a number of 32 bits")),
    }
}
