//! What standing rules say of one candidate: a verdict, and the evidence for it. Only [`Verdict::Orphan`] dies.
//!
//! Candidates are looked at first and owners after them: an owner that came in between is seen, so that nobody is
//! condemned for having been made a moment too early.
//!
//! It must not know where candidates and owners come from, nor what becomes of a verdict.

mod leftover;
mod orphan;
mod owners;

pub use leftover::{Former, former, judge_leftover, leftover_evidence};
pub use orphan::{Candidate, evidence, judge_orphan};
pub use owners::{Existence, Owners, Whereabouts};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What is said of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// None of its owners exists, and that is proved.
    Orphan,
    /// It cannot be said whether its owners exist, or a reference is not what it says.
    Unknown,
    /// None of its owners exists, but it was made a moment ago.
    TooYoung,
    /// None of its owners exists, but it must not be destroyed.
    Protected,
    /// An owner exists.
    Owned,
    /// It names no owner, and so is nobody's orphan.
    Ownerless,
}

impl Verdict {
    /// All of them, the ones that matter most first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Orphan,
        Verdict::Unknown,
        Verdict::TooYoung,
        Verdict::Protected,
        Verdict::Owned,
        Verdict::Ownerless,
    ];

    /// The word that people read.
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

/// How many of each.
pub type Counts = BTreeMap<Verdict, usize>;

#[cfg(test)]
mod tests;
