//! The steps of one object: the whole table as text, walks through it, and what holds whatever happens.

#![allow(missing_docs, clippy::unwrap_used)]

mod crashes;
mod driver;
mod journal;
mod properties;
mod refusals;
mod table;
mod walks;
