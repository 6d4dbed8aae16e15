//! From objects to a [`Model`] without text in between: the same as parsing what [`export`](super::export) writes, plus
//! all subscriptions of the objects.

use super::nesting::{Nesting, fields};
use super::{Dependency, Model, ModelObject, ModelValue};
use crate::gc::{masks, subscriptions};
use crate::world::{Class, Handle, Object, ObjectKey, Store, StoredValue, World};

/// The model of everything reachable from a root over persistable properties. Empty if the root belongs to another
/// world.
pub fn gather(world: &World, root: &Handle) -> Model {
    if !root.world().is(world) {
        return Model::default();
    }
    let (masks, classes) = (masks(world), world.classes());
    let objects = world.read(|store| {
        let nesting = Nesting::new(store, root.key(), &masks);
        let gathered = |key: &ObjectKey| {
            let object = store.get(*key)?;
            let class = classes.get(object.class as usize)?;
            let is_there = |key: ObjectKey| nesting.numbers.contains_key(&key);
            Some(ObjectReader { store, is_there: &is_there, masks: &masks }.object(*key, object, class))
        };
        nesting.order.iter().filter_map(gathered).collect()
    });
    Model { objects, root: Some(root.id()), ..Model::default() }
}

/// The model objects for some keys, with references to any object that exists.
pub(crate) fn gather_some(world: &World, keys: impl IntoIterator<Item = ObjectKey>) -> Vec<ModelObject> {
    let (masks, classes) = (masks(world), world.classes());
    world.read(|store| {
        let is_there = |key: ObjectKey| store.get(key).is_some();
        let reader = ObjectReader { store, is_there: &is_there, masks: &masks };
        let gathered = |key: ObjectKey| {
            let object = store.get(key)?;
            Some(reader.object(key, object, classes.get(object.class as usize)?))
        };
        keys.into_iter().filter_map(gathered).collect()
    })
}

struct ObjectReader<'a> {
    store: &'a Store,
    /// Which objects may be referred to.
    is_there: &'a dyn Fn(ObjectKey) -> bool,
    masks: &'a [Vec<bool>],
}

impl ObjectReader<'_> {
    /// The model form of an object.
    fn object(&self, key: ObjectKey, object: &Object, class: &Class) -> ModelObject {
        let names: Vec<&str> = class.properties().map(|(name, _)| name).collect();
        let known = fields(object, self.masks).filter(|(_, field)| **field != StoredValue::Null);
        let properties = known.map(|(place, field)| {
            (names.get(place).copied().unwrap_or_default().to_owned(), self.plain(field))
        });
        let owner = object.owner.filter(|owner| (self.is_there)(*owner));
        let dependencies = subscriptions(self.store, key).into_iter().map(Dependency::from);
        ModelObject {
            id: object.id.clone(),
            class: class.name().to_owned(),
            name: object.rare.as_ref().and_then(|rare| rare.name.as_ref()).map(|name| name.to_string()),
            destroyed: object.is_destroyed(),
            owner: owner.and_then(|owner| self.store.get(owner)).map(|owner| owner.id.clone()),
            dependencies: dependencies.collect(),
            properties: properties.collect(),
            path: String::new(),
        }
    }

    /// The model form of a value. Recursive: the depth of values is bounded.
    fn plain(&self, value: &StoredValue) -> ModelValue {
        match value {
            StoredValue::Null => ModelValue::Null,
            StoredValue::Bool(value) => ModelValue::Bool(*value),
            StoredValue::Number(number) => ModelValue::Number(*number),
            StoredValue::String(text) => ModelValue::String(text.to_string()),
            StoredValue::List(items) => ModelValue::List(items.iter().map(|item| self.plain(item)).collect()),
            StoredValue::Map(entries) => ModelValue::Map(
                entries.iter().map(|(name, item)| (name.to_string(), self.plain(item))).collect(),
            ),
            StoredValue::Object(key) => {
                let there = self.store.get(*key).filter(|_| (self.is_there)(*key));
                there.map_or(ModelValue::Null, |object| ModelValue::Ref(object.id.clone()))
            }
        }
    }
}
