//! `sexton serve` as a process: real sockets, real kubectl, real kills.

#![allow(clippy::unwrap_used, reason = "a test ends with the first thing that goes wrong")]

mod allowed;
mod collect_kill;
mod found;
mod graceful;
mod guarded;
mod hook_kill;
mod hooked;
mod kill;
mod kubectl;
mod metrics;
mod plugin;
mod process;
mod python;
mod raw;
mod readme;
mod secrets;
mod seen;
mod sockets;
mod tls;
