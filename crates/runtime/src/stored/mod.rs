//! Objects as resources: one of the kind of its class for each, in the namespace of its environment.
//!
//! ```text
//! id, name     metadata.name, uid and two annotations      owner           metadata.ownerReferences
//! properties   spec; references as {"$ref": {…}}           dependencies    an annotation, on the dependent
//! ```
//!
//! It must not know how objects live, nor how resources are written.

mod read;
mod translate;
mod write;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use read::{Shelf, Unreadable};
pub use write::{Change, Unwritable, changes};

/// One object as it is outside of a world. References in properties are `{"?": {"ref": id}}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredObject {
    /// Which object.
    pub id: String,
    /// Its class.
    pub class: String,
    /// What people call it.
    pub name: Option<String>,
    /// The id of its owner.
    pub owner: Option<String>,
    /// Whether it was destroyed, and is only there to be read.
    pub destroyed: bool,
    /// What it has destruction dependencies on.
    pub dependencies: Vec<Dependency>,
    /// Its persistable properties.
    pub properties: Map<String, Value>,
}

/// A destruction dependency, on the side of the dependent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependency {
    /// The id of the object that goes before.
    pub target: String,
    /// The method that hears of it.
    pub handler: Option<String>,
    /// How often it was subscribed.
    pub count: u32,
}
