//! Lists and watches of metadata: one kind, all namespaces or one.
//!
//! It must not know what the answers are for. An answer that leaves something open is an error, never an empty list.

use std::pin::Pin;
use std::time::Duration;

use futures::Stream;
use http::Method;
use serde::Deserialize;
use serde_json::Value;
use sexton_model::Status;
use sexton_model::feed::{Metadata, Partial};

use crate::call::{Call, CallError};
use crate::kinds::ServedKind;
use crate::resources::text;

/// Only metadata; servers that cannot cut the rest off send whole objects.
const ONE: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const MANY: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Why there is no answer that something can be concluded from.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("no answer within {}", seconds(*.0))]
    Silent(Duration),
    #[error(transparent)]
    Call(#[from] CallError),
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f32())
}

impl ReadError {
    pub(super) fn status(&self) -> Option<&Status> {
        match self {
            ReadError::Call(error) => error.status(),
            ReadError::Silent(_) => None,
        }
    }

    pub(super) fn code(&self) -> u16 {
        self.status().map_or(0, |status| status.code)
    }

    /// Whether the same request may be answered later.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            ReadError::Silent(_) => true,
            ReadError::Call(CallError::Unreachable(_) | CallError::Broken(_) | CallError::Silent(_)) => true,
            ReadError::Call(error) => matches!(error.code(), 429 | 500..),
        }
    }
}

fn strange(why: impl Into<String>) -> CallError {
    CallError::Strange(why.into())
}

/// An answer, if it comes in time.
pub(super) async fn in_time<T>(
    most: Duration,
    answer: impl Future<Output = Result<T, CallError>>,
) -> Result<T, ReadError> {
    match tokio::time::timeout(most, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(ReadError::Silent(most)),
    }
}

/// All objects of a kind at one revision, and that revision; or those of one namespace.
pub(super) async fn list(
    client: &kube::Client,
    (kind, namespace): (&ServedKind, Option<&str>),
    page: usize,
    patience: Duration,
) -> Result<(Vec<Partial>, String), ReadError> {
    match pages(client, (kind, namespace), page, patience).await {
        // So long a list that its beginning is forgotten while it is read: once more, in one piece.
        Err(error) if error.code() == 410 => pages(client, (kind, namespace), 0, patience).await,
        read => read,
    }
}

async fn pages(
    client: &kube::Client,
    (kind, namespace): (&ServedKind, Option<&str>),
    page: usize,
    patience: Duration,
) -> Result<(Vec<Partial>, String), ReadError> {
    let (mut found, mut version, mut token) = (Vec::new(), String::new(), String::new());
    let limit = if page == 0 { String::new() } else { page.to_string() };
    loop {
        let call =
            Call::new(Method::GET, kind.path(namespace)).with("limit", &limit).with("continue", &token);
        let mut answer = in_time(patience, call.accept(MANY).send(client)).await?.value;
        let at = text(&answer, "/metadata/resourceVersion").to_owned();
        if at.is_empty() || (!version.is_empty() && version != at) {
            // Without it nothing says where the watch begins, and pages of two moments are no list.
            return Err(strange("the list is not of one resourceVersion").into());
        }
        version = at;
        let next = text(&answer, "/metadata/continue").to_owned();
        let items = match answer.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items,
            // An empty list of some servers.
            Some(Value::Null) => Vec::new(),
            _ => return Err(strange("the list has no items").into()),
        };
        for item in items {
            found.push(partial(kind, item)?);
        }
        if next.is_empty() {
            return Ok((found, version));
        }
        if next == token {
            return Err(strange("the list does not go on").into());
        }
        token = next;
    }
}

/// The lines of a watch.
pub(super) type Lines = Pin<Box<dyn Stream<Item = Result<Vec<u8>, CallError>> + Send>>;

