//! From what is seen to what is to be done: detect, protect, order. Nothing is written here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sexton_lifecycle::detect::{self, Grace, Roots};
use sexton_lifecycle::plan::{self, Flaw, Plan, Relation};
use sexton_lifecycle::protect::{self, Held};
use sexton_lifecycle::{Finding, Judgement, LifeId, Snapshot};
use sexton_model::Uid;
use sexton_model::bulk::Item;

use crate::perform::items::{self, Signature};
use crate::settings::Settings;
use crate::view::View;

/// Since when lives are seen without owners.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    since: BTreeMap<Uid, i64>,
    /// Lives that were accused and let go again, and until when they are left alone.
    spared: BTreeMap<Uid, i64>,
    /// So many lives the fuse lets through: somebody saw what it holds and said so.
    pub(crate) let_through: usize,
}

impl Waiting {
    /// Leaves a life alone for a time: somebody vetoed.
    pub(crate) fn spare(&mut self, uid: Uid, until: i64) {
        self.spared.insert(uid, until);
    }

    /// Who is left alone, and until when.
    pub(crate) fn spared(&self) -> impl Iterator<Item = (&Uid, i64)> {
        self.spared.iter().map(|(uid, until)| (uid, *until))
    }

    fn spares(&self, snapshot: &Snapshot, life: LifeId, finding: &Finding) -> bool {
        let spared = |uid: &Uid| self.spared.contains_key(uid);
        !self.spared.is_empty() && (spared(&finding.root) || spared(&snapshot.uid(life)))
    }

    /// When the next one's time comes, later than this.
    pub(crate) fn due(&self, grace: i64, after: i64) -> Option<i64> {
        let orphans = self.since.values().map(|since| since.saturating_add(grace));
        orphans.chain(self.spared.values().copied()).filter(|due| *due > after).min()
    }
}

/// A judgement, its plan, and what was not planned.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) judgement: Judgement,
    pub(crate) plan: Plan,
    /// Dependents that go after their owner, because they want to hear of its end: it does not wait for them.
    pub(crate) survivors: HashMap<LifeId, Vec<LifeId>>,
    /// Owners that go after one who follows them, because they want to hear of its end: they are not gone before it.
    late_owners: HashMap<LifeId, Vec<LifeId>>,
    /// What the collector itself accused and is too much.
    pub(crate) fuse: Option<Held>,
    /// Whether that goes on nevertheless, because somebody said so. Otherwise nothing of it is touched.
    pub(crate) let_through: bool,
    /// Whether anybody is accused who is not asked for. Mostly nobody is, and then nobody need be looked at for it.
    pub(crate) accuses_some: bool,
    /// Whether the hold of an empty namespace or definition is left to a controller of the cluster.
    leaves_containers: bool,
    /// From these follow accused lives of which not everybody has been warned: nothing of it goes before. Who that is,
    /// whoever makes the calls knows.
    pub(crate) unwarned: BTreeSet<Uid>,
}

impl Decision {
    /// Those who depend on a life and go after it.
    pub(crate) fn survivors_of(&self, life: LifeId) -> &[LifeId] {
        self.survivors.get(&life).map_or(&[], Vec::as_slice)
    }

    /// Whether nobody asked for the death of a life: it, or whom it follows, was found by the collector, and a veto or
    /// an owner that turns up saves it. What is written on it outlives the one that it followed.
    pub(crate) fn accuses(&self, snapshot: &Snapshot, finding: &Finding) -> bool {
        let root = || snapshot.get(&finding.root).and_then(|root| self.judgement.doomed.get(&root));
        !finding.marked
            && (finding.detector.accuses()
                || snapshot.journal(finding.life).is_some()
                || self.accuses_some && root().is_some_and(|root| root.detector.accuses() && !root.marked))
    }

    /// Whether a life is let go by a controller of the cluster, once it is empty.
    pub(crate) fn leaves(&self, snapshot: &Snapshot, life: LifeId) -> bool {
        self.leaves_containers && (snapshot.is_namespace(life) || snapshot.is_definition(life))
    }

    /// Whether some of its owners go after it.
    pub(crate) fn has_late_owners(&self, life: LifeId) -> bool {
        self.late_owners.contains_key(&life)
    }

    /// Whether this one of its owners goes after it.
    pub(crate) fn goes_late(&self, life: LifeId, owner: LifeId) -> bool {
        self.late_owners.get(&life).is_some_and(|late| late.contains(&owner))
    }

