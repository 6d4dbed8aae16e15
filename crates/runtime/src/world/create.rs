//! Creation of objects: first the object with its properties, then `init` of its classes.

use std::collections::BTreeMap;
use std::rc::Rc;

use hashbrown::HashSet;

use super::contract::ContractError;
use super::object::{ObjectState, RareFields};
use super::{
    Args, Call, Class, CodeError, Handle, Object, ObjectId, ObjectKey, StoredValue, Value, ValueError, World,
};

/// The parameters of a new object.
#[derive(Debug, Clone, Default)]
pub struct NewObject {
    /// The id; generated if there is none.
    pub id: Option<ObjectId>,
    /// The name, for people; not unique.
    pub name: Option<String>,
    /// The owner.
    pub owner: Option<Handle>,
    /// Values of declared properties that are not static.
    pub properties: BTreeMap<String, Value>,
}

/// Why an object cannot be created. Nothing is created in that case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// There is no such class.
    #[error("there is no class {0}")]
    UnknownClass(String),
    /// Another object has the id.
    #[error("there is an object with id {0} already")]
    DuplicateId(ObjectId),
    /// A value does not meet its contract.
    #[error("{class}: {error}")]
    Contract {
        /// The class.
        class: String,
        /// What is wrong.
        error: ContractError,
    },
    /// A value cannot be stored in an object.
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
    /// The owner is of another world.
    #[error("the owner is of another world")]
    ForeignOwner,
    /// The owner was destroyed.
    #[error("the owner {0} was destroyed")]
    DestroyedOwner(ObjectId),
    /// The owner's `init` failed.
    #[error("{0} cannot own anything: its init failed")]
    OwnerInitFailed(ObjectId),
}

/// Why [`World::new_object`] failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NewError {
    /// The object cannot be created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The `init` of a class failed. Code that holds the object can only read it; properties that referred to it are
    /// reset.
    #[error("init of {class}: {error}")]
    Init {
        /// The class with the failed `init`.
        class: String,
        /// The error.
        error: CodeError,
    },
}

impl World {
    /// Creates an object. No code runs.
    ///
    /// # Errors
    /// See [`CreateError`].
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
    /// If it cannot be created, or an `init` fails. Objects that the failed `init` created become garbage if nothing
    /// refers to them.
    pub async fn new_object(&self, class: &str, new: NewObject) -> Result<Handle, NewError> {
        let object = self.create(class, new)?;
        self.initialize(&object).await?;
        Ok(object)
    }

    /// Runs `init` of all classes of an object, the base first; does nothing if that was done before.
    ///
    /// # Errors
    /// If an `init` fails: the object loses its id, references to it are removed, and its methods cannot be called.
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

    /// Discards objects with an `init` that failed or never ran: they lose their ids, are not roots any more, and
    /// references to them are removed from all properties. None of their methods can be called.
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

    /// Marks an object as initialized without running `init`: it ran in the program that created the object.
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

    /// Creates an object without checking its fields and without telling the observer.
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
