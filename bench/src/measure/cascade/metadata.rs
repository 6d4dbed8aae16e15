//! What a cascade needs of an object: its name, its owners and whether something holds it, from any JSON around it.
//! Must not know: what is counted, or where the JSON came from.

use std::borrow::Cow;

use http::HeaderValue;
use http::header::ACCEPT;
use serde::Deserialize;

use crate::target::Call;

/// Metadata alone where the server can, whole objects where it cannot; the same fields are read from both.
const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
const METADATA_LIST_ONLY: &str =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

/// The part of an object's metadata that a cascade changes.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata<'a> {
    /// The name.
    #[serde(borrow, default)]
    pub(crate) name: Cow<'a, str>,
    #[serde(borrow, default)]
    owner_references: Option<Vec<Reference<'a>>>,
    #[serde(borrow, default)]
    deletion_timestamp: Option<Cow<'a, str>>,
    #[serde(default)]
    finalizers: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Reference<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
}

/// Anything with metadata: an object, or a Status, whose metadata says nothing.
#[derive(Deserialize)]
pub(crate) struct Object<'a> {
    /// Its metadata.
    #[serde(borrow, default)]
    pub(crate) metadata: Metadata<'a>,
}

/// One line of a watch.
#[derive(Deserialize)]
pub(crate) struct Event<'a> {
    /// ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    /// What it is about.
    #[serde(borrow)]
    pub(crate) object: Object<'a>,
}

impl Metadata<'_> {
    /// The names of its owners.
    pub(crate) fn owners(&self) -> impl Iterator<Item = &str> {
        self.owner_references.iter().flatten().map(|reference| &*reference.name)
    }

    /// True if it is deleted and yet there, because something has to be done first.
    pub(crate) fn is_held(&self) -> bool {
        self.deletion_timestamp.is_some() && self.finalizers.as_ref().is_some_and(|all| !all.is_empty())
    }
}

/// Asks for the metadata of objects one by one, as a watch brings them.
pub(crate) fn of_objects(request: Call) -> Call {
    accepting(request, METADATA_ONLY)
}

/// Asks for the metadata of the objects of a list.
pub(crate) fn of_lists(request: Call) -> Call {
    accepting(request, METADATA_LIST_ONLY)
}

fn accepting(mut request: Call, forms: &'static str) -> Call {
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static(forms));
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_objects_and_what_is_none() {
        let line = r#"{"type":"MODIFIED","object":{"kind":"PartialObjectMetadata","metadata":{"name":"a",
            "ownerReferences":[{"name":"o","uid":"u"}],"deletionTimestamp":"t","finalizers":["f"],"labels":{}}}}"#;
        let event: Event<'_> = serde_json::from_str(line).unwrap();
        assert_eq!((&*event.kind, &*event.object.metadata.name), ("MODIFIED", "a"));
        assert_eq!(event.object.metadata.owners().collect::<Vec<_>>(), ["o"]);
        assert!(event.object.metadata.is_held());
        let status = r#"{"kind":"Status","metadata":{},"status":"Success"}"#;
        let status: Object<'_> = serde_json::from_str(status).unwrap();
        assert!(!status.metadata.is_held() && status.metadata.owners().next().is_none());
        let error = r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#;
        assert_eq!(serde_json::from_str::<Event<'_>>(error).unwrap().kind, "ERROR");
    }
}
