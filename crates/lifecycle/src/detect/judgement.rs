//! What detectors say: who is doomed and why, who only loses references, and what is left alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use sexton_model::{Policy, Uid};

use crate::snapshot::{Accused, LifeId, OwnerRef, Snapshot, WhyInvalid, WhyUnknown};

/// What follows from the marked, removed and accused lives of a snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// Who is to die, the marked ones included.
    pub doomed: BTreeMap<LifeId, Finding>,
    /// Who lives on and only loses references. By key.
    pub strips: Vec<Strip>,
    /// References about whose owners nothing can be said. By key.
    pub unknown: Vec<Unknown>,
    /// References that are not what they say. By key.
    pub invalid: Vec<Invalid>,
    /// Who would die but must not. By key.
    pub holds: Vec<Hold>,
    /// Whether Kubernetes removes owners; see [`crate::Settings`].
    pub kubernetes: bool,
}

/// Why one life dies, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The life.
    pub life: LifeId,
    /// Who found it.
    pub detector: Detector,
    /// What it is based on.
    pub cause: Cause,
    /// What its own dependents are to do.
    pub policy: Policy,
    /// Whether it is marked already.
    pub marked: bool,
    /// The life from whose deletion it follows; it may be gone already.
    pub root: Uid,
    /// Who asked for that, if it is known.
    pub initiator: Option<String>,
}

/// Who found a life to be garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detector {
    /// Somebody asked for its deletion.
    Deleted,
    /// It follows another.
    Cascade,
    /// Its owners do not exist.
    Orphaned,
    /// Somebody who looked for garbage says that it is some.
    Accused,
    /// Nothing alive refers to it.
    Unreachable,
    /// The incoming model does not hold it any more.
    Removed,
}

impl Detector {
    /// Whether nobody asked for it: until its end is inevitable the life may be saved.
    pub fn accuses(self) -> bool {
        !matches!(self, Detector::Deleted | Detector::Cascade)
    }
}

/// What a finding is based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked for it.
    Asked,
    /// An owner dies.
    OwnerDoomed {
        /// The owner.
        owner: LifeId,
    },
    /// No owner exists any more.
    OwnersGone {
        /// Those that it names.
        uids: Vec<Uid>,
    },
    /// Somebody says that it is garbage.
    Accused {
        /// The annotation.
        accused: Arc<Accused>,
    },
    /// Nothing alive refers to it.
    Unreachable,
    /// The incoming model does not hold it any more.
    Removed,
    /// Its namespace dies.
    InNamespace {
        /// The namespace.
        namespace: LifeId,
    },
    /// The definition of its kind dies.
    OfDefinition {
        /// The definition.
        definition: LifeId,
    },
}

/// References that a life loses; it lives on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strip {
    /// The life.
    pub life: LifeId,
    /// The owners to whom it no longer refers.
    pub owners: Vec<Uid>,
    /// Whether each of them is gone or marked, so that there is no way back.
    pub ready: bool,
}

/// A reference about whose owner nothing can be said. What it belongs to is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Who refers.
    pub life: LifeId,
    /// The reference.
    pub reference: OwnerRef,
    /// Why nothing can be said.
    pub why: WhyUnknown,
}

/// A reference that is not what it says. It neither keeps nor condemns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// Who refers.
    pub life: LifeId,
    /// The reference.
    pub reference: OwnerRef,
    /// What is wrong with it.
    pub why: WhyInvalid,
}

/// A life that would die but must not. What is below it is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The life.
    pub life: LifeId,
    /// The dying owner, namespace or definition that has to wait for it, if there is one.
    pub keeps: Option<LifeId>,
    /// Why it must not die.
    pub why: WhyHeld,
}

/// Why a life must not die.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyHeld {
    /// It is protected: "true" or the reason that is written there.
    Protected(String),
    /// It was not in the plan that was approved; the digest of that.
    NotApproved(String),
    /// It is not in the plan that is carried out.
    NotInPlan,
}

/// A deletion that has not happened: what would follow?
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hypothetical {
    /// The life that would be deleted.
    pub life: LifeId,
    /// What its dependents would do.
    pub policy: Policy,
}

