//! A stored resource reduced to kind and metadata, without managed fields: what a feed over all kinds tells.
//!
//! The managed fields are of no use to a reader that follows references, and often longer than everything else. Nothing
//! is parsed: the text is copied around the one field that is left out. That is what makes a feed of a million objects
//! cheap. It must not know what the fields mean.

use crate::ids::Revision;
use crate::stored::{Layout, MANAGED, NotStored, Stored, splice};

const BROKEN: NotStored = NotStored::Damaged("the metadata is not JSON");

/// Appends `{"apiVersion":…,"kind":…,"metadata":{…}}` with the resource version, and without managed fields.
///
/// # Errors
/// If the bytes are not what [`Stored::encode`] writes.
pub fn write(stored: &Stored, revision: Revision, out: &mut Vec<u8>) -> Result<(), NotStored> {
    let Layout { text, metadata: range, managed } = stored.layout()?;
    out.extend_from_slice(&text[..range.start + 1]);
    splice(revision, out);
    match managed {
        Some(place) if place.is_empty() => out.extend_from_slice(&text[range.start + 1..range.end - 1]),
        Some(place) => {
            let (before, behind) = (&text[range.start + 1..place.start], &text[place.end..range.end - 1]);
            out.extend_from_slice(before);
            out.extend_from_slice(behind.strip_prefix(b",").unwrap_or(behind));
        }
        // Stored by an older version.
        None => write_without(&text[range], MANAGED.as_bytes(), out)?,
    }
    // The comma before a field that was the last one, or behind the version if there is no other field at all.
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.extend_from_slice(b"}}");
    Ok(())
}

/// Appends the fields of an object, without the braces, except the one of this name.
fn write_without(object: &[u8], name: &[u8], out: &mut Vec<u8>) -> Result<(), NotStored> {
    let inner = object.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}")).ok_or(BROKEN)?;
    let mut at = 0;
    while at < inner.len() {
        let key_end = string_end(inner, at).ok_or(BROKEN)?;
        let value = key_end + 1;
        if inner.get(key_end) != Some(&b':') {
            return Err(BROKEN);
        }
        let found = &inner[at + 1..key_end - 1] == name;
        // The fields are sorted, but nothing here rests on that.
        let end = value_end(inner, value).ok_or(BROKEN)?;
        if found {
            let rest = inner.get(end + 1..).unwrap_or_default();
            match rest {
                [] => out.extend_from_slice(inner[..at].strip_suffix(b",").unwrap_or_default()),
                rest => {
                    out.extend_from_slice(&inner[..at]);
                    out.extend_from_slice(rest);
                }
            }
            return Ok(());
        }
        at = end + 1;
    }
    out.extend_from_slice(inner);
    Ok(())
}

/// The position behind the string that begins at `at`.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        at += text.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        match text[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

/// The position behind the value that begins at `at`. Brackets are counted, not matched: the text was written by us.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'"' => at = string_end(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' if depth > 0 => at += 1,
            b',' | b':' => return None,
            _ => {
                let rest = &text[at..];
                let word = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']'));
                at += word.unwrap_or(rest.len());
            }
        }
        if depth == 0 {
            return matches!(text.get(at), None | Some(b',')).then_some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::Document;

    /// Walks the text of an object, and says the same by parsing it.
    fn check(object: Value) {
        let mut text = b"{".to_vec();
        write_without(object.to_string().as_bytes(), MANAGED.as_bytes(), &mut text).unwrap();
        text.push(b'}');
        let mut expected = object;
        expected.as_object_mut().unwrap().remove("managedFields");
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected);
    }

    #[test]
    fn only_the_field_itself_is_cut() {
        check(json!({"name": "a", "managedFields": [{"manager": "x", "fieldsV1": {"f:data": {}}}]}));
        check(json!({"name": "a"}));
        check(json!({"managedFields": []}));
        check(json!({"annotations": {"managedFields": "kept"}, "managedFields": null}));
        check(
            json!({"annotations": {"x": "\"managedFields\":[1,2]}"}, "managedFields": ["]}\\\""], "name": "z"}),
        );
        check(json!({}));
    }

    #[test]
    fn kind_and_metadata_are_all_that_is_left() {
        let metadata =
            json!({"name": "a", "uid": "u", "managedFields": [{"manager": "x"}], "resourceVersion": "3"});
        let document =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}});
        let stored = Stored::encode(&Document::from_value(document).unwrap());
        let mut text = Vec::new();
        write(&stored, Revision::new(7), &mut text).unwrap();
        let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}});
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected);
    }

    #[test]
    fn damage_is_named_never_served() {
        let document =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u"}});
        let good = Stored::encode(&Document::from_value(document).unwrap());
        for at in 0..good.bytes().len() {
            for byte in [b'"', b'{', b'}', b',', 0] {
                let mut bytes = good.bytes().to_vec();
                bytes[at] = byte;
                let mut out = Vec::new();
                // Whatever comes of it, it is an answer and not a panic.
                let _ = write(&Stored::from_bytes(bytes.into()), Revision::new(1), &mut out);
            }
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\{}\\[\\],: ä\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-zM\"\\\\:,]{0,6}|managedFields", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        /// Walking the text comes to the same as parsing it and taking the field out.
        #[test]
        fn cutting_equals_parsing(
            fields in prop::collection::btree_map("[a-zA-Z\"\\\\:]{0,8}|name|managedFields", any_json(), 0..6),
        ) {
            check(Value::Object(fields.into_iter().collect()));
        }
    }
}
