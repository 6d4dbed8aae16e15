//! The names of the policies.

use clap::ValueEnum;
use sexton_model::Policy;

/// What becomes of the objects that these own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyName {
    /// They go first, whoever else owns them
    Cascade,
    /// They go first, unless somebody else owns them, too
    Foreground,
    /// They follow, unless somebody else owns them, too
    Background,
    /// They live on, without the reference
    Orphan,
}

impl From<PolicyName> for Policy {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Background => Policy::Background,
            PolicyName::Foreground => Policy::Foreground,
            PolicyName::Orphan => Policy::Orphan,
            PolicyName::Cascade => Policy::Cascade,
        }
    }
}

/// A policy as it is typed and said.
pub(crate) fn word(policy: Policy) -> &'static str {
    match policy {
        Policy::Cascade => "cascade",
        Policy::Foreground => "foreground",
        Policy::Background => "background",
        Policy::Orphan => "orphan",
    }
}
