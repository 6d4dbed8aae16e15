//! A life that does not die: what keeps it, and what would end it.

use sexton_model::hook::ObjectRef;
use sexton_model::names::PERMANENT_NAMESPACES;
use sexton_model::{Policy, Uid};

use super::blockers::clears;
use super::{Remedy, name};
use crate::detect::{Hypothetical, Judgement, Roots, Settings, WhyHeld, judge};
use crate::snapshot::{LifeId, Ownership, Snapshot, WhyInvalid, WhyUnknown};

/// Of so many owners it is asked what their deletion would mean: each time everything below them is looked at.
const MOST_OWNERS: usize = 10;

/// Everything about a life that does not die.
#[derive(Debug, Clone, PartialEq)]
pub struct Living {
    /// Whom it names as owners.
    pub owners: Vec<Owner>,
    /// "true" or the reason why it must not be destroyed.
    pub protected: Option<String>,
    /// Whose it is.
    pub manager: Option<String>,
    /// Where it stands in its module.
    pub order: Option<i64>,
    /// It would die, and is spared.
    pub kept: Vec<Kept>,
    /// The owners to whom it loses its references, because they go without it.
    pub loses: Vec<ObjectRef>,
    /// It has owners, and none of them exists.
    pub orphan: Option<Orphan>,
    /// What would end it. If it is protected: what would, if it were not.
    pub dies_if: Vec<Condition>,
}

/// An owner that a life names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// As it is written.
    pub object: ObjectRef,
    /// Whether it manages the life.
    pub controller: bool,
    /// What is known of it.
    pub state: OwnerState,
}

/// What is known of an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerState {
    /// It lives.
    Alive,
    /// It lives and is protected.
    Protected,
    /// It is marked, since then.
    Marked(i64),
    /// It does not exist.
    Absent {
        /// Whether its removal was seen, rather than only that it is not there.
        seen: bool,
        /// Who asked for the removal.
        by: Option<String>,
    },
    /// The reference is not what it says.
    Invalid(WhyInvalid),
    /// It cannot be said whether it exists.
    Unknown(WhyUnknown),
}

/// A life that would die and must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Who has to wait for it.
    pub holds_up: Option<ObjectRef>,
    /// Why it must not.
    pub why: WhyHeld,
    /// What can be typed to let it go.
    pub clears: Vec<Remedy>,
}

/// A life without owners whose time has not come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Orphan {
    /// How long it is left alone, in seconds, if the caller knows.
    pub grace: Option<i64>,
    /// Until when.
    pub due: Option<i64>,
}

/// What would end a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// One of its owners is deleted.
    Owner {
        /// That.
        object: ObjectRef,
        /// With one of these policies.
        policies: Vec<Policy>,
    },
    /// All its owners go, each with whatever policy but orphaning.
    AllOwners,
    /// Its namespace is deleted.
    Namespace(ObjectRef),
    /// The definition of its kind is deleted.
    Definition(ObjectRef),
    /// It leaves its module, and that is applied.
    Leaves {
        /// The module.
        manager: String,
    },
}

/// What there is to say of a life that does not die.
pub(super) fn living(snapshot: &Snapshot, judgement: &Judgement, life: LifeId) -> Living {
    let written = snapshot.owners(life);
    let gone = |(_, owner): &(_, Ownership)| matches!(owner, Ownership::Absent { .. });
    let kept = judgement.holds.iter().filter(|hold| hold.life == life);
    let kept: Vec<Kept> = kept
        .map(|hold| Kept {
            holds_up: hold.keeps.map(|keeps| snapshot.object(keeps)),
            why: hold.why.clone(),
            clears: clears(snapshot, life, &hold.why),
        })
        .collect();
    let orphan = !written.is_empty() && written.iter().all(gone) && kept.is_empty();
    let strips = judgement.strips.iter().filter(|strip| strip.life == life).flat_map(|strip| &strip.owners);
    Living {
        loses: strips.map(|uid| lost(snapshot, life, uid)).collect(),
        owners: written.into_iter().map(|(reference, owner)| of(snapshot, &reference, owner)).collect(),
        protected: snapshot.protect(life).map(str::to_owned),
        manager: snapshot.manager(life).map(str::to_owned),
        order: snapshot.order(life),
        kept,
        orphan: orphan.then(Orphan::default),
        dies_if: conditions(snapshot, life),
    }
}

