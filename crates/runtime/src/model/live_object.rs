//! The model form of a single object of a world.

use super::{Dependency, ModelObject, ModelValue};
use crate::gc::Gc;
use crate::world::{Handle, Value};

/// The model form of an object: what a model or a store would contain of it now.
pub(crate) fn model_object(gc: &Gc, object: &Handle) -> ModelObject {
    let class = object.class();
    let persistable = class.properties().filter(|(_, property)| property.usage.is_persistable());
    let properties = persistable.map(|(name, _)| (name.to_owned(), plain(&object.get(name)))).collect();
    ModelObject {
        id: object.id(),
        class: class.name().to_owned(),
        name: object.name().map(|name| name.to_string()),
        destroyed: object.is_destroyed(),
        owner: object.owner().map(|owner| owner.id()),
        dependencies: gc.subscriptions(object).into_iter().map(Dependency::from).collect(),
        properties,
        path: String::new(),
    }
}

/// The model form of a value. Recursive: the depth of values is bounded.
fn plain(value: &Value) -> ModelValue {
    match value {
        Value::Null => ModelValue::Null,
        Value::Bool(value) => ModelValue::Bool(*value),
        Value::Number(number) => ModelValue::Number(*number),
        Value::String(text) => ModelValue::String(text.to_string()),
        Value::List(items) => ModelValue::List(items.iter().map(plain).collect()),
        Value::Map(entries) => {
            ModelValue::Map(entries.iter().map(|(name, item)| (name.clone(), plain(item))).collect())
        }
        Value::Object(object) => ModelValue::Ref(object.id()),
    }
}
