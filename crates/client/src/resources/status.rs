//! Replacing the status of an object, whatever else has changed of it.

use http::Method;
use serde_json::{Value, json};
use sexton_model::Status;

use super::{Place, PutError, Resources};
use crate::call::{Call, CallError};

/// Why a status was not written.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// There is none of that name.
    #[error("{0}")]
    NotFound(Box<Status>),
    /// The server does not take it: it is wrong, or the name has another uid.
    #[error("{0}")]
    Invalid(Box<Status>),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

impl From<CallError> for StatusError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(status) if status.code == 404 => StatusError::NotFound(status),
            CallError::Refused(status) if matches!(status.code, 400 | 422) => StatusError::Invalid(status),
            error => StatusError::Call(error),
        }
    }
}

impl Resources {
    /// Makes the status of an object be this, and nothing of what was there before. No version is named, so there is
    /// nothing to be in conflict with; with a uid, only the object with this uid is meant.
    ///
    /// # Errors
    /// See [`StatusError`].
    pub async fn patch_status(
        &self,
        place: &Place,
        name: &str,
        uid: Option<&str>,
        status: &Value,
    ) -> Result<Value, StatusError> {
        // A merge patch would leave alone what the new status does not speak of any more.
        let mut operations = vec![json!({"op": "add", "path": "/status", "value": status})];
        if let Some(uid) = uid {
            operations.insert(0, json!({"op": "test", "path": "/metadata/uid", "value": uid}));
        }
        let call = Call::new(Method::PATCH, format!("{}/status", place.path_of(name)))
            .body("application/json-patch+json", &Value::Array(operations));
        Ok(call.proving(self.proof.as_ref()).send(&self.client).await?.value)
    }

    /// Replaces the status of an object, if the version in the document is still the current one.
    ///
    /// # Errors
    /// See [`PutError`].
    pub async fn replace_status(
        &self,
        place: &Place,
        name: &str,
        document: &Value,
    ) -> Result<Value, PutError> {
        let path = format!("{}/status", place.path_of(name));
        let call = Call::new(Method::PUT, path).body("application/json", document);
        Ok(call.proving(self.proof.as_ref()).send(&self.client).await?.value)
    }
}
