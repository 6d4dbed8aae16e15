//! The writes that bring the stored resources of an environment to a wanted state.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use serde_json::{Value, json};
use sexton_client::resources::text;
use sexton_model::environment::{
    CLASSES_GROUP, CLASSES_VERSION, OBJECT_ID, OBJECT_NAME, OBJECT_UID, Reference,
};
use sexton_model::names;
use sexton_model::raw::Raw;
use sexton_model::subscription::{self, Subscription, Target};
use sexton_model::{Uid, marks};

use super::new_resource::NewResource;
use super::read::{StoredObjects, is_destroyed, owners};
use super::spec::{ReferenceLookup, SpecValue};
use crate::model::{Dependency, ModelObject, ModelValue};
use crate::world::ObjectId;

/// The maximum size of an object's resource in bytes of JSON. A server accepts 3 MiB, and adds fields of its own.
pub const MAX_OBJECT_BYTES: usize = (3 << 20) - (16 << 10);

/// Why an object cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    /// Its dependencies do not fit into an annotation.
    #[error(
        "{object} has more destruction dependencies than can be stored with it: {bytes} bytes, at most {}",
        subscription::MAX_BYTES
    )]
    Dependencies {
        /// The object.
        object: String,
        /// The size that it would have, in bytes.
        bytes: usize,
    },
    /// The resource is larger than a server accepts.
    #[error(
        "{object} is too large to be stored: {bytes} bytes, at most {MAX_OBJECT_BYTES}; most of it is in {largest}"
    )]
    TooLarge {
        /// The object.
        object: String,
        /// The size that it would have, in bytes.
        bytes: usize,
        /// Its largest property.
        largest: String,
    },
    /// The resource could be stored, but not be recorded before, which needs more room.
    #[error(
        "{object} is too large to be stored: {bytes} bytes when it is written down, at most {MAX_OBJECT_BYTES}; its texts cannot be packed"
    )]
    TooLargePacked {
        /// The object.
        object: String,
        /// The size that it would have, in bytes.
        bytes: usize,
    },
    /// It cannot be serialized.
    #[error("{object} cannot be written: {why}")]
    Text {
        /// The object.
        object: String,
        /// The reason.
        why: String,
    },
}

/// A resource that has to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The id of the object.
    pub id: ObjectId,
    /// The uid of the resource.
    pub uid: String,
    /// The class of the object, which is the kind of the resource.
    pub kind: String,
    /// The name of its resource.
    pub name: String,
    /// The uids of its owners.
    pub owners: Vec<String>,
    /// The version that the write replaces; none for a new resource.
    pub version: Option<String>,
    /// The resource to store, as text, since it is only passed on. It lacks the annotation for destroyed objects, which
    /// is set by a separate write.
    pub resource: Raw,
    /// Whether the annotation for destroyed objects has to be set.
    pub mark_destroyed: bool,
}

/// The writes that are needed so that these objects are stored as they are; nothing for objects that are stored like
/// that already. `fresh` generates uids for new objects. An object that cannot be stored is an error in the iteration,
/// see [`Unwritable`].
pub fn changes<'a>(
    stored_objects: &'a StoredObjects,
    objects: &'a [ModelObject],
    mut fresh: impl FnMut() -> Uid,
) -> impl Iterator<Item = Result<Change, Unwritable>> + 'a {
    let references = references(stored_objects, objects, &mut fresh);
    objects.iter().filter_map(move |object| change(stored_objects, object, &references).transpose())
}

/// The write that is needed for one object, if any.
fn change(
    stored_objects: &StoredObjects,
    object: &ModelObject,
    references: &References,
) -> Result<Option<Change>, Unwritable> {
    let reference = references.get(&object.id).cloned().unwrap_or_default();
    let owner = object.owner.as_ref().and_then(|owner| references.get(owner));
    let find = |id: &ObjectId| references.get(id).map(Cow::Borrowed);
    let marks = annotations_of(object, &reference, &find)?;
    let (resource, owners, version) = match stored_objects.get(&object.id) {
        None => {
            let fresh =
                NewResource::new(&stored_objects.environment, object, &reference, owner, &marks, &find);
            (Raw::of(&fresh), owner.map(|owner| owner.uid.clone()).into_iter().collect(), None)
        }
        Some(stored) => {
            let resource = resource(stored, object, owner, marks, &find);
            if *stored == resource && (!object.destroyed || is_destroyed(stored)) {
                return Ok(None);
            }
            let version = text(stored, "/metadata/resourceVersion").to_owned();
            let owners = owners(&resource).map(str::to_owned).collect();
            (Raw::of(&resource), owners, Some(version))
        }
    };
    let resource =
        resource.map_err(|error| Unwritable::Text { object: named(object), why: error.to_string() })?;
    let bytes = resource.text().len() + object.properties.values().map(managed_bytes).sum::<usize>();
    if bytes > MAX_OBJECT_BYTES {
        let object = named(object);
        return Err(Unwritable::TooLarge { object, bytes, largest: largest(&resource) });
    }
    let mark_destroyed = object.destroyed && !stored_objects.get(&object.id).is_some_and(is_destroyed);
    let Reference { kind, name, uid } = reference;
    Ok(Some(Change { id: object.id.clone(), uid, kind, name, owners, version, resource, mark_destroyed }))
}

