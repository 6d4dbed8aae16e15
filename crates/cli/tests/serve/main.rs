//! `sexton serve` as a process: real sockets, real kubectl, real kills.

mod kill;
mod kubectl;
mod process;
mod raw;
mod sockets;
