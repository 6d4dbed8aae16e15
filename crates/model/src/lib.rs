//! The words of Sexton: ids, documents, selectors, field ownership, patches and wire types.
//!
//! Pure: no IO, no async, no clock, no randomness. Everything here is a value or a function of values.
//! It must not know how things are stored, served or collected.

pub mod fields;
pub mod ids;
pub mod patch;

pub use ids::{GroupResource, Key, Life, Revision, Uid};
