//! The names of the policies.

use clap::ValueEnum;
use sexton_model::Policy;

/// What becomes of the objects that these own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PolicyName {
    /// They follow, unless somebody else owns them, too
    Background,
    /// They go first, unless somebody else owns them, too
    Foreground,
    /// They live on, without the reference
    Orphan,
    /// They go first, whoever else owns them
    Cascade,
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
