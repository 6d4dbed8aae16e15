//! Programs in environments, on the whole API in this process.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod changes;
mod common;
mod dying;
mod ending;
mod models;
mod refused;
mod runs;
mod trouble;
