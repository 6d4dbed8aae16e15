//! The explanation of a survivor: what keeps it, and what would doom it.

use sexton_model::hook::ObjectRef;
use sexton_model::names::PERMANENT_NAMESPACES;
use sexton_model::{Policy, Uid};

use super::blockers::remedies;
use super::{Remedy, naming};
use crate::detect::{
    Detection, DetectionSettings, HypotheticalDeletion, Roots, WhyExcluded, follow_deletions,
};
use crate::snapshot::{NodeId, Ownership, Snapshot, WhyInvalid, WhyUnknown};

/// For this many owners the effect of their deletion is computed: each time with everything below them.
const MAX_TRIED_OWNERS: usize = 10;

/// The details of a survivor.
#[derive(Debug, Clone, PartialEq)]
pub struct SurvivingDetails {
    /// Its owner references, resolved.
    pub owners: Vec<Owner>,
    /// Set if it is protected: "true", or the reason.
    pub protected: Option<String>,
    /// The module that manages it.
    pub manager: Option<String>,
    /// Its place in the order of its module.
    pub order: Option<i64>,
    /// Set if it would be doomed and is excluded: one entry for each object that it blocks.
    pub exclusions: Vec<ExcludedDetails>,
    /// The owners to which it loses its references, because they are deleted without it.
    pub loses: Vec<ObjectRef>,
    /// Set if it has owner references, and no owner exists.
    pub orphan: Option<Orphan>,
    /// What would doom it. If it is protected: what would, if it were not.
    pub doomed_if: Vec<Condition>,
}

/// An owner reference, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The owner as the reference names it.
    pub object: ObjectRef,
    /// Whether it is the managing controller.
    pub is_controller: bool,
    /// What is known of it.
    pub state: OwnerState,
}

/// What is known of an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerState {
    /// It objects.
    Alive,
    /// It objects and is protected.
    Protected,
    /// It is terminating, since then.
    Terminating(i64),
    /// It does not exist.
    Absent {
        /// Whether its removal was seen, rather than only that it is not there.
        seen: bool,
        /// The requester of the removal.
        by: Option<String>,
    },
    /// The object with that uid does not match the reference.
    Invalid(WhyInvalid),
    /// It may exist or not.
    Unknown(WhyUnknown),
}

/// Why a survivor is excluded, for one object that it blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedDetails {
    /// The doomed object that it blocks.
    pub blocks: Option<ObjectRef>,
    /// Why it is excluded.
    pub why: WhyExcluded,
    /// The commands that let it be destroyed.
    pub remedies: Vec<Remedy>,
}

/// An orphan in its grace period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Orphan {
    /// The grace period in seconds, if the caller knows it.
    pub grace: Option<i64>,
    /// The end of the grace period.
    pub due: Option<i64>,
}

/// What would doom a survivor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// One of its owners is deleted.
    Owner {
        /// The owner.
        object: ObjectRef,
        /// With one of these policies.
        policies: Vec<Policy>,
    },
    /// All its owners are deleted, each with any policy but `orphan`.
    AllOwners,
    /// Its namespace is deleted.
    Namespace(ObjectRef),
    /// The definition of its kind is deleted.
    Definition(ObjectRef),
    /// It leaves its module, and the module is applied.
    Leaves {
        /// The module.
        manager: String,
    },
}

/// The details of a survivor.
pub(super) fn surviving(snapshot: &Snapshot, detection: &Detection, node: NodeId) -> SurvivingDetails {
    let written = snapshot.owners(node);
    let gone = |(_, owner): &(_, Ownership)| matches!(owner, Ownership::Absent { .. });
    let exclusions = detection.exclusions.iter().filter(|exclusion| exclusion.node == node);
    let exclusions: Vec<ExcludedDetails> = exclusions
        .map(|exclusion| ExcludedDetails {
            blocks: exclusion.blocks.map(|blocks| snapshot.object_ref(blocks)),
            why: exclusion.why.clone(),
            remedies: remedies(snapshot, node, &exclusion.why),
        })
        .collect();
    let orphan = !written.is_empty() && written.iter().all(gone) && exclusions.is_empty();
    let strips = detection.strips.iter().filter(|strip| strip.node == node).flat_map(|strip| &strip.owners);
    SurvivingDetails {
        loses: strips.map(|uid| lost_owner(snapshot, node, uid)).collect(),
        owners: written
            .into_iter()
            .map(|(reference, owner)| resolved_owner(snapshot, &reference, owner))
            .collect(),
        protected: snapshot.protection(node).map(str::to_owned),
        manager: snapshot.manager(node).map(str::to_owned),
        order: snapshot.order(node),
        exclusions,
        orphan: orphan.then(Orphan::default),
        doomed_if: conditions(snapshot, node),
    }
}

