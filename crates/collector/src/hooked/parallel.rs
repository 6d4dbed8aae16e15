//! The bound that a module may set on how many of its members are destroyed at the same time.

use std::collections::BTreeMap;

use sexton_lifecycle::destruction::{Stage, State};
use sexton_lifecycle::plan::{Group, Step};
use sexton_lifecycle::{NodeId, Snapshot};

use crate::controller::Collector;
use crate::decide::Decision;

/// The module that sweeps an object, and how many of its members may be destroyed at once, if it has set a bound.
fn bound(snapshot: &Snapshot, life: NodeId) -> Option<(&str, usize)> {
    let most = snapshot.candidate_record(life)?.accusation.parallel?;
    Some((snapshot.manager(life)?, usize::try_from(most).unwrap_or(usize::MAX)))
}

/// Whether a destruction is under way and may progress by itself. A blocked one does not count, so that others
/// continue.
fn takes_room(state: &State) -> bool {
    let blocked = !state.open.is_empty() && state.open.values().all(|call| call.block.is_some());
    (Stage::Notifying..=Stage::Releasing).contains(&state.stage) && !blocked
}

impl Collector {
    /// The members of the groups that are next in the plan, as far as the bounds of their modules allow. A group is
    /// taken as a whole, and one that has begun continues.
    pub(crate) fn within_bounds(&self, decision: &Decision, turns: &[&Group]) -> Vec<NodeId> {
        let snapshot = &self.view.snapshot;
        let all = || turns.iter().flat_map(|group| &group.members);
        let mut room: BTreeMap<&str, usize> = all().filter_map(|step| bound(snapshot, step.node)).collect();
        if room.is_empty() {
            return all().map(|step| step.node).collect();
        }
        let under_way =
            |step: &Step| self.actives.state(snapshot, step.node).is_some_and(|state| takes_room(&state));
        for step in decision.plan.steps().filter(|step| under_way(step)) {
            if let Some(left) = snapshot.manager(step.node).and_then(|module| room.get_mut(module)) {
                *left = left.saturating_sub(1);
            }
        }
        let has_begun =
            |step: &Step| self.actives.stage(snapshot, step.node).is_some_and(|stage| stage > Stage::Warned);
        let mut turn = Vec::new();
        for group in turns {
            let mut bounds = group.members.iter().filter_map(|step| bound(snapshot, step.node));
            if let Some((module, _)) = bounds.next().filter(|_| !group.members.iter().any(has_begun)) {
                let left = room.entry(module).or_default();
                if *left == 0 {
                    continue;
                }
                *left = left.saturating_sub(group.members.len());
            }
            turn.extend(group.members.iter().map(|step| step.node));
        }
        turn
    }
}
