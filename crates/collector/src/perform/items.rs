//! The single writes about an object: removal of references, deletion, release, journal.
//!
//! Each function makes one [`Item`] of a bulk request. The conditions in the item are the evidence of the decision:
//! the server checks them in the transaction that makes the write. Nothing here does any IO.

use std::collections::{BTreeMap, BTreeSet};

use sexton_lifecycle::{Cause, Detection, Finding, NodeId, Ownership, Snapshot, Strip};
use sexton_model::bulk::{Action, Annotations, Item};
use sexton_model::{Policy, Revision, Uid, marks};

use super::early::rests_on;
use crate::hooked::has_steps;

/// The finalizers of other controllers, for which the object waits whatever the collector does.
pub(crate) fn foreign_finalizers(snapshot: &Snapshot, life: NodeId) -> Vec<String> {
    snapshot.finalizers(life).filter(|finalizer| !marks::is_ours(finalizer)).map(str::to_owned).collect()
}

/// Whether a finalizer of another controller is on the object.
pub(crate) fn is_held_by_others(snapshot: &Snapshot, life: NodeId) -> bool {
    snapshot.finalizers(life).any(|finalizer| !marks::is_ours(finalizer))
}

/// The annotations of every deletion: its collection, its requester, and the approved plan.
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

fn about(snapshot: &Snapshot, life: NodeId, action: Action) -> Item {
    Item::new(snapshot.key(life), snapshot.uid(life).0, action)
}

/// The uids of the owners that an object names; with `rightly`, without the references that are known to be invalid.
/// An invalid reference never becomes valid, and neither protects the object nor dooms it.
fn owner_uids(snapshot: &Snapshot, life: NodeId, rightly: bool) -> Vec<String> {
    let owners = snapshot.owner_uids(life);
    let named = owners.filter(|(_, leads)| !rightly || !matches!(leads, Ownership::Invalid(_)));
    named.map(|(uid, _)| uid.0).collect()
}

/// The owners to which an object that survives loses its references in this round: all of them if the strip is ready,
/// otherwise those that are gone or terminating. The reference to another owner may have to wait until these are
/// gone.
pub(crate) fn lost_now(snapshot: &Snapshot, strip: &Strip) -> Vec<String> {
    let lost =
        |uid: &&Uid| strip.is_ready || snapshot.get(uid).is_none_or(|owner| snapshot.is_terminating(owner));
    strip.owners.iter().filter(lost).map(|uid| uid.0.clone()).collect()
}

