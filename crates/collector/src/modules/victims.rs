//! The objects that a sweep would accuse, all that would be destroyed with them, and the unmarked objects that are
//! not swept.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use sexton_lifecycle::module::{Member, kind_of};
use sexton_lifecycle::plan::Plan;
use sexton_lifecycle::protect::TopCause;
use sexton_lifecycle::{
    DeletionLimit, DeletionLimitExceeded, Detection, DetectionSettings, HypotheticalDeletion, NodeId,
    Snapshot, WhyExcluded,
};
use sexton_model::hook::Allowance;
use sexton_model::names::PERMANENT_NAMESPACES;
use sexton_model::{Policy, Uid};

use super::Tools;
use super::look::{Slot, Unlistable, slot_of};
use super::prepare::{APPLY_SET, Prepared};
use crate::preview::{PreviewError, World};

/// How many causes are named when a sweep exceeds the deletion limit.
const NAMED: usize = 3;

/// A resource that would be accused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Victim {
    /// The resource. One without a place in the order is destroyed last.
    pub member: Member,
    /// Why, in words.
    pub reason: String,
}

/// A resource that is unmarked and in scope, but not swept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The resource.
    pub member: Member,
    /// Why, in words.
    pub why: String,
}

/// What the collector will make of the accusations: a plan of all that is destroyed.
#[derive(Debug)]
pub struct Destruction {
    /// The snapshot in which it was planned.
    pub world: World,
    /// The doomed objects, with causes.
    pub judgement: Detection,
    /// The order of destruction.
    pub plan: Plan,
}

impl Destruction {
    /// Whether all of it may be marked for deletion; see [`World::may_delete`].
    pub(super) fn may_be_marked(&self, allowance: Option<&Allowance>) -> Result<(), PreviewError> {
        self.world.may_delete(self.plan.steps().map(|step| step.node), allowance)
    }
}

/// Why a resource is unmarked.
pub(super) fn reason(member: &Member) -> String {
    let order = match member.order {
        Some(_) => "",
        None => ", and it has no place in the order: it goes last",
    };
    match &member.deployment {
        Some(deployment) => {
            format!("no document names it any more; put last by deployment {deployment}{order}")
        }
        None => format!("no document names it, and it was never marked by a deployment{order}"),
    }
}

/// Why an unmarked resource is not swept, if so.
pub(super) fn spared(member: &Member) -> Option<String> {
    if member.is_terminating {
        return Some("it is being deleted already".to_owned());
    }
    if let Some(set) = member.labels.get(APPLY_SET) {
        return Some(format!("it is part of the ApplySet {set} of another tool"));
    }
    if kind_of(member) == "namespaces" && PERMANENT_NAMESPACES.contains(&member.name.as_str()) {
        return Some("this namespace may not be deleted".to_owned());
    }
    match member.protect.as_deref() {
        Some("true") => Some("it is protected".to_owned()),
        Some(reason) => Some(format!("it is protected: {reason}")),
        None => None,
    }
}

/// Objects of a module that are not put any more.
#[derive(Debug, Default)]
pub(super) struct Unmarked {
    /// Those that would be accused.
    pub(super) victims: Vec<Victim>,
    /// Those that are not swept.
    pub(super) kept: Vec<Kept>,
}

impl Unmarked {
    /// Spares namespaces while a group does not answer: what is in them is not known.
    pub(super) fn without_namespaces(mut self, unanswered: &[Unlistable]) -> Unmarked {
        let Some(group) = unanswered.first() else { return self };
        let why = format!("the group {} does not answer, so not all that is in it can be seen", group.kind);
        let (namespaces, others): (Vec<Victim>, Vec<Victim>) =
            self.victims.drain(..).partition(|victim| kind_of(&victim.member) == "namespaces");
        self.victims = others;
        self.kept.extend(namespaces.into_iter().map(|one| Kept { member: one.member, why: why.clone() }));
        self
    }

    /// Spares the objects for which there is a reason.
    fn spare(&mut self, why: &BTreeMap<Uid, String>) {
        let reason = |victim: &Victim| why.get(&Uid(victim.member.uid.clone())).cloned();
        for victim in std::mem::take(&mut self.victims) {
            match reason(&victim) {
                Some(why) => self.kept.push(Kept { member: victim.member, why }),
                None => self.victims.push(victim),
            }
        }
    }
}

/// Divides the unmarked objects into those that would be accused and those that are not swept.
pub(super) fn divide(unmarked: Vec<Member>) -> Unmarked {
    let (mut victims, mut kept) = (Vec::new(), Vec::new());
    for member in unmarked {
        match spared(&member) {
            Some(why) => kept.push(Kept { member, why }),
            None => victims.push(Victim { reason: reason(&member), member }),
        }
    }
    Unmarked { victims, kept }
}

/// Objects that an earlier sweep has accused and that no document names.
pub(super) fn accused_before(documents: &[Arc<Prepared>], members: &[Member]) -> Unmarked {
    let saved: HashSet<Slot> = documents.iter().map(|document| document.own_slot()).collect();
    let goes =
        |member: &&Member| member.is_candidate && !member.is_terminating && !saved.contains(&slot_of(member));
    divide(members.iter().filter(goes).cloned().collect())
}

