//! The explanation of a doomed object: the request, the chain of causes, its stage, and what it waits for.

use sexton_model::hook::ObjectRef;
use sexton_model::{Policy, Uid};

use super::blockers::blockers;
use super::chain::chain;
use super::waits::waits;
use super::{Blocker, ChainStep, Wait, naming};
use crate::destruction::{BadJournal, Stage, State};
use crate::detect::{Cause, Detection, Detector, Finding};
use crate::plan::Plan;
use crate::snapshot::{NodeId, Snapshot};

/// The details of a doomed object.
#[derive(Debug, Clone, PartialEq)]
pub struct DoomedDetails {
    /// Since when it is terminating; `None` if it is not, and could still be rescued.
    pub terminating_since: Option<i64>,
    /// The detector that found it.
    pub detector: Detector,
    /// The writer and the reason of the candidate record of the root, if it has one.
    pub candidate: Option<(String, String)>,
    /// The policy of its own deletion.
    pub policy: Policy,
    /// The requester of the deletion of the root.
    pub requester: Option<String>,
    /// The collection that destroys it.
    pub collection: Option<String>,
    /// The digest of the plan that was approved.
    pub approved: Option<String>,
    /// The chain of causes to the root. Empty if it is the root itself.
    pub chain: Vec<ChainStep>,
    /// The root: the object with whose deletion the chain begins. Without a name if it is gone and no reference names
    /// it.
    pub root: ObjectRef,
    /// When the deletion of the root was requested, if the root still exists, and with which policy. The policy is not
    /// known once its finalizer is removed; a background deletion leaves none.
    pub requested: Option<(i64, Option<Policy>)>,
    /// The stage of its destruction, if it has a journal.
    pub stage: Option<Stage>,
    /// Whether it is destroyed, and kept only to be read.
    pub is_destroyed: bool,
    /// What blocks it itself.
    pub blockers: Vec<Blocker>,
    /// Objects that must go first: the paths to stuck ones or, if none is stuck, to those that are being destroyed.
    pub waits: Vec<Wait>,
    /// How many objects must go first, in all.
    pub predecessor_count: usize,
    /// How many more objects like those in `waits` are left out.
    pub omitted: usize,
    /// The progress of its collection, if the caller knows it.
    pub progress: Option<CollectionProgress>,
    /// When the next automatic retry is due, of its own blockers or those of objects in `waits`.
    pub next_attempt: Option<i64>,
}

/// The progress of a collection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CollectionProgress {
    /// How many of its objects are gone.
    pub gone: u64,
    /// How many objects belong to it.
    pub doomed: u64,
}

/// The details of a doomed object.
pub(super) fn doomed(
    snapshot: &Snapshot,
    detection: &Detection,
    plan: &Plan,
    finding: &Finding,
    now: i64,
) -> DoomedDetails {
    let node = finding.node;
    let waits = waits(snapshot, detection, plan, node);
    let blockers = blockers(snapshot, detection, node);
    let all = waits.entries.iter().flat_map(|wait| &wait.blockers).chain(&blockers);
    let next_attempt = all.filter_map(|blocker| blocker.next_attempt).filter(|next| *next >= now).min();
    DoomedDetails {
        stage: stage_of(snapshot, node),
        is_destroyed: snapshot.is_destroyed(node),
        blockers,
        waits: waits.entries,
        predecessor_count: waits.predecessor_count,
        omitted: waits.omitted,
        next_attempt,
        ..reason(snapshot, detection, finding)
    }
}

/// Only the reason of a deletion: neither its stage nor what it waits for.
pub(super) fn reason(snapshot: &Snapshot, detection: &Detection, finding: &Finding) -> DoomedDetails {
    let node = finding.node;
    let chain = chain(snapshot, detection, node);
    let root = snapshot.get(&finding.root);
    let named = chain.last().filter(|step| step.object.uid == finding.root.0);
    DoomedDetails {
        terminating_since: snapshot.terminating_since(node),
        detector: finding.detector,
        candidate: root.and_then(|root| match &detection.doomed.get(&root)?.cause {
            Cause::Candidate { record } => {
                Some((record.accusation.by.clone(), record.accusation.because.clone()))
            }
            _ => None,
        }),
        policy: finding.policy,
        requester: finding.requester.clone().or_else(|| requester_of(snapshot, &finding.root)),
        collection: snapshot.collection(node).map(str::to_owned),
        approved: root.and_then(|root| snapshot.approved_plan(root)).map(str::to_owned),
        root: named.map_or_else(|| naming::of_uid(snapshot, &finding.root), |step| step.object.clone()),
        requested: root.and_then(|root| {
            let is_terminating = snapshot.terminating_since(root)?;
            // A container is destroyed after its contents under any policy.
            let is_container = snapshot.is_namespace(root) || snapshot.is_definition(root);
            let found = detection.doomed.get(&root).map_or(finding.policy, |root| root.policy);
            Some((is_terminating, snapshot.policy(root).or_else(|| is_container.then_some(found))))
        }),
        chain,
        stage: None,
        is_destroyed: false,
        blockers: Vec::new(),
        waits: Vec::new(),
        predecessor_count: 0,
        omitted: 0,
        progress: None,
        next_attempt: None,
    }
}

fn requester_of(snapshot: &Snapshot, root: &Uid) -> Option<String> {
    let living = snapshot.get(root).and_then(|root| snapshot.requester(root));
    living.or_else(|| snapshot.removal_requester(root)).map(str::to_owned)
}

/// The journal of an object, if it has one.
pub(super) fn journal_of(snapshot: &Snapshot, node: NodeId) -> Option<Result<State, BadJournal>> {
    snapshot.journal(node).map(State::decode)
}

/// The stage of an object's destruction, if it has a journal that can be read.
pub(super) fn stage_of(snapshot: &Snapshot, node: NodeId) -> Option<Stage> {
    journal_of(snapshot, node)?.ok().map(|state| state.stage)
}
