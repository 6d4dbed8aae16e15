//! Who is garbage, in which order it dies, and why. Pure: no clock, no IO, no randomness, no threads.

pub mod destruction;
pub mod detect;
pub mod explain;
pub mod graph;
pub mod module;
pub mod plan;
pub mod protect;
pub mod rules;
pub mod snapshot;

pub use detect::{
    Cause, DeletionScope, Detector, Finding, Grace, Hold, Hypothetical, Invalid, Judgement, Orphans, Roots,
    Settings, Strip, Unknown, WhyHeld, judge, orphaned,
};
pub use protect::{FuseLimits, Held, Protection, fuse};
pub use snapshot::{
    Accused, LifeId, NotObservable, Observation, OwnerRef, Ownership, Snapshot, WhyInvalid, WhyUnknown,
};
