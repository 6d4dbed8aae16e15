//! Creating and replacing an object as it is written down, with the version that is meant.

use http::Method;
use serde_json::Value;

use super::{Place, PutError, Resources};
use crate::call::Call;

impl Resources {
    /// Creates an object; one of that name is a conflict.
    ///
    /// # Errors
    /// See [`PutError`].
    pub async fn create(&self, place: &Place, document: &Value) -> Result<Value, PutError> {
        let call = Call::new(Method::POST, place.path()).body("application/json", document);
        let created = call.proving(self.proof.as_ref()).send(&self.client).await?.value;
        self.known.wrote(&place.kind).await;
        Ok(created)
    }

    /// Replaces an object, if the version in the document is still the current one.
    ///
    /// # Errors
    /// See [`PutError`].
    pub async fn replace(&self, place: &Place, name: &str, document: &Value) -> Result<Value, PutError> {
        let call = Call::new(Method::PUT, place.path_of(name)).body("application/json", document);
        let replaced = call.proving(self.proof.as_ref()).send(&self.client).await?.value;
        self.known.wrote(&place.kind).await;
        Ok(replaced)
    }
}
