//! What detectors return: doomed objects with the reason of each, and what is to be said of objects that survive.

use std::collections::BTreeMap;
use std::sync::Arc;

use sexton_model::{Policy, Uid};

use crate::snapshot::{CandidateRecord, NodeId, OwnerRef, Snapshot, WhyInvalid, WhyUnknown};

/// The result of a detector. It is evidence for a plan, and changes nothing by itself.
///
/// An object is in `doomed`, or it survives. Of survivors it says only what a deletion does to them: an object that no
/// deletion reaches is not mentioned at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Detection {
    /// The objects that are to be destroyed, terminating ones included.
    pub doomed: BTreeMap<NodeId, Finding>,
    /// Survivors that lose references to owners. By key.
    pub strips: Vec<Strip>,
    /// References of survivors to owners that may exist or not. By key.
    pub unresolved: Vec<UnresolvedReference>,
    /// References that do not match the object with their uid. By key.
    pub invalid: Vec<InvalidReference>,
    /// Survivors that the rules would doom. By key.
    pub exclusions: Vec<Exclusion>,
    /// Whether Kubernetes' own collector removes owners; see [`super::DetectionSettings`].
    pub kubernetes: bool,
}

/// Why one object is doomed, and how it is deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The doomed object.
    pub node: NodeId,
    /// The detector that found it.
    pub detector: Detector,
    /// The evidence.
    pub cause: Cause,
    /// The policy of its own deletion: what its dependents are to do.
    pub policy: Policy,
    /// Whether its deletion has begun: `deletionTimestamp` is set.
    pub is_terminating: bool,
    /// The object with whose deletion the chain of causes begins; it may be gone already.
    pub root: Uid,
    /// The requester (user) of that deletion, if it is known.
    pub requester: Option<String>,
}

/// The detector that found an object to be garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detector {
    /// None: its deletion was requested.
    Deleted,
    /// Its owner, namespace or definition is doomed, or its owners were removed.
    Cascade,
    /// Its owners do not exist, and their removal was not seen.
    Orphaned,
    /// A program, rule or sweep recorded it as a candidate.
    Candidate,
    /// No root of a model refers to it.
    Unreachable,
    /// The incoming model does not contain it any more.
    Removed,
}

impl Detector {
    /// Whether the object was found without any request. Such an object can be rescued until its deletion begins.
    pub fn is_automatic(self) -> bool {
        !matches!(self, Detector::Deleted | Detector::Cascade)
    }
}

/// The evidence for a [`Finding`]. `plan::verify` checks it against the snapshot again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Its deletion was requested, or is hypothetical.
    Requested,
    /// An owner is doomed.
    OwnerDoomed {
        /// The owner.
        owner: NodeId,
    },
    /// All its owners are gone.
    OwnersGone {
        /// The uids of the owners that it names.
        uids: Vec<Uid>,
    },
    /// It is recorded as a candidate.
    Candidate {
        /// The record, as it was when the object was doomed.
        record: Arc<CandidateRecord>,
    },
    /// No root of a model refers to it.
    Unreachable,
    /// The incoming model does not contain it any more.
    Removed,
    /// Its namespace is doomed.
    InNamespace {
        /// The namespace.
        namespace: NodeId,
    },
    /// The definition of its kind is doomed.
    OfDefinition {
        /// The definition.
        definition: NodeId,
    },
}

/// References that a survivor loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strip {
    /// The survivor.
    pub node: NodeId,
    /// The owners to which it no longer refers.
    pub owners: Vec<Uid>,
    /// Whether each of these owners is gone or terminating. Only then may the references be removed: before, a rescued
    /// owner would have lost its dependent.
    pub is_ready: bool,
}

/// A reference to an owner that may exist or not. The owner counts as solid, so the object is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedReference {
    /// The object with the reference.
    pub node: NodeId,
    /// The reference.
    pub reference: OwnerRef,
    /// Why nothing is known about the owner.
    pub why: WhyUnknown,
}

/// A reference that does not match the object with its uid. It neither keeps an object nor dooms it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidReference {
    /// The object with the reference.
    pub node: NodeId,
    /// The reference.
    pub reference: OwnerRef,
    /// What does not match.
    pub why: WhyInvalid,
}

/// An object that the rules would doom and that survives, because it is protected or not in the plan. Nothing is
/// followed from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// The excluded object.
    pub node: NodeId,
    /// The doomed owner, namespace or definition that it blocks, if there is one.
    pub blocks: Option<NodeId>,
    /// Why it is excluded.
    pub why: WhyExcluded,
}

/// Why an object is excluded from destruction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyExcluded {
    /// It is protected: "true", or the reason that the annotation gives.
    Protected(String),
    /// The approved plan with this digest does not list it.
    NotApproved(String),
    /// The plan that is being executed does not list it.
    NotInPlan,
}

