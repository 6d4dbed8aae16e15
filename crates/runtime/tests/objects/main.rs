//! Objects and their collector, told as short scripts over native classes.

#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod contracts;
mod destroyed;
mod events;
mod keeping;
mod kit;
mod model;
mod naive;
mod order;
mod reach;
mod sessions;
mod trace;
