//! Runs the program against a tiny server of its own making, honest or with one chosen fault.
//! Must not know: the program's inside; only its flags, its lines and its exit code.
// Helpers of tests may unwrap like tests do; clippy knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cascades;
mod collect;
mod faults;
mod measurements;
mod program;
mod state;
mod stub;
mod tls;
