//! Pure decisions: from the snapshot to a judgement and its plan. No IO, and nothing is written here.
//!
//! [`decide`] goes through these steps:
//!
//! 1. What follows from deletions: `detect::judge`. Objects deferred after a veto are taken out.
//! 2. Orphans, if the settings say so: candidates once they were seen without owners for the grace period. If they
//!    are more
//!    than the deletion limit allows, none of them is taken; the decision says why (`fuse`).
//! 3. Candidates by accusation: rules and sweeps have applied their own limit before.
//! 4. The plan of all of them, and what follows from edges that the plan had to drop.
//!
//! Then [`Decision::prove`] checks the plan with separate code, before anything is written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sexton_lifecycle::detect::{self, Grace, Roots};
use sexton_lifecycle::plan::{self, Flaw, Plan, Relation};
use sexton_lifecycle::protect::{self, DeletionLimitExceeded};
use sexton_lifecycle::{Detection, Finding, NodeId, Snapshot};
use sexton_model::Uid;
use sexton_model::bulk::Item;

use crate::perform::items::{self, Signature};
use crate::settings::Settings;
use crate::view::View;

/// What must be remembered between decisions: orphans since when, and deferred objects until when.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    since: BTreeMap<Uid, i64>,
    /// Objects that are deferred after a veto, and until when.
    spared: BTreeMap<Uid, i64>,
    /// A deletion of up to this many orphans was allowed by a user, on its record: the deletion limit does not
    /// stop it.
    pub(crate) let_through: usize,
}

impl Waiting {
    /// Defers an object after a veto.
    pub(crate) fn spare(&mut self, uid: Uid, until: i64) {
        self.spared.insert(uid, until);
    }

    /// The deferred objects, and until when.
    pub(crate) fn spared(&self) -> impl Iterator<Item = (&Uid, i64)> {
        self.spared.iter().map(|(uid, until)| (uid, *until))
    }

    fn spares(&self, snapshot: &Snapshot, life: NodeId, finding: &Finding) -> bool {
        let spared = |uid: &Uid| self.spared.contains_key(uid);
        !self.spared.is_empty() && (spared(&finding.root) || spared(&snapshot.uid(life)))
    }

    /// The next moment after `after` at which a grace period or a deferral ends.
    pub(crate) fn due(&self, grace: i64, after: i64) -> Option<i64> {
        let orphans = self.since.values().map(|since| since.saturating_add(grace));
        orphans.chain(self.spared.values().copied()).filter(|due| *due > after).min()
    }
}

/// A judgement, its plan, and what follows from edges that the plan dropped.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) judgement: Detection,
    pub(crate) plan: Plan,
    /// Dependents that are destroyed after their owner, because they subscribe to its destruction: it does not wait
    /// for them.
    pub(crate) survivors: HashMap<NodeId, Vec<NodeId>>,
    /// Owners that are destroyed after a dependent that would follow them, because they subscribe to its destruction:
    /// they are not absent before it.
    late_owners: HashMap<NodeId, Vec<NodeId>>,
    /// The orphans, if they are more than the deletion limit allows.
    pub(crate) fuse: Option<DeletionLimitExceeded>,
    /// Whether these are deleted nevertheless, because a user allowed it. Otherwise none of them is touched.
    pub(crate) let_through: bool,
    /// Whether there are candidates at all. Usually false; lets callers skip the checks of candidates.
    pub(crate) accuses_some: bool,
    /// Whether a controller of the cluster releases empty namespaces and definitions.
    leaves_containers: bool,
    /// Roots of candidates with subscribers that are not all warned yet: nothing with such a root is deleted. Filled
    /// in by the caller, which knows the calls.
    pub(crate) unwarned: BTreeSet<Uid>,
}

impl Decision {
    /// The dependents of an object that are destroyed after it.
    pub(crate) fn survivors_of(&self, life: NodeId) -> &[NodeId] {
        self.survivors.get(&life).map_or(&[], Vec::as_slice)
    }

    /// Whether an object is a candidate: no user requested its deletion, nor that of its root, and a veto or an owner
    /// that turns up still saves it. A journal on an object that is not terminating says so even after its root is
    /// gone.
    pub(crate) fn accuses(&self, snapshot: &Snapshot, finding: &Finding) -> bool {
        let root = || snapshot.get(&finding.root).and_then(|root| self.judgement.doomed.get(&root));
        !finding.is_terminating
            && (finding.detector.is_automatic()
                || snapshot.journal(finding.node).is_some()
                || self.accuses_some
                    && root().is_some_and(|root| root.detector.is_automatic() && !root.is_terminating))
    }

    /// Whether a controller of the cluster releases this object once it is empty.
    pub(crate) fn leaves(&self, snapshot: &Snapshot, life: NodeId) -> bool {
        self.leaves_containers && (snapshot.is_namespace(life) || snapshot.is_definition(life))
    }

    /// Whether some owners of this object are destroyed after it.
    pub(crate) fn has_late_owners(&self, life: NodeId) -> bool {
        self.late_owners.contains_key(&life)
    }