/// The size of what a server adds for a value to `managedFields`: each key of a map once more. Recursive: the depth of
/// values is bounded.
fn managed_bytes(value: &ModelValue) -> usize {
    /// `"f:":{},`
    const FIELD: usize = 8;
    match value {
        ModelValue::Map(map) => {
            map.iter().map(|(name, inner)| FIELD + name.len() + managed_bytes(inner)).sum()
        }
        ModelValue::Ref(_) => 64,
        _ => 0,
    }
}

/// The approximate size of an object's resource, if it is too large to be stored.
pub fn too_large(object: &ModelObject) -> Option<usize> {
    let long = || "x".repeat(36);
    let somewhere = Reference { kind: long(), name: long(), uid: long() };
    let find = |_: &ObjectId| Some(Cow::Borrowed(&somewhere));
    let bytes = |value: &ModelValue| to_spec(value, &find).to_string().len() + managed_bytes(value);
    let all = object.properties.iter().map(|(name, value)| name.len() + bytes(value)).sum();
    (all > MAX_OBJECT_BYTES).then_some(all)
}

/// The name of the largest property of a resource.
fn largest(resource: &Raw) -> String {
    let resource: Value = serde_json::from_str(resource.text()).unwrap_or_default();
    let properties = resource["spec"].as_object().into_iter().flatten();
    let largest = properties.max_by_key(|(_, value)| value.to_string().len());
    largest.map(|(name, _)| name.clone()).unwrap_or_default()
}

/// Class and name (or id) of an object, for messages.
fn named(object: &ModelObject) -> String {
    format!("{} {}", object.class, object.name.as_deref().unwrap_or(object.id.as_str()))
}

/// The resource of each object, by id.
type References = HashMap<ObjectId, Reference>;

/// The resources of all objects, stored and new; chooses names and uids for new ones.
fn references(
    stored_objects: &StoredObjects,
    objects: &[ModelObject],
    fresh: &mut dyn FnMut() -> Uid,
) -> References {
    let mut taken: TakenNames = HashSet::new();
    taken.extend(stored_objects.reserved().cloned());
    for (_, resource) in stored_objects.resources() {
        taken.insert((text(resource, "/kind").to_owned(), text(resource, "/metadata/name").to_owned()));
    }
    let mut references: References =
        stored_objects.resources().map(|(id, resource)| (id.clone(), reference_to(resource))).collect();
    for object in objects {
        let reference = match stored_objects.get(&object.id) {
            Some(_) => continue,
            None => {
                let name = free_name(object, &mut taken);
                // An id that is a UUID becomes the uid, so that no annotation is needed for it.
                let uid = if is_uuid(object.id.as_str()) { object.id.to_string() } else { fresh().0 };
                Reference { kind: object.class.clone(), name, uid }
            }
        };
        references.insert(object.id.clone(), reference);
    }
    references
}

/// The reference to a stored resource.
fn reference_to(resource: &Value) -> Reference {
    let field = |pointer: &str| text(resource, pointer).to_owned();
    Reference { kind: field("/kind"), name: field("/metadata/name"), uid: field("/metadata/uid") }
}

impl StoredObjects {
    /// A value in the form of `spec`, with references to resources in here.
    pub fn value(&self, value: &ModelValue) -> Value {
        to_spec(value, &|id| self.get(id).map(reference_to).map(Cow::Owned))
    }

    /// Sets the dependencies in an object's resource. Existing dependencies on objects that are not in here stay.
    ///
    /// # Errors
    /// See [`Unwritable`].
    pub fn set_dependencies(
        &self,
        resource: &mut Value,
        id: &ObjectId,
        dependencies: &[Dependency],
    ) -> Result<(), Unwritable> {
        let before = super::read::annotation(resource, marks::DEPENDENCIES).unwrap_or_default();
        let others = subscription::parse(before).unwrap_or_default().into_iter();
        let mut all: Vec<Subscription> =
            others.filter(|one| one.uid.as_ref().is_some_and(|uid| self.id_of(uid).is_none())).collect();
        all.extend(
            dependencies
                .iter()
                .filter_map(|one| subscribed(id, one, &|id| self.get(id).map(reference_to).map(Cow::Owned))),
        );
        let label = super::read::label(resource);
        annotate(resource, marks::DEPENDENCIES, bounded(|| label.clone(), all)?);
        Ok(())
    }
}

/// Kinds and names that are taken.
type TakenNames = HashSet<(String, String)>;

