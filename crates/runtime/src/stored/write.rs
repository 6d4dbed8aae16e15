//! What has to be stored so that an environment is what it is to be.

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
use super::read::{Shelf, is_destroyed, owners};
use super::spec::{ReferenceLookup, SpecValue};
use crate::model::{Dependency, ModelObject, ModelValue};
use crate::world::ObjectId;

/// The resource of one object as a server keeps it, as JSON: a server takes 3 MiB, and writes a little more into it.
pub const MAX_OBJECT_BYTES: usize = (3 << 20) - (16 << 10);

/// Why an object cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    /// The annotation would be refused.
    #[error(
        "{object} has more destruction dependencies than can be stored with it: {bytes} bytes, at most {}",
        subscription::MAX_BYTES
    )]
    Dependencies {
        /// Which object.
        object: String,
        /// How much it would be.
        bytes: usize,
    },
    /// A server would refuse it.
    #[error(
        "{object} is too large to be stored: {bytes} bytes, at most {MAX_OBJECT_BYTES}; most of it is in {largest}"
    )]
    TooLarge {
        /// Which object.
        object: String,
        /// How much it would be.
        bytes: usize,
        /// Its largest property.
        largest: String,
    },
    /// It could be stored, but not be written down before.
    #[error(
        "{object} is too large to be stored: {bytes} bytes when it is written down, at most {MAX_OBJECT_BYTES}; its texts cannot be packed"
    )]
    TooLargePacked {
        /// Which object.
        object: String,
        /// How much it would be.
        bytes: usize,
    },
    /// There is no text for it.
    #[error("{object} cannot be written: {why}")]
    Text {
        /// Which object.
        object: String,
        /// Why not.
        why: String,
    },
}

/// One resource that has to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The object.
    pub id: ObjectId,
    /// Its life.
    pub uid: String,
    /// Its class.
    pub kind: String,
    /// The name of its resource.
    pub name: String,
    /// The uids of those who own it.
    pub owners: Vec<String>,
    /// The version on which it rests; nothing for a new one.
    pub version: Option<String>,
    /// The resource as it is to be, as text: it is only ever passed on. The mark of the destroyed is not in it: that is
    /// set for itself.
    pub resource: Raw,
    /// Whether the object was destroyed and does not say so yet.
    pub mark_destroyed: bool,
}

/// What has to be written so that all of these objects are stored as they are, one after the other. `fresh` gives uids to
/// new ones. Each may be impossible: see [`Unwritable`].
pub fn changes<'a>(
    shelf: &'a Shelf,
    objects: &'a [ModelObject],
    mut fresh: impl FnMut() -> Uid,
) -> impl Iterator<Item = Result<Change, Unwritable>> + 'a {
    let references = references(shelf, objects, &mut fresh);
    objects.iter().filter_map(move |object| change(shelf, object, &references).transpose())
}

