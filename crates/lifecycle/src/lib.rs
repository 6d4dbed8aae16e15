//! Who is garbage, in which order it dies, and why. Pure: no clock, no IO, no randomness, no threads.

pub mod destruction;
pub mod graph;
