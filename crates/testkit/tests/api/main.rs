//! The API as its clients see it, in one process. One file per topic; one program, because linking takes longer than
//! all tests together.

mod create;
mod definitions;
mod delete;
mod delete_options;
mod list;
mod namespaces;
mod owners;
mod race;
mod update;
mod watch;
mod watch_many;
