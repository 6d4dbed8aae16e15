//! Objects as resources, in both directions: one resource per object, of the kind of its class, in the namespace of its
//! environment.
//!
//! ```text
//! id, name     metadata.name, uid and two annotations      owner           metadata.ownerReferences
//! properties   spec; references as {"$ref": {…}}           dependencies    an annotation, on the dependent
//! ```
//!
//! It converts only: it must not know how objects behave, nor how resources reach a server.

mod new_resource;
mod read;
mod spec;
mod write;

#[cfg(test)]
mod tests;

pub use read::{StoredObjects, Unreadable, is_destroyed};
pub(crate) use read::{annotation, label};
pub use write::{Change, MAX_OBJECT_BYTES, Unwritable, changes, too_large};
