//! New objects: created with their properties, then initialized by the code of their classes.

use std::collections::BTreeMap;
use std::rc::Rc;

use hashbrown::HashSet;

use super::contract::ContractError;
use super::object::{ObjectState, RareFields};
use super::{
    Args, Call, Class, CodeError, Handle, Object, ObjectId, ObjectKey, StoredValue, Value, ValueError, World,
};

/// What is said of a new object.
#[derive(Debug, Clone, Default)]
pub struct NewObject {
    /// Its id; without one it gets a new one.
    pub id: Option<ObjectId>,
    /// What people call it.
    pub name: Option<String>,
    /// Whose it is.
    pub owner: Option<Handle>,
    /// Values of declared properties that are not static.
    pub properties: BTreeMap<String, Value>,
}

/// Why an object cannot be created. There is none then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// No such class.
    #[error("there is no class {0}")]
    UnknownClass(String),
    /// The id is taken.
    #[error("there is an object with id {0} already")]
    DuplicateId(ObjectId),
    /// A value does not fit.
    #[error("{class}: {error}")]
    Contract {
        /// The class.
        class: String,
        /// What is wrong.
        error: ContractError,
    },
    /// A value cannot be kept.
    #[error("{property}: {error}")]
    Value {
        /// The property.
        property: String,
        /// Why.
        error: ValueError,
    },
    /// No class declares it.
    #[error("class {class} declares no property {property}")]
    Undeclared {
        /// The class.
        class: String,
        /// The property.
        property: String,
    },
    /// The owner is of another world.
    #[error("the owner is of another world")]
    ForeignOwner,
    /// The owner is only to be read.
    #[error("the owner {0} was destroyed")]
    DestroyedOwner(ObjectId),
    /// The owner never came to be.
    #[error("{0} cannot own anything: its init failed")]
    OwnerInitFailed(ObjectId),
}

/// Why there is no new object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NewError {
    /// It cannot be created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The code of a class failed. Code that has the object can read it and nothing else; no property refers to it.
    #[error("init of {class}: {error}")]
    Init {
        /// The class whose code it was.
        class: String,
        /// What it said.
        error: CodeError,
    },
}

impl World {
    /// Creates an object. No code runs.
    ///
    /// # Errors
    /// If something of it does not fit; there is no object then.
    pub fn create(&self, class: &str, new: NewObject) -> Result<Handle, CreateError> {
        let class = self.class(class).ok_or_else(|| CreateError::UnknownClass(class.to_owned()))?;
        if let Some(owner) = &new.owner {
            if !owner.world().is(self) {
                return Err(CreateError::ForeignOwner);
            }
            if owner.is_destroyed() {
                return Err(CreateError::DestroyedOwner(owner.id()));
            }
            if owner.init_failed() {
                return Err(CreateError::OwnerInitFailed(owner.id()));
            }
        }
        let fields = self.fields(&class, &new.properties)?;
        let object = self.create_unchecked(&class, new.id, new.name, fields)?;
        if let Some(owner) = &new.owner {
            object.update(|object| object.owner = Some(owner.key()));
        }
        let observer = self.observer();
        observer.created(&object);
        for (name, value) in &new.properties {
            value.objects().into_iter().for_each(|to| observer.referenced(&object, name, to));
        }
        Ok(object)
    }

    /// Creates an object and runs `init` of all its classes, the base first.
    ///
    /// # Errors
    /// If it cannot be created, or code fails. What that code made itself is garbage like any other.
    pub async fn new_object(&self, class: &str, new: NewObject) -> Result<Handle, NewError> {
        let object = self.create(class, new)?;
        self.initialize(&object).await?;
        Ok(object)
    }

