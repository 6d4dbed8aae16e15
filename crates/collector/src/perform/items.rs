//! What is written about one life, and on which evidence: strips, marks, removals, journals.
//!
//! Each function makes one item of a bulk. The conditions in it are the proof that travels with the write; nothing
//! here asks anybody.

use std::collections::{BTreeMap, BTreeSet};

use sexton_lifecycle::{Cause, Finding, Judgement, LifeId, Ownership, Snapshot, Strip};
use sexton_model::bulk::{Action, Annotations, Item};
use sexton_model::{Policy, Revision, Uid, marks};

use super::early::rests_on;
use crate::hooked::has_steps;

/// The finalizers of others: what the life waits for, whatever we do.
pub(crate) fn foreign_finalizers(snapshot: &Snapshot, life: LifeId) -> Vec<String> {
    snapshot.finalizers(life).filter(|finalizer| !marks::is_ours(finalizer)).map(str::to_owned).collect()
}

/// Whether others have to let it go.
pub(crate) fn is_held_by_others(snapshot: &Snapshot, life: LifeId) -> bool {
    snapshot.finalizers(life).any(|finalizer| !marks::is_ours(finalizer))
}

/// What goes with every mark: in which collection, on whose wish, and in which plan it was approved.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signature {
    pub(crate) collection: Option<String>,
    pub(crate) initiator: Option<String>,
    pub(crate) approved: Option<String>,
}

impl Signature {
    fn annotations(&self) -> Annotations {
        let named = [
            (marks::COLLECTION, &self.collection),
            (marks::DELETED_BY, &self.initiator),
            (marks::APPROVED, &self.approved),
        ];
        named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Some(value.clone()?)))).collect()
    }
}

fn about(snapshot: &Snapshot, life: LifeId, action: Action) -> Item {
    Item::new(snapshot.key(life), snapshot.uid(life).0, action)
}

/// The owners that a life names; or only those that it names rightly, as far as that is known. A reference that is not
/// what it says never becomes right, and it neither keeps nor condemns.
fn owner_uids(snapshot: &Snapshot, life: LifeId, rightly: bool) -> Vec<String> {
    let owners = snapshot.owner_uids(life);
    let named = owners.filter(|(_, leads)| !rightly || !matches!(leads, Ownership::Invalid(_)));
    named.map(|(uid, _)| uid.0).collect()
}

/// The owners to whom a life that lives on refers no longer after this round: those for whom there is no way back. The
/// others may have to wait until these are gone.
pub(crate) fn lost_now(snapshot: &Snapshot, strip: &Strip) -> Vec<String> {
    let lost = |uid: &&Uid| strip.ready || snapshot.get(uid).is_none_or(|owner| snapshot.is_marked(owner));
    strip.owners.iter().filter(lost).map(|uid| uid.0.clone()).collect()
}

/// A life lives on and loses references, as long as its owners are those by which that was decided.
pub(crate) fn strip(snapshot: &Snapshot, life: LifeId, remove_owners: Vec<String>) -> Item {
    // That they go without it is what they say now; somebody may delete them once more, in another way.
    let as_seen = |uid: &String| {
        let owner = snapshot.get(&Uid(uid.clone()))?;
        Some((uid.clone(), snapshot.revision_of(owner).to_string()))
    };
    let unchanged = remove_owners.iter().filter_map(as_seen).collect();
    let action = Action::Patch {
        remove_finalizers: Vec::new(),
        add_finalizers: Vec::new(),
        remove_owners,
        annotations: BTreeMap::new(),
    };
    Item { owners: Some(owner_uids(snapshot, life, false)), unchanged, ..about(snapshot, life, action) }
}

/// The DELETE of a life: marks it, or removes what nothing holds.
pub(crate) fn delete(
    snapshot: &Snapshot,
    judgement: &Judgement,
    finding: &Finding,
    signature: &Signature,
) -> Item {
    let policy = match finding.policy {
        Policy::Cascade => "Cascade",
        Policy::Foreground => "Foreground",
        Policy::Background => "Background",
        Policy::Orphan => "Orphan",
    };
    let hold = has_steps(snapshot, finding.life);
    let action =
        Action::Delete { policy: Some(policy.to_owned()), annotations: signature.annotations(), hold };
    let item = Item { unprotected: true, unmarked: true, ..about(snapshot, finding.life, action) };
    match &finding.cause {
        // What somebody asked for by name was protected at the door, or not at all.
        Cause::Asked => Item { unprotected: false, unmarked: false, ..item },
        Cause::Accused { accused } => {
            // As long as it is accused of the same, and carries the same mark: a put takes that back.
            let said = &accused.said;
            let annotated = BTreeMap::from([
                (marks::ACCUSED.to_owned(), Some(accused.text.clone())),
                (marks::DEPLOYMENT_ID.to_owned(), said.deployment.clone()),
            ]);
            let owners = (!said.absent.is_empty()).then(|| owner_uids(snapshot, finding.life, false));
            Item { absent: said.absent.clone(), owners, annotated, ..item }
        }
        // What lies in something that is marked goes, whoever owns it. What a program lost it destroys itself.
        Cause::InNamespace { .. } | Cause::OfDefinition { .. } | Cause::Unreachable | Cause::Removed => item,
        Cause::OwnersGone { .. } | Cause::OwnerDoomed { .. } => {
            let owners = Some(owner_uids(snapshot, finding.life, false));
            match judgement.follows_owners(snapshot, finding.life) {
                true => Item { absent: owner_uids(snapshot, finding.life, true), owners, ..item },
                false => {
                    // Should one be saved at the last moment, or leave behind what it owns after all, so is whoever
                    // would have followed it.
                    let first = |owner: &LifeId| judgement.follows(snapshot, finding.life, *owner);
                    let (absent, marked): (Vec<LifeId>, Vec<LifeId>) =
                        rests_on(snapshot, judgement, finding).into_iter().partition(first);
                    let uids =
                        |owners: Vec<LifeId>| owners.into_iter().map(|owner| snapshot.uid(owner).0).collect();
                    Item { absent: uids(absent), marked: uids(marked), owners, ..item }
                }
            }
        }
    }
}

