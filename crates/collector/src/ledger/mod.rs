//! The ledger: which collections are under way, which objects belong to which, and the progress of each.
//!
//! A collection is everything that follows from a root, or from several that belong together. A root is an object
//! that a user deleted, or a candidate. The ledger only counts; it decides and deletes nothing. Each round:
//!
//! 1. `note`: objects that are doomed now become members of the collection of their root; new roots open one.
//! 2. `balance`: counts the members that are left, takes in the blockers, and returns the records that changed.
//! 3. The [`Scribe`] writes these records, beside the work.
//!
//! All of it is derived from the snapshot, so losing it does no harm: the next round, or the next collector, fills it
//! again (`adopt`).

mod adopt;
mod books;
mod held;
mod news;
mod scribe;
mod tombstones;

pub(crate) use news::News;
pub(crate) use scribe::Scribe;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use sexton_lifecycle::{Cause, Finding, NodeId, Snapshot};
use sexton_model::accusation::{Accusation, Accuser};
use sexton_model::collection::{Blocker, Collection, KindCount, Phase, Progress, Root, Spec, trigger};
use sexton_model::raw::Raw;
use sexton_model::{Uid, time};

use crate::blockers::InTheWay;
use crate::decide::Decision;
use crate::hooked::has_steps;
use crate::perform::items::Signature;
use crate::perform::{Burials, Sign};

/// More deletions than this that begin at the same moment are one collection: a record for each would say less.
const RECORDS_AT_ONCE: usize = 20;

/// A collection under way.
#[derive(Debug)]
struct Open {
    name: Arc<str>,
    record: Collection,
    /// All objects that ever belonged to it.
    members: HashSet<Uid>,
    /// Whether it gets a record: it has more than one object, steps, or blockers.
    worth: bool,
    /// How many of its members left a tombstone.
    buried: usize,
    written: Option<Progress>,
    /// Whether Events tell of it at once. A blocker alone is not enough, because it may last for a moment only.
    loud: bool,
    /// Whether an Event told of its beginning.
    told: bool,
    /// What an earlier collector had counted, until the objects that are left are known.
    before: Option<Progress>,
    /// How many objects moved to another collection before they were gone, and to which one last.
    handed_over: Option<(u64, String)>,
}

/// All collections under way.
#[derive(Debug)]
pub(crate) struct Ledger {
    open: BTreeMap<String, Open>,
    by_root: HashMap<Uid, String>,
    /// The collection of each member, by a hash of its uid: a collision only costs a look into the wrong collection.
    by_member: HashMap<u64, Arc<str>>,
    numbers: RandomState,
    /// The record of what exceeds the deletion limit, and its last written status.
    held: Option<(Collection, Option<Progress>)>,
    /// Collections that began or ended since [`Ledger::take_news`].
    news: Vec<News>,
    tombstones: usize,
}

impl Ledger {
    /// An empty ledger. Up to this many objects of each collection leave a tombstone.
    pub(crate) fn new(tombstones: usize) -> Ledger {
        Ledger {
            open: BTreeMap::new(),
            by_root: HashMap::new(),
            by_member: HashMap::new(),
            numbers: RandomState::new(),
            held: None,
            news: Vec::new(),
            tombstones,
        }
    }

    /// Adds the doomed objects to their collections, and opens collections for new roots.
    pub(crate) fn note(&mut self, snapshot: &Snapshot, decision: &Decision, now: i64) {
        let findings = &decision.judgement.doomed;
        let mut new: Vec<&Finding> = Vec::new();
        for finding in findings.values() {
            if !self.by_root.contains_key(&finding.root) {
                new.push(finding);
            }
        }
        new.sort_by(|a, b| a.root.cmp(&b.root));
        let accused = |finding: &Finding| accusation_of(snapshot, decision, &finding.root);
        let unnamed = new.iter().filter(|finding| accused(finding).is_none());
        let mut roots: Vec<&Uid> = unnamed.map(|finding| &finding.root).collect();
        roots.dedup();
        let shared = (roots.len() > RECORDS_AT_ONCE).then(|| name_of(roots[0]));
        for finding in new {
            if !self.by_root.contains_key(&finding.root) {
                let name = match accused(finding) {
                    Some(accusation) => accusation.collection.clone(),
                    None => shared.clone().unwrap_or_else(|| name_of(&finding.root)),
                };
                self.begin(snapshot, decision, finding, name, now);
            }
        }
        for finding in findings.values().filter(|finding| !finding.is_namespace_event(snapshot)) {
            let Some(name) = self.by_root.get(&finding.root) else { continue };
            let Some(open) = self.open.get_mut(name) else { continue };
            let uid = snapshot.uid(finding.node);
            if open.members.contains(&uid) {
                continue;
            }
            let other = self.by_member.insert(self.numbers.hash_one(&uid), open.name.clone());
            open.count(uid.clone(), kind_of(snapshot, finding), has_steps(snapshot, finding.node));
            if let Some(other) = other.and_then(|other| self.open.get_mut(&*other)) {
                other.hand_over(&uid, &kind_of(snapshot, finding), name);
            }
        }
        self.open.values_mut().for_each(Open::go_on);
    }

