//! Who is garbage. Each detector is a function of a snapshot; none of them deletes anything.

mod accused;
mod approvals;
mod cascade;
mod chains;
mod condemned;
mod judgement;
mod orphaned;
mod removed;
mod report;
mod scope;
mod spread;
mod unreachable;

pub use accused::accused;
pub use cascade::{Roots, Settings, judge};
pub use judgement::{
    Cause, Detector, Finding, Hold, Hypothetical, Invalid, Judgement, Strip, Unknown, WhyHeld,
};
pub use orphaned::{Grace, Orphans, orphaned};
pub use removed::{missing, removed};
pub use scope::DeletionScope;
pub use unreachable::{Reachable, References, reachable, unreachable};
