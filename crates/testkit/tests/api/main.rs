//! The API as its clients see it, in one process. One file per topic; one program, because linking takes longer than
//! all tests together.

mod delete;
mod delete_options;
mod update;
