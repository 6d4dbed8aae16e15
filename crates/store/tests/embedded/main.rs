//! What only the engine on disk promises: restarts, crashes, damage, full disks, copies.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

mod copies;
mod damage;
mod disk;
mod doors;
mod full;
mod golden;
mod kill;
mod log_damage;
mod loss;
mod reopen;
mod restore;
mod script;
mod small;
mod together;
