//! What another encoder writes is read as what a person would write down for it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sexton_model::time;

use super::encoder::{
    FieldsV1, Lease, LeaseSpec, ManagedFields, ObjectMeta, OwnerReference, Secret, Time, wrapped,
};
use super::read;

const WORD: &str = "[a-zé]{0,4}";

fn time_of() -> impl Strategy<Value = Option<Time>> {
    let some = (-60_000_000_000_i64..250_000_000_000, 0..1_000_000_000_i32);
    of(some.prop_map(|(seconds, nanos)| Time { seconds: Some(seconds), nanos: Some(nanos) }))
}

fn owner() -> impl Strategy<Value = OwnerReference> {
    (of(WORD), of(WORD), of(WORD), of(any::<bool>()), of(any::<bool>())).prop_map(
        |(kind, name, uid, controller, block_owner_deletion)| OwnerReference {
            kind,
            name,
            uid,
            api_version: Some("v1".into()),
            controller,
            block_owner_deletion,
        },
    )
}

fn managed() -> impl Strategy<Value = ManagedFields> {
    (WORD, time_of(), of(WORD), any::<bool>()).prop_map(|(manager, time, subresource, fields)| {
        ManagedFields {
            manager: Some(manager),
            operation: Some("Update".into()),
            api_version: Some(String::new()),
            time,
            fields_type: Some("FieldsV1".into()),
            fields: fields.then(|| FieldsV1 { raw: Some(br#"{"f:data":{".":{}}}"#.to_vec()) }),
            subresource,
        }
    })
}

prop_compose! {
    fn metadata()(
        name in of(WORD), generate_name in of(WORD), generation in of(any::<i64>()), grace in of(any::<i64>()),
        creation_timestamp in time_of(), labels in btree_map(WORD, WORD, 0..3), annotations in btree_map(WORD, WORD, 0..3),
        owners in vec(owner(), 0..3), finalizers in vec(WORD, 0..3), managed_fields in vec(managed(), 0..3),
    ) -> ObjectMeta {
        ObjectMeta {
            name, generate_name, namespace: None, uid: None, generation, creation_timestamp, grace, labels, annotations,
            owners, finalizers, managed_fields,
        }
    }
}

/// An object without what is null.
fn there(pairs: Vec<(&str, Value)>) -> Map<String, Value> {
    pairs
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// What is no pointer is there if it is not empty.
fn solid(text: &Option<String>) -> Value {
    json!(text.as_ref().filter(|text| !text.is_empty()))
}

fn written(time: &Option<Time>, micros: bool) -> Value {
    let Some(Time { seconds: Some(seconds), nanos }) = time else { return Value::Null };
    let whole = time::format(*seconds);
    if !micros {
        return whole.into();
    }
    format!("{}.{:06}Z", whole.trim_end_matches('Z'), nanos.unwrap_or(0) / 1000).into()
}

fn listed<T>(list: &[T], each: impl Fn(&T) -> Value) -> Value {
    if list.is_empty() { Value::Null } else { list.iter().map(each).collect() }
}

fn mapped<T>(map: &BTreeMap<String, T>, each: impl Fn(&T) -> Value) -> Value {
    if map.is_empty() {
        return Value::Null;
    }
    map.iter().map(|(name, value)| (name.clone(), each(value))).collect::<Map<String, Value>>().into()
}

fn expected_metadata(metadata: &ObjectMeta) -> Value {
    let owner = |owner: &OwnerReference| {
        Value::Object(there(vec![
            ("kind", json!(owner.kind)),
            ("name", json!(owner.name)),
            ("uid", json!(owner.uid)),
            ("apiVersion", json!(owner.api_version)),
            ("controller", json!(owner.controller)),
            ("blockOwnerDeletion", json!(owner.block_owner_deletion)),
        ]))
    };
    let managed = |entry: &ManagedFields| {
        Value::Object(there(vec![
            ("manager", solid(&entry.manager)),
            ("operation", solid(&entry.operation)),
            ("apiVersion", solid(&entry.api_version)),
            ("time", written(&entry.time, false)),
            ("fieldsType", solid(&entry.fields_type)),
            ("fieldsV1", json!(entry.fields.as_ref().map(|_| json!({"f:data": {".": {}}})))),
            ("subresource", solid(&entry.subresource)),
        ]))
    };
    let text = |text: &String| text.as_str().into();
    let object = there(vec![
        ("name", solid(&metadata.name)),
        ("generateName", solid(&metadata.generate_name)),
        ("generation", json!(metadata.generation.filter(|number| *number != 0))),
        ("creationTimestamp", written(&metadata.creation_timestamp, false)),
        ("deletionGracePeriodSeconds", json!(metadata.grace)),
        ("labels", mapped(&metadata.labels, text)),
        ("annotations", mapped(&metadata.annotations, text)),
        ("ownerReferences", listed(&metadata.owners, owner)),
        ("finalizers", listed(&metadata.finalizers, text)),
        ("managedFields", listed(&metadata.managed_fields, managed)),
    ]);
    if object.is_empty() { Value::Null } else { object.into() }
}

proptest! {
    #[test]
    fn secrets(
        metadata in of(metadata()), data in btree_map(WORD, vec(any::<u8>(), 0..6), 0..3), kind in of(WORD),
        string_data in btree_map(WORD, WORD, 0..3), immutable in of(any::<bool>()),
    ) {
        let expected = there(vec![
            ("apiVersion", "v1".into()),
            ("kind", "Secret".into()),
            ("metadata", metadata.as_ref().map_or(Value::Null, expected_metadata)),
            ("data", mapped(&data, |bytes| BASE64_STANDARD.encode(bytes).into())),
            ("type", solid(&kind)),
            ("stringData", mapped(&string_data, |text| text.as_str().into())),
            ("immutable", json!(immutable)),
        ]);
        let secret = Secret { metadata, data, of: kind, string_data, immutable };
        prop_assert_eq!(read(&wrapped("v1", "Secret", &secret)), Ok(Value::Object(expected)));
    }

    #[test]
    fn leases(
        metadata in of(metadata()), holder in of(WORD), seconds in of(any::<i32>()), renewed in time_of(),
        transitions in of(any::<i32>()),
    ) {
        let spec = there(vec![
            ("holderIdentity", json!(holder)),
            ("leaseDurationSeconds", json!(seconds)),
            ("renewTime", written(&renewed, true)),
            ("leaseTransitions", json!(transitions)),
        ]);
        let spec = if spec.is_empty() { Value::Null } else { spec.into() };
        let expected = there(vec![
            ("apiVersion", "coordination.k8s.io/v1".into()),
            ("kind", "Lease".into()),
            ("metadata", metadata.as_ref().map_or(Value::Null, expected_metadata)),
            ("spec", spec),
        ]);
        let lease = Lease { metadata, spec: Some(LeaseSpec { holder, seconds, renewed, transitions }) };
        prop_assert_eq!(read(&wrapped("coordination.k8s.io/v1", "Lease", &lease)), Ok(Value::Object(expected)));
    }
}
