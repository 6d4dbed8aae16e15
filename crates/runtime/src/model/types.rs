//! The data of a model: objects with ids and plain values, independent of any world.

use std::collections::{BTreeMap, BTreeSet};

use crate::gc::Subscription;
use crate::world::ObjectId;

/// A property's value in a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ModelValue {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text. Where the contract wants an object, it is the id of one.
    String(String),
    /// Values in an order.
    List(Vec<ModelValue>),
    /// Values by name.
    Map(BTreeMap<String, ModelValue>),
    /// A reference to an object. An object that was nested at this place is a reference, too.
    Ref(ObjectId),
}

impl ModelValue {
    /// Visits every reference in the value. Recursive: the depth of values is bounded.
    pub(crate) fn visit(&self, found: &mut impl FnMut(&ObjectId)) {
        match self {
            ModelValue::Ref(id) => found(id),
            ModelValue::List(items) => items.iter().for_each(|item| item.visit(found)),
            ModelValue::Map(entries) => entries.values().for_each(|item| item.visit(found)),
            ModelValue::Null | ModelValue::Bool(_) | ModelValue::Number(_) | ModelValue::String(_) => {}
        }
    }

    /// Removes references to `gone` objects: items and entries of lists and maps disappear, any other value becomes
    /// `Null`.
    pub(crate) fn forget(&mut self, gone: &impl Fn(&ObjectId) -> bool) {
        let is_gone = |item: &ModelValue| matches!(item, ModelValue::Ref(id) if gone(id));
        match self {
            ModelValue::List(items) => {
                items.retain(|item| !is_gone(item));
                items.iter_mut().for_each(|item| item.forget(gone));
            }
            ModelValue::Map(entries) => {
                entries.retain(|_, item| !is_gone(item));
                entries.values_mut().for_each(|item| item.forget(gone));
            }
            _ if is_gone(self) => *self = ModelValue::Null,
            _ => {}
        }
    }
}

/// A destruction dependency, in the data of the object that is subscribed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The object that it is subscribed to.
    pub target: ObjectId,
    /// The method that is called, if any.
    pub handler: Option<String>,
    /// How often it is subscribed.
    pub count: u32,
}

impl From<Subscription> for Dependency {
    fn from(one: Subscription) -> Dependency {
        let handler = one.handler.map(|handler| handler.to_string());
        Dependency { target: one.target, handler, count: one.count }
    }
}

/// An object in a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelObject {
    /// The id of the object.
    pub id: ObjectId,
    /// The name of its class.
    pub class: String,
    /// The name, if it has one.
    pub name: Option<String>,
    /// Whether it was destroyed.
    pub destroyed: bool,
    /// The owner.
    pub owner: Option<ObjectId>,
    /// Its destruction dependencies.
    pub dependencies: Vec<Dependency>,
    /// Its persistable properties, without those that are `Null`.
    pub properties: BTreeMap<String, ModelValue>,
    /// Its place in the text, for error messages; empty if it was not parsed.
    pub path: String,
}

/// A model: objects in the order of the text, and the id of the root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// All objects.
    pub objects: Vec<ModelObject>,
    /// The id of the root object.
    pub root: Option<ObjectId>,
    /// Objects that may lack required references: they had them when they were stored, and the targets are gone since.
    pub lenient: BTreeSet<ObjectId>,
}

impl Model {
    /// The ids of all objects.
    pub fn ids(&self) -> impl Iterator<Item = &ObjectId> {
        self.objects.iter().map(|object| &object.id)
    }

    /// The ids of objects that are in an earlier model and not in this one.
    pub fn removed_since(&self, before: &Model) -> Vec<ObjectId> {
        let now = self.ids().map(ObjectId::as_str);
        let missing = sexton_lifecycle::detect::missing_ids(before.ids().map(ObjectId::as_str), now);
        let missing: BTreeSet<&str> = missing.into_iter().collect();
        before.ids().filter(|id| missing.contains(id.as_str())).cloned().collect()
    }

    /// This model plus the objects that only an earlier model has, and their ids. Imported as one model, references and
    /// dependencies between old and new objects work, so that surviving subscribers are told when removed objects are
    /// destroyed.
    pub fn with_removed(&self, before: &Model) -> (Model, Vec<ObjectId>) {
        let removed = self.removed_since(before);
        let mut all = self.clone();
        let gone = before.only(&removed);
        all.lenient.extend(gone.lenient);
        all.objects.extend(gone.objects.into_iter().map(|mut object| {
            object.path = format!("before: {}", object.path);
            object
        }));
        (all, removed)
    }

    /// This model reduced to some objects. References to other objects stay; the world of an import may have them.
    pub fn only(&self, ids: &[ObjectId]) -> Model {
        let ids: BTreeSet<&ObjectId> = ids.iter().collect();
        let objects = self.objects.iter().filter(|object| ids.contains(&object.id)).cloned().collect();
        let lenient = self.lenient.iter().filter(|id| ids.contains(id)).cloned().collect();
        Model { objects, root: self.root.clone().filter(|root| ids.contains(root)), lenient }
    }
}
