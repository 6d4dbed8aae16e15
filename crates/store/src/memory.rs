//! The engine for tests and throw-away worlds: nothing survives the process.

use crate::history::Retention;
use crate::journal::{Recovered, Volatile};
use crate::local::LocalEngine;

/// An empty engine in memory.
pub fn open(keep: Retention) -> LocalEngine {
    LocalEngine::start(Volatile, Recovered::default(), keep)
}
