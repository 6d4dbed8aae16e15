//! Putting an object: server-side apply, and what came of it.

use http::Method;
use serde_json::Value;
use sexton_model::Status;

use super::{Place, Resources, text};
use crate::call::{Call, CallError};

/// Why an object was not put.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// Others manage fields that were put, or the version that was named is not the current one.
    #[error("{0}")]
    Conflict(Box<Status>),
    /// The document is wrong; the status says where.
    #[error("{0}")]
    Invalid(Box<Status>),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

impl From<CallError> for PutError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(status) if status.code == 409 => PutError::Conflict(status),
            CallError::Refused(status) if matches!(status.code, 400 | 422) => PutError::Invalid(status),
            error => PutError::Call(error),
        }
    }
}

/// How to put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutAsk {
    /// The field manager.
    pub manager: String,
    /// Take fields away from other managers.
    pub force: bool,
    /// Do everything but write.
    pub dry_run: bool,
}

impl Default for PutAsk {
    fn default() -> Self {
        PutAsk { manager: "sexton".into(), force: false, dry_run: false }
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// It is new.
    Created,
    /// It was there and is different now.
    Changed,
    /// It was there and is the same.
    Unchanged,
}

/// A put object.
#[derive(Debug, Clone)]
pub struct Put {
    /// What came of it.
    pub outcome: PutOutcome,
    /// The object as it is now, or would be.
    pub object: Value,
    /// What the server wants people to know.
    pub warnings: Vec<String>,
}

impl Resources {
    /// Makes an object be as the document says, and leaves alone what it does not speak of.
    ///
    /// # Errors
    /// See [`PutError`].
    pub async fn put(
        &self,
        place: &Place,
        name: &str,
        document: &Value,
        ask: &PutAsk,
    ) -> Result<Put, PutError> {
        let before = self.find(place, name).await?;
        self.put_over(before.as_ref(), place, name, document, ask).await
    }

    /// The same for a caller that has read the object already (`before`). The outcome is told by comparing with that.
    ///
    /// # Errors
    /// See [`PutError`].
    pub async fn put_over(
        &self,
        before: Option<&Value>,
        place: &Place,
        name: &str,
        document: &Value,
        ask: &PutAsk,
    ) -> Result<Put, PutError> {
        let call = Call::new(Method::PATCH, place.path_of(name))
            .with("fieldManager", &ask.manager)
            .with("fieldValidation", "Strict")
            .with("force", if ask.force { "true" } else { "false" })
            .with("dryRun", if ask.dry_run { "All" } else { "" })
            .body("application/apply-patch+yaml", document);
        let answer = call.send(&self.client).await?;
        if !ask.dry_run {
            self.known.wrote(&place.kind).await;
        }
        let outcome = match before {
            _ if answer.code == 201 => PutOutcome::Created,
            None => PutOutcome::Created,
            Some(before) if is_same(before, &answer.value, ask.dry_run) => PutOutcome::Unchanged,
            Some(_) => PutOutcome::Changed,
        };
        Ok(Put { outcome, object: answer.value, warnings: answer.warnings })
    }
}

/// A write that changes nothing leaves the version alone. A preview has no version, so there the content decides.
fn is_same(before: &Value, after: &Value, dry_run: bool) -> bool {
    if !dry_run {
        return text(before, "/metadata/resourceVersion") == text(after, "/metadata/resourceVersion");
    }
    let plain = |object: &Value| {
        let mut object = object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
            let managers = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
            for entry in managers.into_iter().flatten().filter_map(Value::as_object_mut) {
                entry.remove("time");
            }
        }
        object
    };
    plain(before) == plain(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_preview_is_compared_without_versions_and_times() {
        let object = |version: &str, time: &str, data: &str| json!({"metadata": {"resourceVersion": version, "managedFields": [{"manager": "x", "time": time}]}, "data": data});
        assert!(is_same(&object("1", "a", "x"), &object("2", "b", "x"), true));
        assert!(!is_same(&object("1", "a", "x"), &object("1", "a", "y"), true));
        assert!(!is_same(&object("1", "a", "x"), &object("2", "a", "x"), false));
    }
}
