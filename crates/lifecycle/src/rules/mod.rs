//! Standing rules: the verdict on one candidate, and the evidence for it. Only [`Verdict::Orphan`] leads to a deletion.
//!
//! Candidates must be listed before their owners: an owner that is created in between is then seen, so a candidate is
//! never called an orphan because its owner is newer than the listing.
//!
//! Where candidates and owners come from, and what is done about a verdict, is not known here.

mod leftover;
mod orphan;
mod owners;

pub use leftover::{FormerOwner, classify_leftover, former_owner, leftover_evidence};
pub use orphan::{Candidate, classify_orphan, evidence};
pub use owners::{Existence, OwnerKey, Owners};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a rule says of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// None of its owners exists, and that is proved.
    Orphan,
    /// It is not known whether its owners exist, or a reference does not match its owner.
    Unknown,
    /// None of its owners exists, but it is younger than the minimum age.
    TooYoung,
    /// None of its owners exists, but it is protected.
    Protected,
    /// An owner exists.
    Owned,
    /// It names no owner, so it cannot be an orphan.
    Ownerless,
}

impl Verdict {
    /// All verdicts, the most important first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Orphan,
        Verdict::Unknown,
        Verdict::TooYoung,
        Verdict::Protected,
        Verdict::Owned,
        Verdict::Ownerless,
    ];

    /// The word shown to users.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Orphan => "ORPHAN",
            Verdict::Unknown => "UNKNOWN",
            Verdict::TooYoung => "TOO_YOUNG",
            Verdict::Protected => "PROTECTED",
            Verdict::Owned => "OWNED",
            Verdict::Ownerless => "OWNERLESS",
        }
    }

    /// The word in records.
    pub fn field(self) -> &'static str {
        match self {
            Verdict::Orphan => "orphan",
            Verdict::Unknown => "unknown",
            Verdict::TooYoung => "tooYoung",
            Verdict::Protected => "protected",
            Verdict::Owned => "owned",
            Verdict::Ownerless => "ownerless",
        }
    }
}

/// The number of candidates per verdict.
pub type Counts = BTreeMap<Verdict, usize>;

#[cfg(test)]
mod tests;
