//! What follows from deletions: worlds in, judgements out, both as text.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

mod common;
mod judge;
