//! Who is garbage. Each detector is a function of a snapshot; none of them deletes anything.

mod accused;
mod approvals;
mod cascade;
mod chains;
mod judgement;
mod orphaned;
mod report;
mod spread;

pub use accused::accused;
pub use cascade::{Roots, Settings, judge};
pub use judgement::{
    Cause, Detector, Finding, Hold, Hypothetical, Invalid, Judgement, Strip, Unknown, WhyHeld,
};
pub use orphaned::{Grace, Orphans, orphaned};
