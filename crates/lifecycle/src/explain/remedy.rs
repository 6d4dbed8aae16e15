//! What can be typed to get something out of the way.

use sexton_model::Key;
use sexton_model::hook::ObjectRef;
use sexton_model::marks;

use super::Naming;

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
        /// What is given up: `destroy`, the uid of a subscriber, or `finalizer:NAME`.
        blocker: String,
    },
    /// To delete what was left out.
    Delete {
        /// That.
        object: ObjectRef,
    },
    /// To take an annotation off.
    Unannotate {
        /// Whose.
        key: Key,
        /// Its name.
        annotation: String,
    },
}

impl Remedy {
    /// What it is good for, in a few words.
    pub fn purpose(&self) -> &'static str {
        match self {
            Remedy::Retry { .. } => "try again now",
            Remedy::Force { .. } => "give it up",
            Remedy::Delete { .. } => "let it go, too",
            Remedy::Unannotate { annotation, .. } if annotation == marks::PROTECT => "protect it no longer",
            Remedy::Unannotate { .. } => "begin anew",
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
            Remedy::Unannotate { key, annotation } if annotation == marks::PROTECT => {
                format!("sexton unprotect {}/{}{}", key.kind, key.name, naming.flag(&key.namespace))
            }
            Remedy::Unannotate { key, annotation } => {
                let flag = naming.flag(&key.namespace);
                format!("kubectl annotate {}/{}{flag} {annotation}-", key.kind, key.name)
            }
        }
    }

    /// What to know before it is typed.
    pub fn note(&self) -> &'static str {
        match self {
            Remedy::Force { .. } => "leaves a tombstone: may still exist",
            Remedy::Unannotate { annotation, .. } if annotation == marks::JOURNAL => {
                "whoever was told is told again"
            }
            _ => "",
        }
    }
}
