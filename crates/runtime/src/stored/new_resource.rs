//! The resource of an object that is not stored yet. It is serialized straight to text: there is no stored version to
//! compare it with.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use sexton_model::environment::{CLASSES_GROUP, CLASSES_VERSION, Reference};

use super::spec::{ReferenceLookup, SpecValue};
use super::write::ObjectAnnotations;
use crate::model::{ModelObject, ModelValue};

/// The resource of a new object, for serialization.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewResource<'a, 'f> {
    api_version: GroupVersion,
    kind: &'a str,
    metadata: Metadata<'a>,
    spec: Spec<'a, 'f>,
}

/// The API version of all classes.
struct GroupVersion;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'a str, &'a str>,
    name: &'a str,
    namespace: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_references: Option<[OwnerReference<'a>; 1]>,
    uid: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnerReference<'a> {
    api_version: GroupVersion,
    kind: &'a str,
    name: &'a str,
    uid: &'a str,
}

struct Spec<'a, 'f> {
    properties: &'a BTreeMap<String, ModelValue>,
    find: &'a ReferenceLookup<'f>,
}

impl<'a, 'f> NewResource<'a, 'f> {
    pub(super) fn new(
        environment: &'a str,
        object: &'a ModelObject,
        reference: &'a Reference,
        owner: Option<&'a Reference>,
        marks: &'a ObjectAnnotations,
        find: &'a ReferenceLookup<'f>,
    ) -> NewResource<'a, 'f> {
        let annotations = marks.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
        NewResource {
            api_version: GroupVersion,
            kind: &object.class,
            metadata: Metadata {
                annotations: annotations.collect(),
                name: &reference.name,
                namespace: environment,
                owner_references: owner.map(|owner| [OwnerReference::to(owner)]),
                uid: &reference.uid,
            },
            spec: Spec { properties: &object.properties, find },
        }
    }
}

impl<'a> OwnerReference<'a> {
    fn to(owner: &'a Reference) -> OwnerReference<'a> {
        let Reference { kind, name, uid } = owner;
        OwnerReference { api_version: GroupVersion, kind, name, uid }
    }
}

impl Serialize for GroupVersion {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{CLASSES_GROUP}/{CLASSES_VERSION}"))
    }
}

impl Serialize for Spec<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let written = |value| SpecValue { value, find: self.find };
        to.collect_map(self.properties.iter().map(|(name, value)| (name, written(value))))
    }
}