    /// Whether this owner is destroyed after this object.
    pub(crate) fn goes_late(&self, life: NodeId, owner: NodeId) -> bool {
        self.late_owners.get(&life).is_some_and(|late| late.contains(&owner))
    }

    /// Checks the plan with other code than that which made it. Nothing is written before.
    pub(crate) fn prove(&self, snapshot: &Snapshot) -> Result<(), Unproved> {
        plan::verify(snapshot, &self.judgement, &self.plan).map_err(Unproved)
    }

    /// The deletion of an object, with the preconditions that hold when its turn comes: owners that are destroyed
    /// after it are not required to be absent, but to be terminating.
    pub(crate) fn deletion(&self, snapshot: &Snapshot, finding: &Finding, signature: &Signature) -> Item {
        let mut item = items::delete(snapshot, &self.judgement, finding, signature);
        for owner in self.late_owners.get(&finding.node).into_iter().flatten() {
            let uid = snapshot.uid(*owner).0;
            item.absent.retain(|absent| *absent != uid);
            if !self.judgement.follows_all_owners(snapshot, finding.node) {
                item.marked.push(uid);
            }
        }
        item
    }
}

/// The plan did not pass its check. That is a defect of the collector, so nothing at all is done.
#[derive(Debug, thiserror::Error)]
#[error("the plan did not pass its check: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub(crate) struct Unproved(pub(crate) Vec<Flaw>);

/// Judges the snapshot and makes a plan. The plan is still to be checked.
pub(crate) fn decide(view: &View, settings: &Settings, waiting: &mut Waiting, now: i64) -> Decision {
    let snapshot = &view.snapshot;
    let rules = &settings.rules;
    let mut judgement = detect::follow_deletions(snapshot, Roots::All, &[], rules);
    let (mut fuse, mut let_through, mut accuses_some) = (None, false, false);
    waiting.spared.retain(|_, until| *until > now);
    if !waiting.spared.is_empty() {
        // The root that they followed may be gone by now.
        let asked = |finding: &Finding| finding.is_terminating || snapshot.get(&finding.root).is_some();
        let stays = |life: NodeId, finding: &Finding| !waiting.spares(snapshot, life, finding);
        judgement.doomed.retain(|life, finding| asked(finding) || stays(*life, finding));
    }
    if settings.takes_orphans {
        let period = i64::try_from(settings.orphan_grace.as_secs()).unwrap_or(i64::MAX);
        let grace = Grace { now, period, since: &waiting.since };
        let orphans = detect::find_orphans(snapshot, grace, rules);
        let seen: BTreeSet<Uid> = orphans.in_grace.iter().map(|life| snapshot.uid(*life)).collect();
        let accused = spared_out(snapshot, waiting, orphans.detection);
        waiting.since.retain(|uid, _| seen.contains(uid) || still_accused(snapshot, &accused, uid));
        for uid in seen {
            waiting.since.entry(uid).or_insert(now);
        }
        accuses_some = !accused.doomed.is_empty();
        // Events are messages about objects, and do not count as objects for the limit.
        let told = if accuses_some { snapshot.instances("", "Event").count() } else { 0 };
        match protect::check_deletion_limit(
            snapshot,
            &accused,
            snapshot.len().saturating_sub(told),
            &settings.fuse,
        ) {
            Ok(()) => judgement.merge_candidates(accused),
            Err(held) => {
                let_through = held.doomed <= waiting.let_through;
                if let_through {
                    judgement.merge_candidates(accused);
                }
                fuse = Some(held);
            }
        }
    }
    // Rules and sweeps have checked their own deletion limit before they wrote accusations.
    let accused = spared_out(snapshot, waiting, detect::follow_candidates(snapshot, rules));
    accuses_some |= !accused.doomed.is_empty();
    judgement.merge_candidates(accused);
    let plan = plan::make(snapshot, &judgement);
    let mut survivors: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for edge in plan.dropped.iter().filter(|edge| edge.relation == Relation::Owner) {
        survivors.entry(edge.second).or_default().push(edge.first);
    }
    let mut late_owners: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for edge in plan.dropped.iter().filter(|edge| edge.relation == Relation::Background) {
        late_owners.entry(edge.second).or_default().push(edge.first);
    }
    let unwarned = BTreeSet::new();
    Decision {
        judgement,
        plan,
        survivors,
        late_owners,
        fuse,
        let_through,
        accuses_some,
        leaves_containers: !settings.finalizes_containers,
        unwarned,
    }
}

/// Takes out the deferred objects, and those that follow from them.
fn spared_out(snapshot: &Snapshot, waiting: &Waiting, mut accused: Detection) -> Detection {
    accused.doomed.retain(|life, finding| !waiting.spares(snapshot, *life, finding));
    accused
}

fn still_accused(snapshot: &Snapshot, accused: &Detection, uid: &Uid) -> bool {
    snapshot.get(uid).is_some_and(|life| accused.doomed.contains_key(&life))
}
