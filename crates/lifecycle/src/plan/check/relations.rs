//! Who must die before whom, derived from the side of those who go later.

use hashbrown::HashSet;
use sexton_model::Policy;

use super::super::{DroppedEdge, Plan, Relation};
use crate::detect::{Cause, Judgement};
use crate::snapshot::{LifeId, Snapshot};

/// The first has to die before the second.
pub(super) type Edge = DroppedEdge;

/// All edges between those who die.
pub(super) fn edges(snapshot: &Snapshot, judgement: &Judgement, plan: &Plan) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut add = |first: LifeId, second: LifeId, relation| {
        if first != second && judgement.dooms(first) && judgement.dooms(second) {
            edges.push(Edge { first, second, relation });
        }
    };
    let held_up = held_up(snapshot, judgement);
    for life in plan.steps().map(|step| step.life) {
        for subscriber in subscribers(snapshot, judgement, life) {
            add(life, subscriber, Relation::Subscription);
        }
        if let Some(class) = snapshot.class_for(life) {
            add(life, class, Relation::Class);
        }
        let free = free(snapshot, judgement, life);
        for dependent in snapshot.valid_dependents(life).filter(|dependent| !free.contains(dependent)) {
            if held_up.contains(&dependent) && !rests_on(snapshot, judgement, dependent, life) {
                add(dependent, life, Relation::Owner);
            } else {
                add(life, dependent, Relation::Background);
            }
        }
        let relation = if snapshot.is_namespace(life) { Relation::Namespace } else { Relation::Definition };
        for content in snapshot.contents(life) {
            add(content, life, relation);
        }
    }
    let mut once = HashSet::with_capacity(edges.len());
    edges.retain(|edge| once.insert(*edge));
    edges
}

/// Those who die and depend on a life, also through others who live on.
fn subscribers(snapshot: &Snapshot, judgement: &Judgement, life: LifeId) -> HashSet<LifeId> {
    let (mut found, mut next) = (HashSet::new(), vec![life]);
    while let Some(target) = next.pop() {
        for (subscriber, _) in snapshot.subscribers_of(target) {
            if found.insert(subscriber) && !judgement.dooms(subscriber) {
                next.push(subscriber);
            }
        }
    }
    found.retain(|subscriber| judgement.dooms(*subscriber));
    found
}

/// Dependents for which an owner does not wait: its deletion is a foreground one, they do not say `blockOwnerDeletion`,
/// and they are terminating; where Kubernetes removes owners, that does not matter.
fn free(snapshot: &Snapshot, judgement: &Judgement, owner: LifeId) -> HashSet<LifeId> {
    match judgement.doomed.get(&owner).map(|finding| finding.policy) {
        Some(Policy::Foreground) => {
            let alone = |dependent: LifeId| judgement.kubernetes || snapshot.is_marked(dependent);
            let alone = snapshot.dependents(owner).filter(|(dependent, _)| alone(*dependent));
            alone.filter(|(_, reference)| !reference.blocks).map(|(dependent, _)| dependent).collect()
        }
        _ => HashSet::new(),
    }
}

/// Those for whom somebody else waits: they die for another reason than their owners, or have an owner that lives on
/// or goes last by its policy. Everybody else follows owners that go first.
fn held_up(snapshot: &Snapshot, judgement: &Judgement) -> HashSet<LifeId> {
    let mut held_up = HashSet::new();
    for (life, finding) in &judgement.doomed {
        if !matches!(finding.cause, Cause::OwnersGone { .. } | Cause::OwnerDoomed { .. }) {
            held_up.insert(*life);
        }
        if snapshot.contains(*life) && !matches!(finding.policy, Policy::Background | Policy::Orphan) {
            held_up.extend(snapshot.valid_dependents(*life));
        }
    }
    for life in judgement.doomed.keys().filter(|life| snapshot.contains(**life)) {
        if snapshot.owner_lives(*life).any(|owner| !judgement.dooms(owner)) {
            held_up.insert(*life);
        }
    }
    held_up
}

/// Whether it is not certain that a life dies before this owner of it has: there is no mark on it, nobody takes it along
/// whatever others say, and the owner waits for nobody.
fn rests_on(snapshot: &Snapshot, judgement: &Judgement, life: LifeId, owner: LifeId) -> bool {
    let at_once = |one: LifeId| {
        let policy = judgement.doomed.get(&one).map(|finding| finding.policy);
        matches!(policy, Some(Policy::Background | Policy::Orphan))
    };
    let rests = judgement.doomed.get(&life).is_some_and(|finding| match finding.cause {
        Cause::OwnerDoomed { owner } => {
            let waits = judgement.doomed.get(&owner).is_some_and(|one| one.policy == Policy::Foreground);
            !finding.marked && (waits || at_once(owner))
        }
        _ => false,
    });
    rests && at_once(owner) && snapshot.contains(owner)
}
