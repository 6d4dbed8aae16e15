//! The edges between doomed objects, derived from the objects that are destroyed later.

use hashbrown::HashSet;
use sexton_model::Policy;

use super::super::{DroppedEdge, Plan, Relation};
use crate::detect::{Cause, Detection};
use crate::snapshot::{NodeId, Snapshot};

/// `first` has to be destroyed before `second`.
pub(super) type Edge = DroppedEdge;

/// All edges between doomed objects.
pub(super) fn edges(snapshot: &Snapshot, detection: &Detection, plan: &Plan) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut add = |first: NodeId, second: NodeId, relation| {
        if first != second && detection.is_doomed(first) && detection.is_doomed(second) {
            edges.push(Edge { first, second, relation });
        }
    };
    let waited_for = waited_for(snapshot, detection);
    for node in plan.steps().map(|step| step.node) {
        for subscriber in subscribers(snapshot, detection, node) {
            add(node, subscriber, Relation::Subscription);
        }
        if let Some(class) = snapshot.class_of(node) {
            add(node, class, Relation::Class);
        }
        let nonblocking = nonblocking(snapshot, detection, node);
        for dependent in snapshot.valid_dependents(node).filter(|dependent| !nonblocking.contains(dependent))
        {
            if waited_for.contains(&dependent) && !is_deleted_after(snapshot, detection, dependent, node) {
                add(dependent, node, Relation::Owner);
            } else {
                add(node, dependent, Relation::Background);
            }
        }
        let relation = if snapshot.is_namespace(node) { Relation::Namespace } else { Relation::Definition };
        for content in snapshot.contents(node) {
            add(content, node, relation);
        }
    }
    let mut once = HashSet::with_capacity(edges.len());
    edges.retain(|edge| once.insert(*edge));
    edges
}

/// The doomed subscribers of an object, directly or through survivors.
fn subscribers(snapshot: &Snapshot, detection: &Detection, node: NodeId) -> HashSet<NodeId> {
    let (mut found, mut next) = (HashSet::new(), vec![node]);
    while let Some(target) = next.pop() {
        for (subscriber, _) in snapshot.subscribers_of(target) {
            if found.insert(subscriber) && !detection.is_doomed(subscriber) {
                next.push(subscriber);
            }
        }
    }
    found.retain(|subscriber| detection.is_doomed(*subscriber));
    found
}

/// Dependents for which an owner does not wait: its deletion is a foreground one, they do not say `blockOwnerDeletion`,
/// and they are terminating, unless Kubernetes removes owners, which does not ask for that.
fn nonblocking(snapshot: &Snapshot, detection: &Detection, owner: NodeId) -> HashSet<NodeId> {
    match detection.doomed.get(&owner).map(|finding| finding.policy) {
        Some(Policy::Foreground) => {
            let is_left_alone =
                |dependent: NodeId| detection.kubernetes || snapshot.is_terminating(dependent);
            let dependents = snapshot.dependents(owner).filter(|(dependent, _)| is_left_alone(*dependent));
            dependents
                .filter(|(_, reference)| !reference.is_blocking)
                .map(|(dependent, _)| dependent)
                .collect()
        }
        _ => HashSet::new(),
    }
}

/// Objects that are not deleted after all their owners: they are doomed for another reason than their owners, or have
/// an owner that survives, or one whose policy makes it wait for its dependents.
fn waited_for(snapshot: &Snapshot, detection: &Detection) -> HashSet<NodeId> {
    let mut waited_for = HashSet::new();
    for (node, finding) in &detection.doomed {
        if !matches!(finding.cause, Cause::OwnersGone { .. } | Cause::OwnerDoomed { .. }) {
            waited_for.insert(*node);
        }
        if snapshot.contains(*node) && !matches!(finding.policy, Policy::Background | Policy::Orphan) {
            waited_for.extend(snapshot.valid_dependents(*node));
        }
    }
    for node in detection.doomed.keys().filter(|node| snapshot.contains(**node)) {
        if snapshot.valid_owners(*node).any(|owner| !detection.is_doomed(owner)) {
            waited_for.insert(*node);
        }
    }
    waited_for
}

/// Whether an object must not be deleted before this owner: its own deletion has not begun and is not part of a
/// cascade, and the owner waits for none of its dependents.
fn is_deleted_after(snapshot: &Snapshot, detection: &Detection, node: NodeId, owner: NodeId) -> bool {
    let waits_for_none = |one: NodeId| {
        let policy = detection.doomed.get(&one).map(|finding| finding.policy);
        matches!(policy, Some(Policy::Background | Policy::Orphan))
    };
    let rests = detection.doomed.get(&node).is_some_and(|finding| match finding.cause {
        Cause::OwnerDoomed { owner } => {
            let waits = detection.doomed.get(&owner).is_some_and(|one| one.policy == Policy::Foreground);
            !finding.is_terminating && (waits || waits_for_none(owner))
        }
        _ => false,
    });
    rests && waits_for_none(owner) && snapshot.contains(owner)
}
