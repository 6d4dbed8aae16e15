//! One resource on its way into the store: as text, since it is only ever passed on.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sexton_client::resources::text;
use sexton_model::bulk::{Action, Item};
use sexton_model::environment::{CLASSES_GROUP, plural_of};
use sexton_model::raw::Raw;
use sexton_model::{GroupResource, Key};

use super::SaveError;
use crate::stored::Change;

/// One resource to be written, as it is written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::environment) struct Written {
    pub(in crate::environment) kind: String,
    pub(super) namespace: String,
    pub(in crate::environment) name: String,
    pub(in crate::environment) uid: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    /// The uids of its owners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) owners: Vec<String>,
    /// As text: it is only ever passed on.
    pub(super) resource: Raw,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) destroyed: bool,
}

impl Written {
    pub(super) fn new(environment: &str, change: Change) -> Written {
        let Change { uid, kind, name, owners, version, resource, mark_destroyed, .. } = change;
        let (namespace, destroyed) = (environment.to_owned(), mark_destroyed);
        Written { kind, namespace, name, uid, version, owners, resource, destroyed }
    }

    /// The resource.
    pub(super) fn parsed(&self) -> Result<Value, SaveError> {
        serde_json::from_str(self.resource.text()).map_err(|error| self.refused(error.to_string()))
    }

    pub(super) fn item(&self, action: Action) -> Item {
        let key = Key {
            kind: GroupResource::new(CLASSES_GROUP, plural_of(&self.kind)),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        };
        Item::new(key, self.uid.as_str(), action)
    }

    pub(super) fn refused(&self, why: impl Into<String>) -> SaveError {
        SaveError::Refused { object: format!("{}/{}", self.kind, self.name), why: why.into() }
    }
}

pub(super) fn raw(resource: &Value) -> Result<Raw, SaveError> {
    let strange = |error: serde_json::Error| SaveError::Refused {
        object: text(resource, "/metadata/name").to_owned(),
        why: error.to_string(),
    };
    Raw::of(resource).map_err(strange)
}
