//! PATCH: a change of an object, in one of three forms. Apply is the fourth and has a file of its own.

use serde_json::Value;
use sexton_model::patch::{self, JsonPatchError, StrategicError};
use sexton_model::{Document, FieldError, Status};
use sexton_store::CommitError;

use super::commit::{Attempt, Ownership};
use super::update::modified;
use super::{Api, Failure, Part, RACES, Result, Target, WriteOptions, Written};
use crate::admission;

/// A patch, already read.
#[derive(Debug, Clone)]
pub enum PatchBody {
    /// RFC 6902.
    Json(Value),
    /// RFC 7396.
    Merge(Value),
    /// Kubernetes' strategic merge patch.
    Strategic(Value),
    /// Server-side apply.
    Apply(Value),
}

impl PatchBody {
    /// What was sent.
    pub fn value(&self) -> &Value {
        match self {
            PatchBody::Json(value)
            | PatchBody::Merge(value)
            | PatchBody::Strategic(value)
            | PatchBody::Apply(value) => value,
        }
    }
}

impl Api {
    /// Patches an object, or applies a configuration.
    pub async fn patch(
        &self,
        target: &Target,
        name: &str,
        part: Part,
        body: PatchBody,
        options: &WriteOptions,
    ) -> Result<Written> {
        if let PatchBody::Apply(config) = body {
            return self.apply(target, name, part, config, options).await;
        }
        if let (PatchBody::Strategic(_), true) = (&body, target.kind.is_custom()) {
            let offered =
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
            return Err(
                Status::unsupported_media_type("application/strategic-merge-patch+json", offered).into()
            );
        }
        if options.force {
            let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
            return Err(Status::invalid("meta.k8s.io", "PatchOptions", "", &[error]).into());
        }
        for _ in 0..RACES {
            let current = self.find(target, name).await?;
            check_work(&body, current.stored.bytes().len())?;
            let old = target.read(&current)?;
            let mut new = old.rewrite(|value| patched(target, name, value, &body))?;
            admission::refuse_patch_mistyped(target, &old, &new)?;
            let told = admission::take_out_unknown(target, &mut new, options);
            admission::refuse_patch_strictly(&told, &new, options)?;
            if new.resource_version() != old.resource_version() && !new.resource_version().is_empty() {
                return Err(modified(target, name).into());
            }
            same_place(target, name, &old, &new)?;
            if let Some(error) =
                admission::taken_off(&old, &new).filter(|_| part == Part::Main && !self.kinds.is_plain())
            {
                return Err(
                    Status::invalid(&target.kind.resource.group, &target.kind.kind, name, &[error]).into()
                );
            }
            match self.replace(target, part, (&current, &old), new, Ownership::Track, options).await? {
                Attempt::Done(written) => return Ok(written.warned(told)),
                Attempt::Lost => {}
            }
        }
        Err(CommitError::Conflict { guard: 0 }.into())
    }
}

/// Each operation may have to move everything behind it: many of them on a large object would take for ever.
fn check_work(body: &PatchBody, size: usize) -> Result<()> {
    const MOST_WORK: usize = 1 << 30;
    match body {
        PatchBody::Json(Value::Array(operations)) if operations.len().saturating_mul(size) > MOST_WORK => {
            Err(Status::too_large(MOST_WORK / size.max(1)).into())
        }
        _ => Ok(()),
    }
}

fn patched(target: &Target, name: &str, value: &mut Value, body: &PatchBody) -> Result<()> {
    match body {
        PatchBody::Json(operations) => patch::json_patch(value, operations).map_err(|error| match error {
            JsonPatchError::Undecodable(_) => Status::bad_request(error.to_string()).into(),
            JsonPatchError::TooManyOperations(_) => Status::too_large(patch::MAX_OPERATIONS).into(),
            JsonPatchError::TooMuchCopied => Status::too_large(patch::MAX_COPIED).into(),
            _ => Failure::from(Status::unprocessable(format!(
                "the server rejected our request due to an error in our request: {} {name:?}: {error}",
                target.kind.resource
            ))),
        }),
        PatchBody::Merge(change) if !change.is_object() => {
            Err(Status::bad_request("error decoding patch: a merge patch is an object").into())
        }
        PatchBody::Merge(change) => {
            patch::merge_patch(value, change);
            Ok(())
        }
        PatchBody::Strategic(change) => {
            patch::strategic_merge(value, change, target.kind.schema()).map_err(|error| match error {
                StrategicError::NotAnObject => Status::bad_request(error.to_string()).into(),
                _ => Failure::from(Status::bad_request(format!("error applying patch: {error}"))),
            })
        }
        PatchBody::Apply(_) => Ok(()),
    }
}

/// A patch may not move an object or turn it into something else.
fn same_place(target: &Target, name: &str, old: &Document, new: &Document) -> Result<()> {
    let mut errors = Vec::new();
    for (field, was, is) in [
        ("metadata.name", old.name(), new.name()),
        ("metadata.namespace", old.namespace(), new.namespace()),
        ("metadata.uid", old.uid(), new.uid()),
    ] {
        if was != is {
            errors.push(FieldError::invalid(field, is, "field is immutable"));
        }
    }
    if new.api_version().is_empty() || new.kind().is_empty() {
        let message = "the patch takes apiVersion or kind away, and every object needs both";
        return Err(Status::bad_request(message).into());
    }
    if (new.api_version(), new.kind()) != (old.api_version(), old.kind()) {
        let message = format!(
            "the patched document is {} {}, expected {} {}",
            new.api_version(),
            new.kind(),
            old.api_version(),
            old.kind()
        );
        return Err(Status::bad_request(message).into());
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(&target.kind.resource.group, &target.kind.kind, name, &errors).into())
}
