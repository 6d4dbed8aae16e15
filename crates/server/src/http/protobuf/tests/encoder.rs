//! Some of the messages for an encoder that is not ours, with the numbers that Kubernetes gives them.

use std::collections::BTreeMap;

use prost::Message as _;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TypeMeta {
    #[prost(string, optional, tag = "1")]
    pub(super) api_version: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) kind: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Unknown {
    #[prost(message, optional, tag = "1")]
    pub(super) type_meta: Option<TypeMeta>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(super) raw: Option<Vec<u8>>,
    #[prost(string, optional, tag = "3")]
    pub(super) content_encoding: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) content_type: Option<String>,
    /// Of the future.
    #[prost(string, optional, tag = "77")]
    pub(super) unheard_of: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Time {
    #[prost(int64, optional, tag = "1")]
    pub(super) seconds: Option<i64>,
    #[prost(int32, optional, tag = "2")]
    pub(super) nanos: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OwnerReference {
    #[prost(string, optional, tag = "1")]
    pub(super) kind: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) name: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) uid: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub(super) api_version: Option<String>,
    #[prost(bool, optional, tag = "6")]
    pub(super) controller: Option<bool>,
    #[prost(bool, optional, tag = "7")]
    pub(super) block_owner_deletion: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FieldsV1 {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(super) raw: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ManagedFields {
    #[prost(string, optional, tag = "1")]
    pub(super) manager: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) operation: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) api_version: Option<String>,
    #[prost(message, optional, tag = "4")]
    pub(super) time: Option<Time>,
    #[prost(string, optional, tag = "6")]
    pub(super) fields_type: Option<String>,
    #[prost(message, optional, tag = "7")]
    pub(super) fields: Option<FieldsV1>,
    #[prost(string, optional, tag = "8")]
    pub(super) subresource: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ObjectMeta {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) generate_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) namespace: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub(super) uid: Option<String>,
    #[prost(int64, optional, tag = "7")]
    pub(super) generation: Option<i64>,
    #[prost(message, optional, tag = "8")]
    pub(super) creation_timestamp: Option<Time>,
    #[prost(int64, optional, tag = "10")]
    pub(super) grace: Option<i64>,
    #[prost(btree_map = "string, string", tag = "11")]
    pub(super) labels: BTreeMap<String, String>,
    #[prost(btree_map = "string, string", tag = "12")]
    pub(super) annotations: BTreeMap<String, String>,
    #[prost(message, repeated, tag = "13")]
    pub(super) owners: Vec<OwnerReference>,
    #[prost(string, repeated, tag = "14")]
    pub(super) finalizers: Vec<String>,
    #[prost(message, repeated, tag = "17")]
    pub(super) managed_fields: Vec<ManagedFields>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Secret {
    #[prost(message, optional, tag = "1")]
    pub(super) metadata: Option<ObjectMeta>,
    #[prost(btree_map = "string, bytes", tag = "2")]
    pub(super) data: BTreeMap<String, Vec<u8>>,
    #[prost(string, optional, tag = "3")]
    pub(super) of: Option<String>,
    #[prost(btree_map = "string, string", tag = "4")]
    pub(super) string_data: BTreeMap<String, String>,
    #[prost(bool, optional, tag = "5")]
    pub(super) immutable: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct LeaseSpec {
    #[prost(string, optional, tag = "1")]
    pub(super) holder: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) seconds: Option<i32>,
    #[prost(message, optional, tag = "4")]
    pub(super) renewed: Option<Time>,
    #[prost(int32, optional, tag = "5")]
    pub(super) transitions: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Lease {
    #[prost(message, optional, tag = "1")]
    pub(super) metadata: Option<ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    pub(super) spec: Option<LeaseSpec>,
}

/// A message in its envelope.
pub(super) fn wrapped(api_version: &str, kind: &str, message: &impl prost::Message) -> Vec<u8> {
    let type_meta = TypeMeta { api_version: Some(api_version.into()), kind: Some(kind.into()) };
    enveloped(&Unknown {
        type_meta: Some(type_meta),
        raw: Some(message.encode_to_vec()),
        unheard_of: Some("of".into()),
        ..Unknown::default()
    })
}

pub(super) fn enveloped(envelope: &Unknown) -> Vec<u8> {
    [b"k8s\0".to_vec(), envelope.encode_to_vec()].concat()
}
