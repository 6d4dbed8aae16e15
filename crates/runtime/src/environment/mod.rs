//! Environments: where the objects of a program are between its runs.

mod burial;
mod kinds;
mod record;
