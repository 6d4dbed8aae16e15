//! The durable store: ordered bytes under one global revision, and typed objects on top.
//!
//! Layers, lowest first:
//! - [`engine`]: what any engine promises (commit, read at a revision, changes since, compact).
//! - [`local`]: the engine that keeps its state in this process; one writer thread, group commit, a window of
//!   history. What makes it durable is a [`journal::Journal`].
//! - [`memory`]: `local` with no journal. [`embedded`]: `local` on SQLite.
//! - [`store`]: objects instead of bytes.
//!
//! This crate knows no HTTP, no kinds and no garbage.

mod building;
pub mod embedded;
pub mod engine;
pub mod feed;
pub mod history;
pub mod journal;
pub mod local;
pub mod memory;
mod pins;
pub mod state;
pub mod store;
mod terms;
mod writer;

pub use engine::{
    At, CommitError, Committed, Engine, Guard, KeyRange, Op, Page, ReadError, Snapshot, Transaction,
};
pub use history::{Change, Retention};
pub use sexton_model::Revision;
pub use sexton_model::{Term, Terms};
pub use state::Entry;
pub use store::{Object, ObjectChange, ObjectPage, ObjectSnapshot, Scope, Store, StoreError};
pub use terms::Indexer;
