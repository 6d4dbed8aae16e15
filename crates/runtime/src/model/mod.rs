//! Models: objects as JSON, each with a header `?`. Parsing, import into a world, and export.
//!
//! ```json
//! {"Objects": {"?": {"type": "App", "id": "a1"},
//!              "vms": [{"?": {"type": "Vm", "id": "v1", "destroyed": true}}],
//!              "first": {"?": {"ref": "v1"}}}}
//! ```
//!
//! - The owner of a nested object is the nearest object around it, unless its header names another `owner`.
//! - Objects that cannot be nested (too deep, or in a circle) are written in `Also`, beside `Objects`.
//! - Destruction dependencies are in the header of the object that is subscribed:
//!   `"dependencies": {"onDestruction": [{"target": "v1", "handler": "vmGone", "count": 2}]}`.
//! - A map with a key `?` is written as `{"?": {"map": …}}`.
//!
//! ```text
//! text ── Model::parse ──► Model ── Model::import ──► objects in a World
//!                            ▲                              │
//!                            └────────── gather ◄───────────┤
//! text ◄───────────────────── export ◄──────────────────────┘
//! ```
//!
//! It must not know where the text comes from, or how it is used.

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

/// The key of an object's header.
pub(crate) const HEADER: &str = "?";
/// The maximum depth of nested objects in the text; deeper ones are written under `Also`.
const MAX_NESTING: usize = 32;
