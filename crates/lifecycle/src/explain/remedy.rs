//! Remedies: the commands that clear a blocker.

use sexton_model::Key;
use sexton_model::hook::ObjectRef;

use super::Naming;
use crate::destruction;

/// What remedies a blocker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Retry the call now.
    Retry {
        /// The object that is blocked.
        object: ObjectRef,
    },
    /// Give the call, finalizer or journal up.
    Force {
        /// The object that is blocked.
        object: ObjectRef,
        /// What is given up: `destroy`, the uid of a subscriber, `finalizer:NAME`, or `journal` if that cannot be read.
        blocker: String,
    },
    /// Delete the excluded object, too.
    Delete {
        /// The excluded object.
        object: ObjectRef,
    },
    /// Remove the protection of the excluded object.
    Unprotect {
        /// Its key.
        key: Key,
    },
}

impl Remedy {
    /// The purpose in a few words.
    pub fn purpose(&self) -> &'static str {
        match self {
            Remedy::Retry { .. } => "try again now",
            Remedy::Force { blocker, .. } if blocker == destruction::UNREADABLE => "begin anew",
            Remedy::Force { .. } => "give it up",
            Remedy::Delete { .. } => "let it go, too",
            Remedy::Unprotect { .. } => "protect it no longer",
        }
    }

    /// The command.
    pub fn command(&self, naming: &Naming) -> String {
        match self {
            Remedy::Retry { object } => format!("sexton retry {}", naming.arguments(object)),
            Remedy::Force { object, blocker } => {
                format!("sexton force {} --blocker {blocker} --reason \"…\"", naming.arguments(object))
            }
            Remedy::Delete { object } => format!("sexton delete {}", naming.arguments(object)),
            Remedy::Unprotect { key } => {
                format!("sexton unprotect {}/{}{}", key.kind, key.name, naming.flag(&key.namespace))
            }
        }
    }

    /// What the user should know before running it. May be empty.
    pub fn note(&self) -> &'static str {
        match self {
            Remedy::Force { blocker, .. } if blocker == destruction::UNREADABLE => {
                "subscribers are notified again"
            }
            Remedy::Force { .. } => "leaves a tombstone: may still exist",
            _ => "",
        }
    }
}
