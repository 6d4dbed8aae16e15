//! Circles of destruction dependencies. All members are notified before any is destroyed; within a circle a dependent
//! is destroyed before its owner.

use std::collections::{BTreeMap, BTreeSet};

use sexton_lifecycle::destruction::{Event, Stage, State};
use sexton_lifecycle::plan::Group;
use sexton_lifecycle::{NodeId, Snapshot};
use sexton_model::Uid;

use super::Active;
use crate::controller::Collector;
use crate::decide::Decision;

impl Collector {
    /// Lets the members of completely notified circles continue, except those that own an object which is still to be
    /// destroyed. A single object that is left of a circle counts as one, too.
    pub(super) fn close_circles(&mut self, decision: &Decision) {
        let snapshot = &self.view.snapshot;
        let notified = |active: &Active| active.state.stage == Stage::Notified;
        if !self.actives.iter().any(|(_, active)| notified(active)) {
            return;
        }
        let unfinished = self.actives.iter().filter(|(_, active)| is_to_be_destroyed(&active.state));
        let unfinished: BTreeMap<NodeId, bool> = unfinished
            .filter_map(|(uid, active)| Some((snapshot.get(&Uid(uid.clone()))?, active.state.is_terminating)))
            .collect();
        let waiting = waiting(snapshot, decision, &unfinished);
        let groups = decision.plan.groups().filter(|group| self.is_notified(group));
        let free = groups.flat_map(|group| &group.members).map(|step| step.node);
        let free: Vec<NodeId> = free.filter(|life| !waiting.contains(life)).collect();
        for life in free {
            if let Ok(active) = self.actives.open(snapshot, life)
                && notified(active)
            {
                active.take(&Event::CircleNotified);
            }
        }
    }

    fn is_notified(&self, group: &Group) -> bool {
        group.members.iter().all(|step| {
            let stage = self.actives.stage(&self.view.snapshot, step.node);
            stage.is_some_and(|stage| (Stage::Notified..=Stage::Released).contains(&stage))
        })
    }
}

/// Whether an object of a circle is notified, and not destroyed yet.
fn is_to_be_destroyed(state: &State) -> bool {
    state.together && (Stage::Notified..=Stage::Destroying).contains(&state.stage)
}

/// The objects that own, directly or indirectly, an object that is still to be destroyed. Objects that own each other
/// do not wait for each other. An owner does not wait for a dependent that is only destroyed after it, or that only
/// has to be terminating.
///
/// All unfinished objects are considered, not those of one group: a circle falls apart in the plan as its members are
/// removed.
fn waiting(
    snapshot: &Snapshot,
    decision: &Decision,
    unfinished: &BTreeMap<NodeId, bool>,
) -> BTreeSet<NodeId> {
    let owners: BTreeMap<NodeId, BTreeSet<NodeId>> =
        unfinished.keys().map(|life| (*life, owners(snapshot, decision, *life))).collect();
    let mut waiting = BTreeSet::new();
    for (owned, above) in &owners {
        let terminates = |life: &NodeId| unfinished.get(life).copied().unwrap_or_default();
        for owner in above.iter().filter(|owner| terminates(owned) || terminates(owner)) {
            let is_mutual = owners.get(owner).is_some_and(|above| above.contains(owned));
            if owner != owned && !is_mutual {
                waiting.insert(*owner);
            }
        }
    }
    waiting
}

/// The owners of an object, their owners, and so on, as far as the dependent is destroyed first.
fn owners(snapshot: &Snapshot, decision: &Decision, life: NodeId) -> BTreeSet<NodeId> {
    let judgement = &decision.judgement;
    let (mut found, mut open) = (BTreeSet::new(), vec![life]);
    while let Some(owned) = open.pop() {
        for owner in snapshot.valid_owners(owned) {
            let goes_first = !judgement.follows_owner(snapshot, owned, owner)
                && !judgement.is_nonblocking(snapshot, owner, owned);
            if goes_first && found.insert(owner) {
                open.push(owner);
            }
        }
    }
    found
}
