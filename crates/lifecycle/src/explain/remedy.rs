//! What can be typed to get something out of the way.

use sexton_model::Key;
use sexton_model::hook::ObjectRef;

use super::Naming;
use crate::destruction;

/// What clears a blocker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// To ask again now.
    Retry {
        /// The life that waits.
        object: ObjectRef,
    },
    /// To give it up.
    Force {
        /// The life that waits.
        object: ObjectRef,
        /// What is given up: `destroy`, the uid of a subscriber, `finalizer:NAME`, or a journal that cannot be read.
        blocker: String,
    },
    /// To delete what was left out.
    Delete {
        /// That.
        object: ObjectRef,
    },
    /// To protect it no longer.
    Unprotect {
        /// What.
        key: Key,
    },
}

impl Remedy {
    /// What it is good for, in a few words.
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
            Remedy::Retry { object } => format!("sexton retry {}", naming.typed(object)),
            Remedy::Force { object, blocker } => {
                format!("sexton force {} --blocker {blocker} --reason \"…\"", naming.typed(object))
            }
            Remedy::Delete { object } => format!("sexton delete {}", naming.typed(object)),
            Remedy::Unprotect { key } => {
                format!("sexton unprotect {}/{}{}", key.kind, key.name, naming.flag(&key.namespace))
            }
        }
    }

    /// What to know before it is typed.
    pub fn note(&self) -> &'static str {
        match self {
            Remedy::Force { blocker, .. } if blocker == destruction::UNREADABLE => {
                "whoever was told is told again"
            }
            Remedy::Force { .. } => "leaves a tombstone: may still exist",
            _ => "",
        }
    }
}