    fn begin(&mut self, snapshot: &Snapshot, decision: &Decision, finding: &Finding, name: String, now: i64) {
        let root = snapshot.get(&finding.root);
        let accused = root.and_then(|root| decision.judgement.doomed.get(&root));
        let nobody_asked = accused.is_some_and(|root| root.detector.is_automatic());
        let accusation = accusation_of(snapshot, decision, &finding.root);
        let trigger = match accusation.map(|said| said.accuser) {
            Some(Accuser::Unmarked) => trigger::SWEEP,
            Some(Accuser::Leftover) => trigger::LEFTOVERS,
            Some(Accuser::Unreachable | Accuser::Removed) => trigger::PROGRAM,
            Some(Accuser::Orphaned) => trigger::ORPHANS,
            None if nobody_asked => trigger::ORPHANS,
            None => trigger::DELETE,
        };
        let open = self.open.entry(name.clone()).or_insert_with(|| Open {
            name: name.as_str().into(),
            record: Collection {
                name: name.clone(),
                spec: Spec {
                    trigger: trigger.to_owned(),
                    by: finding.requester.clone(),
                    roots: Vec::new(),
                    roots_omitted: 0,
                    digest: Some(decision.plan.digest.clone()),
                    approved: root.is_some_and(|root| snapshot.approved_plan(root).is_some()),
                    started_at: time::format(now),
                },
                status: Progress::default(),
            },
            members: HashSet::new(),
            worth: nobody_asked,
            buried: 0,
            written: None,
            loud: nobody_asked,
            told: false,
            before: None,
            handed_over: None,
        });
        let policy = || accused.map(|root| sexton_lifecycle::plan::policy_name(root.policy).to_owned());
        open.record.spec.add_root(|| match root {
            Some(root) => Root::new(snapshot.object_ref(root), policy()),
            None => Root {
                uid: finding.root.0.clone(),
                kind: "(gone)".to_owned(),
                ..Root::new(sexton_model::hook::ObjectRef::default(), policy())
            },
        });
        self.by_root.insert(finding.root.clone(), name);
    }

    /// Brings all collections up to date: the objects left, and the blockers. Returns the records that changed, and
    /// closes the collections that are over.
    pub(crate) fn balance(
        &mut self,
        snapshot: &Snapshot,
        decision: &Decision,
        blockers: &[InTheWay],
        now: i64,
    ) -> Vec<Collection> {
        let mut left: HashMap<&str, BTreeMap<String, u64>> = HashMap::new();
        for finding in
            decision.judgement.doomed.values().filter(|finding| !finding.is_namespace_event(snapshot))
        {
            if let Some(name) = self.by_root.get(&finding.root)
                && snapshot.contains(finding.node)
            {
                *left.entry(name).or_default().entry(kind_of(snapshot, finding)).or_default() += 1;
            }
        }
        let mut in_the_way: HashMap<&str, Vec<Blocker>> = HashMap::new();
        for InTheWay { root, blocker, .. } in blockers {
            if let Some(name) = self.by_root.get(root) {
                in_the_way.entry(name).or_default().push(blocker.clone());
            }
        }
        let mut changed = Vec::new();
        for (name, open) in &mut self.open {
            let left = left.remove(name.as_str()).unwrap_or_default();
            let blockers = in_the_way.remove(name.as_str()).unwrap_or_default();
            open.worth |= !blockers.is_empty();
            open.bring_up_to_date(&left, blockers, snapshot, now);
            self.news.extend(open.news());
            if open.worth && open.written.as_ref() != Some(&open.record.status) {
                open.written = Some(open.record.status.clone());
                changed.push(open.record.clone());
            }
        }
        let over: HashSet<String> = self
            .open
            .iter()
            .filter(|(_, open)| open.record.status.phase.is_over())
            .map(|(name, _)| name.clone())
            .collect();
        if !over.is_empty() {
            for uid in over.iter().filter_map(|name| self.open.remove(name)).flat_map(|closed| closed.members)
            {
                self.by_member.remove(&self.numbers.hash_one(&uid));
            }
            self.by_root.retain(|_, name| !over.contains(name));
        }
        changed
    }

    /// The tombstone of an object that went through steps: it always leaves one.
    pub(crate) fn tombstone_of_steps(
        &self,
        snapshot: &Snapshot,
        finding: &Finding,
        state: &sexton_lifecycle::destruction::State,
    ) -> Option<Raw> {
        tombstones::of(snapshot, finding, self.collection_of(finding), Some(state))
    }

    /// The tombstone of an object with a finalizer that a user gave up: what that stands for may still exist.
    pub(crate) fn tombstone_of_force(&self, snapshot: &Snapshot, finding: &Finding) -> Option<Raw> {
        tombstones::of_force(snapshot, finding, self.collection_of(finding))
    }

