//! Whether objects that must not exist do exist.
//!
//! No server finds an object by its uid alone. The object of the item names the absent ones as its owners, with kind
//! and name, and under these they are read. Every answer but a clear one fails the item.

use serde_json::Value;
use sexton_model::bulk::{Item, reason};
use sexton_model::{FieldError, Status};

use super::super::read::find;
use super::live::{Live, resource_of};
use super::{Performer, Refusal};
use crate::kinds::ServedKind;
use crate::resources::text;

impl Performer<'_> {
    /// Fails unless all objects that must be absent are.
    pub(super) async fn check_absent(
        &self,
        item: &Item,
        kind: &ServedKind,
        live: &Live,
    ) -> Result<(), Refusal> {
        let owners = live.owners();
        for uid in &item.absent {
            let Some(owner) = owners.iter().find(|owner| text(owner, "/uid") == uid) else {
                let why = format!("it does not name {uid} as an owner any more");
                return Err(Status::conflict(&resource_of(item), &item.name, why).into());
            };
            if self.exists(item, kind, owner).await? {
                return Err(still_present(item, owner).into());
            }
        }
        Ok(())
    }

    async fn exists(&self, item: &Item, kind: &ServedKind, owner: &Value) -> Result<bool, Refusal> {
        let (api_version, name) = (text(owner, "/apiVersion"), text(owner, "/name"));
        let Some(owner_kind) = self.owner_kind(api_version, text(owner, "/kind")) else {
            let why = format!("the server does not serve {} of {api_version} now", text(owner, "/kind"));
            return Err(Status::unavailable(format!("whether {name:?} exists is not known: {why}")).into());
        };
        if owner_kind.namespaced && !kind.namespaced {
            // Such a reference can mean any namespace, so nothing can be concluded from it.
            let detail = "an object outside of namespaces cannot have an owner within one";
            let error = FieldError::invalid("metadata.ownerReferences", name, detail);
            return Err(Status::invalid(&item.group, &kind.kind, &item.name, &[error]).into());
        }
        let found = find(self.client, owner_kind, Some(&item.namespace), name, false).await?;
        Ok(found.is_some_and(|found| text(&found, "/metadata/uid") == text(owner, "/uid")))
    }

    /// The kind that a reference names. The version it names may not be served any more; the objects are the same.
    fn owner_kind(&self, api_version: &str, kind: &str) -> Option<&ServedKind> {
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let same = |served: &&ServedKind| served.kind == kind && served.resource.group == group;
        self.kinds.of_document(api_version, kind).or_else(|| self.kinds.preferred().find(same))
    }
}

fn still_present(item: &Item, owner: &Value) -> Status {
    let (kind, name, uid) = (text(owner, "/kind"), text(owner, "/name"), text(owner, "/uid"));
    let why = format!("{kind} {name:?} with uid {uid} exists");
    let mut status = Status::conflict(&resource_of(item), &item.name, why).because(
        reason::STILL_PRESENT,
        uid,
        "metadata.ownerReferences",
    );
    status.reason = reason::STILL_PRESENT.into();
    status
}
