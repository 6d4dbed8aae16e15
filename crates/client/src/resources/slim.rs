//! A page of metadata, and of it only what references and marks are about: there may be a million of them.
//!
//! It must not know what they are read for.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use sexton_model::feed::OwnerReference;

use crate::call::CallError;

/// What is read of an object. Servers of other makes write `null` where there is nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Slim {
    /// The name.
    pub name: String,
    /// Empty for cluster-scoped kinds.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// The uid.
    pub uid: String,
    /// Its last change.
    pub resource_version: String,
    /// RFC 3339.
    pub creation_timestamp: Option<String>,
    /// RFC 3339; set once terminating.
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

impl Slim {
    /// That of a whole object.
    ///
    /// # Errors
    /// The object is not what the API promises.
    pub fn of(object: &Value) -> Result<Slim, CallError> {
        Slim::deserialize(&object["metadata"]).map_err(|error| CallError::Strange(error.to_string()))
    }
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
    /// The uid.
    pub uid: String,
}

/// A part of the metadata that a page can be read as.
pub trait OfMetadata: DeserializeOwned {
    /// Whether it has a name and a uid.
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
pub(super) struct SlimPage<T> {
    /// The objects.
    pub(super) found: Vec<T>,
    /// Where the next page begins; empty if this was the last one.
    pub(super) next: String,
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

/// What stands before the objects. Without the metadata nothing is known: it may stand behind them.
#[derive(Deserialize)]
struct Head {
    metadata: ListMetadata,
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

impl<T: OfMetadata> SlimPage<T> {
    /// Reads the answer to the request for a page that begins at `from`.
    pub(super) fn read(answer: &[u8], from: &str) -> Result<SlimPage<T>, CallError> {
        let whole: Whole<T> =
            serde_json::from_slice(answer).map_err(|error| CallError::Strange(error.to_string()))?;
        let next = whole.metadata.next;
        if !next.is_empty() && next == from {
            return Err(CallError::Strange("the list does not go on".into()));
        }
        let found: Vec<T> = whole.items.unwrap_or_default().into_iter().map(|one| one.metadata).collect();
        if !found.iter().all(T::is_whole) {
            return Err(CallError::Strange("the list has an object without name and uid".into()));
        }
        Ok(SlimPage { found, next })
    }
}

/// Where the next page begins, read without reading the objects: what says so usually stands before them. `None`: it
/// does not, or this is no list.
pub(super) fn next_page(answer: &[u8]) -> Option<String> {
    const HEAD: usize = 8 << 10;
    let head = answer[..answer.len().min(HEAD)].utf8_chunks().next()?.valid();
    let before = head.split_once(r#""items":["#)?.0;
    let head: Head = serde_json::from_str(&format!(r#"{before}"items":null}}"#)).ok()?;
    Some(head.metadata.next)
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

    #[test]
    fn the_next_page_is_known_before_the_objects_are_read() {
        let ahead = |text: &str| next_page(text.as_bytes());
        assert_eq!(ahead(r#"{"metadata":{"continue":"abc"},"items":[{"meta"#).as_deref(), Some("abc"));
        assert_eq!(ahead(r#"{"metadata":{"continue":null},"items":[]}"#).as_deref(), Some(""));
        // A page that has the token behind the objects is read completely first.
        assert_eq!(ahead(r#"{"items":[],"metadata":{"continue":"abc"}}"#), None);
        let odd = r#"{"metadata":{"continue":"\"items\":[x"},"items":[]}"#;
        assert_eq!(ahead(odd).as_deref(), Some(r#""items":[x"#));
        assert_eq!(ahead(r#"{"kind":"Status"}"#), None);
        assert_eq!(ahead("nonsense"), None);
    }
}
