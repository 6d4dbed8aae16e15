//! Labels and annotations of a stored resource, read and changed without the rest of it.
//!
//! Labels are among the facts. Annotations are the first of the sorted metadata fields: what stands behind them is copied.
//! What comes out is byte for byte what the long way over a document gives; what is unusual is left to that.

use std::ops::Range;

use super::facts::Facts;
use super::{Layout, NotStored, Stored, UNCHECKED, close_with, json};
use crate::marks;
use crate::raw::RawObject;

/// How metadata begin that have annotations.
const FIRST: &[u8] = br#"{"annotations":"#;

/// What people and programs wrote on a resource.
#[derive(Debug)]
pub struct Words<'a> {
    facts: &'a Facts<'a>,
    text: &'a [u8],
    annotations: RawObject<'a>,
    /// The metadata behind the annotations, from the quote of the next field or the last brace on.
    rest: &'a [u8],
    /// Where the managed fields stand in the text.
    managed: Range<usize>,
}

impl Stored {
    /// Labels and annotations, with the help of its own facts; nothing if there is something unusual about them.
    ///
    /// # Errors
    /// If the bytes are not what [`Stored::encode`] writes.
    pub fn words<'a>(&'a self, facts: &'a Facts<'a>) -> Result<Option<Words<'a>>, NotStored> {
        let Layout { text, metadata, managed } = self.layout()?;
        let Some(managed) = managed else { return Ok(None) };
        let divided = divide(&text[metadata]);
        Ok(divided.map(|(annotations, rest)| Words { facts, text, annotations, rest, managed }))
    }
}

