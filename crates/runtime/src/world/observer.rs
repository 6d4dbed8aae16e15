//! Who watches the world: births, references, and objects that leave it.

use super::{Handle, ObjectId};

/// Hears what happens to objects, for traces. It must not change anything.
pub trait WorldObserver {
    /// An object was created.
    fn created(&self, _object: &Handle) {}
    /// A property was set to something that refers to an object.
    fn referenced(&self, _from: &Handle, _property: &str, _to: &Handle) {}
    /// An object left the world: it was destroyed, and nobody refers to it.
    fn freed(&self, _id: &ObjectId, _class: &str) {}
}

/// Does not watch.
pub struct NoWorldObserver;

impl WorldObserver for NoWorldObserver {}
