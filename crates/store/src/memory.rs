//! The engine for tests and throw-away worlds: nothing survives the process.

use crate::history::Retention;
use crate::journal::{Recovered, Volatile};
use crate::local::LocalEngine;
use crate::terms::Indexer;

/// An empty engine in memory, whose values have no terms.
pub fn open(keep: Retention) -> LocalEngine {
    LocalEngine::start(Volatile, Recovered::default(), keep)
}

/// An empty engine in memory that knows the terms of its values.
pub fn open_indexed(keep: Retention, indexer: Indexer) -> LocalEngine {
    LocalEngine::start_indexed(Volatile, Recovered::default(), keep, indexer)
}