/// A free name for a new resource: the object's name, else its id, else its class, else its class with a number.
fn free_name(object: &ModelObject, taken: &mut TakenNames) -> String {
    let id = object.id.as_str().to_lowercase();
    let class = object.class.to_lowercase();
    let preferred = [object.name.clone(), Some(id), Some(class.clone())];
    for name in preferred.into_iter().flatten().filter(|name| names::dns_subdomain(name).is_ok()) {
        if taken.insert((object.class.clone(), name.clone())) {
            return name;
        }
    }
    let number =
        (2_u64..).find(|number| !taken.contains(&(object.class.clone(), format!("{class}-{number}"))));
    let name = format!("{class}-{}", number.unwrap_or_default());
    taken.insert((object.class.clone(), name.clone()));
    name
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// The annotations that describe an object besides its properties; `None` removes one.
pub(super) type ObjectAnnotations = [(&'static str, Option<String>); 4];

fn annotations_of(
    object: &ModelObject,
    reference: &Reference,
    find: &ReferenceLookup<'_>,
) -> Result<ObjectAnnotations, Unwritable> {
    let differs = |is: &str, other: &str| (is != other).then(|| is.to_owned());
    let name = object.name.as_deref().unwrap_or_default();
    let called = match object.name.is_none() && reference.name == object.id.as_str() {
        true => None,
        false => differs(name, &reference.name),
    };
    let dependencies =
        object.dependencies.iter().filter_map(|one| subscribed(&object.id, one, find)).collect();
    Ok([
        (OBJECT_ID, differs(object.id.as_str(), &reference.uid)),
        (OBJECT_NAME, called),
        (OBJECT_UID, Some(reference.uid.clone())),
        (marks::DEPENDENCIES, bounded(|| named(object), dependencies)?),
    ])
}

/// A stored resource, updated to the current object.
fn resource(
    stored: &Value,
    object: &ModelObject,
    owner: Option<&Reference>,
    marks: ObjectAnnotations,
    find: &ReferenceLookup<'_>,
) -> Value {
    let mut resource = stored.clone();
    resource["spec"] =
        object.properties.iter().map(|(name, value)| (name.clone(), to_spec(value, find))).collect();
    set_owner(&mut resource, owner);
    for (key, value) in marks {
        annotate(&mut resource, key, value);
    }
    resource
}

/// A value in the form of `spec`.
fn to_spec(value: &ModelValue, find: &ReferenceLookup<'_>) -> Value {
    // Serialization fails only for keys that are not texts, and all keys are texts.
    serde_json::to_value(SpecValue { value, find }).unwrap_or_default()
}

/// Sets the owner that is an object. Owner references to other resources stay.
fn set_owner(resource: &mut Value, owner: Option<&Reference>) {
    let owners = resource.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let ours = |owner: &&Value| text(owner, "/apiVersion").starts_with(CLASSES_GROUP);
    let current = owners.into_iter().flatten().find(ours).map(|owner| text(owner, "/uid"));
    if current == owner.map(|owner| owner.uid.as_str()) {
        return;
    }
    let mut kept: Vec<Value> = owners.into_iter().flatten().filter(|owner| !ours(owner)).cloned().collect();
    if let Some(owner) = owner {
        kept.push(json!({
            "apiVersion": format!("{CLASSES_GROUP}/{CLASSES_VERSION}"),
            "kind": owner.kind, "name": owner.name, "uid": owner.uid,
        }));
    }
    match kept.is_empty() {
        true => _ = resource["metadata"].as_object_mut().and_then(|all| all.remove("ownerReferences")),
        false => resource["metadata"]["ownerReferences"] = kept.into(),
    }
}

/// A dependency in the form of the annotation; none if the target has no resource.
fn subscribed(id: &ObjectId, one: &Dependency, find: &ReferenceLookup<'_>) -> Option<Subscription> {
    let reference = find(&one.target)?;
    let target = match one.target == *id {
        true => Target::Own,
        false => Target::Named {
            group: CLASSES_GROUP.to_owned(),
            kind: reference.kind.clone(),
            namespace: None,
            name: reference.name.clone(),
        },
    };
    let uid = (target != Target::Own).then(|| reference.uid.clone());
    Some(Subscription { target, uid, handler: one.handler.clone(), count: one.count.max(1) })
}

/// Dependencies as the text of an annotation.
///
/// # Errors
/// If the text is too long.
fn bounded(object: impl Fn() -> String, mut all: Vec<Subscription>) -> Result<Option<String>, Unwritable> {
    // Sorted, so that the same dependencies give the same text.
    all.sort();
    let text = subscription::format(&all);
    match text.as_ref().map(String::len).filter(|bytes| *bytes > subscription::MAX_BYTES) {
        Some(bytes) => Err(Unwritable::Dependencies { object: object(), bytes }),
        None => Ok(text),
    }
}

/// Sets or removes an annotation.
fn annotate(resource: &mut Value, key: &str, value: Option<String>) {
    match value {
        Some(value) => resource["metadata"]["annotations"][key] = value.into(),
        None => {
            let all = resource.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
            let Some(all) = all else { return };
            all.remove(key);
            if all.is_empty() {
                resource["metadata"].as_object_mut().map(|metadata| metadata.remove("annotations"));
            }
        }
    }
}
