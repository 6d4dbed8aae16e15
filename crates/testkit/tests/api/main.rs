//! The API as its clients see it, in one process. One file per topic; one program, because linking takes longer than
//! all tests together.

// Tests and their helpers: a surprise is a failed test, and the place of the panic is its message.
#![allow(clippy::unwrap_used)]

mod amplified;
mod apply;
mod arbitrary;
mod arbitrary_schemas;
mod arbitrary_shapes;
mod bulk;
mod bulk_conditions;
mod bulk_many;
mod bulk_marks;
mod bulk_put;
mod classes;
mod columns;
mod compressed;
mod create;
mod crowded;
mod definitions;
mod delete;
mod delete_options;
mod destruction_holds;
mod discovery;
mod dry_run;
mod errors;
mod events;
mod feed;
mod feed_client;
mod feed_resume;
mod fencing;
mod foreign;
mod foreign_runtime;
mod holds;
mod list;
mod model;
mod namespaces;
mod nonsense;
mod openapi;
mod own_kinds;
mod owners;
mod patch;
mod protobuf;
mod race;
mod race_contents;
mod restart;
mod reviews;
mod scale;
mod schemas;
mod selectable;
mod typed;
mod update;
mod versions;
mod watch;
mod watch_many;
