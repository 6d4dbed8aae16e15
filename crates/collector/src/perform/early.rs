//! Owners that must be set terminating early: before their dependents, although a single DELETE could remove them
//! later.
//!
//! Why: the DELETE of a dependent carries the reason why it is doomed as preconditions, which the server checks in
//! the committing transaction. An owner that is destroyed before the dependent must be absent (`Item::absent`). Any
//! other owner must be terminating (`Item::marked`), because a termination cannot be taken back. But an owner with
//! the policy `Background` usually never is terminating: one DELETE removes it when its wave comes. So where a
//! dependent is destroyed before such an owner, or in one group with it, the owner is set terminating first.
//!
//! Example: `Vm/a` owns `Disk/d`, is deleted in the background, and subscribes to the destruction of the disk, which
//! therefore is destroyed before it:
//!
//! ```text
//! 1. DELETE Vm/a, policy Foreground            terminating; a finalizer holds it
//! 2. DELETE Disk/d, if Vm/a is terminating     removed
//! 3. take the finalizer off Vm/a               removed
//! ```
//!
//! Guarantees: a precondition is only sent when the snapshot and the writes of this round let it hold, so a refusal
//! means that something has changed. A candidate that takes steps is never set terminating early: a veto could still
//! save it.

use std::collections::{BTreeSet, HashSet};

use sexton_lifecycle::destruction::{Stage, State};
use sexton_lifecycle::plan::{Group, Step};
use sexton_lifecycle::{Cause, Detection, Finding, NodeId, Snapshot};
use sexton_model::Policy;
use sexton_model::bulk::Item;

use super::items::{self, Signature};
use crate::decide::Decision;
use crate::hooked::has_steps;

