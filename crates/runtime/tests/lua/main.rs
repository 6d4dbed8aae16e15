//! Programs in Luau, from their text to what they say and what happens to their objects.
//!
//! Most tests are texts in `programs/`: a program, and in its comments that begin with `-->` everything that it is
//! expected to say.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod collections;
mod documented;
mod gc;
mod harness;
mod naive;
mod objects;
mod outside;
mod sandbox;
mod stored;
mod threads;
mod tutorial;
