//! What is stored of an environment, and the objects that it stands for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use sexton_client::resources::text;
use sexton_model::environment::{CLASSES_GROUP, OBJECT_ID, OBJECT_NAME, Reference};
use sexton_model::marks;
use sexton_model::subscription::{self, Target};

use super::spec::from_spec;
use crate::model::{Dependency, Model, ModelObject, ModelValue};
use crate::world::ObjectId;

/// Why what is stored is no environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nobody could say which is meant.
    #[error("two resources say that they are the object {id}: {first} and {second}")]
    Twice {
        /// The id.
        id: String,
        /// A resource.
        first: String,
        /// Another one.
        second: String,
    },
    /// Not everything can be an id.
    #[error("{resource}: {id:?} cannot be the id of an object")]
    BadId {
        /// A resource.
        resource: String,
        /// The id.
        id: String,
    },
}

/// The resources of an environment, by the ids of the objects for which they stand.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    /// The namespace.
    pub environment: String,
    resources: BTreeMap<ObjectId, Value>,
    ids: HashMap<String, ObjectId>,
    /// Who belongs to whom, by the uid of the owner.
    owned: HashMap<String, BTreeSet<ObjectId>>,
    /// Kinds and names that are taken by resources of others.
    reserved: BTreeSet<(String, String)>,
    /// References that lead nowhere, in words.
    pub dangling: Vec<String>,
}

impl Shelf {
    /// Takes in what is stored. Whoever is on its way out does not belong to the environment any more.
    ///
    /// # Errors
    /// See [`Unreadable`].
    pub fn new(environment: &str, resources: impl IntoIterator<Item = Value>) -> Result<Shelf, Unreadable> {
        let stays =
            |resource: &Value| resource.pointer("/metadata/deletionTimestamp").is_none_or(Value::is_null);
        Shelf::with_all(environment, resources.into_iter().filter(stays))
    }

    /// The same, with those who are on their way out.
    ///
    /// # Errors
    /// See [`Unreadable`].
    pub fn with_all(
        environment: &str,
        resources: impl IntoIterator<Item = Value>,
    ) -> Result<Shelf, Unreadable> {
        let mut shelf = Shelf { environment: environment.to_owned(), ..Shelf::default() };
        for resource in resources {
            let id = annotation(&resource, OBJECT_ID).unwrap_or_else(|| text(&resource, "/metadata/uid"));
            let Ok(id) = ObjectId::new(id) else {
                return Err(Unreadable::BadId { resource: label(&resource), id: id.to_owned() });
            };
            if let Some(other) = shelf.resources.get(&id) {
                let (first, second) = (label(other), label(&resource));
                return Err(Unreadable::Twice { id: id.to_string(), first, second });
            }
            shelf.put(&id, resource);
        }
        Ok(shelf)
    }

    /// Notes that the name of a resource is taken, though it stands for no object of the environment.
    pub fn reserve(&mut self, resource: &Value) {
        let field = |pointer: &str| text(resource, pointer).to_owned();
        self.reserved.insert((field("/kind"), field("/metadata/name")));
    }

    /// Kinds and names that are taken by resources of others.
    pub fn reserved(&self) -> impl Iterator<Item = &(String, String)> {
        self.reserved.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The resource of an object.
    pub fn get(&self, id: &ObjectId) -> Option<&Value> {
        self.resources.get(id)
    }

    /// The object of a uid.
    pub fn id_of(&self, uid: &str) -> Option<&ObjectId> {
        self.ids.get(uid)
    }

    /// The objects that belong to the one with a uid.
    pub fn owned_by(&self, uid: &str) -> impl Iterator<Item = &ObjectId> {
        self.owned.get(uid).into_iter().flatten()
    }

    /// All resources, by id.
    pub fn resources(&self) -> impl Iterator<Item = (&ObjectId, &Value)> {
        self.resources.iter()
    }

    /// Forgets an object.
    pub fn remove(&mut self, id: &ObjectId) -> Option<Value> {
        let gone = self.resources.remove(id)?;
        self.ids.remove(text(&gone, "/metadata/uid"));
        for owner in owners(&gone) {
            self.owned.get_mut(owner).map(|owned| owned.remove(id));
        }
        Some(gone)
    }

    /// Notes what is stored for an object.
    pub fn put(&mut self, id: &ObjectId, resource: Value) {
        self.remove(id);
        self.ids.insert(text(&resource, "/metadata/uid").to_owned(), id.clone());
        for owner in owners(&resource) {
            self.owned.entry(owner.to_owned()).or_default().insert(id.clone());
        }
        self.resources.insert(id.clone(), resource);
    }

    /// All objects, by id.
    pub fn model(&mut self, root: Option<ObjectId>) -> Model {
        let mut dangling = Vec::new();
        let objects = self.resources.iter().map(|(id, resource)| self.read(id, resource, &mut dangling));
        let objects = objects.collect();
        self.dangling = dangling;
        let lenient = self.resources.keys().cloned().collect();
        Model { objects, root: root.filter(|root| self.resources.contains_key(root)), lenient }
    }

    /// One object, as it is stored.
    pub fn object(&self, id: &ObjectId) -> Option<ModelObject> {
        Some(self.read(id, self.resources.get(id)?, &mut Vec::new()))
    }

    fn read(&self, id: &ObjectId, resource: &Value, dangling: &mut Vec<String>) -> ModelObject {
        let mut find = |reference: &Reference| {
            let found = self.id_of(&reference.uid).cloned();
            if found.is_none() {
                let whom = format!("{}/{}", reference.kind, reference.name);
                dangling.push(format!("{} refers to {whom}, which is gone", label(resource)));
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

/// What people call an object: it is written there, or it is the name of the resource, unless that was made of the id.
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

/// The uids of owners that are objects.
pub(crate) fn owners(resource: &Value) -> impl Iterator<Item = &str> {
    let owners = resource.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let ours = |owner: &&Value| text(owner, "/apiVersion").starts_with(CLASSES_GROUP);
    owners.into_iter().flatten().filter(ours).map(|owner| text(owner, "/uid"))
}

pub(crate) fn annotation<'r>(resource: &'r Value, name: &str) -> Option<&'r str> {
    resource.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// `kind/name`, for people.
pub(crate) fn label(resource: &Value) -> String {
    format!("{}/{}", text(resource, "/kind"), text(resource, "/metadata/name"))
}
