//! Handles: strong references to objects, through which properties are read and set.

use std::fmt;
use std::rc::Rc;

use super::contract::ContractError;
use super::object::ObjectState;
use super::{Class, Object, ObjectId, ObjectKey, StaticError, StoredValue, Usage, Value, ValueError, World};

/// A strong reference to an object from outside of the store, counted: while there is one, the object and everything
/// that it refers to is alive. Two handles are equal if they refer to the same object.
pub struct Handle {
    world: World,
    key: ObjectKey,
}

/// Why a property cannot be set. Nothing is changed in that case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The object was destroyed.
    #[error("{class} {id} was destroyed: its methods cannot be called, its properties can be read")]
    Destroyed {
        /// The class of the object.
        class: String,
        /// The id of the object.
        id: ObjectId,
    },
    /// The value does not meet the contract.
    #[error("{class}: {error}")]
    Contract {
        /// The class.
        class: String,
        /// What is wrong.
        error: ContractError,
    },
    /// The value cannot be stored in an object.
    #[error("{property}: {error}")]
    Value {
        /// The property.
        property: String,
        /// Why.
        error: ValueError,
    },
    /// The class declares no such property.
    #[error("class {class} declares no property {property}")]
    Undeclared {
        /// The class.
        class: String,
        /// The property.
        property: String,
    },
    /// The class declares the property, so it is not private.
    #[error("class {class} declares property {property}, so it is not private")]
    Declared {
        /// The class.
        class: String,
        /// The property.
        property: String,
    },
    /// The property is static and cannot be set.
    #[error(transparent)]
    Static(#[from] StaticError),
}

impl Handle {
    /// A handle to an object that exists.
    pub(super) fn new(world: World, key: ObjectKey) -> Handle {
        let mut handles = world.inner.handles.borrow_mut();
        let slot = key.slot as usize;
        if handles.len() <= slot {
            handles.resize(slot + 1, 0);
        }
        handles[slot] += 1;
        drop(handles);
        Handle { world, key }
    }

    /// The world of the object.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The key of the object, which does not keep it alive.
    pub fn key(&self) -> ObjectKey {
        self.key
    }

    /// The id of the object.
    pub fn id(&self) -> ObjectId {
        self.read(|object| object.id.clone()).unwrap_or_else(|| ObjectId::number(0))
    }

    /// The class of the object.
    pub fn class(&self) -> Class {
        let number = self.read(|object| object.class).unwrap_or_default();
        match self.world.class_number(number) {
            Some(class) => class,
            None => Class::placeholder(),
        }
    }

    /// The name of the object, if it has one.
    pub fn name(&self) -> Option<Rc<str>> {
        self.read(|object| object.rare.as_ref()?.name.clone()).flatten()
    }

    /// The owner of the object, if it has one that still exists.
    pub fn owner(&self) -> Option<Handle> {
        let owner = self.read(|object| object.owner).flatten()?;
        self.world.handle(owner).filter(|owner| !owner.init_failed())
    }

    /// Whether the object was destroyed: its methods cannot be called, its properties can only be read.
    pub fn is_destroyed(&self) -> bool {
        self.read(Object::is_destroyed).unwrap_or(true)
    }

    /// Whether `init` of all its classes has run.
    pub fn is_initialized(&self) -> bool {
        self.read(|object| matches!(object.state, ObjectState::Initialized)).unwrap_or(false)
    }

    /// Whether its `init` failed or never ran, so that it was discarded.
    pub fn init_failed(&self) -> bool {
        self.read(|object| object.state == ObjectState::InitFailed).unwrap_or(false)
    }

    /// The value of a property: declared, static, or private. Its default, or `Null`, if it was never set.
    pub fn get(&self, name: &str) -> Value {
        let class = self.class();
        if let Some(place) = class.field_index(name) {
            let stored = self.read(|object| object.fields.get(place).cloned()).flatten();
            return match stored {
                None | Some(StoredValue::Null) => class.default_at(place).cloned().unwrap_or_default(),
                Some(stored) => stored.value(&self.world),
            };
        }
        if class.static_property(name).is_some() {
            return self.world.get_static(class.name(), name).unwrap_or_default();
        }
        let stored = self.read(|object| object.rare.as_ref()?.private.get(name).cloned()).flatten();
        stored.map_or(Value::Null, |stored| stored.value(&self.world))
    }

