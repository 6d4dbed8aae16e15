//! The stored resources of an environment, and the objects that they stand for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use sexton_client::resources::text;
use sexton_model::environment::{CLASSES_GROUP, OBJECT_ID, OBJECT_NAME, Reference};
use sexton_model::marks;
use sexton_model::subscription::{self, Target};

use super::spec::from_spec;
use crate::model::{Dependency, Model, ModelObject, ModelValue};
use crate::world::ObjectId;

/// Why stored resources cannot be read as objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Two resources have the same object id, so references to it are ambiguous.
    #[error("two resources say that they are the object {id}: {first} and {second}")]
    Twice {
        /// The id.
        id: String,
        /// The first resource.
        first: String,
        /// The second resource.
        second: String,
    },
    /// An annotation contains a text that is not an object id.
    #[error("{resource}: {id:?} cannot be the id of an object")]
    BadId {
        /// The resource.
        resource: String,
        /// The id.
        id: String,
    },
}

/// The resources of an environment, indexed by the ids of the objects that they stand for. A copy in memory: changing
/// it writes nothing.
#[derive(Debug, Clone, Default)]
pub struct StoredObjects {
    /// The namespace of the environment.
    pub environment: String,
    resources: BTreeMap<ObjectId, Value>,
    ids: HashMap<String, ObjectId>,
    /// The dependents of each owner, by the owner's uid.
    owned: HashMap<String, BTreeSet<ObjectId>>,
    /// Kinds and names that are taken by resources outside of the environment.
    reserved: BTreeSet<(String, String)>,
    /// References to objects that are gone, as messages. Filled by [`StoredObjects::model`].
    pub dangling: Vec<String>,
}

impl StoredObjects {
    /// Indexes resources. Terminating resources are left out: they do not belong to the environment any more.
    ///
    /// # Errors
    /// See [`Unreadable`].
    pub fn new(
        environment: &str,
        resources: impl IntoIterator<Item = Value>,
    ) -> Result<StoredObjects, Unreadable> {
        let is_not_terminating =
            |resource: &Value| resource.pointer("/metadata/deletionTimestamp").is_none_or(Value::is_null);
        StoredObjects::with_all(environment, resources.into_iter().filter(is_not_terminating))
    }

    /// Indexes resources, terminating ones included.
    ///
    /// # Errors
    /// See [`Unreadable`].
    pub fn with_all(
        environment: &str,
        resources: impl IntoIterator<Item = Value>,
    ) -> Result<StoredObjects, Unreadable> {
        let mut stored_objects =
            StoredObjects { environment: environment.to_owned(), ..StoredObjects::default() };
        for resource in resources {
            let id = annotation(&resource, OBJECT_ID).unwrap_or_else(|| text(&resource, "/metadata/uid"));
            let Ok(id) = ObjectId::new(id) else {
                return Err(Unreadable::BadId { resource: label(&resource), id: id.to_owned() });
            };
            if let Some(other) = stored_objects.resources.get(&id) {
                let (first, second) = (label(other), label(&resource));
                return Err(Unreadable::Twice { id: id.to_string(), first, second });
            }
            stored_objects.put(&id, resource);
        }
        Ok(stored_objects)
    }

    /// Reserves the name of a resource that is not an object of the environment, so that no new object gets it.
    pub fn reserve(&mut self, resource: &Value) {
        let field = |pointer: &str| text(resource, pointer).to_owned();
        self.reserved.insert((field("/kind"), field("/metadata/name")));
    }

    /// Kinds and names that are taken by resources outside of the environment.
    pub fn reserved(&self) -> impl Iterator<Item = &(String, String)> {
        self.reserved.iter()
    }

    /// The number of resources.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Whether there are no resources.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The resource of an object.
    pub fn get(&self, id: &ObjectId) -> Option<&Value> {
        self.resources.get(id)
    }

    /// The id of the object with a uid.
    pub fn id_of(&self, uid: &str) -> Option<&ObjectId> {
        self.ids.get(uid)
    }

    /// The dependents of the object with a uid.
    pub fn owned_by(&self, uid: &str) -> impl Iterator<Item = &ObjectId> {
        self.owned.get(uid).into_iter().flatten()
    }

    /// All resources, by id.
    pub fn resources(&self) -> impl Iterator<Item = (&ObjectId, &Value)> {
        self.resources.iter()
    }

    /// Removes the resource of an object and returns it.
    pub fn remove(&mut self, id: &ObjectId) -> Option<Value> {
        let gone = self.resources.remove(id)?;
        self.ids.remove(text(&gone, "/metadata/uid"));
        for owner in owners(&gone) {
            self.owned.get_mut(owner).map(|owned| owned.remove(id));
        }
        Some(gone)
    }

