//! The vocabulary of the fixpoint: what an owner's deletion does to its dependents, and what is counted per dependent.

use sexton_model::Policy;

/// What the deletion of an owner does to its dependents, from the least to the most destructive.
///
/// During propagation the effect of an object only ever grows. That is what makes the fixpoint terminate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeletionEffect {
    /// Nothing: the owner survives, or it is terminating without a policy and its dependents follow only once it is
    /// gone.
    None,
    /// Dependents survive and lose the reference.
    Orphan,
    /// Dependents without a solid owner are doomed, after the owner.
    Background,
    /// Dependents without a solid owner are doomed, before the owner.
    Foreground,
    /// All dependents are doomed, whatever other owners they have.
    Cascade,
}

impl DeletionEffect {
    pub(super) fn of(policy: Policy) -> DeletionEffect {
        match policy {
            Policy::Orphan => DeletionEffect::Orphan,
            Policy::Background => DeletionEffect::Background,
            Policy::Foreground => DeletionEffect::Foreground,
            Policy::Cascade => DeletionEffect::Cascade,
        }
    }

    /// The policy under which an object with this effect is deleted.
    pub(super) fn policy(self) -> Policy {
        match self {
            DeletionEffect::None | DeletionEffect::Background => Policy::Background,
            DeletionEffect::Orphan => Policy::Orphan,
            DeletionEffect::Foreground => Policy::Foreground,
            DeletionEffect::Cascade => Policy::Cascade,
        }
    }

    /// Whether dependents may be doomed by it. An owner whose effect is not is *solid*: it keeps its dependents.
    pub(super) fn dooms_dependents(self) -> bool {
        self > DeletionEffect::Orphan
    }
}

/// A doomed object during propagation.
#[derive(Debug, Clone, Copy)]
pub(super) struct DoomState {
    /// What its deletion does to its dependents.
    pub(super) effect: DeletionEffect,
    pub(super) is_terminating: bool,
    /// The effect that its dependents have counted so far; `effect` is ahead of it while the object is in the worklist.
    pub(super) propagated: DeletionEffect,
}

/// What is known of one object that was examined and is not terminating: its owners, counted by their effect.
///
/// [`super::propagation::Propagation`] keeps it up to date while effects grow, so that each owner reference is looked
/// at once when the object is first examined, and once more for every growth of that owner's effect.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnerSummary {
    /// References to owners that keep the object, or may (an owner that cannot be resolved counts).
    pub(super) solid_owners: u32,
    /// An owner dooms its dependents, or its removal was seen.
    pub(super) has_deleted_owner: bool,
    pub(super) has_foreground_owner: bool,
    pub(super) has_cascade_owner: bool,
    /// Its namespace or the definition of its kind is doomed.
    pub(super) is_in_doomed_container: bool,
    /// An owner or a container would doom it, but was approved with a plan that does not list it.
    pub(super) is_unapproved: bool,
    /// An owner is deleted with the policy `orphan`.
    pub(super) has_orphaning_owner: bool,
    /// It names an owner whose removal was seen.
    pub(super) has_removed_owner: bool,
    /// It has references that do not match the object with their uid.
    pub(super) has_invalid_reference: bool,
}

impl OwnerSummary {
    /// Whether some deletion concerns it, even if it survives in the end. Usually true for what was examined; lets the
    /// report skip objects of which nothing is to be said.
    pub(super) fn is_concerned(&self) -> bool {
        self.has_deleted_owner
            || self.is_in_doomed_container
            || self.is_unapproved
            || self.has_orphaning_owner
    }

    /// Counts a doomed namespace or definition around the object.
    pub(super) fn count_container(&mut self, is_unapproved: bool) {
        match is_unapproved {
            true => self.is_unapproved = true,
            false => self.is_in_doomed_container = true,
        }
    }

    /// Counts the effect of one owner. `is_approved`: that owner was approved with a plan, which would list the
    /// dependent if it were to be destroyed as well.
    pub(super) fn count_owner(&mut self, effect: DeletionEffect, is_approved: bool) {
        if !effect.dooms_dependents() {
            self.has_orphaning_owner |= effect == DeletionEffect::Orphan;
            return;
        }
        if is_approved {
            self.is_unapproved = true;
            return;
        }
        self.has_deleted_owner = true;
        self.has_foreground_owner |= effect == DeletionEffect::Foreground;
        self.has_cascade_owner |= effect == DeletionEffect::Cascade;
    }
}
