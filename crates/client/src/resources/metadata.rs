//! Reading only the metadata of many objects: their documents may be large, and are not needed.

use serde_json::Value;

use super::{ListAsk, ListError, Listed, Place, Resources};

/// What asks for metadata, and takes whole objects from a server that cannot leave the rest out.
pub(super) const ACCEPT: &str =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

impl Resources {
    /// The objects with their `metadata`; whatever else they have may be missing, their kind is another one.
    ///
    /// # Errors
    /// See [`ListError`].
    pub async fn list_metadata(&self, place: &Place, ask: &ListAsk) -> Result<Listed<Vec<Value>>, ListError> {
        self.pages(place, ask, ACCEPT).await
    }
}