/// Opens a watch that the server ends after `life`.
pub(super) async fn watch(
    client: &kube::Client,
    (kind, namespace): (&ServedKind, Option<&str>),
    version: &str,
    life: Duration,
    patience: Duration,
) -> Result<Lines, ReadError> {
    let call = Call::new(Method::GET, kind.path(namespace))
        .with("watch", "true")
        .with("resourceVersion", version)
        .with("allowWatchBookmarks", "true")
        .with("timeoutSeconds", &life.as_secs().max(1).to_string())
        .accept(ONE);
    Ok(Box::pin(in_time(patience, call.lines(client)).await?))
}

/// One object, or nothing if the server says of exactly this object that it is not there. A 404 that does not name it
/// may come from a server that does not serve the kind yet, or any more: that is no answer.
pub(super) async fn find(
    client: &kube::Client,
    kind: &ServedKind,
    namespace: Option<&str>,
    name: &str,
    whole: bool,
) -> Result<Option<Value>, CallError> {
    let path = format!("{}/{}", kind.path(namespace), crate::call::escape(name));
    let call = Call::new(Method::GET, path).accept(if whole { "application/json" } else { ONE });
    match call.send(client).await {
        Ok(answer) => Ok(Some(answer.value)),
        Err(CallError::Refused(status)) if says_absent(&status, name) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a refusal says that exactly this object does not exist.
pub(super) fn says_absent(status: &Status, name: &str) -> bool {
    let named = status.details.as_ref().is_some_and(|details| details.name == name);
    status.code == 404 && status.reason == "NotFound" && named
}

/// A line of a watch.
#[derive(Debug, Deserialize)]
pub(super) struct WatchLine {
    #[serde(rename = "type")]
    pub(super) word: String,
    #[serde(default)]
    pub(super) object: Value,
}

/// The metadata of an object, under the kind and version it was asked for: the answer calls them otherwise.
pub(super) fn partial(kind: &ServedKind, mut object: Value) -> Result<Partial, CallError> {
    let mut metadata = object.get_mut("metadata").map(Value::take).unwrap_or_default();
    if let Some(fields) = metadata.as_object_mut() {
        fields.remove("managedFields");
        fields.retain(|_, value| !value.is_null());
        for owner in fields.get_mut("ownerReferences").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(fields) = owner.as_object_mut() {
                fields.retain(|_, value| !value.is_null());
            }
        }
    }
    let metadata: Metadata = serde_json::from_value(metadata).map_err(|error| strange(error.to_string()))?;
    if metadata.uid.is_empty() || metadata.name.is_empty() {
        return Err(strange(format!("an object of {} without name and uid", kind.resource)));
    }
    Ok(Partial { api_version: kind.api_version(), kind: kind.kind.clone(), metadata })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metadata_is_read_leniently_and_a_life_without_uid_not_at_all() {
        let kinds = crate::kinds::sample();
        let kind = kinds.resolve("deploy").unwrap();
        let object = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "spec": {"a": 1},
            "metadata": {"name": "a", "uid": "1", "labels": null, "managedFields": [{}],
                "ownerReferences": [{"kind": "K", "uid": "2", "controller": null}]}});
        let partial_of = |value: Value| partial(kind, value);
        let read = partial_of(object).unwrap();
        assert_eq!((read.api_version.as_str(), read.kind.as_str()), ("apps/v1", "Deployment"));
        assert_eq!(read.metadata.owner_references[0].uid, "2");
        partial_of(json!({"metadata": {"name": "a"}})).unwrap_err();
        partial_of(json!("nonsense")).unwrap_err();
    }

    #[test]
    fn only_a_404_that_names_the_object_says_that_it_is_absent() {
        let kind = sexton_model::GroupResource::new("", "configmaps");
        assert!(says_absent(&Status::not_found(&kind, "a"), "a"));
        assert!(!says_absent(&Status::not_found(&kind, "a"), "b"));
        assert!(!says_absent(&Status::no_such_path(), "a"));
        assert!(!says_absent(&Status::conflict(&kind, "a", "x"), "a"));
    }
}