/// What has to be written for one object, if anything.
fn change(
    shelf: &Shelf,
    object: &ModelObject,
    references: &References,
) -> Result<Option<Change>, Unwritable> {
    let reference = references.get(&object.id).cloned().unwrap_or_default();
    let owner = object.owner.as_ref().and_then(|owner| references.get(owner));
    let find = |id: &ObjectId| references.get(id).map(Cow::Borrowed);
    let marks = annotations_of(object, &reference, &find)?;
    let (resource, owners, version) = match shelf.get(&object.id) {
        None => {
            let fresh = NewResource::new(&shelf.environment, object, &reference, owner, &marks, &find);
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
    let mark_destroyed = object.destroyed && !shelf.get(&object.id).is_some_and(is_destroyed);
    let Reference { kind, name, uid } = reference;
    Ok(Some(Change { id: object.id.clone(), uid, kind, name, owners, version, resource, mark_destroyed }))
}

/// What a server writes beside a value to say who manages it: each name of a map once more. As deep as values may be.
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

/// What an object of a model would take, about, if that is too much to be stored.
pub fn too_large(object: &ModelObject) -> Option<usize> {
    let long = || "x".repeat(36);
    let somewhere = Reference { kind: long(), name: long(), uid: long() };
    let find = |_: &ObjectId| Some(Cow::Borrowed(&somewhere));
    let bytes = |value: &ModelValue| to_spec(value, &find).to_string().len() + managed_bytes(value);
    let all = object.properties.iter().map(|(name, value)| name.len() + bytes(value)).sum();
    (all > MAX_OBJECT_BYTES).then_some(all)
}

/// The property that takes most of the text of a resource.
fn largest(resource: &Raw) -> String {
    let resource: Value = serde_json::from_str(resource.text()).unwrap_or_default();
    let properties = resource["spec"].as_object().into_iter().flatten();
    let largest = properties.max_by_key(|(_, value)| value.to_string().len());
    largest.map(|(name, _)| name.clone()).unwrap_or_default()
}

/// As people know it.
fn named(object: &ModelObject) -> String {
    format!("{} {}", object.class, object.name.as_deref().unwrap_or(object.id.as_str()))
}

/// Where each object is, by id.
type References = HashMap<ObjectId, Reference>;

/// Where each object is, or will be.
fn references(shelf: &Shelf, objects: &[ModelObject], fresh: &mut dyn FnMut() -> Uid) -> References {
    let mut taken: TakenNames = HashSet::new();
    taken.extend(shelf.reserved().cloned());
    for (_, resource) in shelf.resources() {
        taken.insert((text(resource, "/kind").to_owned(), text(resource, "/metadata/name").to_owned()));
    }
    let mut references: References =
        shelf.resources().map(|(id, resource)| (id.clone(), reference_to(resource))).collect();
    for object in objects {
        let reference = match shelf.get(&object.id) {
            Some(_) => continue,
            None => {
                let name = free_name(object, &mut taken);
                // An id that could be a uid is one: then nothing has to be written down about it.
                let uid = if is_uuid(object.id.as_str()) { object.id.to_string() } else { fresh().0 };
                Reference { kind: object.class.clone(), name, uid }
            }
        };
        references.insert(object.id.clone(), reference);
    }
    references
}

/// Where a stored object is.
fn reference_to(resource: &Value) -> Reference {
    let field = |pointer: &str| text(resource, pointer).to_owned();
    Reference { kind: field("/kind"), name: field("/metadata/name"), uid: field("/metadata/uid") }
}

impl Shelf {
    /// A value as it is written of an object of this shelf.
    pub fn value(&self, value: &ModelValue) -> Value {
        to_spec(value, &|id| self.get(id).map(reference_to).map(Cow::Owned))
    }

    /// Writes what an object depends on onto its resource. Dependencies on objects that are not on this shelf stay.
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

/// Kinds and names that are not free any more.
type TakenNames = HashSet<(String, String)>;

/// The name of a new resource: what people call the object, or its id, or something made of its class.
fn free_name(object: &ModelObject, taken: &mut TakenNames) -> String {
    let id = object.id.as_str().to_lowercase();
    let class = object.class.to_lowercase();
    let wishes = [object.name.clone(), Some(id), Some(class.clone())];
    for wish in wishes.into_iter().flatten().filter(|wish| names::dns_subdomain(wish).is_ok()) {
        if taken.insert((object.class.clone(), wish.clone())) {
            return wish;
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

/// What a resource says of its object besides its properties: annotations, and none where there is nothing to say.
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

/// A stored resource with what its object is now.
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

/// A value as it is written in `spec`.
fn to_spec(value: &ModelValue, find: &ReferenceLookup<'_>) -> Value {
    // Only a name that is no text could not be written, and all are.
    serde_json::to_value(SpecValue { value, find }).unwrap_or_default()
}

/// The one owner among objects; what others wrote there stays.
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

/// A dependency as it is written at the one who depends; nothing if the other is nowhere.
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

/// As text, if that may be stored.
fn bounded(object: impl Fn() -> String, mut all: Vec<Subscription>) -> Result<Option<String>, Unwritable> {
    // The same dependencies are the same text, whoever subscribed first.
    all.sort();
    let text = subscription::format(&all);
    match text.as_ref().map(String::len).filter(|bytes| *bytes > subscription::MAX_BYTES) {
        Some(bytes) => Err(Unwritable::Dependencies { object: object(), bytes }),
        None => Ok(text),
    }
}

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
