//! Labels and annotations of a stored resource, read without the rest of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::{NotStored, Stored};

/// What people and programs wrote on a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Words<'a> {
    #[serde(borrow)]
    labels: Option<BTreeMap<Cow<'a, str>, Cow<'a, str>>>,
    #[serde(borrow)]
    annotations: Option<BTreeMap<Cow<'a, str>, Cow<'a, str>>>,
}

impl Words<'_> {
    /// A label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.as_ref()?.get(name).map(AsRef::as_ref)
    }

    /// An annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(name).map(AsRef::as_ref)
    }
}

impl Stored {
    /// Labels and annotations.
    ///
    /// # Errors
    /// If the bytes are not what [`Stored::encode`] writes.
    pub fn words(&self) -> Result<Words<'_>, NotStored> {
        let metadata = &self.text()?[self.facts()?.metadata()];
        serde_json::from_slice(metadata).map_err(|_| NotStored::Damaged("the metadata is not JSON"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use serde_json::json;

    #[test]
    fn words_are_those_of_the_document() {
        let words = json!({"a": "1", "e\"x\\": "ä\n", "": ""});
        for metadata in [
            json!({"name": "n", "uid": "u", "labels": words, "annotations": {"b": "2"}}),
            json!({"name": "n", "uid": "u", "labels": null, "managedFields": [{"labels": {"a": "no"}}]}),
            json!({"name": "n", "uid": "u"}),
        ] {
            let value =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "labels": {"a": "no"}});
            let document = Document::from_value(value).unwrap();
            let stored = Stored::encode(&document);
            let read = stored.words().unwrap();
            for name in ["a", "b", "e\"x\\", "", "c"] {
                let label = metadata["labels"].get(name).and_then(|label| label.as_str());
                assert_eq!(read.label(name), label);
                assert_eq!(read.annotation(name), document.annotation(name));
            }
        }
    }
}
