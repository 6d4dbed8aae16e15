//! GET: one object.

use sexton_model::{Revision, Status};
use sexton_store::{At, Object, ReadError};

use super::{Api, GetOptions, Result, Target};

impl Api {
    /// Reads one object. The answer is always the most recent one; a version that has not happened yet is refused.
    pub async fn get(&self, target: &Target, name: &str, options: &GetOptions) -> Result<Object> {
        self.not_in_the_future(&options.resource_version).await?;
        let object = self.find(target, name).await?;
        Ok(target.kind.filled_in(object)?)
    }

    /// The current object, or 404.
    pub(super) async fn find(&self, target: &Target, name: &str) -> Result<Object> {
        let object = self.store.get(&target.key(name), At::Latest).await?;
        object.ok_or_else(|| Status::not_found(&target.kind.resource, name).into())
    }

    /// A reader that has seen a later version than we have must not be told that nothing happened since.
    pub(super) async fn not_in_the_future(&self, version: &str) -> Result<()> {
        if version.is_empty() {
            return Ok(());
        }
        let asked = parse_version(version)?;
        let head = self.head().await?;
        if asked > head { Err(ReadError::Future { asked, head }.into()) } else { Ok(()) }
    }
}

/// `resourceVersion` of a request.
pub(super) fn parse_version(version: &str) -> Result<Revision> {
    let refuse =
        || Status::bad_request(format!("resourceVersion: Invalid value: {version:?}: not a version")).into();
    version.parse().map_err(|_| refuse())
}