/// Removes references of an object that survives, as long as its owners are those that the decision saw.
pub(crate) fn strip(snapshot: &Snapshot, life: NodeId, remove_owners: Vec<String>) -> Item {
    // An owner is deleted without its dependents because its newest deletion says so; another deletion could change
    // that.
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

/// The DELETE of an object: sets it terminating, or removes it if it has no finalizers.
pub(crate) fn delete(
    snapshot: &Snapshot,
    judgement: &Detection,
    finding: &Finding,
    signature: &Signature,
) -> Item {
    let policy = match finding.policy {
        Policy::Cascade => "Cascade",
        Policy::Foreground => "Foreground",
        Policy::Background => "Background",
        Policy::Orphan => "Orphan",
    };
    let hold = has_steps(snapshot, finding.node);
    let action =
        Action::Delete { policy: Some(policy.to_owned()), annotations: signature.annotations(), hold };
    let item = Item { unprotected: true, unmarked: true, ..about(snapshot, finding.node, action) };
    match &finding.cause {
        // A deletion that a user requested was checked against the protection by the server's admission.
        Cause::Requested => Item { unprotected: false, unmarked: false, ..item },
        Cause::Candidate { record: accused } => {
            // The object must still carry the same accusation and the same deployment id: a put changes the latter.
            let said = &accused.accusation;
            let annotated = BTreeMap::from([
                (marks::ACCUSED.to_owned(), Some(accused.text.clone())),
                (marks::DEPLOYMENT_ID.to_owned(), said.deployment.clone()),
            ]);
            let owners = (!said.absent.is_empty()).then(|| owner_uids(snapshot, finding.node, false));
            Item { absent: said.absent.clone(), owners, annotated, ..item }
        }
        // The content of a terminating namespace or definition is deleted, with any owners. What a program lost it
        // destroys itself.
        Cause::InNamespace { .. } | Cause::OfDefinition { .. } | Cause::Unreachable | Cause::Removed => item,
        Cause::OwnersGone { .. } | Cause::OwnerDoomed { .. } => {
            let owners = Some(owner_uids(snapshot, finding.node, false));
            match judgement.follows_all_owners(snapshot, finding.node) {
                true => Item { absent: owner_uids(snapshot, finding.node, true), owners, ..item },
                false => {
                    // If an owner is saved at the last moment, or leaves its dependents behind after all, these
                    // preconditions fail and save the object, too.
                    let first = |owner: &NodeId| judgement.follows_owner(snapshot, finding.node, *owner);
                    let (absent, marked): (Vec<NodeId>, Vec<NodeId>) =
                        rests_on(snapshot, judgement, finding).into_iter().partition(first);
                    let uids =
                        |owners: Vec<NodeId>| owners.into_iter().map(|owner| snapshot.uid(owner).0).collect();
                    Item { absent: uids(absent), marked: uids(marked), owners, ..item }
                }
            }
        }
    }
}

/// Takes our finalizers off a terminating object, which removes it unless other finalizers are left. It does not wait
/// for dependents that are destroyed in one group with it (`with`) or after it (`survivors`), nor for those with
/// an invalid reference.
pub(crate) fn release(
    snapshot: &Snapshot,
    judgement: &Detection,
    finding: &Finding,
    with: &BTreeSet<NodeId>,
    survivors: &[NodeId],
) -> Item {
    let life = finding.node;
    let mut remove_finalizers: Vec<String> =
        snapshot.finalizers(life).filter(|finalizer| marks::is_ours(finalizer)).map(str::to_owned).collect();
    // An object that was set terminating just now has no finalizer in the snapshot yet.
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
    // Of a circle of thousands only the dependents are named: to name all members for each of them would be too many
    // conditions for any server.
    let together = snapshot.dependents_of(&snapshot.uid(life)).filter(|other| with.contains(other));
    let others: BTreeSet<NodeId> =
        together.chain(survivors.iter().copied()).filter(|other| *other != life).collect();
    // The reason not to wait is in the references of these objects, and of this one: all must be unchanged.
    let owners = (!others.is_empty()).then(|| owner_uids(snapshot, life, false));
    let as_seen = |other: &NodeId| (snapshot.uid(*other).0, snapshot.revision_of(*other).to_string());
    let unchanged = others.iter().map(as_seen).collect();
    let misled = snapshot.dependents_of(&snapshot.uid(life)).filter(|one| !snapshot.depends_on(*one, life));
    let free = not_waited_for(snapshot, judgement, finding);
    let except = others.into_iter().chain(misled).chain(free).map(|other| snapshot.uid(other).0).collect();
    Item { unreferenced: true, except, owners, unchanged, ..item }
}

/// Whether a terminating object may only be removed when nothing refers to it any more.
fn waits_for_dependents(snapshot: &Snapshot, finding: &Finding) -> bool {
    let life = finding.node;
    match finding.policy {
        Policy::Cascade | Policy::Foreground | Policy::Orphan => true,
        Policy::Background => {
            snapshot.is_namespace(life)
                || snapshot.is_definition(life)
                || snapshot.finalizers(life).any(|finalizer| finalizer == marks::IN_USE_FINALIZER)
        }
    }
}

/// The dependents that a foreground deletion does not wait for, because they do not block it.
fn not_waited_for(snapshot: &Snapshot, judgement: &Detection, finding: &Finding) -> Vec<NodeId> {
    if finding.policy != Policy::Foreground {
        return Vec::new();
    }
    let dependents = snapshot.dependents_of(&snapshot.uid(finding.node));
    dependents.filter(|one| judgement.is_nonblocking(snapshot, finding.node, *one)).collect()
}

/// Whether the object has finalizers of ours that a release would take off.
pub(crate) fn is_held_by_us(snapshot: &Snapshot, life: NodeId) -> bool {
    snapshot.is_namespace(life) || snapshot.finalizers(life).any(marks::is_ours)
}

/// Takes a finalizer of another controller off, because a user requested it with `sexton force`.
pub(crate) fn force_finalizer(snapshot: &Snapshot, life: NodeId, finalizer: &str) -> Item {
    let action = Action::Patch {
        remove_finalizers: vec![finalizer.to_owned()],
        add_finalizers: Vec::new(),
        remove_owners: Vec::new(),
        annotations: BTreeMap::from([(marks::REQUEST.to_owned(), None)]),
    };
    about(snapshot, life, action)
}

/// Writes the journal of an object, or removes it, if the object is still at the version for which that was decided.
/// So a collector never overwrites a step that it has not seen.
pub(crate) fn journal(
    snapshot: &Snapshot,
    life: NodeId,
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
