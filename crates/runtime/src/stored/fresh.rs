//! The resource of an object that is not stored yet: straight to text, since there is nothing to compare it with.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use sexton_model::environment::{CLASSES_GROUP, CLASSES_VERSION, Reference};

use super::translate::{Find, InSpec};
use super::write::Marks;
use crate::model::{ModelObject, Plain};

/// A new resource.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fresh<'a, 'f> {
    api_version: GroupVersion,
    kind: &'a str,
    metadata: Metadata<'a>,
    spec: Spec<'a, 'f>,
}

/// The group and version of all classes.
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
    properties: &'a BTreeMap<String, Plain>,
    find: &'a Find<'f>,
}

impl<'a, 'f> Fresh<'a, 'f> {
    pub(super) fn new(
        environment: &'a str,
        object: &'a ModelObject,
        slot: &'a Reference,
        owner: Option<&'a Reference>,
        marks: &'a Marks,
        find: &'a Find<'f>,
    ) -> Fresh<'a, 'f> {
        let said = marks.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
        Fresh {
            api_version: GroupVersion,
            kind: &object.class,
            metadata: Metadata {
                annotations: said.collect(),
                name: &slot.name,
                namespace: environment,
                owner_references: owner.map(|owner| [OwnerReference::to(owner)]),
                uid: &slot.uid,
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
        let written = |value| InSpec { value, find: self.find };
        to.collect_map(self.properties.iter().map(|(name, value)| (name, written(value))))
    }
}
