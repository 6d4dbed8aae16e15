//! From what `lifecycle` and the collector say to what is shown: plans, pictures, blockers.
//!
//! It must not decide anything, and does not print.

pub(crate) mod blockers;
pub(crate) mod namespaces;
pub(crate) mod picture;
pub(crate) mod plan;
pub(crate) mod why;
