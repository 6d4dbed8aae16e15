//! Classes, objects and their values, and the handles that keep objects alive.
//!
//! ```text
//! World ── classes     by name and number: properties, code, values of static properties
//!       ── store       slots with objects; a property refers to another object by its key (slot, generation)
//!       ── handles     how many handles exist for each slot
//!       ── roots       keys of the root objects
//! ```
//!
//! Objects refer to each other by [`ObjectKey`], which keeps nothing alive, so circles of objects need no care. An
//! object is alive as long as a root, a static property or a [`Handle`] reaches it. Handles exist outside of the store
//! only: in [`Value`]s, in Rust variables, in scripts. Everything here is single-threaded.
//!
//! It must not know what garbage is, in which language the code of a class is written, or how objects are stored. The
//! one concept of the collector that it passes through is the session, an argument of destructors and handlers.

mod behavior;
mod call;
mod class;
mod contract;
mod create;
mod handle;
mod id;
mod object;
mod observer;
mod statics;
mod store;
mod value;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub use behavior::{Args, Behavior, Call, CodeError, CodeErrorKind, NoCode};
pub use call::CallError;
pub use class::{Class, ClassSpec, DeclareError};
pub use contract::{Contract, ContractError, Property, Usage};
pub use create::{CreateError, NewError, NewObject};
pub use handle::{Handle, SetError};
pub use id::{BadId, MAX_NAME_BYTES, ObjectId};
pub use object::ObjectKey;
pub(crate) use object::{Object, Subscriber};
pub use observer::{NoWorldObserver, WorldObserver};
pub use statics::StaticError;
pub(crate) use store::Store;
pub(crate) use value::StoredValue;
pub use value::{MAX_DEPTH, Value, ValueError};

use class::Classes;

/// A set of classes and objects. Clones share their state.
#[derive(Clone)]
pub struct World {
    inner: Rc<WorldState>,
}

struct WorldState {
    classes: RefCell<Classes>,
    store: RefCell<Store>,
    /// The number of handles to the object in each slot. Separate from the store, so that handles can be dropped while
    /// the store is borrowed.
    handles: RefCell<Vec<u32>>,
    roots: RefCell<Vec<ObjectKey>>,
    observer: RefCell<Rc<dyn WorldObserver>>,
    /// The last id, if ids are counted.
    numbers: Option<Cell<u64>>,
}

impl Default for World {
    fn default() -> World {
        World::new()
    }
}

impl World {
    /// An empty world with random ids.
    pub fn new() -> World {
        World::with_numbers(None)
    }

    /// An empty world with ids counted from 1, for traces that are the same each time.
    pub fn numbered() -> World {
        World::with_numbers(Some(Cell::new(0)))
    }

    fn with_numbers(numbers: Option<Cell<u64>>) -> World {
        let inner = WorldState {
            classes: RefCell::default(),
            store: RefCell::default(),
            handles: RefCell::default(),
            roots: RefCell::default(),
            observer: RefCell::new(Rc::new(NoWorldObserver)),
            numbers,
        };
        World { inner: Rc::new(inner) }
    }

    /// Sets the observer of new objects and references.
    pub fn observe(&self, observer: Rc<dyn WorldObserver>) {
        self.inner.observer.replace(observer);
    }

    pub(crate) fn observer(&self) -> Rc<dyn WorldObserver> {
        self.inner.observer.borrow().clone()
    }

    /// Whether both are clones of the same world.
    pub fn is(&self, other: &World) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }

    /// The number of objects, including destroyed ones that are still referenced.
    pub fn len(&self) -> usize {
        self.inner.store.borrow().len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The object with an id.
    pub fn find(&self, id: &ObjectId) -> Option<Handle> {
        let key = self.inner.store.borrow().find(id)?;
        self.handle(key)
    }

    /// The ids of all objects, in creation order.
    pub fn objects(&self) -> Vec<ObjectId> {
        let store = self.inner.store.borrow();
        let mut all: Vec<(u64, ObjectId)> =
            store.objects().map(|(_, object)| (object.sequence, object.id.clone())).collect();
        all.sort_unstable_by_key(|(sequence, _)| *sequence);
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// Makes an object a root: it is alive, and so is everything reachable from it. There can be several roots.
    pub fn set_root(&self, object: &Handle) {
        let mut roots = self.inner.roots.borrow_mut();
        if !roots.contains(&object.key()) {
            roots.push(object.key());
        }
    }

    /// Makes an object a normal one again.
    pub fn unset_root(&self, object: &Handle) {
        self.inner.roots.borrow_mut().retain(|root| *root != object.key());
    }

    /// The roots, in the order in which they were set.
    pub fn roots(&self) -> Vec<Handle> {
        self.root_keys().into_iter().filter_map(|key| self.handle(key)).collect()
    }

    pub(crate) fn root_keys(&self) -> Vec<ObjectKey> {
        self.inner.roots.borrow().clone()
    }

    /// Removes roots and classes, so that the memory of the world can be freed: the code of classes may hold handles,
    /// and these hold the world. Afterwards objects cannot be created, called or read.
    pub fn close(&self) {
        self.inner.roots.take();
        let classes = self.inner.classes.take();
        drop(classes);
    }

    /// A handle to the object with a key, if it still exists.
    pub fn handle(&self, key: ObjectKey) -> Option<Handle> {
        self.inner.store.borrow().get(key)?;
        Some(Handle::new(self.clone(), key))
    }

    /// Reads the store. `read` must not call back into the world.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Store) -> T) -> T {
        read(&self.inner.store.borrow())
    }

    /// Changes the store. `change` must not call back into the world.
    pub(crate) fn write<T>(&self, change: impl FnOnce(&mut Store) -> T) -> T {
        change(&mut self.inner.store.borrow_mut())
    }

    /// Reads the number of handles to the object in each slot.
    pub(crate) fn handle_counts<T>(&self, read: impl FnOnce(&[u32]) -> T) -> T {
        read(&self.inner.handles.borrow())
    }

    fn next_id(&self) -> ObjectId {
        match &self.inner.numbers {
            None => ObjectId::random(),
            Some(numbers) => loop {
                numbers.set(numbers.get() + 1);
                let id = ObjectId::number(numbers.get());
                if self.inner.store.borrow().find(&id).is_none() {
                    return id;
                }
            },
        }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("objects", &self.len()).finish()
    }
}
