//! What is stored of an environment, and the objects that it stands for.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};
use sexton_client::resources::text;
use sexton_model::environment::{CLASSES_GROUP, OBJECT_ID, OBJECT_NAME, Reference};
use sexton_model::marks;
use sexton_model::subscription::{self, Target};

use super::translate::from_spec;
use super::{Dependency, StoredObject};

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
}

/// The resources of an environment, by the ids of the objects for which they stand.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    /// The namespace.
    pub environment: String,
    resources: BTreeMap<String, Value>,
    ids: HashMap<String, String>,
    /// References that lead nowhere, in words.
    pub dangling: Vec<String>,
}

impl Shelf {
    /// Takes in what is stored. Whoever is on its way out does not belong to the environment any more.
    ///
    /// # Errors
    /// See [`Unreadable`].
    pub fn new(environment: &str, resources: impl IntoIterator<Item = Value>) -> Result<Shelf, Unreadable> {
        let mut shelf = Shelf { environment: environment.to_owned(), ..Shelf::default() };
        for resource in resources {
            if resource.pointer("/metadata/deletionTimestamp").is_some_and(|at| !at.is_null()) {
                continue;
            }
            let uid = text(&resource, "/metadata/uid").to_owned();
            let id = annotation(&resource, OBJECT_ID).map_or_else(|| uid.clone(), str::to_owned);
            if let Some(other) = shelf.resources.get(&id) {
                let (first, second) = (label(other), label(&resource));
                return Err(Unreadable::Twice { id, first, second });
            }
            shelf.ids.insert(uid, id.clone());
            shelf.resources.insert(id, resource);
        }
        Ok(shelf)
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
    pub fn get(&self, id: &str) -> Option<&Value> {
        self.resources.get(id)
    }

    /// The object of a uid.
    pub fn id_of(&self, uid: &str) -> Option<&str> {
        self.ids.get(uid).map(String::as_str)
    }

    /// All resources, by id.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.resources.iter().map(|(id, resource)| (id.as_str(), resource))
    }

    /// Forgets an object.
    pub fn remove(&mut self, id: &str) -> Option<Value> {
        let gone = self.resources.remove(id)?;
        self.ids.remove(text(&gone, "/metadata/uid"));
        Some(gone)
    }

    /// Notes what was stored for an object.
    pub fn put(&mut self, id: &str, resource: Value) {
        self.ids.insert(text(&resource, "/metadata/uid").to_owned(), id.to_owned());
        self.resources.insert(id.to_owned(), resource);
    }

    /// All objects, by id.
    pub fn objects(&mut self) -> Vec<StoredObject> {
        let mut dangling = Vec::new();
        let objects = self.resources.iter().map(|(id, resource)| self.object(id, resource, &mut dangling));
        let objects = objects.collect();
        self.dangling = dangling;
        objects
    }

    fn object(&self, id: &str, resource: &Value, dangling: &mut Vec<String>) -> StoredObject {
        let mut find = |reference: &Reference| {
            let found = self.id_of(&reference.uid).map(str::to_owned);
            if found.is_none() {
                let whom = format!("{}/{}", reference.kind, reference.name);
                dangling.push(format!("{} refers to {whom}, which is gone", label(resource)));
            }
            found
        };
        let properties = match from_spec(&resource["spec"], &mut find) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        StoredObject {
            id: id.to_owned(),
            class: text(resource, "/kind").to_owned(),
            name: name_of(resource, id),
            owner: self.owner(resource),
            destroyed: annotation(resource, marks::DESTROYED) == Some("true"),
            dependencies: self.dependencies(id, resource, dangling),
            properties,
        }
    }

    fn owner(&self, resource: &Value) -> Option<String> {
        let owners = resource.pointer("/metadata/ownerReferences")?.as_array()?;
        let ours = |owner: &&Value| text(owner, "/apiVersion").starts_with(CLASSES_GROUP);
        let owner = owners.iter().find(ours)?;
        self.id_of(text(owner, "/uid")).map(str::to_owned)
    }

    fn dependencies(&self, id: &str, resource: &Value, dangling: &mut Vec<String>) -> Vec<Dependency> {
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
                (Target::Own, _) => Some(id.to_owned()),
                (_, Some(uid)) => self.id_of(uid).map(str::to_owned),
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

    fn named(&self, kind: &str, name: &str) -> Option<String> {
        let is =
            |resource: &Value| text(resource, "/kind") == kind && text(resource, "/metadata/name") == name;
        self.resources.iter().find(|(_, resource)| is(resource)).map(|(id, _)| id.clone())
    }
}

/// What people call an object: it is written there, or it is the name of the resource, unless that was made of the id.
fn name_of(resource: &Value, id: &str) -> Option<String> {
    match annotation(resource, OBJECT_NAME) {
        Some("") => None,
        Some(name) => Some(name.to_owned()),
        None => Some(text(resource, "/metadata/name").to_owned()).filter(|name| name != id),
    }
}

pub(super) fn annotation<'r>(resource: &'r Value, name: &str) -> Option<&'r str> {
    resource.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// `kind/name`, for people.
pub(super) fn label(resource: &Value) -> String {
    format!("{}/{}", text(resource, "/kind"), text(resource, "/metadata/name"))
}
