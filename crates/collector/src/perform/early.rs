//! Owners that are marked although they could go at once: somebody who goes before them, or with them, dies of their
//! end, too, and rests on what cannot be taken back.

use std::collections::{BTreeSet, HashSet};

use sexton_lifecycle::destruction::{Stage, State};
use sexton_lifecycle::plan::{Group, Step};
use sexton_lifecycle::{Cause, Finding, Judgement, LifeId, Snapshot};
use sexton_model::Policy;
use sexton_model::bulk::Item;

use super::items::{self, Signature};
use crate::decide::Decision;
use crate::hooked::has_steps;

/// The owners on whose end the death of a life rests: the one that takes it along, or all of them if each would keep it.
pub(super) fn rests_on(snapshot: &Snapshot, judgement: &Judgement, finding: &Finding) -> Vec<LifeId> {
    let Cause::OwnerDoomed { owner } = finding.cause else { return Vec::new() };
    let other = |owner: &LifeId| *owner != finding.life;
    if judgement.doomed.get(&owner).is_none_or(|owner| owner.policy == Policy::Cascade) {
        return Some(owner).filter(other).into_iter().collect();
    }
    let owners = snapshot.owner_lives(finding.life).filter(other);
    let mut owners: Vec<LifeId> = owners.filter(|owner| judgement.dooms(*owner)).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

/// The owners that have to be marked before a life may be: those on whose end its death rests, and that do not go
/// before it.
pub(super) fn marked_before(snapshot: &Snapshot, decision: &Decision, finding: &Finding) -> Vec<LifeId> {
    let judgement = &decision.judgement;
    let mut owners = rests_on(snapshot, judgement, finding);
    let late = |owner: &LifeId| decision.goes_late(finding.life, *owner);
    owners.retain(|owner| late(owner) || !judgement.follows(snapshot, finding.life, *owner));
    owners
}

/// Whether an owner goes before a life although others wait for the life. As long as it is there the life has no mark.
pub(super) fn is_preceded(snapshot: &Snapshot, decision: &Decision, finding: &Finding) -> bool {
    let judgement = &decision.judgement;
    !judgement.follows_owners(snapshot, finding.life)
        && rests_on(snapshot, judgement, finding).into_iter().any(|owner| {
            judgement.follows(snapshot, finding.life, owner) && !decision.goes_late(finding.life, owner)
        })
}

/// Whether a life may be marked now: the owners that would have to be marked before it are. Asking earlier would only be
/// refused.
pub(super) fn may_be_marked(
    snapshot: &Snapshot,
    decision: &Decision,
    finding: &Finding,
    marked: &HashSet<LifeId>,
) -> bool {
    let is_marked = |owner: &LifeId| snapshot.is_marked(*owner) || marked.contains(owner);
    decision.judgement.follows_owners(snapshot, finding.life)
        || marked_before(snapshot, decision, finding).iter().all(is_marked)
}

/// Who has to be marked early. What is only accused and takes steps is not: it can still be saved.
pub(super) fn early(snapshot: &Snapshot, decision: &Decision) -> BTreeSet<LifeId> {
    let judgement = &decision.judgement;
    let before_owners =
        |finding: &&Finding| !finding.marked && !judgement.follows_owners(snapshot, finding.life);
    let mut work: Vec<&Finding> =
        decision.plan.steps().map(|step| &step.finding).filter(before_owners).collect();
    let mut early = BTreeSet::new();
    while let Some(finding) = work.pop() {
        let owners = marked_before(snapshot, decision, finding).into_iter();
        for owner in owners.filter(|owner| !snapshot.is_marked(*owner)) {
            let Some(owner) = judgement.doomed.get(&owner) else { continue };
            let steps = owner.detector.accuses() && has_steps(snapshot, owner.life);
            if owner.policy == Policy::Background && !steps && early.insert(owner.life) {
                work.push(owner);
            }
        }
    }
    early.extend(
        decision.plan.steps().filter(|step| is_free(snapshot, judgement, step)).map(|step| step.life),
    );
    early
}

/// Whether an object has to wait for others, and its owner, which is deleted in the foreground, does not wait for it once
/// it is terminating: then it is set terminating at once.
fn is_free(snapshot: &Snapshot, judgement: &Judgement, step: &Step) -> bool {
    let (life, finding) = (step.life, &step.finding);
    let Cause::OwnerDoomed { owner } = finding.cause else { return false };
    let foreground = |owner: &Finding| owner.policy == Policy::Foreground && !owner.detector.accuses();
    !finding.marked
        && finding.policy == Policy::Background
        && !step.after.is_empty()
        && judgement.doomed.get(&owner).is_some_and(foreground)
        && !snapshot.blocks(life, owner)
}

/// The mark of such an owner. With this policy it waits for those who go before it, and goes all the same.
pub(super) fn mark(
    snapshot: &Snapshot,
    judgement: &Judgement,
    finding: &Finding,
    signature: &Signature,
) -> Item {
    let marked = rests_on(snapshot, judgement, finding).into_iter().map(|owner| snapshot.uid(owner).0);
    let finding = Finding { policy: Policy::Foreground, ..finding.clone() };
    let mut item = items::delete(snapshot, judgement, &finding, signature);
    // Those of its owners that are still there are not gone before it any more, but marked.
    item.absent.retain(|uid| snapshot.get(&sexton_model::Uid(uid.clone())).is_none());
    item.marked = marked.collect();
    item
}

/// The deletion of somebody who goes together with others: those of them whose end is inevitable need not be gone first.
pub(crate) fn in_circle(snapshot: &Snapshot, group: &Group, mut item: Item) -> Item {
    let inevitable = |life: LifeId| {
        let told = snapshot.journal(life).and_then(|text| State::decode(text).ok());
        let told = told.is_some_and(|told| (Stage::Notifying..=Stage::Released).contains(&told.stage));
        told || snapshot.is_marked(life)
    };
    for member in group.members.iter().map(|step| step.life).filter(|life| inevitable(*life)) {
        let uid = snapshot.uid(member).0;
        item.absent.retain(|absent| *absent != uid);
    }
    item
}
