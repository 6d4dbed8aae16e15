//! Environments: where the objects of a program are between its runs.

mod burial;
mod keeper;
mod kinds;
mod record;
mod save;