/// The owners that are the reason why an object is doomed: the one in its cause if that is deleted with `Cascade`
/// (or is not doomed itself), otherwise all its doomed owners, because each of them alone would keep the object.
pub(super) fn rests_on(snapshot: &Snapshot, judgement: &Detection, finding: &Finding) -> Vec<NodeId> {
    let Cause::OwnerDoomed { owner } = finding.cause else { return Vec::new() };
    let other = |owner: &NodeId| *owner != finding.node;
    if judgement.doomed.get(&owner).is_none_or(|owner| owner.policy == Policy::Cascade) {
        return Some(owner).filter(other).into_iter().collect();
    }
    let owners = snapshot.valid_owners(finding.node).filter(other);
    let mut owners: Vec<NodeId> = owners.filter(|owner| judgement.is_doomed(*owner)).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

/// The owners that must be terminating before an object may be set terminating: those of [`rests_on`] that are not
/// destroyed before the object.
pub(super) fn marked_before(snapshot: &Snapshot, decision: &Decision, finding: &Finding) -> Vec<NodeId> {
    let judgement = &decision.judgement;
    let mut owners = rests_on(snapshot, judgement, finding);
    let late = |owner: &NodeId| decision.goes_late(finding.node, *owner);
    owners.retain(|owner| late(owner) || !judgement.follows_owner(snapshot, finding.node, *owner));
    owners
}

/// Whether one of the owners of an object is destroyed before it, although another owner waits for the object. Until
/// that first owner is gone, the object cannot be set terminating: the absence of the owner is a precondition.
pub(super) fn is_preceded(snapshot: &Snapshot, decision: &Decision, finding: &Finding) -> bool {
    let judgement = &decision.judgement;
    !judgement.follows_all_owners(snapshot, finding.node)
        && rests_on(snapshot, judgement, finding).into_iter().any(|owner| {
            judgement.follows_owner(snapshot, finding.node, owner) && !decision.goes_late(finding.node, owner)
        })
}

/// Whether an object may be set terminating now: all of its [`marked_before`] are terminating in the snapshot or were
/// set so in this round (`marked`). The server would refuse an earlier attempt.
pub(super) fn may_be_marked(
    snapshot: &Snapshot,
    decision: &Decision,
    finding: &Finding,
    marked: &HashSet<NodeId>,
) -> bool {
    let is_marked = |owner: &NodeId| snapshot.is_terminating(*owner) || marked.contains(owner);
    decision.judgement.follows_all_owners(snapshot, finding.node)
        || marked_before(snapshot, decision, finding).iter().all(is_marked)
}

/// The doomed objects that must be set terminating early: with policy `Background`, and needed by an object in the
/// plan, directly or through another such owner. Candidates that take steps are left out, because they can still be
/// saved.
pub(super) fn early(snapshot: &Snapshot, decision: &Decision) -> BTreeSet<NodeId> {
    let judgement = &decision.judgement;
    let before_owners =
        |finding: &&Finding| !finding.is_terminating && !judgement.follows_all_owners(snapshot, finding.node);
    let mut work: Vec<&Finding> =
        decision.plan.steps().map(|step| &step.finding).filter(before_owners).collect();
    let mut early = BTreeSet::new();
    while let Some(finding) = work.pop() {
        let owners = marked_before(snapshot, decision, finding).into_iter();
        for owner in owners.filter(|owner| !snapshot.is_terminating(*owner)) {
            let Some(owner) = judgement.doomed.get(&owner) else { continue };
            let steps = owner.detector.is_automatic() && has_steps(snapshot, owner.node);
            if owner.policy == Policy::Background && !steps && early.insert(owner.node) {
                work.push(owner);
            }
        }
    }
    early.extend(
        decision.plan.steps().filter(|step| is_free(snapshot, judgement, step)).map(|step| step.node),
    );
    early
}

/// Whether an object has to wait for others, and its owner, which is deleted in the foreground, does not wait for it
/// once it is terminating: then it is set terminating at once.
fn is_free(snapshot: &Snapshot, judgement: &Detection, step: &Step) -> bool {
    let (life, finding) = (step.node, &step.finding);
    let Cause::OwnerDoomed { owner } = finding.cause else { return false };
    let foreground = |owner: &Finding| owner.policy == Policy::Foreground && !owner.detector.is_automatic();
    !finding.is_terminating
        && finding.policy == Policy::Background
        && !step.after.is_empty()
        && judgement.doomed.get(&owner).is_some_and(foreground)
        && !snapshot.is_blocking(life, owner)
}

/// The DELETE that sets such an owner terminating. It uses the policy `Foreground`, with a finalizer that holds the
/// object until its predecessors in the plan are gone.
pub(super) fn mark(
    snapshot: &Snapshot,
    judgement: &Detection,
    finding: &Finding,
    signature: &Signature,
) -> Item {
    let marked = rests_on(snapshot, judgement, finding).into_iter().map(|owner| snapshot.uid(owner).0);
    let finding = Finding { policy: Policy::Foreground, ..finding.clone() };
    let mut item = items::delete(snapshot, judgement, &finding, signature);
    // The owners that still exist are not absent any more, as in `items::delete`: they have to be terminating.
    item.absent.retain(|uid| snapshot.get(&sexton_model::Uid(uid.clone())).is_none());
    item.marked = marked.collect();
    item
}

/// The deletion of a member of a group of several objects. The other members are taken out of `absent` if their end is
/// inevitable (terminating, or notified according to their journal): they are destroyed together with it, not before.
pub(crate) fn in_circle(snapshot: &Snapshot, group: &Group, mut item: Item) -> Item {
    let inevitable = |life: NodeId| {
        let told = snapshot.journal(life).and_then(|text| State::decode(text).ok());
        let told = told.is_some_and(|told| (Stage::Notifying..=Stage::Released).contains(&told.stage));
        told || snapshot.is_terminating(life)
    };
    for member in group.members.iter().map(|step| step.node).filter(|life| inevitable(*life)) {
        let uid = snapshot.uid(member).0;
        item.absent.retain(|absent| *absent != uid);
    }
    item
}
