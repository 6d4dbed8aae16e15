//! Objects and their collector, told as short scripts over native classes.

mod contracts;
mod destroyed;
mod events;
mod keeping;
mod kit;
mod model;
mod naive;
mod order;
mod reach;
mod sessions;
mod trace;
