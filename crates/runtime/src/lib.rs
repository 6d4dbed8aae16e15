//! Objects with code: classes, live objects and the handles that keep them, a garbage collector that a running program
//! can call, and the programs themselves.
//!
//! It is the only crate that links a script engine. It must not know how anything is stored or served: what outlives a
//! program is reached through the public API.

pub mod environment;
pub mod gc;
pub mod lua;
pub mod model;
pub mod stored;
pub mod worker;
pub mod world;
