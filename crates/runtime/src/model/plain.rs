//! A model without its classes: what is written of each object, by id.

use std::collections::{BTreeMap, BTreeSet};

use crate::gc::Subscription;
use crate::world::ObjectId;

/// A value as it is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Plain {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text. Where an object is meant it is the id of one.
    String(String),
    /// Values in an order.
    List(Vec<Plain>),
    /// Values by name.
    Map(BTreeMap<String, Plain>),
    /// A reference to an object; one that was nested here as well.
    Ref(ObjectId),
}

impl Plain {
    /// Every object that it refers to. As deep as values may be.
    pub(crate) fn visit(&self, found: &mut impl FnMut(&ObjectId)) {
        match self {
            Plain::Ref(id) => found(id),
            Plain::List(items) => items.iter().for_each(|item| item.visit(found)),
            Plain::Map(entries) => entries.values().for_each(|item| item.visit(found)),
            Plain::Null | Plain::Bool(_) | Plain::Number(_) | Plain::String(_) => {}
        }
    }

    /// Removes references to some objects: from lists and maps with their places, elsewhere nothing is left.
    pub(crate) fn forget(&mut self, gone: &impl Fn(&ObjectId) -> bool) {
        let is_gone = |item: &Plain| matches!(item, Plain::Ref(id) if gone(id));
        match self {
            Plain::List(items) => {
                items.retain(|item| !is_gone(item));
                items.iter_mut().for_each(|item| item.forget(gone));
            }
            Plain::Map(entries) => {
                entries.retain(|_, item| !is_gone(item));
                entries.values_mut().for_each(|item| item.forget(gone));
            }
            _ if is_gone(self) => *self = Plain::Null,
            _ => {}
        }
    }
}

/// A destruction dependency, as the one who depends has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// On whom.
    pub target: ObjectId,
    /// Which method hears of it.
    pub handler: Option<String>,
    /// How often it was subscribed to.
    pub count: u32,
}

impl From<Subscription> for Dependency {
    fn from(one: Subscription) -> Dependency {
        let handler = one.handler.map(|handler| handler.to_string());
        Dependency { target: one.target, handler, count: one.count }
    }
}

/// An object as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelObject {
    /// Its id.
    pub id: ObjectId,
    /// The name of its class.
    pub class: String,
    /// What people call it.
    pub name: Option<String>,
    /// Whether it was destroyed.
    pub destroyed: bool,
    /// Whose it is.
    pub owner: Option<ObjectId>,
    /// On whom it depends.
    pub dependencies: Vec<Dependency>,
    /// What is written of its properties.
    pub properties: BTreeMap<String, Plain>,
    /// Where in the text it stands.
    pub path: String,
}

/// A model: objects in the order of the text, and which one is the root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// All objects.
    pub objects: Vec<ModelObject>,
    /// The root.
    pub root: Option<ObjectId>,
    /// Objects that may lack what they need: they had it when they were stored, and whom it led to is gone.
    pub lenient: BTreeSet<ObjectId>,
}

impl Model {
    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = &ObjectId> {
        self.objects.iter().map(|object| &object.id)
    }

    /// The objects that an earlier model held and this one does not.
    pub fn removed_since(&self, before: &Model) -> Vec<ObjectId> {
        let now = self.ids().map(ObjectId::as_str);
        let missing = sexton_lifecycle::detect::missing_ids(before.ids().map(ObjectId::as_str), now);
        let missing: BTreeSet<&str> = missing.into_iter().collect();
        before.ids().filter(|id| missing.contains(id.as_str())).cloned().collect()
    }

    /// The same with what an earlier model held besides, and the ids of that: imported as one, references and
    /// dependencies lead both ways, so that survivors hear of what is destroyed because it was removed.
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

    /// The same with some of the objects only. References to the others stay, and may be resolved by a world.
    pub fn only(&self, ids: &[ObjectId]) -> Model {
        let ids: BTreeSet<&ObjectId> = ids.iter().collect();
        let objects = self.objects.iter().filter(|object| ids.contains(&object.id)).cloned().collect();
        let lenient = self.lenient.iter().filter(|id| ids.contains(id)).cloned().collect();
        Model { objects, root: self.root.clone().filter(|root| ids.contains(root)), lenient }
    }
}
