//! The feed and the bulk writes that need nothing but the API of Kubernetes, on our own server behind a layer that
//! loses, cuts and lies. "Race N" are the known races of garbage collectors on Kubernetes.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod arbitrary;
mod bulk;
mod cascade;
mod conditions;
mod definitions;
mod faults;
mod gaps;
mod groups;
mod reader;