    /// Proves the plan with other code than that which made it. Nothing is written before.
    pub(crate) fn prove(&self, snapshot: &Snapshot) -> Result<(), Unproved> {
        plan::check(snapshot, &self.judgement, &self.plan).map_err(Unproved)
    }

    /// The deletion of a life, on the evidence that there is when its turn comes.
    pub(crate) fn deletion(&self, snapshot: &Snapshot, finding: &Finding, signature: &Signature) -> Item {
        let mut item = items::delete(snapshot, &self.judgement, finding, signature);
        for owner in self.late_owners.get(&finding.life).into_iter().flatten() {
            let uid = snapshot.uid(*owner).0;
            item.absent.retain(|absent| *absent != uid);
            if !self.judgement.follows_owners(snapshot, finding.life) {
                item.marked.push(uid);
            }
        }
        item
    }
}

/// Why nothing is decided: the proof of the plan failed. A mistake of ours, so nothing at all is done.
#[derive(Debug, thiserror::Error)]
#[error("the plan did not pass its check: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub(crate) struct Unproved(pub(crate) Vec<Flaw>);

/// Looks at the world and decides. The plan is still to be proved.
pub(crate) fn decide(view: &View, settings: &Settings, waiting: &mut Waiting, now: i64) -> Decision {
    let snapshot = &view.snapshot;
    let rules = &settings.rules;
    let mut judgement = detect::judge(snapshot, Roots::All, &[], rules);
    let (mut fuse, mut let_through, mut accuses_some) = (None, false, false);
    waiting.spared.retain(|_, until| *until > now);
    if !waiting.spared.is_empty() {
        // Whom they followed may be gone by now.
        let asked = |finding: &Finding| finding.marked || snapshot.get(&finding.root).is_some();
        let stays = |life: LifeId, finding: &Finding| !waiting.spares(snapshot, life, finding);
        judgement.doomed.retain(|life, finding| asked(finding) || stays(*life, finding));
    }
    if settings.takes_orphans {
        let period = i64::try_from(settings.orphan_grace.as_secs()).unwrap_or(i64::MAX);
        let grace = Grace { now, period, since: &waiting.since };
        let orphans = detect::orphaned(snapshot, grace, rules);
        let seen: BTreeSet<Uid> = orphans.waiting.iter().map(|life| snapshot.uid(*life)).collect();
        let accused = spared_out(snapshot, waiting, orphans.judgement);
        waiting.since.retain(|uid, _| seen.contains(uid) || still_accused(snapshot, &accused, uid));
        for uid in seen {
            waiting.since.entry(uid).or_insert(now);
        }
        accuses_some = !accused.doomed.is_empty();
        // What is told about objects is not counted among them.
        let told = if accuses_some { snapshot.instances("", "Event").count() } else { 0 };
        match protect::fuse(snapshot, &accused, snapshot.len().saturating_sub(told), &settings.fuse) {
            Ok(()) => judgement.absorb(accused),
            Err(held) => {
                let_through = held.doomed <= waiting.let_through;
                if let_through {
                    judgement.absorb(accused);
                }
                fuse = Some(held);
            }
        }
    }
    // Who accuses has looked at how many they are.
    let accused = spared_out(snapshot, waiting, detect::accused(snapshot, rules));
    accuses_some |= !accused.doomed.is_empty();
    judgement.absorb(accused);
    let plan = plan::make(snapshot, &judgement);
    let mut survivors: HashMap<LifeId, Vec<LifeId>> = HashMap::new();
    for edge in plan.dropped.iter().filter(|edge| edge.relation == Relation::Owner) {
        survivors.entry(edge.second).or_default().push(edge.first);
    }
    let mut late_owners: HashMap<LifeId, Vec<LifeId>> = HashMap::new();
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

/// Takes out who was spared a while ago, and everything that would follow them.
fn spared_out(snapshot: &Snapshot, waiting: &Waiting, mut accused: Judgement) -> Judgement {
    accused.doomed.retain(|life, finding| !waiting.spares(snapshot, *life, finding));
    accused
}

fn still_accused(snapshot: &Snapshot, accused: &Judgement, uid: &Uid) -> bool {
    snapshot.get(uid).is_some_and(|life| accused.doomed.contains_key(&life))
}