    /// Sets a declared property.
    ///
    /// # Errors
    /// See [`SetError`].
    pub fn set(&self, name: &str, value: Value) -> Result<(), SetError> {
        self.check_alive()?;
        let class = self.class();
        let Some(property) = class.property(name) else {
            return Err(SetError::Undeclared { class: class.name().into(), property: name.into() });
        };
        if property.usage == Usage::Static {
            return Ok(self.world.set_static(class.name(), name, value)?);
        }
        let wrong = |error| SetError::Contract { class: class.name().into(), error };
        property.check(name, &value).map_err(wrong)?;
        let stored = self.storable(name, &value)?;
        if let Some(place) = class.field_index(name) {
            self.update(|object| object.fields[place] = stored);
        }
        if property.usage.is_persistable() {
            self.world.write(|store| store.note_change(self.key));
        }
        self.referenced(name, &value);
        Ok(())
    }

    /// Sets a private property, which the class does not declare. `Null` removes it.
    ///
    /// # Errors
    /// See [`SetError`].
    pub fn set_private(&self, name: &str, value: Value) -> Result<(), SetError> {
        self.check_alive()?;
        let class = self.class();
        if class.property(name).is_some() {
            return Err(SetError::Declared { class: class.name().into(), property: name.into() });
        }
        let stored = self.storable(name, &value)?;
        self.update(|object| match stored {
            StoredValue::Null => _ = object.rare_mut().private.remove(name),
            stored => _ = object.rare_mut().private.insert(name.into(), stored),
        });
        self.referenced(name, &value);
        Ok(())
    }

    /// The names of its private properties, sorted.
    pub fn private_names(&self) -> Vec<Rc<str>> {
        let names = |object: &Object| Some(object.rare.as_ref()?.private.keys().cloned().collect());
        self.read(names).flatten().unwrap_or_default()
    }

    /// Notes that a property is about to refer to this object. Needed until its `init` is done: if that fails,
    /// references have to be removed, which means a search of all objects.
    pub(super) fn note_reference(&self) {
        if self.read(|object| object.state == ObjectState::Created && !object.referenced).unwrap_or(false) {
            self.update(|object| object.referenced = true);
        }
    }

    /// The form of a value in the store.
    fn storable(&self, name: &str, value: &Value) -> Result<StoredValue, SetError> {
        value.stored(&self.world).map_err(|error| SetError::Value { property: name.into(), error })
    }

    /// Tells the observer which objects a property refers to now.
    fn referenced(&self, name: &str, value: &Value) {
        let objects = value.objects();
        if !objects.is_empty() {
            let observer = self.world.observer();
            objects.into_iter().for_each(|object| observer.referenced(self, name, object));
        }
    }

    fn check_alive(&self) -> Result<(), SetError> {
        if self.is_destroyed() {
            return Err(SetError::Destroyed { class: self.class().name().into(), id: self.id() });
        }
        Ok(())
    }

    /// Reads the stored object; none if it was removed. `read` must not call back into the world.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Object) -> T) -> Option<T> {
        self.world.read(|store| store.get(self.key).map(read))
    }

    /// Changes the stored object; none if it was removed. `update` must not call back into the world.
    pub(crate) fn update<T>(&self, update: impl FnOnce(&mut Object) -> T) -> Option<T> {
        self.world.write(|store| store.get_mut(self.key).map(update))
    }
}

impl Clone for Handle {
    fn clone(&self) -> Handle {
        Handle::new(self.world.clone(), self.key)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(count) = self.world.inner.handles.borrow_mut().get_mut(self.key.slot as usize) {
            *count = count.saturating_sub(1);
        }
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        self.key == other.key && self.world.is(&other.world)
    }
}

impl Eq for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.class(), self.id())
    }
}