    /// Inserts or replaces the resource of an object.
    pub fn put(&mut self, id: &ObjectId, resource: Value) {
        self.remove(id);
        self.ids.insert(text(&resource, "/metadata/uid").to_owned(), id.clone());
        for owner in owners(&resource) {
            self.owned.entry(owner.to_owned()).or_default().insert(id.clone());
        }
        self.resources.insert(id.clone(), resource);
    }

    /// The model of all objects, in the order of their ids. Sets [`StoredObjects::dangling`].
    pub fn model(&mut self, root: Option<ObjectId>) -> Model {
        let mut dangling = Vec::new();
        let objects = self.resources.iter().map(|(id, resource)| self.read(id, resource, &mut dangling));
        let objects = objects.collect();
        self.dangling = dangling;
        let lenient = self.resources.keys().cloned().collect();
        Model { objects, root: root.filter(|root| self.resources.contains_key(root)), lenient }
    }

    /// The model form of one stored object.
    pub fn object(&self, id: &ObjectId) -> Option<ModelObject> {
        Some(self.read(id, self.resources.get(id)?, &mut Vec::new()))
    }

    fn read(&self, id: &ObjectId, resource: &Value, dangling: &mut Vec<String>) -> ModelObject {
        let mut find = |reference: &Reference| {
            let found = self.id_of(&reference.uid).cloned();
            if found.is_none() {
                let target = format!("{}/{}", reference.kind, reference.name);
                dangling.push(format!("{} refers to {target}, which is gone", label(resource)));
            }
            found
        };
        let properties = match from_spec(&resource["spec"], &mut find) {
            ModelValue::Map(map) => map,
            _ => BTreeMap::new(),
        };
        ModelObject {
            id: id.clone(),
            class: text(resource, "/kind").to_owned(),
            name: name_of(resource, id),
            owner: self.owner(resource),
            destroyed: is_destroyed(resource),
            dependencies: self.dependencies(id, resource, dangling),
            properties,
            path: label(resource),
        }
    }

    fn owner(&self, resource: &Value) -> Option<ObjectId> {
        owners(resource).next().and_then(|uid| self.id_of(uid)).cloned()
    }

    fn dependencies(&self, id: &ObjectId, resource: &Value, dangling: &mut Vec<String>) -> Vec<Dependency> {
        let Some(written) = annotation(resource, marks::DEPENDENCIES) else { return Vec::new() };
        let subscriptions = match subscription::parse(written) {
            Ok(subscriptions) => subscriptions,
            Err(error) => {
                dangling.push(format!("{}: its dependencies are ignored: {error}", label(resource)));
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for one in subscriptions {
            let target = match (&one.target, &one.uid) {
                (Target::Own, _) => Some(id.clone()),
                (_, Some(uid)) => self.id_of(uid).cloned(),
                (Target::Named { kind, name, .. }, None) => self.named(kind, name),
            };
            match target {
                Some(target) => {
                    found.push(Dependency { target, handler: one.handler, count: one.count });
                }
                None => {
                    dangling.push(format!("{} depends on {}, which is gone", label(resource), one.target))
                }
            }
        }
        found
    }

    fn named(&self, kind: &str, name: &str) -> Option<ObjectId> {
        let is =
            |resource: &Value| text(resource, "/kind") == kind && text(resource, "/metadata/name") == name;
        self.resources.iter().find(|(_, resource)| is(resource)).map(|(id, _)| id.clone())
    }
}

/// The name of an object: from the annotation, else the name of the resource unless that is the object's id.
fn name_of(resource: &Value, id: &ObjectId) -> Option<String> {
    match annotation(resource, OBJECT_NAME) {
        Some("") => None,
        Some(name) => Some(name.to_owned()),
        None => Some(text(resource, "/metadata/name").to_owned()).filter(|name| name != id.as_str()),
    }
}

/// Whether the object of a resource was destroyed.
pub fn is_destroyed(resource: &Value) -> bool {
    annotation(resource, marks::DESTROYED) == Some("true")
}

/// The uids of owners that are objects, not other resources.
pub(crate) fn owners(resource: &Value) -> impl Iterator<Item = &str> {
    let owners = resource.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let ours = |owner: &&Value| text(owner, "/apiVersion").starts_with(CLASSES_GROUP);
    owners.into_iter().flatten().filter(ours).map(|owner| text(owner, "/uid"))
}

/// The value of an annotation.
pub(crate) fn annotation<'r>(resource: &'r Value, name: &str) -> Option<&'r str> {
    resource.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// `kind/name`, for messages.
pub(crate) fn label(resource: &Value) -> String {
    format!("{}/{}", text(resource, "/kind"), text(resource, "/metadata/name"))
}
