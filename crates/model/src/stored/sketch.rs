//! A stored resource of which only the metadata change: the rest of its text is copied, not read.
//!
//! Managed fields are most of the metadata of a small resource, so they are copied, too.

use std::fmt;
use std::ops::Range;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{MANAGED, NotStored, Places, Stored, finish, separate, write_field};
use crate::document::Document;

/// The metadata of a stored resource, to change, and the text around them.
#[derive(Debug)]
pub struct Sketch<'a> {
    /// Only the metadata, without `managedFields`.
    pub document: Document,
    text: &'a [u8],
    metadata: Range<usize>,
    managed: Option<&'a RawValue>,
}

impl Stored {
    /// The metadata, to change.
    pub fn sketch(&self) -> Result<Sketch<'_>, NotStored> {
        const DAMAGED: NotStored = NotStored::Damaged("the metadata are not JSON");
        let (text, metadata) = self.placed()?;
        let mut reader = serde_json::Deserializer::from_slice(&text[metadata.clone()]);
        let (fields, managed) = reader.deserialize_map(Fields).map_err(|_| DAMAGED)?;
        let value = Value::Object(Map::from_iter([("metadata".to_owned(), Value::Object(fields))]));
        let document = Document::from_value(value).map_err(|_| DAMAGED)?;
        Ok(Sketch { document, text, metadata, managed })
    }
}

impl Sketch<'_> {
    /// The resource with the metadata as they are now.
    pub fn encode(&self) -> Stored {
        let mut bytes = Vec::with_capacity(self.text.len() + 1024);
        bytes.extend_from_slice(&self.text[..self.metadata.start]);
        let start = bytes.len();
        let managed = self.write_metadata(&mut bytes);
        let metadata = start..bytes.len();
        bytes.extend_from_slice(&self.text[self.metadata.end..]);
        finish(&self.document, Places { metadata, managed }, bytes)
    }

    /// Says where the managed fields stand.
    fn write_metadata(&self, out: &mut Vec<u8>) -> Range<usize> {
        out.push(b'{');
        let mut managed = self.managed;
        let mut place = 0..0;
        let mut write_managed = |managed, out: &mut Vec<u8>| {
            separate(out);
            let start = out.len();
            write_field(MANAGED, managed, out);
            place = start..out.len();
        };
        for (field, value) in self.document.metadata().iter().filter(|(field, _)| *field != "resourceVersion")
        {
            if field.as_str() > MANAGED
                && let Some(managed) = managed.take()
            {
                write_managed(managed, out);
            }
            separate(out);
            write_field(field, value, out);
        }
        if let Some(managed) = managed {
            write_managed(managed, out);
        }
        out.push(b'}');
        place
    }
}

/// Reads all fields but one, of which it keeps the text.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = (Map<String, Value>, Option<&'de RawValue>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut fields, mut managed) = (Map::new(), None);
        while let Some(field) = map.next_key::<String>()? {
            if field == MANAGED {
                managed = Some(map.next_value()?);
            } else {
                fields.insert(field, map.next_value()?);
            }
        }
        Ok((fields, managed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Revision;
    use serde_json::json;

    fn document(metadata: Value) -> Document {
        let value = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"metadata": "{\"x\":\n1}"},
        });
        Document::from_value(value).unwrap()
    }

    fn change(document: &mut Document) {
        document.set_finalizers(vec!["b".into(), "a".into()]);
        document.set_or_remove("deletionTimestamp", Some("2026-11-15T20:00:00Z".into()));
        document.set_or_remove("labels", None);
        document.set_or_remove(
            "annotations",
            Some(json!({"zebra": "1", "sexton.dev/destruction-dependencies": "Vm/a"})),
        );
    }

    /// Byte for byte what encoding the whole document gives.
    #[test]
    fn it_is_the_same_as_the_long_way() {
        let managed = json!([{"manager": "m", "fieldsV1": {"f:data": {"f:k": {}}}, "time": "x \"y\""}]);
        for metadata in [
            json!({"name": "n"}),
            json!({"name": "n", "uid": "u", "namespace": "d", "managedFields": managed}),
            json!({"annotations": {}, "managedFields": managed, "labels": {"l": "1"}}),
            json!({"ownerReferences": [{"uid": "o", "name": "ü"}], "name": "n", "managedFields": managed}),
        ] {
            let stored = Stored::encode(&document(metadata));
            assert_eq!(stored.sketch().unwrap().encode(), stored);
            let mut whole = stored.document(Revision::new(7)).unwrap();
            change(&mut whole);
            let mut sketch = stored.sketch().unwrap();
            change(&mut sketch.document);
            assert_eq!(sketch.encode(), Stored::encode(&whole));
            assert_eq!(sketch.encode().facts().unwrap().subscriptions.len(), 1);
        }
    }
}