/// Takes off what is ours of a marked life. It goes, unless something else holds it. Its dependents that go `with` it, or after
/// it as `survivors`, are not waited for, and neither are those whose reference is not what it says.
pub(crate) fn release(
    snapshot: &Snapshot,
    judgement: &Judgement,
    finding: &Finding,
    with: &BTreeSet<LifeId>,
    survivors: &[LifeId],
) -> Item {
    let life = finding.life;
    let mut remove_finalizers: Vec<String> =
        snapshot.finalizers(life).filter(|finalizer| marks::is_ours(finalizer)).map(str::to_owned).collect();
    // What was marked just now is not seen with its mark yet.
    let policy = finding.policy.finalizer().map(str::to_owned);
    remove_finalizers.extend(policy.filter(|policy| !remove_finalizers.contains(policy)));
    if snapshot.is_namespace(life) {
        remove_finalizers.push(marks::NAMESPACE_HOLD.to_owned());
    }
    let action = Action::Patch {
        remove_finalizers,
        add_finalizers: Vec::new(),
        remove_owners: Vec::new(),
        annotations: BTreeMap::new(),
    };
    let item = about(snapshot, life, action);
    if !waits_for_dependents(snapshot, finding) {
        return item;
    }
    // Of a circle of thousands only those that name it as their owner: all of them for each of them would be too many
    // conditions for any server.
    let together = snapshot.dependents_of(&snapshot.uid(life)).filter(|other| with.contains(other));
    let others: BTreeSet<LifeId> =
        together.chain(survivors.iter().copied()).filter(|other| *other != life).collect();
    // That it does not wait for them rests on what they say, and on whom it names as its owners itself.
    let owners = (!others.is_empty()).then(|| owner_uids(snapshot, life, false));
    let as_seen = |other: &LifeId| (snapshot.uid(*other).0, snapshot.revision_of(*other).to_string());
    let unchanged = others.iter().map(as_seen).collect();
    let misled = snapshot.dependents_of(&snapshot.uid(life)).filter(|one| !snapshot.depends_on(*one, life));
    let free = not_waited_for(snapshot, judgement, finding);
    let except = others.into_iter().chain(misled).chain(free).map(|other| snapshot.uid(other).0).collect();
    Item { unreferenced: true, except, owners, unchanged, ..item }
}

/// Whether a marked life may only go when nothing refers to it any more.
fn waits_for_dependents(snapshot: &Snapshot, finding: &Finding) -> bool {
    let life = finding.life;
    match finding.policy {
        Policy::Cascade | Policy::Foreground | Policy::Orphan => true,
        Policy::Background => {
            snapshot.is_namespace(life)
                || snapshot.is_definition(life)
                || snapshot.finalizers(life).any(|finalizer| finalizer == marks::IN_USE_FINALIZER)
        }
    }
}

/// In a foreground deletion dependents that do not block are not waited for.
fn not_waited_for(snapshot: &Snapshot, judgement: &Judgement, finding: &Finding) -> Vec<LifeId> {
    if finding.policy != Policy::Foreground {
        return Vec::new();
    }
    let dependents = snapshot.dependents_of(&snapshot.uid(finding.life));
    dependents.filter(|one| judgement.goes_without(snapshot, finding.life, *one)).collect()
}

/// Whether taking off what is ours would change anything.
pub(crate) fn is_held_by_us(snapshot: &Snapshot, life: LifeId) -> bool {
    snapshot.is_namespace(life) || snapshot.finalizers(life).any(marks::is_ours)
}

/// Takes a finalizer of somebody else off, because somebody said so.
pub(crate) fn force_finalizer(snapshot: &Snapshot, life: LifeId, finalizer: &str) -> Item {
    let action = Action::Patch {
        remove_finalizers: vec![finalizer.to_owned()],
        add_finalizers: Vec::new(),
        remove_owners: Vec::new(),
        annotations: BTreeMap::from([(marks::REQUEST.to_owned(), None)]),
    };
    about(snapshot, life, action)
}

/// Writes the journal of a life, or removes it, if the life is still as it was when that was decided: no step is ever
/// taken back by somebody who did not see it.
pub(crate) fn journal(
    snapshot: &Snapshot,
    life: LifeId,
    version: Revision,
    text: Option<String>,
    destroyed: bool,
) -> Item {
    let mut annotations = BTreeMap::from([(marks::JOURNAL.to_owned(), text)]);
    if destroyed {
        annotations.insert(marks::DESTROYED.to_owned(), Some("true".to_owned()));
    }
    let action = Action::Patch {
        remove_finalizers: Vec::new(),
        add_finalizers: Vec::new(),
        remove_owners: Vec::new(),
        annotations,
    };
    Item { resource_version: Some(version.to_string()), ..about(snapshot, life, action) }
}
