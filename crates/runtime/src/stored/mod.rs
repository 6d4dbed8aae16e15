//! Objects as resources: one of the kind of its class for each, in the namespace of its environment.
//!
//! ```text
//! id, name     metadata.name, uid and two annotations      owner           metadata.ownerReferences
//! properties   spec; references as {"$ref": {…}}           dependencies    an annotation, on the dependent
//! ```
//!
//! It must not know how objects live, nor how resources are written.

mod new_resource;
mod read;
mod spec;
mod write;

#[cfg(test)]
mod tests;

pub use read::{Shelf, Unreadable, is_destroyed};
pub(crate) use read::{annotation, label};
pub use write::{Change, MAX_OBJECT_BYTES, Unwritable, changes, too_large};
