//! What is stored comes back, and facts are found without reading.

use super::*;
use crate::marks;
use crate::term::Term;
use serde_json::json;

fn document() -> Document {
    Document::from_value(json!({
        "data": {"text": "two\nlines \"quoted\""},
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "name": "a", "uid": "u-1", "resourceVersion": "7",
            "creationTimestamp": "2026-11-15T20:00:00Z",
            "labels": {"b": "2", "a": "1"},
            "finalizers": ["cascade_deletion"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-0"}]
        }
    }))
    .unwrap()
}

#[test]
fn a_document_comes_back_with_its_revision() {
    let stored = Stored::encode(&document());
    let mut expected = document();
    expected.set_resource_version(Revision::new(42));
    assert_eq!(stored.document(Revision::new(42)).unwrap(), expected);
    let mut text = Vec::new();
    stored.write(Revision::new(42), &mut text).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected.into_value());
    assert!(
        text.starts_with(br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"resourceVersion":"42","#)
    );
}

#[test]
fn a_field_may_be_given_as_text() {
    for (field, text) in [("a", "[1]"), ("dates", "{}"), ("z", "\"\\n\"")] {
        let mut whole = document();
        whole.object_mut().insert(field.into(), serde_json::from_str(text).unwrap());
        assert_eq!(Stored::encode_with(&document(), field, text), Stored::encode(&whole));
    }
}

#[test]
fn the_api_version_is_written_as_asked() {
    let stored = Stored::encode(&document());
    for api_version in ["v1", "v1beta1", "example.com/v2"] {
        let mut text = Vec::new();
        stored.write_in(api_version, Revision::new(42), &mut text).unwrap();
        let mut expected = stored.document(Revision::new(42)).unwrap();
        expected.object_mut().insert("apiVersion".into(), api_version.into());
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected.into_value());
    }
}

#[test]
fn facts_are_known_without_parsing() {
    let stored = Stored::encode(&document());
    let facts = stored.facts().unwrap();
    assert_eq!((facts.uid, facts.created, facts.deleted), ("u-1", 1_794_772_800, None));
    assert_eq!(facts.label("b"), Some("2"));
    assert_eq!((facts.finalizers, facts.owners), (vec!["cascade_deletion"], vec!["u-0"]));
}

#[test]
fn metadata_alone_is_a_slice() {
    let mut text = Vec::new();
    Stored::encode(&document()).write_metadata(Revision::new(3), &mut text).unwrap();
    let value: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(value["kind"], "PartialObjectMetadata");
    assert_eq!(value["metadata"]["labels"]["a"], "1");
    assert_eq!(value["metadata"]["resourceVersion"], "3");
    assert_eq!(value.get("data"), None);
}

#[test]
fn damage_is_named_never_served() {
    let good = Stored::encode(&document());
    for cut in 0..good.bytes().len() {
        let cut_off = Stored::from_bytes(good.bytes()[..cut].into());
        assert!(cut_off.facts().is_err() || cut_off.document(Revision::NONE).is_ok(), "cut at {cut}");
    }
}

fn subscribing(annotation: &str) -> Document {
    let mut document = document();
    document.set_or_remove("namespace", Some("own".into()));
    let annotations = json!({ marks::DEPENDENCIES: annotation });
    document.set_or_remove("annotations", Some(annotations));
    document
}

/// Terms of subscriptions by name only, by uid, and to itself; one without a namespace counts as namespaced and as
/// cluster-scoped.
#[test]
fn terms_say_whom_a_resource_refers_to() {
    let text = "- Vm.x.io/a\n- Vm/far/b\n- self\n- {target: Vm/c, uid: u-9}\n- {target: Vm/d, uid: u-9}\n";
    let stored = Stored::encode(&subscribing(text));
    assert_eq!(stored.facts().unwrap().subscriptions.len(), 5);
    let mut expected = vec![
        Term::uid("u-1"),
        Term::owner("u-0"),
        Term::subscription_slot("x.io", "Vm", "own", "a"),
        Term::subscription_slot("x.io", "Vm", "", "a"),
        Term::subscription_slot("", "Vm", "far", "b"),
        Term::subscription_uid("u-1"),
        Term::subscription_uid("u-9"),
    ];
    expected.sort_unstable();
    assert_eq!(terms(stored.bytes()).as_slice(), expected);
    assert_eq!(stored.document(Revision::NONE).unwrap().metadata()["annotations"][marks::DEPENDENCIES], text);
}

#[test]
fn an_annotation_that_cannot_be_read_declares_nothing() {
    for nonsense in ["[", "- 7: x", ""] {
        let stored = Stored::encode(&subscribing(nonsense));
        assert_eq!(stored.facts().unwrap().subscriptions, []);
        assert_eq!(terms(stored.bytes()).len(), 2);
    }
    assert_eq!(terms(b"nonsense").len(), 0);
}

/// The first version ended where the subscriptions now begin, the second where it says where the managed fields stand.
#[test]
fn older_versions_are_still_read() {
    let mut document = document();
    document.set_or_remove(MANAGED, Some(json!([{"manager": "m", "fieldsV1": {"f:data": {"f:\"]": {}}}}])));
    let new = Stored::encode(&document);
    let Parts { text, facts, .. } = split(new.bytes()).unwrap();
    for (version, facts) in [(FIRST_VERSION, &facts[..facts.len() - 1]), (SECOND_VERSION, facts)] {
        let length = number(facts.len()).to_le_bytes();
        let old = [text, b"\n", facts, &[version], length.as_slice()].concat();
        let old = Stored::from_bytes(old.into());
        assert_eq!(old.facts(), new.facts());
        assert_eq!(terms(old.bytes()), terms(new.bytes()));
        assert_eq!(told(&old), told(&new));
        assert_eq!(old.document(Revision::new(3)), new.document(Revision::new(3)));
        assert_eq!(old.sketch().unwrap().encode(), new);
        assert_eq!(old.pieces().unwrap().unwrap().encode(), new);
    }
    let mut newer = new.bytes().to_vec();
    let at = newer.len() - 5;
    newer[at] = VERSION + 1;
    assert_eq!(Stored::from_bytes(newer.into()).facts(), Err(NotStored::UnknownVersion(VERSION + 1)));
}

fn told(stored: &Stored) -> String {
    let mut text = Vec::new();
    crate::partial::write(stored, Revision::new(3), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Wherever they stand among the metadata.
#[test]
fn managed_fields_are_not_told() {
    let managed = json!([{"manager": "m"}]);
    for mut metadata in
        [json!({}), json!({"name": "n"}), json!({"labels": {}}), json!({"labels": {}, "name": "n"})]
    {
        let whole = |metadata: &Value| {
            let value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
            Stored::encode(&Document::from_value(value).unwrap())
        };
        let expected = told(&whole(&metadata));
        metadata[MANAGED] = managed.clone();
        assert_eq!(told(&whole(&metadata)), expected);
        let kept: Value = serde_json::from_str(&expected).unwrap();
        assert_eq!(kept["metadata"]["resourceVersion"], "3");
    }
}
