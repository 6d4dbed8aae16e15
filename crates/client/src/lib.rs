//! The only way to reach resources: the public API, over a socket or straight into a router in this process.
//!
//! - [`connect`]: three ways to a `kube::Client`.
//! - [`kinds`]: what a server serves, and which of it a word means.
//! - [`resources`]: get, list, put, delete, watch; the feed over all kinds, and many writes at once.
//! - [`gateway`]: what the collector needs of a server: one feed, and writes in bulk.
//! - [`foreign`]: both on any Kubernetes.
//! - [`call`]: one request and its answer.
//!
//! It must not know how a server is built, print anything, or read the environment.

pub mod call;
pub mod connect;
pub mod foreign;
pub mod gateway;
pub mod kinds;
mod lines;
pub mod resources;

pub use call::CallError;
pub use connect::ConnectError;
pub use gateway::{ForeignGateway, Gateway, Lines};
pub use kinds::{Kinds, ServedKind};
pub use resources::{BulkError, FeedError, Place, Resources};
