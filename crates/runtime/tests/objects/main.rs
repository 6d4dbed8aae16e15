//! Objects and their collector, told as short scripts over native classes.

mod kit;
mod order;
mod reach;