fn lost(snapshot: &Snapshot, life: LifeId, uid: &Uid) -> ObjectRef {
    let owners = snapshot.owners(life);
    let written = owners.iter().find(|(reference, _)| reference.uid == *uid);
    written.map_or_else(|| name::of_uid(snapshot, uid), |(written, _)| name::of_reference(snapshot, written))
}

fn of(snapshot: &Snapshot, reference: &crate::OwnerRef, owner: Ownership) -> Owner {
    let state = match owner {
        Ownership::Valid(owner) => match snapshot.deleted(owner) {
            Some(since) => OwnerState::Marked(since),
            None if snapshot.protect(owner).is_some() => OwnerState::Protected,
            None => OwnerState::Alive,
        },
        Ownership::Absent { seen } => {
            OwnerState::Absent { seen, by: snapshot.removed_by(&reference.uid).map(str::to_owned) }
        }
        Ownership::Invalid(why) => OwnerState::Invalid(why),
        Ownership::Unknown(why) => OwnerState::Unknown(why),
    };
    Owner { object: name::of_reference(snapshot, reference), controller: reference.controller, state }
}

/// What would end a life. Asked of the same rules that would end it, so it cannot say anything else.
fn conditions(snapshot: &Snapshot, life: LifeId) -> Vec<Condition> {
    let mut all = Vec::new();
    let mut owners: Vec<LifeId> = Vec::new();
    // What the deletion of a marked one means is settled already.
    let other = |owner: &LifeId| *owner != life && !snapshot.is_marked(*owner);
    for owner in snapshot.owner_lives(life).filter(other) {
        if !owners.contains(&owner) {
            owners.push(owner);
        }
    }
    for owner in owners.iter().take(MOST_OWNERS) {
        let follows = |policy: &Policy| dies(snapshot, life, &[*owner], *policy);
        let policies: Vec<Policy> =
            [Policy::Cascade, Policy::Foreground, Policy::Background].into_iter().filter(follows).collect();
        if !policies.is_empty() {
            all.push(Condition::Owner { object: snapshot.object(*owner), policies });
        }
    }
    let each =
        |condition: &Condition| matches!(condition, Condition::Owner { policies, .. } if policies.len() > 1);
    if owners.len() > 1 && !all.iter().any(each) && dies(snapshot, life, &owners, Policy::Background) {
        all.push(Condition::AllOwners);
    }
    // What no server lets anybody delete does not end it.
    let namespace = snapshot.namespace_life(life);
    let namespace = namespace.filter(|around| !PERMANENT_NAMESPACES.contains(&snapshot.name(*around)));
    all.extend(namespace.map(|around| Condition::Namespace(snapshot.object(around))));
    all.extend(snapshot.definition_life(life).map(|around| Condition::Definition(snapshot.object(around))));
    all.extend(snapshot.manager(life).map(|manager| Condition::Leaves { manager: manager.to_owned() }));
    all
}

/// Whether a life would die, or would be spared only for being protected, if these were deleted.
fn dies(snapshot: &Snapshot, life: LifeId, owners: &[LifeId], policy: Policy) -> bool {
    let considered: Vec<Hypothetical> =
        owners.iter().map(|owner| Hypothetical { life: *owner, policy }).collect();
    let judgement = judge(snapshot, Roots::None, &considered, &Settings::default());
    judgement.dooms(life) || judgement.holds.iter().any(|hold| hold.life == life)
}
