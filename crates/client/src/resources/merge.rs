//! Changing single fields of an object: a merge patch.

use http::Method;
use serde_json::Value;

use super::{Place, PutError, Resources};
use crate::call::Call;

impl Resources {
    /// Merges a document into an object. If it names a version, that must still be the current one.
    ///
    /// # Errors
    /// See [`PutError`].
    pub async fn merge(&self, place: &Place, name: &str, patch: &Value) -> Result<Value, PutError> {
        let call = Call::new(Method::PATCH, place.path_of(name)).body("application/merge-patch+json", patch);
        Ok(call.send(&self.client).await?.value)
    }
}
