//! The changes of metadata that happen by the thousands, made on the text: fields that stay are copied without being
//! read, and so is what is known of them.
//!
//! What comes out is byte for byte what the long way over a document gives. What it does not understand it says, and
//! then the long way has to be gone.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::facts::Facts;
use super::{MANAGED, NotStored, Stored, UNCHECKED, close_with, json};
use crate::ids::Revision;
use crate::raw::RawObject;
use crate::{marks, time};

/// The metadata of a stored resource as pieces of text.
#[derive(Debug)]
pub struct Pieces<'a> {
    text: &'a [u8],
    place: Range<usize>,
    fields: RawObject<'a>,
    facts: Facts<'a>,
}

impl Stored {
    /// The metadata in pieces; nothing if there is something unusual about them.
    pub fn pieces(&self) -> Result<Option<Pieces<'_>>, NotStored> {
        let parts = self.split()?;
        let facts = super::facts(&parts)?;
        let place = facts.metadata();
        let fields = RawObject::read(&parts.text[place.clone()]);
        Ok(fields.map(|fields| Pieces { text: parts.text, place, fields, facts }))
    }
}

impl<'a> Pieces<'a> {
    fn set(&mut self, field: &'static str, text: Option<String>) {
        self.fields.set(field, text);
    }

    /// Sets the finalizers: these and no others.
    pub fn set_finalizers(&mut self, finalizers: &'a [String]) {
        self.facts.finalizers = finalizers.iter().map(String::as_str).collect();
        self.set("finalizers", (!finalizers.is_empty()).then(|| json(finalizers)));
    }

    /// Sets the deletion timestamp. A resource that is terminating already stays as it is.
    pub fn mark(&mut self, at: i64) {
        if self.facts.deleted.is_some() {
            return;
        }
        self.facts.deleted = Some(at);
        self.set("deletionTimestamp", Some(format!("\"{}\"", time::format(at))));
        self.set("deletionGracePeriodSeconds", Some("0".to_owned()));
        let generation = self.fields.get("generation").and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
        if generation > 0 {
            self.set("generation", Some((generation + 1).to_string()));
        }
    }

    /// Sets annotations, first those that are set in any case, then those that are set unless they are there. Whether it
    /// could: not if the facts would change by it, or if it becomes too much to leave it unchecked.
    pub fn annotate(&mut self, always: &[(&'a str, &str)], unless_there: &[(&'a str, &str)]) -> bool {
        let all_new = || always.iter().chain(unless_there);
        if !all_new().all(|(name, _)| marks::SILENT.contains(name))
            || all_new().map(|(_, value)| value.len()).sum::<usize>() >= UNCHECKED
        {
            return false;
        }
        let mut all = match self.fields.get("annotations") {
            None | Some(Cow::Borrowed("null")) => RawObject::default(),
            Some(Cow::Borrowed(text)) if text.len() < UNCHECKED => match RawObject::read(text.as_bytes()) {
                Some(all) => all,
                None => return false,
            },
            Some(_) => return false,
        };
        for (name, value) in always {
            all.set(name, Some(json(value)));
        }
        for (name, value) in unless_there {
            if all.get(name).is_none() {
                all.set(name, Some(json(value)));
            }
        }
        let text = all.text();
        self.set("annotations", (!all.is_empty()).then_some(text));
        true
    }

    /// Takes references to owners away. Whether it could.
    pub fn remove_owners(&mut self, uids: &[String]) -> bool {
        let text = match self.fields.get("ownerReferences") {
            None => return true,
            Some(Cow::Borrowed(text)) => *text,
            Some(Cow::Owned(_)) => return false,
        };
        let Ok(references) = serde_json::from_str::<Vec<&RawValue>>(text) else { return false };
        let mut kept: Vec<&RawValue> = Vec::with_capacity(references.len());
        for reference in references {
            let Ok(named) = serde_json::from_str::<Named<'_>>(reference.get()) else { return false };
            if !uids.iter().any(|uid| *uid == named.uid) {
                kept.push(reference);
            }
        }
        self.facts.owners.retain(|owner| uids.iter().all(|uid| uid != owner));
        self.set("ownerReferences", (!kept.is_empty()).then(|| json(&kept)));
        true
    }

    /// The text of the resource for people to look back at: with its revision, without managed fields.
    pub fn epitaph(mut self, revision: Revision) -> Option<String> {
        self.set(MANAGED, None);
        self.set("resourceVersion", Some(json(&revision.to_string())));
        let mut whole = RawObject::read(self.text)?;
        whole.set("metadata", Some(self.fields.text()));
        Some(whole.text())
    }

    /// The resource with the metadata as they are now.
    pub fn encode(mut self) -> Stored {
        let mut bytes = Vec::with_capacity(self.text.len() + 1024);
        bytes.extend_from_slice(&self.text[..self.place.start]);
        let start = bytes.len();
        let managed = self.fields.write(&mut bytes, MANAGED);
        self.facts.place(start..bytes.len());
        bytes.extend_from_slice(&self.text[self.place.end..]);
        close_with(bytes, &managed, &self.facts)
    }
}