/// The annotations, and what stands behind them.
fn divide(metadata: &[u8]) -> Option<(RawObject<'_>, &[u8])> {
    let Some(behind) = metadata.strip_prefix(FIRST) else {
        // Where something else comes first, nothing that comes before it in the alphabet is there.
        let next = metadata.strip_prefix(br#"{""#)?;
        return (next > b"annotations".as_slice()).then(|| (RawObject::default(), &metadata[1..]));
    };
    let mut values = serde_json::Deserializer::from_slice(behind).into_iter::<RawObject<'_>>();
    let annotations = values.next()?.ok()?;
    let rest = &behind[values.byte_offset()..];
    Some((annotations, rest.strip_prefix(b",").unwrap_or(rest)))
}

impl<'a> Words<'a> {
    /// A label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.facts.label(name)
    }

    /// Whether an annotation has this value, or is not there.
    pub fn annotates(&self, name: &str, value: Option<&str>) -> bool {
        // There is one way to write a text as JSON, and all that is stored was written in it.
        self.annotations.get(name).map(|text| &**text) == value.map(json).as_deref()
    }

    /// The resource with annotations set and taken away; `None` if that changes more than the annotations, or if the
    /// result is so large that limits have to be checked.
    pub fn annotated<'b, C>(mut self, changes: C) -> Option<Stored>
    where
        C: IntoIterator<Item = (&'b str, Option<&'b str>)>,
        'b: 'a,
    {
        let mut length = 0;
        for (name, value) in changes {
            if !marks::SILENT.contains(&name) {
                return None;
            }
            length += name.len() + value.map_or(0, str::len);
            self.annotations.set(name, value.map(json));
        }
        (length < UNCHECKED && self.text.len() < UNCHECKED).then(|| self.encode())
    }

    fn encode(&self) -> Stored {
        let mut facts = self.facts.clone();
        let place = facts.metadata();
        let mut bytes = Vec::with_capacity(self.text.len() + 1024);
        bytes.extend_from_slice(&self.text[..place.start]);
        if self.annotations.is_empty() {
            bytes.push(b'{');
        } else {
            bytes.extend_from_slice(FIRST);
            self.annotations.write(&mut bytes, "");
            if self.rest != b"}" {
                bytes.push(b',');
            }
        }
        // All of the rest moves by as much.
        let moved = |at: usize| at + bytes.len() + self.rest.len() - place.end;
        let managed =
            if self.managed.is_empty() { 0..0 } else { moved(self.managed.start)..moved(self.managed.end) };
        bytes.extend_from_slice(self.rest);
        facts.place(place.start..bytes.len());
        bytes.extend_from_slice(&self.text[place.end..]);
        close_with(bytes, &managed, &facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn stored(metadata: &Value) -> Stored {
        let value = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "labels": {"a": "no"},
            "data": {"annotations": "{\"x\":1}"},
        });
        Stored::encode(&Document::from_value(value).unwrap())
    }

    fn metadata() -> impl Strategy<Value = Value> {
        let name = prop_oneof!["[a-c]", prop::sample::select(marks::SILENT).prop_map(str::to_owned)];
        let value = prop_oneof!["[a-c]{0,3}", Just("ä\n\"\\".to_owned())];
        let map = move || prop::option::of(prop::collection::btree_map(name.clone(), value.clone(), 0..4));
        (map(), map(), any::<[bool; 3]>()).prop_map(|(labels, annotations, [uid, managed, created])| {
            let mut metadata = json!({});
            let mut set = |field: &str, value: Option<Value>| {
                if let Some(value) = value {
                    metadata[field] = value;
                }
            };
            set("labels", labels.map(|map| json!(map)));
            set("annotations", annotations.map(|map| json!(map)));
            set("uid", uid.then(|| "u".into()));
            set("creationTimestamp", created.then(|| "2026-11-15T19:00:00Z".into()));
            set("managedFields", managed.then(|| json!([{"annotations": {"a": "no"}}])));
            metadata
        })
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_document(metadata in metadata()) {
            let stored = stored(&metadata);
            let document = stored.document(crate::Revision::new(7)).unwrap();
            let facts = stored.facts().unwrap();
            let Some(words) = stored.words(&facts).unwrap() else {
                prop_assert_eq!(metadata, json!({}));
                return Ok(());
            };
            for name in ["a", "b", "c", "d", marks::ACCUSED] {
                let label = metadata.get("labels").and_then(|all| all.get(name)?.as_str());
                prop_assert_eq!(words.label(name), label);
                for value in [None, Some("a"), Some("ä\n\"\\"), document.annotation(name)] {
                    prop_assert_eq!(words.annotates(name, value), document.annotation(name) == value);
                }
            }
            let again = words.encode();
            prop_assert_eq!(again.facts().unwrap().uid, document.uid());
        }

        /// Byte for byte what encoding the whole document gives.
        #[test]
        fn annotating_is_the_same_as_the_long_way(
            metadata in metadata(),
            changes in prop::collection::btree_map(
                prop::sample::select(marks::SILENT), prop::option::of("[a-c]{0,3}|ä\"\n"), 0..4,
            ),
        ) {
            let stored = stored(&metadata);
            let mut sketch = stored.sketch().unwrap();
            let there = sketch.document.metadata().get("annotations").cloned().unwrap_or_else(|| json!({}));
            let mut all = there.as_object().cloned().unwrap();
            for (name, value) in &changes {
                match value {
                    Some(value) => drop(all.insert((*name).to_owned(), value.as_str().into())),
                    None => drop(all.remove(*name)),
                }
            }
            sketch.document.set_or_remove("annotations", (!all.is_empty()).then(|| all.into()));
            let facts = stored.facts().unwrap();
            let Some(words) = stored.words(&facts).unwrap() else { return Ok(()) };
            let quick = words.annotated(changes.iter().map(|(name, value)| (*name, value.as_deref())));
            prop_assert_eq!(quick, Some(sketch.encode()));
        }
    }

    #[test]
    fn what_means_something_or_is_too_much_is_left_to_the_long_way() {
        let stored = stored(&json!({"name": "n", "uid": "u", "annotations": {"a": "b"}}));
        let facts = stored.facts().unwrap();
        let annotate = |name, value| stored.words(&facts).unwrap().unwrap().annotated([(name, Some(value))]);
        assert!(annotate(marks::ACCUSED, "x").is_some());
        assert_eq!(annotate(marks::DEPENDENCIES, "Vm/a"), None);
        assert_eq!(annotate(marks::PROTECT, "true"), None);
        assert_eq!(annotate("anything", "else"), None);
        assert_eq!(annotate(marks::ACCUSED, &"x".repeat(UNCHECKED)), None);
    }

    #[test]
    fn what_is_unusual_is_nothing() {
        for metadata in [json!({}), json!({"annotations": {"\"": "b"}}), json!({"a": 1, "name": "n"})] {
            let stored = stored(&metadata);
            assert!(stored.words(&stored.facts().unwrap()).unwrap().is_none(), "{metadata}");
        }
    }
}
