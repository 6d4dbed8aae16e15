//! Evidence: the cause of each finding has to hold in the snapshot still.

use sexton_model::{Policy, Uid};

use super::Flaw;
use crate::detect::{Cause, Detection};
use crate::plan::Step;
use crate::snapshot::{NodeId, Ownership, Snapshot};

/// An owner that may exist keeps its dependents from everything but a cascade.
const UNCERTAIN: &str = "it cannot be said whether an owner exists";

pub(super) fn verify(snapshot: &Snapshot, detection: &Detection, step: &Step, flaws: &mut Vec<Flaw>) {
    if let Some(what) = contradiction(snapshot, detection, step) {
        flaws.push(Flaw::Evidence(step.key.to_string(), what));
    }
}

fn contradiction(snapshot: &Snapshot, detection: &Detection, step: &Step) -> Option<&'static str> {
    let node = step.node;
    if step.finding.is_terminating && !snapshot.is_terminating(node) {
        return Some("its deletion has not begun");
    }
    if snapshot.is_terminating(node) {
        // A deletion that has begun is its own evidence: it is final, whatever became of its cause.
        return None;
    }
    match &step.finding.cause {
        // A hypothetical deletion leaves no trace in the snapshot.
        Cause::Requested => None,
        Cause::OwnerDoomed { owner } => follows(snapshot, detection, node, *owner),
        Cause::OwnersGone { uids } => {
            let owners: Vec<(Uid, Ownership)> = snapshot.owner_uids(node).collect();
            let back = uids.iter().any(|uid| {
                let named = owners.iter().filter(|(named, _)| named == uid);
                named.clone().count() == 0
                    || named.clone().any(|(_, ownerships)| matches!(ownerships, Ownership::Valid(_)))
            });
            let has_uncertain = owners.iter().any(|(_, ownerships)| is_uncertain(ownerships));
            let has_solid = owners.iter().any(|(_, ownerships)| is_solid(snapshot, detection, ownerships));
            match () {
                () if uids.is_empty() || back => Some("an owner that was gone is there"),
                () if has_uncertain => Some(UNCERTAIN),
                () if has_solid => Some("it has an owner that survives"),
                () => None,
            }
        }
        Cause::Candidate { record } => {
            let absent = |uid: &String| snapshot.get(&Uid(uid.clone())).is_none();
            match snapshot.candidate_record(node) {
                Some(now) if now == record && now.accusation.absent.iter().all(absent) => None,
                _ => Some("it is not recorded as a candidate any more"),
            }
        }
        // The references of a model are not in the snapshot; only that the object is destroyed already would be seen.
        Cause::Unreachable | Cause::Removed => {
            snapshot.is_destroyed(node).then_some("it is destroyed already")
        }
        Cause::InNamespace { namespace } => {
            let inside = snapshot.namespace_of(node) == Some(*namespace) && detection.is_doomed(*namespace);
            (!inside).then_some("its namespace is not doomed")
        }
        Cause::OfDefinition { definition } => {
            let defined =
                snapshot.definition_of(node) == Some(*definition) && detection.is_doomed(*definition);
            (!defined).then_some("the definition of its kind is not doomed")
        }
    }
}

fn follows(snapshot: &Snapshot, detection: &Detection, node: NodeId, owner: NodeId) -> Option<&'static str> {
    let Some(policy) = policy_of(snapshot, detection, owner) else { return Some("its owner is not doomed") };
    if !snapshot.ownerships(node).any(|ownerships| ownerships == Ownership::Valid(owner)) {
        return Some("the object named as its owner does not own it");
    }
    let needs_no_solid_owner = matches!(policy, Policy::Foreground | Policy::Background);
    if needs_no_solid_owner
        && snapshot.ownerships(node).any(|ownerships| is_solid(snapshot, detection, &ownerships))
    {
        return Some("it has an owner that survives");
    }
    if needs_no_solid_owner && snapshot.ownerships(node).any(|ownerships| is_uncertain(&ownerships)) {
        return Some(UNCERTAIN);
    }
    (policy == Policy::Orphan).then_some("its owner is deleted without its dependents")
}

/// The policy of an owner's deletion, if it is doomed: by this detection, or by a deletion outside of its scope that
/// dooms dependents at once.
fn policy_of(snapshot: &Snapshot, detection: &Detection, owner: NodeId) -> Option<Policy> {
    let recorded = || snapshot.policy(owner).filter(|_| snapshot.is_terminating(owner));
    let dooms_dependents = |policy: &Policy| matches!(policy, Policy::Cascade | Policy::Foreground);
    let doomed = detection.doomed.get(&owner).map(|finding| finding.policy);
    doomed.or_else(|| recorded().filter(dooms_dependents))
}

fn is_uncertain(ownerships: &Ownership) -> bool {
    matches!(ownerships, Ownership::Unknown(_))
}

fn is_solid(snapshot: &Snapshot, detection: &Detection, ownerships: &Ownership) -> bool {
    matches!(ownerships, Ownership::Valid(owner) if policy_of(snapshot, detection, *owner).is_none())
}
