//! Import: from a model to objects of a world. All objects are created first, then their properties, owners and
//! dependencies are set, so that the order of the model does not matter. On an error no object is left in the world.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::{Model, ModelObject, ModelValue};
use crate::gc;
use crate::world::{
    Class, Contract, ContractError, CreateError, Handle, ObjectId, ObjectKey, Property, Store, Value,
    ValueError, World,
};

/// The imported objects. It keeps them alive.
#[derive(Debug, Default)]
pub struct Imported {
    /// The root object.
    pub root: Option<Handle>,
    /// All objects, in the order of the model. Their `init` has not run.
    pub objects: Vec<Handle>,
    /// References and dependencies to objects that do not exist. They were left out.
    pub dangling: Vec<Dangling>,
}

/// A reference or dependency that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dangling {
    /// The place in the model.
    pub path: String,
    /// The id of the object that it should lead to.
    pub target: ObjectId,
    /// Why it was left out.
    pub why: String,
}

/// Why a model cannot be imported. The world is unchanged in that case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// An object cannot be created.
    #[error("{path}: {error}")]
    Create {
        /// The place in the model.
        path: String,
        /// Why.
        error: CreateError,
    },
    /// A value does not meet its contract.
    #[error("{path}: {error}")]
    Contract {
        /// The place in the model.
        path: String,
        /// What is wrong.
        error: ContractError,
    },
    /// A value cannot be stored in an object.
    #[error("{path}: {error}")]
    Value {
        /// The place in the model.
        path: String,
        /// Why.
        error: ValueError,
    },
    /// The class does not declare the property, or not as a persistable one.
    #[error("{path}: class {class} declares no persistable property {property}")]
    NotPersistable {
        /// The place in the model.
        path: String,
        /// The class.
        class: String,
        /// The property.
        property: String,
    },
}

impl Model {
    /// Creates the objects of this model. References to ids that are not in the model lead to existing objects of the
    /// world.
    ///
    /// # Errors
    /// See [`ImportError`].
    pub fn import(&self, world: &World) -> Result<Imported, ImportError> {
        let mut imported = Imported::default();
        let result = self.import_objects(world, &mut imported);
        if let Err(error) = result {
            let created: Vec<ObjectKey> = imported.objects.iter().map(Handle::key).collect();
            drop(imported);
            world.write(|store| created.into_iter().for_each(|key| drop(store.remove(key))));
            return Err(error);
        }
        let observer = world.observer();
        imported.objects.iter().for_each(|object| observer.created(object));
        Ok(imported)
    }

    fn import_objects(&self, world: &World, imported: &mut Imported) -> Result<(), ImportError> {
        for object in &self.objects {
            let wrong = |error| ImportError::Create { path: object.path.clone(), error };
            let class = world.class(&object.class);
            let class = class.ok_or_else(|| wrong(CreateError::UnknownClass(object.class.clone())))?;
            let fields = vec![Default::default(); class.properties().count()].into_boxed_slice();
            let id = Some(object.id.clone());
            let handle = world.create_unchecked(&class, id, object.name.clone(), fields).map_err(wrong)?;
            imported.objects.push(handle);
        }
        let nesting = self.objects.iter().map(|object| &object.id).zip(imported.objects.iter().cloned());
        let lenient = &self.lenient;
        let mut importer = Importer { world, own: nesting.collect(), dangling: Vec::new(), lenient };
        for (object, handle) in self.objects.iter().zip(&imported.objects) {
            importer.properties(object, handle)?;
            importer.owner(object, handle);
        }
        for (_, handle) in self.objects.iter().zip(&imported.objects).filter(|(one, _)| one.destroyed) {
            world.write(|store: &mut Store| store.destroyed(handle.key()));
        }
        for (object, handle) in self.objects.iter().zip(&imported.objects) {
            importer.dependencies(object, handle);
        }
        imported.root = self.root.as_ref().and_then(|root| importer.own.get(root).cloned());
        imported.dangling = importer.dangling;
        Ok(())
    }
}

struct Importer<'a> {
    world: &'a World,
    own: HashMap<&'a ObjectId, Handle>,
    dangling: Vec<Dangling>,
    lenient: &'a BTreeSet<ObjectId>,
}

