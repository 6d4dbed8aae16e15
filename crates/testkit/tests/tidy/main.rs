//! The rules of the house, as tests. They read text and ask `cargo metadata`; they never look into built crates.
//!
//! Each rule collects everything that breaks it before it complains, and says what to do about it.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

mod arrows;
mod documents;
mod reach;
mod requirements;
mod scan;
mod shape;
mod tree;
mod vocabulary;
mod words;

/// Fails with the whole list, if there is one. `advice` says what to do.
#[track_caller]
fn complain(problems: &[String], advice: &str) {
    assert!(problems.is_empty(), "\n{} to fix:\n  {}\n{advice}\n", problems.len(), problems.join("\n  "));
}
