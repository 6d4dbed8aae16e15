//! An interface that receives what happens to objects: creation, references, removal.

use super::{Handle, ObjectId};

/// Receives what happens to objects, for traces. An implementation must not change the world. All methods do nothing by
/// default.
pub trait WorldObserver {
    /// An object was created.
    fn created(&self, _object: &Handle) {}
    /// A property of `from` was set to a value that contains `to`.
    fn referenced(&self, _from: &Handle, _property: &str, _to: &Handle) {}
    /// A destroyed object was removed from the world: nothing refers to it.
    fn freed(&self, _id: &ObjectId, _class: &str) {}
}

/// Ignores everything.
pub struct NoWorldObserver;

impl WorldObserver for NoWorldObserver {}
