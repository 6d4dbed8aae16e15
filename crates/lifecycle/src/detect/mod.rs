//! Detectors: which objects of a snapshot are garbage, each with the reason. A detector is a function of the snapshot;
//! none of them deletes anything.
//!
//! | function | finds |
//! |---|---|
//! | [`follow_deletions`] | what follows from terminating objects, from removals that were seen, and from deletions that are only considered |
//! | [`find_orphans`] | objects whose owners are all absent, and what follows from them |
//! | [`follow_candidates`] | objects with the annotation `sexton.dev/accused` that still hold, and what follows from them |
//! | [`doom_unreachable`], [`doom_removed`] | exactly the objects that the caller names |
//!
//! All of them return a [`Detection`]; [`Detection::merge_candidates`] combines two.

mod approvals;
mod candidates;
mod chains;
mod deletions;
mod detection;
mod effect;
mod given;
mod orphans;
mod propagation;
mod reachability;
mod report;
mod settings;

pub use candidates::follow_candidates;
pub use deletions::follow_deletions;
pub use detection::{
    Cause, Detection, Detector, Exclusion, Finding, HypotheticalDeletion, InvalidReference, Strip,
    UnresolvedReference, WhyExcluded,
};
pub use given::{doom_removed, doom_unreachable, missing_ids};
pub use orphans::{Grace, Orphans, find_orphans};
pub use reachability::{ReachableSet, References, reachable};
pub use settings::{DeletionScope, DetectionSettings, Roots};
