//! The changes of metadata that happen by the thousands, made on the text: fields that stay are copied without being
//! read, and so is what is known of them.
//!
//! What comes out is byte for byte what the long way over a document gives. What it does not understand it says, and
//! then the long way has to be gone.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::facts::{self, Facts};
use super::{NotStored, Stored, close, write_json};
use crate::ids::Revision;
use crate::{marks, time};

/// The metadata of a stored resource as pieces of text.
#[derive(Debug)]
pub struct Pieces<'a> {
    text: &'a [u8],
    place: Range<usize>,
    /// In the order of their names.
    fields: Fields<'a>,
    facts: Facts<'a>,
}

/// Names and texts, in the order of the names.
type Fields<'a> = Vec<(&'a str, Cow<'a, str>)>;

impl Stored {
    /// The metadata in pieces; nothing if there is something unusual about them.
    pub fn pieces(&self) -> Result<Option<Pieces<'_>>, NotStored> {
        let parts = self.split()?;
        let facts = super::facts(&parts)?;
        let place = facts.metadata();
        let fields = object(&parts.text[place.clone()]);
        Ok(fields.map(|fields| Pieces { text: parts.text, place, fields, facts }))
    }
}

impl<'a> Pieces<'a> {
    fn get(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, text)| &**text)
    }

    fn set(&mut self, field: &'static str, text: Option<String>) {
        set(&mut self.fields, field, text.map(Cow::Owned));
    }

    /// These hold it, and nobody else.
    pub fn set_finalizers(&mut self, finalizers: &'a [String]) {
        self.facts.finalizers = finalizers.iter().map(String::as_str).collect();
        self.set("finalizers", (!finalizers.is_empty()).then(|| json(finalizers)));
    }

    /// The mark: when it was deleted. What is marked already stays as it is.
    pub fn mark(&mut self, at: i64) {
        if self.facts.deleted.is_some() {
            return;
        }
        self.facts.deleted = Some(at);
        self.set("deletionTimestamp", Some(format!("\"{}\"", time::format(at))));
        self.set("deletionGracePeriodSeconds", Some("0".to_owned()));
        let generation = self.get("generation").and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
        if generation > 0 {
            self.set("generation", Some((generation + 1).to_string()));
        }
    }

    /// Sets annotations, first those that are set in any case, then those that are set unless they are there. Whether it
    /// could: not if the facts would change by it, or if it becomes too much to leave it unchecked.
    pub fn annotate(&mut self, always: &[(&'a str, &str)], unless_there: &[(&'a str, &str)]) -> bool {
        const UNCHECKED: usize = 64 << 10;
        let harmless = |(name, _): &(&str, &str)| {
            matches!(*name, marks::COLLECTION | marks::DELETED_BY | marks::APPROVED)
        };
        if !always.iter().chain(unless_there).all(harmless) {
            return false;
        }
        let text = self.fields.iter().find(|(name, _)| *name == "annotations").map(|(_, text)| text.clone());
        let known = match &text {
            None => Some(Vec::new()),
            Some(Cow::Borrowed("null")) => Some(Vec::new()),
            Some(Cow::Borrowed(text)) => object(text.as_bytes()),
            Some(Cow::Owned(_)) => None,
        };
        let Some(mut all) = known.filter(|_| text.is_none_or(|text| text.len() < UNCHECKED)) else {
            return false;
        };
        for (name, value) in always {
            set(&mut all, name, Some(Cow::Owned(json(value))));
        }
        for (name, value) in unless_there {
            if all.binary_search_by(|(known, _)| (*known).cmp(name)).is_err() {
                set(&mut all, name, Some(Cow::Owned(json(value))));
            }
        }
        let mut text = Vec::new();
        write_object(&all, &mut text);
        self.set("annotations", (!all.is_empty()).then(|| text_of(text)));
        true
    }

    /// Takes references to owners away. Whether it could.
    pub fn remove_owners(&mut self, uids: &[String]) -> bool {
        let Some((_, Cow::Borrowed(text))) = self.fields.iter().find(|(name, _)| *name == "ownerReferences")
        else {
            return uids.is_empty() || self.get("ownerReferences").is_none();
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

    /// The text of the resource for people to look back at: with its revision, without who managed which field.
    pub fn epitaph(mut self, revision: Revision) -> Option<String> {
        self.set("managedFields", None);
        self.set("resourceVersion", Some(json(&revision.to_string())));
        let mut fields: Fields<'_> = object_in_any_order(self.text)?;
        let mut metadata = Vec::new();
        write_object(&self.fields, &mut metadata);
        let place = fields.iter().position(|(name, _)| *name == "metadata")?;
        fields[place].1 = Cow::Owned(text_of(metadata));
        fields.sort_unstable_by_key(|(name, _)| *name);
        let mut text = Vec::with_capacity(self.text.len() + 64);
        write_object(&fields, &mut text);
        Some(text_of(text))
    }

    /// The resource with the metadata as they are now.
    pub fn encode(mut self) -> Stored {
        let mut bytes = Vec::with_capacity(self.text.len() + 1024);
        bytes.extend_from_slice(&self.text[..self.place.start]);
        let start = bytes.len();
        write_object(&self.fields, &mut bytes);
        self.facts.place(start..bytes.len());
        bytes.extend_from_slice(&self.text[self.place.end..]);
        close(bytes, |bytes| facts::append(&self.facts.subscriptions, facts::append(&self.facts, bytes)))
    }
}

/// What of a reference says whom it means.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
}

fn set<'a>(fields: &mut Fields<'a>, field: &'a str, text: Option<Cow<'a, str>>) {
    match (fields.binary_search_by(|(name, _)| (*name).cmp(field)), text) {
        (Ok(at), Some(text)) => fields[at].1 = text,
        (Ok(at), None) => drop(fields.remove(at)),
        (Err(at), Some(text)) => fields.insert(at, (field, text)),
        (Err(_), None) => {}
    }
}

fn write_object(fields: &Fields<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (at, (name, text)) in fields.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_json(*name, out);
        out.push(b':');
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'}');
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    let mut text = Vec::new();
    write_json(value, &mut text);
    text_of(text)
}

fn text_of(json: Vec<u8>) -> String {
    // What was put together from JSON text is UTF-8.
    String::from_utf8(json).unwrap_or_default()
}

/// The fields of an object, if they are in order, their names are plain and each occurs once.
fn object(text: &[u8]) -> Option<Fields<'_>> {
    object_in_any_order(text).filter(|fields| fields.is_sorted_by(|(a, _), (b, _)| a < b))
}

fn object_in_any_order(text: &[u8]) -> Option<Fields<'_>> {
    serde_json::Deserializer::from_slice(text).deserialize_map(Read(PhantomData)).ok()
}

struct Read<'a>(PhantomData<&'a ()>);

impl<'de> Visitor<'de> for Read<'de> {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(16);
        while let Some(name) = map.next_key::<&'de str>()? {
            let text: &'de RawValue = map.next_value()?;
            fields.push((name, Cow::Borrowed(text.get())));
        }
        Ok(fields)
    }
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
