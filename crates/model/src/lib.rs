//! The words of Sexton: ids, documents, selectors, field ownership, patches and wire types.
//!
//! Pure: no IO, no async, no clock, no randomness. Everything here is a value or a function of values.
//! It must not know how things are stored, served or collected.

pub mod accusation;
pub mod bulk;
pub mod class;
pub mod collection;
pub mod delete_options;
pub mod described;
pub mod document;
pub mod environment;
pub mod feed;
pub mod fields;
pub mod hook;
pub mod ids;
pub mod invalid;
pub mod jsonpath;
pub mod lease;
pub mod marks;
pub mod module;
pub mod names;
pub mod partial;
pub mod patch;
pub mod raw;
pub mod rule;
pub mod schema;
pub mod secrets;
pub mod selector;
pub mod status;
pub mod stored;
pub mod subscription;
pub mod term;
pub mod text;
pub mod time;
pub mod tombstone;
pub mod weight;

pub use delete_options::{DeleteOptions, Policy, Preconditions};
pub use document::Document;
pub use ids::{GroupResource, Key, Life, Revision, Uid};
pub use invalid::FieldError;
pub use selector::{FieldSelector, LabelSelector};
pub use status::{Cause, Details, Status};
pub use stored::{Facts, Stored};
pub use term::{Term, Terms};
