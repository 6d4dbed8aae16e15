//! From a model to objects of a world: all objects first, then their properties and dependencies, so that the order of
//! the text does not matter. If anything is wrong, nothing has happened.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::{Model, ModelObject, ModelValue};
use crate::gc;
use crate::world::{
    Class, Contract, ContractError, CreateError, Handle, ObjectId, ObjectKey, Property, Store, Value,
    ValueError, World,
};

/// What was imported. It keeps the objects alive.
#[derive(Debug, Default)]
pub struct Imported {
    /// The root.
    pub root: Option<Handle>,
    /// All objects, in the order of the model. None is initialized.
    pub objects: Vec<Handle>,
    /// References and dependencies that lead nowhere, and were left out.
    pub dangling: Vec<Dangling>,
}

/// Something that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dangling {
    /// Where in the model.
    pub path: String,
    /// To whom it should lead.
    pub target: ObjectId,
    /// Why it does not.
    pub why: String,
}

/// Why a model cannot be imported. Nothing of it is in the world then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// An object cannot be created.
    #[error("{path}: {error}")]
    Create {
        /// Where.
        path: String,
        /// Why.
        error: CreateError,
    },
    /// A value does not fit.
    #[error("{path}: {error}")]
    Contract {
        /// Where.
        path: String,
        /// What is wrong.
        error: ContractError,
    },
    /// A value cannot be kept.
    #[error("{path}: {error}")]
    Value {
        /// Where.
        path: String,
        /// Why.
        error: ValueError,
    },
    /// The class does not declare it, or not as something that is written down.
    #[error("{path}: class {class} declares no persistable property {property}")]
    NotPersistable {
        /// Where.
        path: String,
        /// The class.
        class: String,
        /// The property.
        property: String,
    },
}

impl Model {
    /// Creates the objects of a model. References to others than its own lead to objects that the world has already.
    ///
    /// # Errors
    /// If a class is unknown, an id is taken or a contract is not met.
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

    /// What is destroyed is only to be read, and may lack what it would need.
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

    /// As deep as a model may be. A text where an object is meant is the id of one.
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
                // In which order they go does not depend on who hears of it.
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

/// Whether it is a reference to an object that there is not: in lists and maps it is left out with its place.
fn leads_nowhere(item: &ModelValue, value: &Value) -> bool {
    *item != ModelValue::Null && *value == Value::Null
}
