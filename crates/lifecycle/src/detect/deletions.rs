//! What follows from deletions: which dependents are doomed, which only lose a reference, and which are excluded.
//!
//! The cost grows with what the roots reach, never with the size of the snapshot, and nothing here recurses.

use super::chains::CauseChains;
use super::propagation::{AssumedDeletion, Propagation};
use super::{Cause, Detection, DetectionSettings, Detector, HypotheticalDeletion, Roots, report};
use crate::snapshot::Snapshot;

/// Returns what follows from the deletions in a snapshot, and from hypothetical ones.
///
/// - `cascade_deletion`: every dependent is doomed, whatever other owners it has.
/// - `foregroundDeletion`: a dependent is doomed unless it has a solid owner (one that survives); then it loses its
///   references to the owners that do not.
/// - no policy: as with `foregroundDeletion`, but once the owner is gone; a preview shows it at once.
/// - `orphan`: dependents survive and lose the reference.
/// - a terminating namespace dooms its contents, a definition the objects of its kind.
///
/// The result is the least set of objects that is closed under these rules. So the order in which they are applied does
/// not matter, diamonds count once, and a cycle of owners that keep each other is doomed only from outside.
pub fn follow_deletions(
    snapshot: &Snapshot,
    roots: Roots<'_>,
    hypothetical: &[HypotheticalDeletion],
    settings: &DetectionSettings,
) -> Detection {
    let assumed = hypothetical.iter().map(|deletion| AssumedDeletion {
        node: deletion.node,
        policy: deletion.policy,
        detector: Detector::Deleted,
        cause: Cause::Requested,
    });
    follow_assumed(snapshot, roots, assumed.collect(), settings)
}

/// The three passes behind every detector that follows owner references.
///
/// 1. [`Propagation`] computes the doomed set: a least fixpoint over a worklist.
/// 2. [`CauseChains`] explains each doomed object by a shortest chain to a root.
/// 3. [`report::complete`] adds what is to be said of the objects that were examined and survive.
pub(super) fn follow_assumed(
    snapshot: &Snapshot,
    roots: Roots<'_>,
    assumed: Vec<AssumedDeletion>,
    settings: &DetectionSettings,
) -> Detection {
    let mut propagation = Propagation::new(snapshot, roots, settings);
    assumed.iter().for_each(|deletion| propagation.assume_deleted(deletion));
    propagation.run();
    let doomed = CauseChains::new(&propagation, roots, &assumed).findings();
    Detection { kubernetes: settings.kubernetes, ..report::complete(&propagation, doomed) }
}
