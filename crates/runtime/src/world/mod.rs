//! Classes, objects and their values, and the handles that keep objects alive.
//!
//! An object is in the store of its [`World`]; properties refer to others by their place there, so a circle of objects
//! keeps nobody alive. What keeps one alive is a [`Handle`], wherever it is held: the store counts them, and holds none
//! itself. Single-threaded throughout.
//!
//! It must not know what garbage is, in which language the code of a class is written, or how objects are written down.
//! The one word of the collector that it hands through is the session that destructors and handlers are told of.

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

/// Classes and the objects of one session. Cloning gives another name for the same world.
#[derive(Clone)]
pub struct World {
    inner: Rc<WorldState>,
}

struct WorldState {
    classes: RefCell<Classes>,
    store: RefCell<Store>,
    /// How many handles there are to the object in each slot. Apart from the store, so that a handle can be let go
    /// whatever is going on there.
    handles: RefCell<Vec<u32>>,
    roots: RefCell<Vec<ObjectKey>>,
    observer: RefCell<Rc<dyn WorldObserver>>,
    /// The next number, where ids are numbers.
    numbers: Option<Cell<u64>>,
}

impl Default for World {
    fn default() -> World {
        World::new()
    }
}

impl World {
    /// An empty one, whose objects get random ids.
    pub fn new() -> World {
        World::with_numbers(None)
    }

    /// An empty one, whose objects are numbered from 1: for traces that are the same each time.
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

    /// Who hears of births and references from now on.
    pub fn observe(&self, observer: Rc<dyn WorldObserver>) {
        self.inner.observer.replace(observer);
    }

    pub(crate) fn observer(&self) -> Rc<dyn WorldObserver> {
        self.inner.observer.borrow().clone()
    }

    /// Whether two names are of the same world.
    pub fn is(&self, other: &World) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }

    /// How many objects there are, destroyed ones that somebody still refers to included.
    pub fn len(&self) -> usize {
        self.inner.store.borrow().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The object with an id.
    pub fn find(&self, id: &ObjectId) -> Option<Handle> {
        let key = self.inner.store.borrow().find(id)?;
        self.handle(key)
    }

    /// The ids of all objects, in the order of their creation.
    pub fn objects(&self) -> Vec<ObjectId> {
        let store = self.inner.store.borrow();
        let mut all: Vec<(u64, ObjectId)> =
            store.objects().map(|(_, object)| (object.sequence, object.id.clone())).collect();
        all.sort_unstable_by_key(|(sequence, _)| *sequence);
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// Makes an object a root: it and what it refers to is alive. Several may be.
    pub fn set_root(&self, object: &Handle) {
        let mut roots = self.inner.roots.borrow_mut();
        if !roots.contains(&object.key()) {
            roots.push(object.key());
        }
    }

    /// Takes that back.
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

    /// Forgets roots and classes with their code, which may hold handles and so the world itself. Nothing can be called
    /// or created any more, and objects cannot be read: only for the end.
    pub fn close(&self) {
        self.inner.roots.take();
        let classes = self.inner.classes.take();
        drop(classes);
    }

    /// A handle to the object with a key, if it is there still.
    pub fn handle(&self, key: ObjectKey) -> Option<Handle> {
        self.inner.store.borrow().get(key)?;
        Some(Handle::new(self.clone(), key))
    }

    /// Looks into the store. Nothing that is called in there may come back to the world.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Store) -> T) -> T {
        read(&self.inner.store.borrow())
    }

    /// Changes the store, likewise.
    pub(crate) fn write<T>(&self, change: impl FnOnce(&mut Store) -> T) -> T {
        change(&mut self.inner.store.borrow_mut())
    }

    /// How many handles there are to the object in each slot.
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
