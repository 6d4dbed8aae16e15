//! What follows from deletions: worlds in, detections out, both as text. One module per question.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../common/mod.rs"]
mod common;

mod laws;
mod naive;
mod orphans;
mod policies;
mod protect;
mod races;
mod scale;
mod scopes;
mod shapes;
mod snapshot;
