//! What is told while a module is worked on.

use super::plan::PutAction;

/// Something happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The lease is ours.
    Locked {
        /// Which module.
        module: String,
    },
    /// What is going to be put is written down.
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
        /// As people type it.
        object: String,
        /// What became of it.
        action: PutAction,
        /// How many were put so far.
        done: usize,
        /// How many there are.
        of: usize,
        /// What the server wants people to know.
        warnings: Vec<String>,
    },
    /// A resource could not be put.
    Failed(FailedPut),
    /// All resources were put.
    Sealed {
        /// Which deployment.
        deployment: String,
    },
    /// So many of the unmarked were accused.
    Accused {
        /// How many so far.
        done: usize,
        /// How many there are.
        of: usize,
    },
    /// The unmarked got new places instead.
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
    /// As people type it.
    pub object: String,
    /// Why, in words.
    pub why: String,
}
