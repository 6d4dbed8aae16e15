//! What has to be stored so that an environment is what it is to be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use sexton_client::resources::text;
use sexton_model::environment::{CLASSES_GROUP, CLASSES_VERSION, OBJECT_ID, OBJECT_NAME, Reference};
use sexton_model::names;
use sexton_model::subscription::{self, Subscription, Target};
use sexton_model::{Uid, marks};

use super::read::{Shelf, is_destroyed};
use super::translate::to_spec;
use crate::model::{Dependency, ModelObject, Plain};
use crate::world::ObjectId;

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
}

/// One resource that has to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The object.
    pub id: ObjectId,
    /// Its life.
    pub uid: String,
    /// The version on which it rests; nothing for a new one.
    pub version: Option<String>,
    /// The resource as it is to be. The mark of the destroyed is not in it: that is set for itself.
    pub resource: Value,
    /// Whether the object was destroyed and does not say so yet.
    pub mark_destroyed: bool,
}

/// What has to be written so that all of these objects are stored as they are. `fresh` gives uids to new ones.
///
/// # Errors
/// See [`Unwritable`].
pub fn changes(
    shelf: &Shelf,
    objects: &[ModelObject],
    mut fresh: impl FnMut() -> Uid,
) -> Result<Vec<Change>, Unwritable> {
    let slots = slots(shelf, objects, &mut fresh);
    let mut changes = Vec::new();
    for object in objects {
        let resource = resource(shelf, object, &slots)?;
        let stored = shelf.get(&object.id);
        let mark_destroyed = object.destroyed && !stored.is_some_and(is_destroyed);
        if stored.is_some_and(|stored| *stored == resource) && !mark_destroyed {
            continue;
        }
        changes.push(Change {
            id: object.id.clone(),
            uid: text(&resource, "/metadata/uid").to_owned(),
            version: stored.map(|stored| text(stored, "/metadata/resourceVersion").to_owned()),
            resource,
            mark_destroyed,
        });
    }
    Ok(changes)
}

/// Where each object is, or will be.
fn slots(
    shelf: &Shelf,
    objects: &[ModelObject],
    fresh: &mut dyn FnMut() -> Uid,
) -> BTreeMap<ObjectId, Reference> {
    let mut taken: BTreeSet<(String, String)> = BTreeSet::new();
    for (_, resource) in shelf.resources() {
        taken.insert((text(resource, "/kind").to_owned(), text(resource, "/metadata/name").to_owned()));
    }
    let mut slots: BTreeMap<ObjectId, Reference> =
        shelf.resources().map(|(id, resource)| (id.clone(), slot_of(resource))).collect();
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
        slots.insert(object.id.clone(), reference);
    }
    slots
}

/// Where a stored object is.
fn slot_of(resource: &Value) -> Reference {
    let field = |pointer: &str| text(resource, pointer).to_owned();
    Reference { kind: field("/kind"), name: field("/metadata/name"), uid: field("/metadata/uid") }
}

impl Shelf {
    /// A value as it is written of an object of this shelf.
    pub fn value(&self, value: &Plain) -> Value {
        to_spec(value, &|id| self.get(id).map(slot_of))
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
            dependencies.iter().filter_map(|one| subscribed(id, one, &|id| self.get(id).map(slot_of))),
        );
        annotate(resource, marks::DEPENDENCIES, bounded(super::read::label(resource), all)?);
        Ok(())
    }
}

/// The name of a new resource: what people call the object, or its id, or something made of its class.
fn free_name(object: &ModelObject, taken: &mut BTreeSet<(String, String)>) -> String {
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

fn resource(
    shelf: &Shelf,
    object: &ModelObject,
    slots: &BTreeMap<ObjectId, Reference>,
) -> Result<Value, Unwritable> {
    let slot = slots.get(&object.id).cloned().unwrap_or_default();
    let mut resource = shelf.get(&object.id).cloned().unwrap_or_else(|| {
        json!({
            "apiVersion": format!("{CLASSES_GROUP}/{CLASSES_VERSION}"),
            "kind": object.class,
            "metadata": {"name": slot.name, "namespace": shelf.environment, "uid": slot.uid},
        })
    });
    let find = |id: &ObjectId| slots.get(id).cloned();
    let spec: Map<String, Value> =
        object.properties.iter().map(|(name, value)| (name.clone(), to_spec(value, &find))).collect();
    resource["spec"] = spec.into();
    let owner = object.owner.as_ref().and_then(|owner| slots.get(owner));
    set_owner(&mut resource, owner);
    let dependencies = dependencies(object, slots)?;
    let differs = |is: &str, other: &str| (is != other).then(|| is.to_owned());
    let name = object.name.as_deref().unwrap_or_default();
    let named = if object.name.is_none() && slot.name == object.id.as_str() {
        None
    } else {
        differs(name, &slot.name)
    };
    for (key, value) in [
        (OBJECT_ID, differs(object.id.as_str(), &slot.uid)),
        (OBJECT_NAME, named),
        (marks::DEPENDENCIES, dependencies),
    ] {
        annotate(&mut resource, key, value);
    }
    Ok(resource)
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

fn dependencies(
    object: &ModelObject,
    slots: &BTreeMap<ObjectId, Reference>,
) -> Result<Option<String>, Unwritable> {
    let find = |id: &ObjectId| slots.get(id).cloned();
    let all: Vec<Subscription> =
        object.dependencies.iter().filter_map(|one| subscribed(&object.id, one, &find)).collect();
    bounded(format!("{} {}", object.class, object.name.as_deref().unwrap_or(object.id.as_str())), all)
}

/// A dependency as it is written at the one who depends; nothing if the other is nowhere.
fn subscribed(
    id: &ObjectId,
    one: &Dependency,
    find: &dyn Fn(&ObjectId) -> Option<Reference>,
) -> Option<Subscription> {
    let slot = find(&one.target)?;
    let target = match one.target == *id {
        true => Target::Own,
        false => Target::Named {
            group: CLASSES_GROUP.to_owned(),
            kind: slot.kind.clone(),
            namespace: None,
            name: slot.name.clone(),
        },
    };
    let uid = (target != Target::Own).then_some(slot.uid);
    Some(Subscription { target, uid, handler: one.handler.clone(), count: one.count.max(1) })
}

/// As text, if that may be stored.
fn bounded(object: String, mut all: Vec<Subscription>) -> Result<Option<String>, Unwritable> {
    // The same dependencies are the same text, whoever subscribed first.
    all.sort();
    let text = subscription::format(&all);
    match text.as_ref().map(String::len).filter(|bytes| *bytes > subscription::MAX_BYTES) {
        Some(bytes) => Err(Unwritable::Dependencies { object, bytes }),
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
