//! Evidence: what a finding is based on has to be true of the snapshot still.

use sexton_model::{Policy, Uid};

use super::Flaw;
use crate::detect::{Cause, Judgement};
use crate::plan::Step;
use crate::snapshot::{LifeId, Ownership, Snapshot};

/// An owner that may exist keeps what it owns: only a cascade takes that along.
const UNCERTAIN: &str = "it cannot be said whether an owner exists";

pub(super) fn holds(snapshot: &Snapshot, judgement: &Judgement, step: &Step, flaws: &mut Vec<Flaw>) {
    if let Some(what) = contradiction(snapshot, judgement, step) {
        flaws.push(Flaw::Evidence(step.key.to_string(), what));
    }
}

fn contradiction(snapshot: &Snapshot, judgement: &Judgement, step: &Step) -> Option<&'static str> {
    let life = step.life;
    if step.finding.marked && !snapshot.is_marked(life) {
        return Some("it is not marked");
    }
    if snapshot.is_marked(life) {
        // The mark itself: it is never taken back, whatever became of what led to it.
        return None;
    }
    match &step.finding.cause {
        // A deletion that is only supposed has no mark to show for it.
        Cause::Asked => None,
        Cause::OwnerDoomed { owner } => follows(snapshot, judgement, life, *owner),
        Cause::OwnersGone { uids } => {
            let owners: Vec<(Uid, Ownership)> = snapshot.owner_uids(life).collect();
            let back = uids.iter().any(|uid| {
                let named = owners.iter().filter(|(named, _)| named == uid);
                named.clone().count() == 0
                    || named.clone().any(|(_, leads)| matches!(leads, Ownership::Valid(_)))
            });
            let unsure = owners.iter().any(|(_, leads)| is_uncertain(leads));
            let solid = owners.iter().any(|(_, leads)| solid(snapshot, judgement, leads));
            match () {
                () if uids.is_empty() || back => Some("an owner that was gone is there"),
                () if unsure => Some(UNCERTAIN),
                () if solid => Some("it has an owner that lives on"),
                () => None,
            }
        }
        Cause::Accused { accused } => {
            let absent = |uid: &String| snapshot.get(&Uid(uid.clone())).is_none();
            match snapshot.accusation(life) {
                Some(now) if now == accused && now.said.absent.iter().all(absent) => None,
                _ => Some("nobody accuses it any more"),
            }
        }
        // Whoever found it looked at references, which are not in a snapshot; that it is over would be.
        Cause::Unreachable | Cause::Removed => {
            snapshot.is_destroyed(life).then_some("it is destroyed already")
        }
        Cause::InNamespace { namespace } => {
            let inside = snapshot.namespace_life(life) == Some(*namespace) && judgement.dooms(*namespace);
            (!inside).then_some("its namespace does not die")
        }
        Cause::OfDefinition { definition } => {
            let defined = snapshot.definition_life(life) == Some(*definition) && judgement.dooms(*definition);
            (!defined).then_some("the definition of its kind does not die")
        }
    }
}

fn follows(snapshot: &Snapshot, judgement: &Judgement, life: LifeId, owner: LifeId) -> Option<&'static str> {
    let Some(policy) = policy_of(snapshot, judgement, owner) else { return Some("its owner does not die") };
    if !snapshot.leads(life).any(|leads| leads == Ownership::Valid(owner)) {
        return Some("the one it follows does not own it");
    }
    let alone = matches!(policy, Policy::Foreground | Policy::Background);
    if alone && snapshot.leads(life).any(|leads| solid(snapshot, judgement, &leads)) {
        return Some("it has an owner that lives on");
    }
    if alone && snapshot.leads(life).any(|leads| is_uncertain(&leads)) {
        return Some(UNCERTAIN);
    }
    (policy == Policy::Orphan).then_some("its owner goes without it")
}

/// How an owner dies, if it does: in this judgement, or by a deletion outside of its scope that takes dependents along.
fn policy_of(snapshot: &Snapshot, judgement: &Judgement, owner: LifeId) -> Option<Policy> {
    let recorded = || snapshot.policy(owner).filter(|_| snapshot.is_marked(owner));
    let takes = |policy: &Policy| matches!(policy, Policy::Cascade | Policy::Foreground);
    let doomed = judgement.doomed.get(&owner).map(|finding| finding.policy);
    doomed.or_else(|| recorded().filter(takes))
}

fn is_uncertain(leads: &Ownership) -> bool {
    matches!(leads, Ownership::Unknown(_))
}

fn solid(snapshot: &Snapshot, judgement: &Judgement, leads: &Ownership) -> bool {
    matches!(leads, Ownership::Valid(owner) if policy_of(snapshot, judgement, *owner).is_none())
}