    /// Runs `init` of all classes of an object, the base first; nothing if that was done.
    ///
    /// # Errors
    /// If code fails: the object is not found by its id, nothing refers to it, and none of its methods can be called.
    pub async fn initialize(&self, object: &Handle) -> Result<(), NewError> {
        if object.read(|object| object.state) != Some(ObjectState::Created) {
            return Ok(());
        }
        let class = object.class();
        let ancestry: Vec<&Class> = class.ancestry().collect();
        for class in ancestry.into_iter().rev().filter(|class| class.behavior().has("init")) {
            let call = Call { this: object.clone(), method: "init".into(), args: Args::Init };
            if let Err(error) = class.behavior().call(call).await {
                self.discard(std::slice::from_ref(object));
                return Err(NewError::Init { class: class.name().to_owned(), error });
            }
        }
        self.assume_initialized(object);
        Ok(())
    }

    /// Takes back objects whose `init` failed or never ran: they are not found, not roots, and nothing refers to them.
    /// What they refer to themselves is garbage, unless something else refers to it.
    pub(crate) fn discard(&self, objects: &[Handle]) {
        let mut referenced: HashSet<ObjectKey> = HashSet::new();
        self.write(|store| {
            for object in objects {
                if store.get(object.key()).is_some_and(|object| object.referenced) {
                    referenced.insert(object.key());
                }
                store.set_state(object.key(), ObjectState::InitFailed);
                store.forget_id(object.key());
            }
        });
        objects.iter().for_each(|object| self.unset_root(object));
        if !referenced.is_empty() {
            self.forget_references(&|key| referenced.contains(&key), &|_| true);
        }
    }

    /// Removes references to some objects from the properties of others, and from static ones.
    pub(crate) fn forget_references(
        &self,
        gone: &impl Fn(ObjectKey) -> bool,
        from: &impl Fn(ObjectKey) -> bool,
    ) {
        self.write(|store| {
            let all: Vec<ObjectKey> = store.objects().map(|(key, _)| key).filter(|key| from(*key)).collect();
            for key in all {
                if let Some(object) = store.get_mut(key) {
                    object.forget_references(gone);
                }
            }
        });
        self.inner.classes.borrow_mut().statics.values_mut().for_each(|value| value.forget(gone));
    }

    /// Notes that an object was initialized, in the program that wrote it down.
    pub fn assume_initialized(&self, object: &Handle) {
        object.update(|object| {
            if object.state == ObjectState::Created {
                object.state = ObjectState::Initialized;
            }
        });
    }

    fn fields(
        &self,
        class: &Class,
        given: &BTreeMap<String, Value>,
    ) -> Result<Box<[StoredValue]>, CreateError> {
        let name_of = || class.name().to_owned();
        let wrong = |error| CreateError::Contract { class: name_of(), error };
        if let Some(property) = given.keys().find(|name| class.field_index(name).is_none()) {
            return Err(CreateError::Undeclared { class: name_of(), property: property.clone() });
        }
        let field = |(name, property): (&str, &super::Property)| {
            let Some(value) = given.get(name) else {
                let nothing = property.default.as_ref().unwrap_or(&Value::Null);
                property.check(name, nothing).map_err(wrong)?;
                return Ok(StoredValue::Null);
            };
            property.check(name, value).map_err(wrong)?;
            value.stored(self).map_err(|error| CreateError::Value { property: name.to_owned(), error })
        };
        class.properties().map(field).collect()
    }

    /// An object whose fields nobody checks, and of whose birth nobody is told.
    pub(crate) fn create_unchecked(
        &self,
        class: &Class,
        id: Option<ObjectId>,
        name: Option<String>,
        fields: Box<[StoredValue]>,
    ) -> Result<Handle, CreateError> {
        let id = id.unwrap_or_else(|| self.next_id());
        let rare =
            name.map(|name| Box::new(RareFields { name: Some(Rc::from(name)), ..RareFields::default() }));
        let key = self.write(|store| {
            if store.find(&id).is_some() {
                return Err(CreateError::DuplicateId(id));
            }
            let sequence = store.next_sequence();
            let (class, state) = (class.number(), ObjectState::Created);
            let (owner, referenced) = (None, false);
            Ok(store.insert(Object { id, sequence, class, owner, state, referenced, fields, rare }))
        })?;
        Ok(Handle::new(self.clone(), key))
    }
}