/// The part of a reference that says which object it means.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    fn stored(metadata: &Value) -> Stored {
        let value = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"metadata": "{\"x\":\n1}"},
        });
        Stored::encode(&Document::from_value(value).unwrap())
    }

    /// The long way.
    fn marked(stored: &Stored, finalizers: &[String], always: &[(&str, &str)], by: &str) -> Stored {
        let mut sketch = stored.sketch().unwrap();
        let document = &mut sketch.document;
        document.set_finalizers(finalizers.to_vec());
        let there = document.metadata().get("annotations").cloned().unwrap_or_default();
        let mut annotations = there.as_object().cloned().unwrap_or_default();
        always.iter().for_each(|(name, value)| drop(annotations.insert((*name).into(), (*value).into())));
        annotations.entry(marks::DELETED_BY).or_insert_with(|| by.into());
        document.set_or_remove("annotations", Some(annotations.into()));
        if !document.is_terminating() {
            document.set_or_remove("deletionTimestamp", Some(time::format(1_794_772_800).into()));
            document.set_or_remove("deletionGracePeriodSeconds", Some(0.into()));
            let generation = document.generation();
            if generation > 0 {
                document.set_or_remove("generation", Some((generation + 1).into()));
            }
        }
        sketch.encode()
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z]{1,4}", Just("sexton.dev/collection".to_owned()), Just("ü\"\n\\".to_owned())]
    }

    fn map() -> impl Strategy<Value = Map<String, Value>> {
        prop::collection::btree_map(text(), text().prop_map(Value::from), 0..4)
            .prop_map(|map| map.into_iter().collect())
    }

    fn metadata() -> impl Strategy<Value = Value> {
        let owners = prop::collection::vec(("[a-d]", text()), 0..4);
        let flags = (0..3_i64, any::<bool>(), any::<bool>(), any::<bool>());
        (map(), map(), owners, prop::collection::vec(text(), 0..3), flags).prop_map(
            |(labels, mut annotations, owners, finalizers, (generation, deleted, managed, subscribed))| {
                let mut metadata = json!({"name": "n", "uid": "u", "labels": labels});
                if subscribed {
                    annotations.insert(marks::DEPENDENCIES.into(), "Vm/a".into());
                }
                if !annotations.is_empty() {
                    metadata["annotations"] = annotations.into();
                }
                let owner = |(uid, name): (String, String)| json!({"uid": uid, "name": name, "kind": "K"});
                metadata["ownerReferences"] = owners.into_iter().map(owner).collect();
                metadata["finalizers"] = finalizers.into();
                if generation > 0 {
                    metadata["generation"] = generation.into();
                }
                if deleted {
                    metadata["deletionTimestamp"] = "2026-11-15T19:00:00Z".into();
                }
                if managed {
                    metadata["managedFields"] = json!([{"manager": "m", "fieldsV1": {"f:x": {}}}]);
                }
                metadata
            },
        )
    }

    proptest! {
        #[test]
        fn a_mark_is_the_same_as_the_long_way(metadata in metadata(), finalizers in prop::collection::vec(text(), 0..3)) {
            let stored = stored(&metadata);
            let mut pieces = stored.pieces().unwrap().unwrap();
            prop_assert_eq!(stored.pieces().unwrap().unwrap().encode(), stored.clone());
            pieces.set_finalizers(&finalizers);
            let always = [(marks::COLLECTION, "c-\"1\"")];
            let done = pieces.annotate(&always, &[(marks::DELETED_BY, "ada")]);
            pieces.mark(1_794_772_800);
            let odd = metadata["annotations"].as_object().is_some_and(|all| all.keys().any(|key| key.contains('"')));
            prop_assert_eq!(done, !odd);
            if done {
                prop_assert_eq!(pieces.encode(), marked(&stored, &finalizers, &always, "ada"));
            }
        }

        #[test]
        fn losing_owners_is_the_same_as_the_long_way(metadata in metadata(), uids in prop::collection::vec("[a-d]", 0..3)) {
            let stored = stored(&metadata);
            let mut pieces = stored.pieces().unwrap().unwrap();
            prop_assert!(pieces.remove_owners(&uids));
            let mut sketch = stored.sketch().unwrap();
            let owners = sketch.document.owner_references().to_vec();
            let kept: Vec<Value> =
                owners.into_iter().filter(|one| uids.iter().all(|uid| one["uid"] != uid.as_str())).collect();
            sketch.document.set_or_remove("ownerReferences", (!kept.is_empty()).then(|| kept.into()));
            prop_assert_eq!(pieces.encode(), sketch.encode());
        }
    }

    proptest! {
        #[test]
        fn an_epitaph_is_the_document(metadata in metadata()) {
            let stored = stored(&metadata);
            let text = stored.pieces().unwrap().unwrap().epitaph(Revision::new(7)).unwrap();
            let mut document = stored.document(Revision::new(7)).unwrap();
            document.set_or_remove("managedFields", None);
            prop_assert_eq!(text, document.into_value().to_string());
        }
    }

    #[test]
    fn what_means_something_is_left_to_the_long_way() {
        let stored = stored(&json!({"name": "n", "uid": "u", "annotations": {"a": "b"}}));
        let mut pieces = stored.pieces().unwrap().unwrap();
        assert!(!pieces.annotate(&[(marks::DEPENDENCIES, "Vm/a")], &[]));
        assert!(!pieces.annotate(&[], &[(marks::PROTECT, "true")]));
        assert_eq!(pieces.encode(), stored);
    }
}
