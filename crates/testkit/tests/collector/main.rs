//! A collector on a whole server in this process: what people and programs see of a deletion.

#![allow(clippy::unwrap_used)]

mod accused;
mod approved;
mod approving;
mod cascade;
mod common;
mod definitions;
mod events;
mod example;
mod foreground;
mod full_disk;
mod graceful;
mod hanging;
mod krake;
mod last_moment;
mod leases;
mod murano;
mod murano_crash;
mod murano_faults;
mod murano_more;
mod murano_order;
mod murano_real;
mod namespaces;
mod protect;
mod races;
mod races_more;
mod records;
mod refused_calls;
mod shapes;
#[path = "../../../store/tests/embedded/small.rs"]
mod small;
mod stubborn;