impl Cause {
    /// The life that is the cause, if there is one.
    pub fn life(&self) -> Option<LifeId> {
        match self {
            Cause::OwnerDoomed { owner: life }
            | Cause::InNamespace { namespace: life }
            | Cause::OfDefinition { definition: life } => Some(*life),
            Cause::Asked
            | Cause::OwnersGone { .. }
            | Cause::Accused { .. }
            | Cause::Unreachable
            | Cause::Removed => None,
        }
    }
}

impl Finding {
    /// Whether it is an event that goes because its namespace does. Such a one is not worth a word: it is neither shown
    /// nor counted, and needs nobody's approval.
    pub fn is_aside(&self, snapshot: &Snapshot) -> bool {
        matches!(self.cause, Cause::InNamespace { .. }) && snapshot.is_event(self.life)
    }
}

impl Judgement {
    /// The same without what is not worth a word, for people.
    #[must_use]
    pub fn without_asides(mut self, snapshot: &Snapshot) -> Judgement {
        self.doomed.retain(|_, finding| !finding.is_aside(snapshot));
        self
    }

    /// All findings, ordered by the keys of the lives.
    pub fn findings(&self, snapshot: &Snapshot) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.doomed.values().collect();
        findings.sort_by(|a, b| snapshot.compare(a.life, b.life));
        findings
    }

    /// Whether a life follows owners that are gone or go before it, rather than being waited for by one of them: then
    /// that they are gone is the proof on which its own death rests.
    pub fn follows_owners(&self, snapshot: &Snapshot, life: LifeId) -> bool {
        let Some(finding) = self.doomed.get(&life) else { return false };
        let over_owners = matches!(finding.cause, Cause::OwnersGone { .. } | Cause::OwnerDoomed { .. });
        over_owners && snapshot.owner_lives(life).all(|owner| self.goes_first(owner))
    }

    /// Whether a life goes after this one of its owners, though another may wait for it: each of them would keep it, and
    /// this one may still be saved. What is marked cannot come back any more, and holds nobody up.
    pub fn follows(&self, snapshot: &Snapshot, life: LifeId, owner: LifeId) -> bool {
        if self.follows_owners(snapshot, life) {
            return true;
        }
        let Some(finding) = self.doomed.get(&life).filter(|finding| !finding.marked) else { return false };
        let Cause::OwnerDoomed { owner: cause } = finding.cause else { return false };
        let taken_along = self.doomed.get(&cause).is_none_or(|cause| cause.policy == Policy::Cascade);
        !taken_along && self.goes_first(owner)
    }

    /// Whether an owner is removed without waiting for this dependent. In a foreground deletion only dependents with
    /// `blockOwnerDeletion` hold their owner. One without it is deleted as well: the owner waits until it is terminating,
    /// and not until it is gone; in Kubernetes it does not wait at all.
    pub fn goes_without(&self, snapshot: &Snapshot, owner: LifeId, dependent: LifeId) -> bool {
        let foreground = self.doomed.get(&owner).is_some_and(|owner| owner.policy == Policy::Foreground);
        foreground
            && (self.kubernetes || snapshot.is_marked(dependent) || !self.dooms(dependent))
            && !snapshot.blocks(dependent, owner)
    }

    /// Whether it dies, and waits for nobody whom it owns.
    fn goes_first(&self, owner: LifeId) -> bool {
        let owner = self.doomed.get(&owner);
        owner.is_some_and(|owner| !matches!(owner.policy, Policy::Cascade | Policy::Foreground))
    }

    /// Adds what is accused besides: what follows from deletions comes first.
    pub fn absorb(&mut self, accused: Judgement) {
        for (life, finding) in accused.doomed {
            self.doomed.entry(life).or_insert(finding);
        }
        self.strips.extend(accused.strips);
        self.strips.retain(|strip| !self.doomed.contains_key(&strip.life));
        self.unknown.extend(accused.unknown);
        self.invalid.extend(accused.invalid);
        self.holds.extend(accused.holds);
    }

    /// Whether the life is to die.
    pub fn dooms(&self, life: LifeId) -> bool {
        self.doomed.contains_key(&life)
    }
}
