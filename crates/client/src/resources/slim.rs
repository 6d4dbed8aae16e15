//! Reading metadata page by page, and of it only what references and marks are about: there may be a million of them.
//!
//! It must not know what they are read for.

use std::collections::BTreeMap;

use http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use sexton_model::feed::OwnerReference;

use super::metadata::ACCEPT;
use super::{ListAsk, ListError, Place, Resources};
use crate::call::{Call, CallError};

/// What is read of an object. Servers of other makes write `null` where there is nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Slim {
    /// The name.
    pub name: String,
    /// Empty for cluster-scoped kinds.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// The life.
    pub uid: String,
    /// RFC 3339.
    pub creation_timestamp: Option<String>,
    /// RFC 3339; set once marked.
    pub deletion_timestamp: Option<String>,
    /// Labels.
    #[serde(deserialize_with = "or_default")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(deserialize_with = "or_default")]
    pub annotations: BTreeMap<String, String>,
    /// The owners.
    #[serde(deserialize_with = "references")]
    pub owner_references: Vec<OwnerReference>,
}

/// What is read of an object of which only the identity matters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// Empty for cluster-scoped kinds.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// The life.
    pub uid: String,
}

/// A part of the metadata that a page can be read as.
pub trait OfMetadata: DeserializeOwned {
    /// Whether it says which life it is of.
    fn is_whole(&self) -> bool;
}

impl OfMetadata for Slim {
    fn is_whole(&self) -> bool {
        !self.uid.is_empty() && !self.name.is_empty()
    }
}

impl OfMetadata for Identity {
    fn is_whole(&self) -> bool {
        !self.uid.is_empty() && !self.name.is_empty()
    }
}

/// A page of a list.
#[derive(Debug, Clone, Default)]
pub struct SlimPage<T> {
    /// The objects.
    pub found: Vec<T>,
    /// Where the next page begins; empty if this was the last one.
    pub next: String,
}

fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// A reference of which only identity matters.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    uid: String,
}

fn references<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<OwnerReference>, D::Error> {
    let read: Vec<Reference> = or_default(from)?;
    let slim = |one: Reference| OwnerReference {
        api_version: one.api_version,
        kind: one.kind,
        name: one.name,
        uid: one.uid,
        ..OwnerReference::default()
    };
    Ok(read.into_iter().map(slim).collect())
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Whole<T> {
    #[serde(default)]
    metadata: ListMetadata,
    /// Missing is strange; `null` is how some servers write an empty list.
    items: Option<Vec<One<T>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListMetadata {
    #[serde(rename = "continue", deserialize_with = "or_default")]
    next: String,
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct One<T> {
    metadata: T,
}

impl Resources {
    /// One page of a list: from its beginning, or from where another one ended.
    ///
    /// # Errors
    /// See [`ListError`]: if the list expired, it begins anew, with pages as large as it is.
    pub async fn slim_page<T: OfMetadata>(
        &self,
        place: &Place,
        ask: &ListAsk,
        limit: Option<usize>,
        from: &str,
    ) -> Result<SlimPage<T>, ListError> {
        let limit = limit.map(|limit| limit.to_string()).unwrap_or_default();
        let call = Call::new(Method::GET, place.path())
            .with("labelSelector", &ask.labels)
            .with("fieldSelector", &ask.fields)
            .with("limit", &limit)
            .with("continue", from)
            .accept(ACCEPT);
        let (_, _, whole): (_, _, Whole<T>) = call.send_for(self.client()).await?;
        let next = whole.metadata.next;
        if !next.is_empty() && next == from {
            return Err(CallError::Strange("the list does not go on".into()).into());
        }
        let found: Vec<T> = whole.items.unwrap_or_default().into_iter().map(|one| one.metadata).collect();
        if !found.iter().all(T::is_whole) {
            return Err(CallError::Strange("the list has an object without name and uid".into()).into());
        }
        Ok(SlimPage { found, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_null_are_the_same() {
        let text = r#"{"items":[{"metadata":{"name":"a","uid":"u","labels":null,"managedFields":[{}],
            "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"p","controller":null}]}}]}"#;
        let whole: Whole<Slim> = serde_json::from_str(text).unwrap();
        let found = &whole.items.unwrap()[0].metadata;
        assert_eq!((found.labels.len(), found.owner_references[0].uid.as_str()), (0, "p"));
        assert!(serde_json::from_str::<Whole<Slim>>(r#"{"items":null}"#).unwrap().items.is_none());
    }
}
