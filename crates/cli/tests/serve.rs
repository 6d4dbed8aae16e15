//! `sexton serve` as a process: real sockets, real kubectl, real kills.

#[path = "serve/kill.rs"]
mod kill;
#[path = "serve/kubectl.rs"]
mod kubectl;
#[path = "serve/process.rs"]
mod process;
#[path = "serve/raw.rs"]
mod raw;
#[path = "serve/sockets.rs"]
mod sockets;