/// A deletion that has not been requested: what would follow from it?
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HypotheticalDeletion {
    /// The object that would be deleted.
    pub node: NodeId,
    /// The policy of the deletion.
    pub policy: Policy,
}

impl Cause {
    /// The object that is the cause, if it is another one.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Cause::OwnerDoomed { owner: node }
            | Cause::InNamespace { namespace: node }
            | Cause::OfDefinition { definition: node } => Some(*node),
            Cause::Requested
            | Cause::OwnersGone { .. }
            | Cause::Candidate { .. }
            | Cause::Unreachable
            | Cause::Removed => None,
        }
    }
}

impl Finding {
    /// Whether this is an event that is doomed because its namespace is. Events are left out wherever objects are shown
    /// or counted for users, and need no approval.
    pub fn is_namespace_event(&self, snapshot: &Snapshot) -> bool {
        matches!(self.cause, Cause::InNamespace { .. }) && snapshot.is_event(self.node)
    }
}

impl Detection {
    /// The same without the events of doomed namespaces, to show it to users.
    #[must_use]
    pub fn without_namespace_events(mut self, snapshot: &Snapshot) -> Detection {
        self.doomed.retain(|_, finding| !finding.is_namespace_event(snapshot));
        self
    }

    /// All findings, by the keys of the objects.
    pub fn findings(&self, snapshot: &Snapshot) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.doomed.values().collect();
        findings.sort_by(|a, b| snapshot.compare_keys(a.node, b.node));
        findings
    }

    /// Whether all owners of a doomed object are gone, or are deleted before it. Then the absence of the owners is the
    /// precondition of its own deletion.
    pub fn follows_all_owners(&self, snapshot: &Snapshot, node: NodeId) -> bool {
        let Some(finding) = self.doomed.get(&node) else { return false };
        let by_owners = matches!(finding.cause, Cause::OwnersGone { .. } | Cause::OwnerDoomed { .. });
        by_owners && snapshot.valid_owners(node).all(|owner| self.is_deleted_first(owner))
    }

    /// Whether a doomed object is deleted after this owner, even if another of its owners waits for the object.
    ///
    /// Each owner would keep the object, and this one may still be rescued; so its deletion has to begin first. Not
    /// true for a terminating object: its deletion cannot be undone, and waits for no owner.
    pub fn follows_owner(&self, snapshot: &Snapshot, node: NodeId, owner: NodeId) -> bool {
        if self.follows_all_owners(snapshot, node) {
            return true;
        }
        let Some(finding) = self.doomed.get(&node).filter(|finding| !finding.is_terminating) else {
            return false;
        };
        let Cause::OwnerDoomed { owner: cause } = finding.cause else { return false };
        let by_cascade = self.doomed.get(&cause).is_none_or(|cause| cause.policy == Policy::Cascade);
        !by_cascade && self.is_deleted_first(owner)
    }

    /// Whether an owner is removed without waiting for this dependent: the owner's deletion is a foreground one, and
    /// the dependent's reference does not say `blockOwnerDeletion`. A doomed dependent that is not terminating yet
    /// blocks all the same: the owner waits until its deletion has begun, though not until it is gone. Kubernetes does not
    /// wait for it at all.
    pub fn is_nonblocking(&self, snapshot: &Snapshot, owner: NodeId, dependent: NodeId) -> bool {
        let foreground = self.doomed.get(&owner).is_some_and(|owner| owner.policy == Policy::Foreground);
        foreground
            && (self.kubernetes || snapshot.is_terminating(dependent) || !self.is_doomed(dependent))
            && !snapshot.is_blocking(dependent, owner)
    }

    /// Whether an owner is doomed and waits for none of its dependents.
    fn is_deleted_first(&self, owner: NodeId) -> bool {
        let owner = self.doomed.get(&owner);
        owner.is_some_and(|owner| !matches!(owner.policy, Policy::Cascade | Policy::Foreground))
    }

    /// Adds what follows from candidates and orphans. An object that both detections doom keeps the finding of this
    /// one: a deletion that was requested is the stronger reason.
    pub fn merge_candidates(&mut self, candidates: Detection) {
        for (node, finding) in candidates.doomed {
            self.doomed.entry(node).or_insert(finding);
        }
        self.strips.extend(candidates.strips);
        self.strips.retain(|strip| !self.doomed.contains_key(&strip.node));
        self.unresolved.extend(candidates.unresolved);
        self.invalid.extend(candidates.invalid);
        self.exclusions.extend(candidates.exclusions);
    }

    /// Whether the object is to be destroyed.
    pub fn is_doomed(&self, node: NodeId) -> bool {
        self.doomed.contains_key(&node)
    }
}
