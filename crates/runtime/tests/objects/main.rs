//! Objects and their collector, told as short scripts over native classes.

mod destroyed;
mod events;
mod keeping;
mod kit;
mod order;
mod reach;
mod sessions;