fn lost_owner(snapshot: &Snapshot, node: NodeId, uid: &Uid) -> ObjectRef {
    let owners = snapshot.owners(node);
    let written = owners.iter().find(|(reference, _)| reference.uid == *uid);
    written
        .map_or_else(|| naming::of_uid(snapshot, uid), |(written, _)| naming::of_reference(snapshot, written))
}

fn resolved_owner(snapshot: &Snapshot, reference: &crate::OwnerRef, owner: Ownership) -> Owner {
    let state = match owner {
        Ownership::Valid(owner) => match snapshot.terminating_since(owner) {
            Some(since) => OwnerState::Terminating(since),
            None if snapshot.protection(owner).is_some() => OwnerState::Protected,
            None => OwnerState::Alive,
        },
        Ownership::Absent { seen } => {
            OwnerState::Absent { seen, by: snapshot.removal_requester(&reference.uid).map(str::to_owned) }
        }
        Ownership::Invalid(why) => OwnerState::Invalid(why),
        Ownership::Unknown(why) => OwnerState::Unknown(why),
    };
    Owner { object: naming::of_reference(snapshot, reference), is_controller: reference.is_controller, state }
}

/// What would doom a survivor. Computed by the detector that would doom it, so the two cannot disagree.
fn conditions(snapshot: &Snapshot, node: NodeId) -> Vec<Condition> {
    let mut all = Vec::new();
    let mut owners: Vec<NodeId> = Vec::new();
    // The deletion of a terminating owner has begun: its effect is known already.
    let other = |owner: &NodeId| *owner != node && !snapshot.is_terminating(*owner);
    for owner in snapshot.valid_owners(node).filter(other) {
        if !owners.contains(&owner) {
            owners.push(owner);
        }
    }
    for owner in owners.iter().take(MAX_TRIED_OWNERS) {
        let follows = |policy: &Policy| would_be_doomed(snapshot, node, &[*owner], *policy);
        let policies: Vec<Policy> =
            [Policy::Cascade, Policy::Foreground, Policy::Background].into_iter().filter(follows).collect();
        if !policies.is_empty() {
            all.push(Condition::Owner { object: snapshot.object_ref(*owner), policies });
        }
    }
    let each =
        |condition: &Condition| matches!(condition, Condition::Owner { policies, .. } if policies.len() > 1);
    if owners.len() > 1
        && !all.iter().any(each)
        && would_be_doomed(snapshot, node, &owners, Policy::Background)
    {
        all.push(Condition::AllOwners);
    }
    // No server allows the deletion of a permanent namespace.
    let namespace = snapshot.namespace_of(node);
    let namespace = namespace.filter(|around| !PERMANENT_NAMESPACES.contains(&snapshot.name(*around)));
    all.extend(namespace.map(|around| Condition::Namespace(snapshot.object_ref(around))));
    all.extend(snapshot.definition_of(node).map(|around| Condition::Definition(snapshot.object_ref(around))));
    all.extend(snapshot.manager(node).map(|manager| Condition::Leaves { manager: manager.to_owned() }));
    all
}

/// Whether an object would be doomed, or excluded only because it is protected, if these owners were deleted.
fn would_be_doomed(snapshot: &Snapshot, node: NodeId, owners: &[NodeId], policy: Policy) -> bool {
    let hypothetical: Vec<HypotheticalDeletion> =
        owners.iter().map(|owner| HypotheticalDeletion { node: *owner, policy }).collect();
    let detection = follow_deletions(snapshot, Roots::None, &hypothetical, &DetectionSettings::default());
    detection.is_doomed(node) || detection.exclusions.iter().any(|exclusion| exclusion.node == node)
}
