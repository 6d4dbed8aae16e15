//! Who stays, and so keeps somebody from going: a write that would be refused is not even tried.

use std::collections::HashSet;

use sexton_lifecycle::plan::Group;
use sexton_lifecycle::{LifeId, Snapshot};
use sexton_model::Policy;

use crate::decide::Decision;
use crate::perform::items::lost_now;

/// Looks for those who stay.
pub(crate) struct Staying<'a> {
    snapshot: &'a Snapshot,
    decision: &'a Decision,
    /// Those who lose a reference in this round.
    stripped: HashSet<LifeId>,
}

impl<'a> Staying<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, decision: &'a Decision) -> Staying<'a> {
        let strips = decision.judgement.strips.iter();
        let strips = strips.filter(|strip| !lost_now(snapshot, strip).is_empty());
        Staying { snapshot, decision, stripped: strips.map(|strip| strip.life).collect() }
    }

    /// Terminating objects of a group that wait for an object which stays, and for which one.
    pub(crate) fn keeps(&self, group: &Group, marked_now: &HashSet<LifeId>) -> Vec<(LifeId, LifeId)> {
        let terminating =
            group.members.iter().filter(|step| step.finding.marked || marked_now.contains(&step.life));
        terminating
            .filter_map(|step| Some((step.life, self.behind(step.life, step.finding.policy)?)))
            .collect()
    }

    /// Somebody who does not go, and for whom a marked life has to wait.
    pub(crate) fn behind(&self, life: LifeId, policy: Policy) -> Option<LifeId> {
        let stays = |other: &LifeId| *other != life && !self.decision.judgement.dooms(*other);
        if let Some(content) = self.snapshot.contents(life).find(stays) {
            return Some(content);
        }
        if let Some(user) = self.snapshot.users_of(life).find(stays) {
            return Some(user);
        }
        let waits_for_dependents = matches!(policy, Policy::Cascade | Policy::Foreground | Policy::Orphan);
        if !waits_for_dependents || !self.snapshot.is_referenced(life) {
            return None;
        }
        let waits = |other: &LifeId| {
            stays(other)
                && !self.stripped.contains(other)
                && self.snapshot.depends_on(*other, life)
                && !self.decision.judgement.goes_without(self.snapshot, life, *other)
        };
        self.snapshot.dependents_of(&self.snapshot.uid(life)).find(waits)
    }
}