/// The destruction that the accusations lead to. Objects that would take along an object of another module are
/// not swept.
pub(super) async fn foresee(
    tools: &Tools,
    module: &str,
    unmarked: &mut Unmarked,
) -> Result<Option<Destruction>, PreviewError> {
    if unmarked.victims.is_empty() {
        return Ok(None);
    }
    foresee_in(World::look(&*tools.gateway, &tools.resources).await?, module, unmarked)
}

/// The same in a given snapshot. Objects are not swept if they would take along an object of another module, or if an
/// object that stays needs them.
pub(super) fn foresee_in(
    world: World,
    module: &str,
    unmarked: &mut Unmarked,
) -> Result<Option<Destruction>, PreviewError> {
    // Each turn spares at least one object, or ends.
    while !unmarked.victims.is_empty() {
        let lives = unmarked.victims.iter().filter_map(|victim| world.life(&victim.member.uid));
        let asked: Vec<HypotheticalDeletion> =
            lives.map(|life| HypotheticalDeletion { node: life, policy: Policy::Background }).collect();
        let (judgement, plan) = world.if_deleted(&asked, &DetectionSettings::default())?;
        let foreign = of_other_modules(world.snapshot(), &judgement, module);
        let needed = needed_by_kept(&world, &judgement, &unmarked.kept);
        let before = unmarked.victims.len();
        unmarked.spare(&foreign);
        unmarked.spare(&needed);
        if unmarked.victims.len() == before {
            return Ok(Some(Destruction { world, judgement, plan }));
        }
    }
    Ok(None)
}

/// Objects that must stay because an object that stays would block them forever: the owners, namespace and definition
/// of a protected object, and the class of every object that is not swept. By uid, with the reason in words.
fn needed_by_kept(world: &World, judgement: &Detection, kept: &[Kept]) -> BTreeMap<Uid, String> {
    let snapshot = world.snapshot();
    let mut needed = BTreeMap::new();
    let mut need = |uid: Uid, life: NodeId, why: &str| {
        let told = || format!("{}/{} {why} and needs it", snapshot.kind(life), snapshot.name(life));
        needed.entry(uid).or_insert_with(told);
    };
    for hold in judgement.exclusions.iter().filter(|hold| matches!(hold.why, WhyExcluded::Protected(_))) {
        let owners = snapshot.owner_uids(hold.node).map(|(uid, _)| uid);
        for uid in owners.chain(hold.blocks.map(|keeps| snapshot.uid(keeps))) {
            // Such an object may be doomed as a consequence of another deletion only: then that one must not happen.
            let finding = snapshot.get(&uid).and_then(|life| judgement.doomed.get(&life));
            if let Some(finding) = finding {
                need(finding.root.clone(), hold.node, "is protected");
            }
            need(uid, hold.node, "is protected");
        }
    }
    for life in kept.iter().filter_map(|kept| world.life(&kept.member.uid)) {
        if let Some(class) = world.class_of(life) {
            need(class, life, "stays");
        }
    }
    needed
}

/// The roots that would take along objects of other modules, and which.
fn of_other_modules(snapshot: &Snapshot, judgement: &Detection, module: &str) -> BTreeMap<Uid, String> {
    let mut taken: BTreeMap<Uid, Vec<NodeId>> = BTreeMap::new();
    for finding in judgement.doomed.values().filter(|finding| !finding.is_terminating) {
        if snapshot.manager(finding.node).is_some_and(|manager| manager != module) {
            taken.entry(finding.root.clone()).or_default().push(finding.node);
        }
    }
    let why = |lives: &[NodeId]| {
        let first = lives.iter().min_by(|a, b| snapshot.compare_keys(**a, **b)).copied()?;
        let more = match lives.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let (kind, name) = (snapshot.kind(first), snapshot.name(first));
        let other = snapshot.manager(first).unwrap_or_default();
        Some(format!("it would take along {kind}/{name}{more} of the module {other}"))
    };
    taken.into_iter().filter_map(|(root, lives)| Some((root, why(&lives)?))).collect()
}

/// Why a sweep is refused, if it would exceed the deletion limit.
pub(super) fn fuse(
    destruction: &Destruction,
    victims: &[Victim],
    scope: usize,
    limits: &DeletionLimit,
) -> Option<DeletionLimitExceeded> {
    let doomed = destruction.judgement.doomed.values().filter(|finding| !finding.is_terminating).count();
    if !limits.is_exceeded(doomed, scope) {
        return None;
    }
    let mut causes: BTreeMap<String, usize> = BTreeMap::new();
    for victim in victims {
        let text = match &victim.member.deployment {
            Some(deployment) => {
                format!("deployment {deployment} put them and no document names them any more")
            }
            None => "they carry the module's label and were never put by it".to_owned(),
        };
        *causes.entry(text).or_default() += 1;
    }
    if let Some(followers) = doomed.checked_sub(victims.len()).filter(|count| *count > 0) {
        causes.insert("they go with others of these".to_owned(), followers);
    }
    let mut causes: Vec<TopCause> =
        causes.into_iter().map(|(text, count)| TopCause { text, count }).collect();
    causes.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text.cmp(&b.text)));
    causes.truncate(NAMED);
    Some(DeletionLimitExceeded { doomed, scope, causes })
}
