//! Progress events of an operation on a module.

use super::plan::PutAction;

/// A progress event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The lease was taken.
    Locked {
        /// Which module.
        module: String,
    },
    /// The intent to put is recorded.
    Intended {
        /// Which deployment.
        deployment: String,
        /// How many resources.
        count: usize,
    },
    /// A resource was put, and is marked.
    Put {
        /// Where its document is.
        origin: String,
        /// As users type it.
        object: String,
        /// What became of it.
        action: PutAction,
        /// How many were put so far.
        done: usize,
        /// How many there are.
        of: usize,
        /// Warnings of the server.
        warnings: Vec<String>,
    },
    /// A resource could not be put.
    Failed(FailedPut),
    /// All resources were put.
    Sealed {
        /// Which deployment.
        deployment: String,
    },
    /// Unmarked objects were accused.
    Accused {
        /// How many so far.
        done: usize,
        /// How many there are.
        of: usize,
    },
    /// Unmarked objects got new places instead.
    Renumbered {
        /// How many.
        count: usize,
    },
    /// Nothing is swept, and why.
    NotSwept {
        /// Why, in words.
        why: String,
    },
}

/// A resource that could not be put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPut {
    /// Where its document is.
    pub origin: String,
    /// As users type it.
    pub object: String,
    /// Why, in words.
    pub why: String,
}
