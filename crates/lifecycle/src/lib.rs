//! The lifecycle of objects: which ones are garbage, in which order they are destroyed, and why.
//!
//! Pure: no clock, no IO, no randomness, no threads. The way of a deletion through it:
//!
//! 1. [`snapshot`] keeps the metadata of all objects as last seen.
//! 2. [`detect`] finds the doomed objects ([`Detection`]), respecting [`protect`].
//! 3. [`plan`] puts them into an order, and verifies it.
//! 4. [`destruction`] is the state machine of one object's destruction: warn, notify, destroy, destroyed.
//! 5. [`explain`] says of any object why it is doomed, what it waits for, or what keeps it.
//!
//! [`rules`] and [`module`] decide about orphans on foreign servers and about deployments; [`graph`] has the
//! algorithms. The words used here are defined in `docs/glossary.md`.

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
    Cause, DeletionScope, Detection, DetectionSettings, Detector, Exclusion, Finding, Grace,
    HypotheticalDeletion, InvalidReference, Orphans, Roots, Strip, UnresolvedReference, WhyExcluded,
    find_orphans, follow_deletions,
};
pub use protect::{DeletionLimit, DeletionLimitExceeded, Protection, check_deletion_limit};
pub use snapshot::{
    CandidateRecord, NodeId, NotObservable, Observation, OwnerRef, Ownership, Snapshot, WhyInvalid,
    WhyUnknown,
};
