//! Objects as JSON with a header each, in and out.
//!
//! ```json
//! {"Objects": {"?": {"type": "App", "id": "a1"},
//!              "vms": [{"?": {"type": "Vm", "id": "v1", "destroyed": true}}],
//!              "first": {"?": {"ref": "v1"}}}}
//! ```
//!
//! What is nested belongs to the nearest object around it, unless its header names another `owner`. What cannot be
//! nested (it is too deep, or in a circle) stands beside, in `Also`. Destruction dependencies are written at the one who
//! depends: `"dependencies": {"onDestruction": [{"target": "v1", "handler": "vmGone", "count": 2}]}`. A map that has
//! a name `?` itself is written as `{"?": {"map": …}}`.
//!
//! It must not know where the text comes from, or what becomes of it.

mod export;
mod gather;
mod import;
mod live_object;
mod nesting;
mod parse;
mod types;

pub use export::{ExportError, export};
pub use gather::gather;
pub(crate) use gather::gather_some;
pub use import::{Dangling, ImportError, Imported};
pub(crate) use live_object::model_object;
pub use parse::{MAX_BYTES, ModelError};
pub use types::{Dependency, Model, ModelObject, ModelValue};

/// The name under which the header of an object stands.
pub(crate) const HEADER: &str = "?";
/// Objects at a deeper place of the text stand beside instead.
const MAX_NESTING: usize = 32;
