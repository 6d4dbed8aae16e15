//! The whole API in this process, and short ways to speak with it. For tests only, never shipped.
//!
//! - [`world`]: an API on an engine, with a clock and chance that tests decide over.
//! - [`call`]: one request, one answer. [`watch`]: a watch, read line by line.
//! - [`collecting`]: a collector at work on a world, with hooks that a test scripts.
//! - [`sim`]: everything at once by chance, and a judge of every commit and call.
//! - [`gate`]: what passes between a collector and its server, and when.
//! - [`line`]: a way to the server on which requests are lost.
//! - [`script`]: requests and expected answers as text.
//! - [`things`]: documents that many tests need.

// Test support: a surprise here is a failed test, and the place of the panic is its message.
#![allow(clippy::unwrap_used)]

pub mod call;
pub mod collecting;
pub mod gate;
pub mod line;
pub mod nature;
pub mod script;
pub mod sim;
pub mod things;
pub mod watch;
pub mod world;

pub use call::{Answer, Call};
pub use collecting::{Collecting, Scripted};
pub use gate::Gate;
pub use nature::FixedNature;
pub use watch::Watch;
pub use world::World;