    /// Counts tombstones that are about to be written.
    pub(crate) fn buries(&mut self, burials: &Burials) {
        for (name, count) in burials {
            if let Some(open) = self.open.get_mut(name) {
                open.buried += count;
            }
        }
    }

    /// The collection of a doomed object.
    pub(crate) fn collection_of(&self, finding: &Finding) -> Option<&str> {
        self.by_root.get(&finding.root).map(String::as_str)
    }
}

impl Open {
    fn bring_up_to_date(
        &mut self,
        left: &BTreeMap<String, u64>,
        blockers: Vec<Blocker>,
        snapshot: &Snapshot,
        now: i64,
    ) {
        let status = &mut self.record.status;
        let remaining: u64 = left.values().sum();
        status.gone = status.doomed.saturating_sub(remaining);
        for (kind, KindCount { doomed, gone }) in &mut status.kinds {
            *gone = doomed.saturating_sub(left.get(kind).copied().unwrap_or(0));
        }
        status.blocked = blockers.len() as u64;
        status.blockers = blockers;
        status.phase = match (remaining, status.blocked) {
            (0, _) => Phase::Done,
            (_, 0) => Phase::Running,
            _ => Phase::Blocked,
        };
        if status.phase == Phase::Done {
            let mut saved = 0;
            // Members that still exist were saved: an accusation was withdrawn, or a subscriber vetoed.
            for life in self.members.iter().filter_map(|uid| snapshot.get(uid)) {
                saved += 1;
                if let Some(KindCount { gone, .. }) = status.kinds.get_mut(&name_of_kind(snapshot, life)) {
                    *gone = gone.saturating_sub(1);
                }
            }
            status.gone = status.gone.saturating_sub(saved);
            let alive = match saved {
                0 => String::new(),
                1 => ", 1 lives on".to_owned(),
                saved => format!(", {saved} live on"),
            };
            status.finished_at = Some(time::format(now));
            let others = self.handed_over.as_ref();
            let others = others.map(|(count, to)| format!(", {count} go on in {to}")).unwrap_or_default();
            status.outcome = Some(format!("{} gone{alive}{others}", status.gone));
        }
    }

    /// Adds an object.
    fn count(&mut self, uid: Uid, kind: String, has_steps: bool) {
        self.members.insert(uid);
        self.record.status.kinds.entry(kind).or_default().doomed += 1;
        self.record.status.doomed += 1;
        self.loud |= self.members.len() > 1 || has_steps;
        self.worth |= self.loud;
    }

    /// Moves an object that still exists to another collection, for example that of its namespace: it must not count
    /// as gone here.
    fn hand_over(&mut self, uid: &Uid, kind: &str, to: &str) {
        if &*self.name == to || !self.members.remove(uid) {
            return;
        }
        let status = &mut self.record.status;
        status.doomed = status.doomed.saturating_sub(1);
        if let Some(kind) = status.kinds.get_mut(kind) {
            kind.doomed = kind.doomed.saturating_sub(1);
        }
        let count = self.handed_over.as_ref().map_or(0, |(count, _)| *count);
        self.handed_over = Some((count + 1, to.to_owned()));
    }
}

impl Sign for Ledger {
    fn signature(&self, finding: &Finding) -> Signature {
        let worth = |name: &&String| self.open.get(*name).is_some_and(|open| open.worth);
        Signature {
            collection: self.by_root.get(&finding.root).filter(worth).cloned(),
            initiator: finding.requester.clone(),
            approved: None,
        }
    }

    fn tombstone(&self, snapshot: &Snapshot, finding: &Finding, burials: &mut Burials) -> Option<Raw> {
        if finding.is_namespace_event(snapshot) {
            return None;
        }
        let name = self.by_root.get(&finding.root)?;
        let open = self.open.get(name)?;
        let buried = open.buried + burials.get(name).copied().unwrap_or(0);
        // The deletion of a single object by its name is no news, and leaves no tombstone.
        if !open.worth || buried >= self.tombstones {
            return None;
        }
        *burials.entry(name.clone()).or_default() += 1;
        tombstones::of(snapshot, finding, Some(name), None)
    }
}

/// The accusation of a root, if it has one.
fn accusation_of<'a>(snapshot: &Snapshot, decision: &'a Decision, root: &Uid) -> Option<&'a Accusation> {
    match &decision.judgement.doomed.get(&snapshot.get(root)?)?.cause {
        Cause::Candidate { record: accused } => Some(&accused.accusation),
        _ => None,
    }
}

/// The name of a root's collection: always the same, also after a restart.
fn name_of(root: &Uid) -> String {
    let letters: String = root.0.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("c-{}", letters.to_lowercase().chars().take(16).collect::<String>())
}

fn kind_of(snapshot: &Snapshot, finding: &Finding) -> String {
    name_of_kind(snapshot, finding.node)
}

fn name_of_kind(snapshot: &Snapshot, life: NodeId) -> String {
    match snapshot.group(life) {
        "" => snapshot.kind(life).to_owned(),
        group => format!("{}.{group}", snapshot.kind(life)),
    }
}
