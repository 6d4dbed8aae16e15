//! Objects whose owners do not exist. Examines only objects that name an absent owner, never all of them.

use std::collections::BTreeMap;

use sexton_model::{Policy, Uid};

use super::deletions::follow_assumed;
use super::propagation::AssumedDeletion;
use super::{Cause, Detection, DetectionSettings, Detector, InvalidReference, Roots, UnresolvedReference};
use crate::snapshot::{NodeId, Ownership, Snapshot};

/// How long an object must have been seen without owners before it is doomed. The caller keeps the times.
#[derive(Debug, Clone, Copy)]
pub struct Grace<'a> {
    /// Now.
    pub now: i64,
    /// The grace period, in the unit of `now`.
    pub period: i64,
    /// Since when each object was seen without owners, by uid.
    pub since: &'a BTreeMap<Uid, i64>,
}

/// Orphans, by what happens to them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Orphans {
    /// The orphans whose grace period is over, with what follows from them; and all unresolved and invalid references
    /// that were found.
    pub detection: Detection,
    /// Orphans whose grace period is not over. The caller keeps the times of these, and forgets all others.
    pub in_grace: Vec<NodeId>,
    /// Orphans of an owner whose removal was seen. [`super::follow_deletions`] dooms them, without any grace period.
    pub after_removal: Vec<NodeId>,
}

/// Returns the objects that name owners of which none exists.
///
/// An object without owner references is not an orphan, and neither is one with a reference that is invalid or cannot
/// be resolved.
pub fn find_orphans(snapshot: &Snapshot, grace: Grace<'_>, settings: &DetectionSettings) -> Orphans {
    let mut orphans = Orphans::default();
    let (mut assumed, mut unresolved, mut invalid) = (Vec::new(), Vec::new(), Vec::new());
    for node in snapshot.nodes_with_absent_owners() {
        if snapshot.is_terminating(node) || !settings.scope.contains(&snapshot.uid(node)) {
            continue;
        }
        let (mut is_removal_seen, mut is_certain, mut uids) = (false, true, Vec::new());
        for (reference, owner) in snapshot.resolved_references(node) {
            match owner {
                Ownership::Absent { seen } => is_removal_seen |= seen,
                Ownership::Valid(_) => is_certain = false,
                Ownership::Unknown(why) => {
                    is_certain = false;
                    let reference = snapshot.owner_ref(reference);
                    unresolved.push(UnresolvedReference { node, reference, why });
                }
                Ownership::Invalid(why) => {
                    is_certain = false;
                    invalid.push(InvalidReference { node, reference: snapshot.owner_ref(reference), why });
                }
            }
            uids.push(snapshot.uid_of(reference.uid));
        }
        if !is_certain {
            continue;
        }
        if is_removal_seen {
            orphans.after_removal.push(node);
        } else if !is_over(&grace, &snapshot.uid(node)) {
            orphans.in_grace.push(node);
        } else {
            let policy = match snapshot.policy(node) {
                Some(recorded @ (Policy::Orphan | Policy::Foreground)) => recorded,
                _ => Policy::Background,
            };
            let cause = Cause::OwnersGone { uids };
            assumed.push(AssumedDeletion { node, policy, detector: Detector::Orphaned, cause });
        }
    }
    orphans.detection = follow_assumed(snapshot, Roots::None, assumed, settings);
    merge_references(snapshot, &mut orphans.detection, unresolved, invalid);
    orphans
}

fn is_over(grace: &Grace<'_>, uid: &Uid) -> bool {
    let since = grace.since.get(uid).copied().unwrap_or(grace.now);
    grace.now.saturating_sub(since) >= grace.period
}

/// Adds references to a detection, each once, by key.
fn merge_references(
    snapshot: &Snapshot,
    detection: &mut Detection,
    unresolved: Vec<UnresolvedReference>,
    invalid: Vec<InvalidReference>,
) {
    detection.unresolved.extend(unresolved);
    detection
        .unresolved
        .sort_by(|a, b| snapshot.compare_keys(a.node, b.node).then_with(|| a.reference.cmp(&b.reference)));
    detection.unresolved.dedup();
    detection.invalid.extend(invalid);
    detection
        .invalid
        .sort_by(|a, b| snapshot.compare_keys(a.node, b.node).then_with(|| a.reference.cmp(&b.reference)));
    detection.invalid.dedup();
}
