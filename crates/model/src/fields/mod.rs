//! Field ownership: managed fields and server-side apply over plain JSON values.
//!
//! Pure functions of documents, a [`Schema`] and a [`Writer`]. Input documents are at most 64 levels
//! deep, which the caller checks; the recursion over documents and sets here relies on that.
//! It must not know requests, storage or clocks.

mod apply;
mod conflict;
mod diff;
mod edit;
mod element;
mod extract;
mod fieldsv1;
mod kinds;
mod managed;
mod merge;
mod openapi;
mod prune;
mod schema;
mod scope;
mod set;
mod update;

pub use apply::{ApplyError, apply};
pub use conflict::{Cause, Conflict, Conflicts};
pub use element::{ElementError, PathElement};
pub use fieldsv1::FieldsError;
pub use managed::{ManagedEntry, ManagedFields, ManagedFieldsError, Operation};
pub use merge::MergeError;
pub use openapi::OpenApiError;
pub use schema::{ListKey, Node, Schema, SmpList, SsaList};
pub use set::FieldSet;
pub use update::track_update;

/// A manager, how it writes, and when: what a managed-fields entry says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writer<'a> {
    /// The field manager; an empty name is recorded as `unknown`.
    pub manager: &'a str,
    /// The version the request was written in, such as `apps/v1`.
    pub api_version: &'a str,
    /// The subresource written through, or empty for the object itself.
    pub subresource: &'a str,
    /// The time of the request in RFC 3339, UTC, whole seconds.
    pub time: &'a str,
}

impl Writer<'_> {
    /// The manager name as recorded.
    fn name(&self) -> &str {
        if self.manager.is_empty() { "unknown" } else { self.manager }
    }
}
