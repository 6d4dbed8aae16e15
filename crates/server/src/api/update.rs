//! PUT: an object as a whole.

use sexton_model::{Document, FieldError, Status};
use sexton_store::{CommitError, Object};

use super::commit::{Attempt, Ownership};
use super::{Api, Part, RACES, Result, Target, WriteOptions, Written};
use crate::admission;

impl Api {
    /// Replaces an object.
    pub async fn update(
        &self,
        target: &Target,
        name: &str,
        part: Part,
        body: Document,
        options: &WriteOptions,
    ) -> Result<Written> {
        let mut body = body;
        if body.name().is_empty() {
            // Without this, an empty document would take everything out of the object.
            let why = "name must be provided";
            let message = format!("the name of the object ({name} based on URL) was undeterminable: {why}");
            return Err(Status::bad_request(message).into());
        }
        admission::match_target(target, &mut body, Some(name))?;
        admission::refuse_mistyped(target, &body)?;
        let told = admission::take_out_unknown(target, &mut body, options);
        admission::refuse_strictly(target, &told, options)?;
        for _ in 0..RACES {
            let current = self.find(target, name).await?;
            check_version(target, name, &body, &current)?;
            let old = target.read(&current)?;
            if !body.uid().is_empty() && body.uid() != old.uid() {
                return Err(uid_mismatch(target, name, body.uid(), old.uid()).into());
            }
            let new = body.clone();
            match self.replace(target, part, (&current, &old), new, Ownership::Track, options).await? {
                Attempt::Done(written) => return Ok(written.warned(told)),
                Attempt::Lost => {}
            }
        }
        Err(CommitError::Conflict { guard: 0 }.into())
    }
}

/// A version in the body is a condition; some kinds insist on one.
fn check_version(target: &Target, name: &str, body: &Document, current: &Object) -> Result<()> {
    match body.resource_version() {
        "" | "0" if target.kind.unconditional_update => Ok(()),
        "" | "0" => {
            let detail = "must be specified for an update";
            let error = FieldError::invalid("metadata.resourceVersion", 0, detail);
            Err(Status::invalid(&target.kind.resource.group, &target.kind.kind, name, &[error]).into())
        }
        version if version == current.revision.to_string() => Ok(()),
        version if version.parse::<u64>().is_err() => {
            let error =
                FieldError::invalid("metadata.resourceVersion", version, "not a version of this server");
            Err(Status::invalid(&target.kind.resource.group, &target.kind.kind, name, &[error]).into())
        }
        _ => Err(modified(target, name).into()),
    }
}

/// The conflict that clients know how to retry.
pub(super) fn modified(target: &Target, name: &str) -> Status {
    let why = "the object has been modified; please apply your changes to the latest version and try again";
    Status::conflict(&target.kind.resource, name, why)
}

/// The conflict that another object has the name.
pub(super) fn uid_mismatch(target: &Target, name: &str, wanted: &str, found: &str) -> Status {
    let why = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}");
    Status::conflict(&target.kind.resource, name, why)
}
