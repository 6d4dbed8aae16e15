//! Programs in environments, on the whole API in this process.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;
mod dying;
mod runs;
mod trouble;
