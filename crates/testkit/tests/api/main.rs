//! The API as its clients see it, in one process. One file per topic; one program, because linking takes longer than
//! all tests together.

// Tests and their helpers: a surprise is a failed test, and the place of the panic is its message.
#![allow(clippy::unwrap_used)]

mod apply;
mod arbitrary;
mod arbitrary_shapes;
mod bulk;
mod bulk_conditions;
mod bulk_many;
mod bulk_marks;
mod bulk_put;
mod classes;
mod create;
mod definitions;
mod delete;
mod delete_options;
mod destruction_holds;
mod dry_run;
mod errors;
mod feed;
mod feed_client;
mod feed_resume;
mod foreign;
mod foreign_runtime;
mod holds;
mod list;
mod model;
mod namespaces;
mod nonsense;
mod own_kinds;
mod owners;
mod patch;
mod race;
mod race_contents;
mod restart;
mod schemas;
mod update;
mod watch;
mod watch_many;