impl Importer<'_> {
    fn find(&self, id: &ObjectId) -> Option<Handle> {
        self.own.get(id).cloned().or_else(|| self.world.find(id))
    }

    fn properties(&mut self, object: &ModelObject, handle: &Handle) -> Result<(), ImportError> {
        let class = handle.class();
        let persistable = |name: &str| {
            let place = class.field_index(name)?;
            class.property(name).filter(|one| one.usage.is_persistable()).map(|property| (place, property))
        };
        for (name, plain) in &object.properties {
            let path = format!("{}.{name}", object.path);
            let Some((place, property)) = persistable(name) else {
                let (class, property) = (class.name().to_owned(), name.clone());
                return Err(ImportError::NotPersistable { path, class, property });
            };
            let value = self.value(plain, &property.contract, &path);
            self.check(object, &path, name, property, &value)?;
            let wrong = |error| ImportError::Value { path: path.clone(), error };
            let stored = value.stored(self.world).map_err(wrong)?;
            handle.update(|object| object.fields[place] = stored);
        }
        self.missing(object, &class)
    }

    /// Checks a value against the property's contract. Destroyed objects and those in [`Model::lenient`] may lack
    /// required values.
    fn check(
        &self,
        object: &ModelObject,
        path: &str,
        name: &str,
        property: &Property,
        value: &Value,
    ) -> Result<(), ImportError> {
        if *value == Value::Null && (object.destroyed || self.lenient.contains(&object.id)) {
            return Ok(());
        }
        property.check(name, value).map_err(|error| ImportError::Contract { path: path.to_owned(), error })
    }

    /// Checks the properties that the model does not mention: required ones need a default.
    fn missing(&self, object: &ModelObject, class: &Class) -> Result<(), ImportError> {
        for (name, property) in class.properties().filter(|(name, _)| !object.properties.contains_key(*name))
        {
            if property.usage.is_persistable() {
                let value = property.default.as_ref().unwrap_or(&Value::Null);
                self.check(object, &object.path, name, property, value)?;
            }
        }
        Ok(())
    }

    /// The world's form of a value. A text where the contract wants an object is taken as an id. Recursive: the depth
    /// of models is bounded.
    fn value(&mut self, plain: &ModelValue, contract: &Contract, path: &str) -> Value {
        let inner = match contract {
            Contract::List(inner) | Contract::Map(inner) => inner,
            _ => &Contract::Any,
        };
        match plain {
            ModelValue::Null => Value::Null,
            ModelValue::Bool(value) => Value::Bool(*value),
            ModelValue::Number(value) => Value::Number(*value),
            ModelValue::String(text) => match (contract, ObjectId::new(text)) {
                (Contract::Object(_), Ok(id)) => self.reference(&id, path),
                _ => Value::text(text.as_str()),
            },
            ModelValue::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    let value = self.value(item, inner, &format!("{path}[{at}]"));
                    list.extend(Some(value).filter(|value| !leads_nowhere(item, value)));
                }
                Value::List(list)
            }
            ModelValue::Map(entries) => {
                let mut map = std::collections::BTreeMap::new();
                for (name, item) in entries {
                    let value = self.value(item, inner, &format!("{path}.{name}"));
                    if !leads_nowhere(item, &value) {
                        map.insert(name.clone(), value);
                    }
                }
                Value::Map(map)
            }
            ModelValue::Ref(id) => self.reference(id, path),
        }
    }

    fn reference(&mut self, id: &ObjectId, path: &str) -> Value {
        match self.find(id) {
            Some(object) => Value::Object(object),
            None => {
                self.dangle(path.to_owned(), id, "there is no such object");
                Value::Null
            }
        }
    }

    fn owner(&mut self, object: &ModelObject, handle: &Handle) {
        let Some(owner) = &object.owner else { return };
        match self.find(owner) {
            Some(owner) => _ = handle.update(|object| object.owner = Some(owner.key())),
            None => self.dangle(format!("{}.?.owner", object.path), owner, "there is no such owner"),
        }
    }

    fn dependencies(&mut self, object: &ModelObject, handle: &Handle) {
        for dependency in &object.dependencies {
            let path = || format!("{}.?.dependencies", object.path);
            let Some(target) = self.find(&dependency.target) else {
                self.dangle(path(), &dependency.target, "there is no such object");
                continue;
            };
            if target.is_destroyed() || handle.is_destroyed() {
                self.dangle(path(), &dependency.target, "one of the two was destroyed");
                continue;
            }
            let known = gc::known_handler(handle, dependency.handler.as_deref());
            if let Err(error) = &known {
                // The order of destruction is kept, only the handler is not called.
                self.dangle(path(), &dependency.target, &format!("{error}; the order is kept"));
            }
            let handler = dependency.handler.as_deref().filter(|_| known.is_ok());
            let (caller, to) = (handle.key(), target.key());
            let added = self.world.write(|store: &mut Store| {
                gc::add_subscription(store, caller, to, handler, dependency.count)
            });
            if let Err(error) = added {
                self.dangle(path(), &dependency.target, &error.to_string());
            }
        }
    }

    fn dangle(&mut self, path: String, target: &ObjectId, why: &str) {
        self.dangling.push(Dangling { path, target: target.clone(), why: why.to_owned() });
    }
}

/// Whether the item was a reference to a missing object. Such items are left out of lists and maps.
fn leads_nowhere(item: &ModelValue, value: &Value) -> bool {
    *item != ModelValue::Null && *value == Value::Null
}
