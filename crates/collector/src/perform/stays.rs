//! Doomed objects that wait for an object which is not doomed. Their removal would be refused, so it is not even
//! tried.
//!
//! An object that stays blocks a terminating one in three cases: it is inside of that namespace or an instance of
//! that definition, it is of a kind to which that class gives code, or it is a dependent that the deletion policy
//! waits for.

use std::collections::HashSet;

use sexton_lifecycle::plan::Group;
use sexton_lifecycle::{NodeId, Snapshot};
use sexton_model::Policy;

use crate::decide::Decision;
use crate::perform::items::lost_now;

/// Finds the blocking objects of a snapshot and a decision.
pub(crate) struct Staying<'a> {
    snapshot: &'a Snapshot,
    decision: &'a Decision,
    /// Objects that lose a reference to an owner in this round, and so stop blocking it.
    stripped: HashSet<NodeId>,
}

impl<'a> Staying<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, decision: &'a Decision) -> Staying<'a> {
        let strips = decision.judgement.strips.iter();
        let strips = strips.filter(|strip| !lost_now(snapshot, strip).is_empty());
        Staying { snapshot, decision, stripped: strips.map(|strip| strip.node).collect() }
    }

    /// The terminating objects of a group that wait for an object which stays, each with that object.
    pub(crate) fn keeps(&self, group: &Group, marked_now: &HashSet<NodeId>) -> Vec<(NodeId, NodeId)> {
        let terminating = group
            .members
            .iter()
            .filter(|step| step.finding.is_terminating || marked_now.contains(&step.node));
        terminating
            .filter_map(|step| Some((step.node, self.behind(step.node, step.finding.policy)?)))
            .collect()
    }

    /// An object that is not doomed and that a terminating object with this policy has to wait for, if there is one.
    pub(crate) fn behind(&self, life: NodeId, policy: Policy) -> Option<NodeId> {
        let stays = |other: &NodeId| *other != life && !self.decision.judgement.is_doomed(*other);
        if let Some(content) = self.snapshot.contents(life).find(stays) {
            return Some(content);
        }
        if let Some(user) = self.snapshot.objects_of_class(life).find(stays) {
            return Some(user);
        }
        let waits_for_dependents = matches!(policy, Policy::Cascade | Policy::Foreground | Policy::Orphan);
        if !waits_for_dependents || !self.snapshot.is_referenced(life) {
            return None;
        }
        let waits = |other: &NodeId| {
            stays(other)
                && !self.stripped.contains(other)
                && self.snapshot.depends_on(*other, life)
                && !self.decision.judgement.is_nonblocking(self.snapshot, life, *other)
        };
        self.snapshot.dependents_of(&self.snapshot.uid(life)).find(waits)
    }
}
