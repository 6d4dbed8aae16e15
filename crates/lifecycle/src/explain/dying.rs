//! A life that dies: who asked, how it follows from that, where it stands, and what it waits for.

use sexton_model::hook::ObjectRef;
use sexton_model::{Policy, Uid};

use super::blockers::blockers;
use super::chain::chain;
use super::waits::waits;
use super::{Blocker, Step, Wait, name};
use crate::destruction::{BadJournal, Stage, State};
use crate::detect::{Cause, Detector, Finding, Judgement};
use crate::plan::Plan;
use crate::snapshot::{LifeId, Snapshot};

/// Everything about a life that dies.
#[derive(Debug, Clone, PartialEq)]
pub struct Dying {
    /// Since when it is marked; nothing if it is not, and could still be saved.
    pub marked: Option<i64>,
    /// Who found it.
    pub detector: Detector,
    /// Who accuses the life from which this one follows, and of what.
    pub accused: Option<(String, String)>,
    /// What its own dependents do.
    pub policy: Policy,
    /// Who asked for the deletion from which this one follows.
    pub by: Option<String>,
    /// In which collection it ends.
    pub collection: Option<String>,
    /// The digest of the plan that was approved.
    pub approved: Option<String>,
    /// From it to the root. Empty if it is the root itself.
    pub chain: Vec<Step>,
    /// The life from whose deletion this one follows; without a name if it is gone and nobody says what it was.
    pub root: ObjectRef,
    /// When that was asked for, if the root is still there, and with which policy. That is not known once its finalizer
    /// is taken off; and in the background it leaves none.
    pub asked: Option<(i64, Option<Policy>)>,
    /// The step that it takes, if it takes steps.
    pub stage: Option<Stage>,
    /// Whether it was destroyed, and is only there to be read.
    pub destroyed: bool,
    /// What keeps it itself.
    pub blockers: Vec<Blocker>,
    /// Who has to go before: the ways to those that are stuck, or, if nobody is, to those whose turn it is.
    pub waits: Vec<Wait>,
    /// How many have to go before, in all.
    pub waits_for: usize,
    /// How many of those that would be told are only counted.
    pub omitted: usize,
    /// How far its collection is, if the caller knows.
    pub progress: Option<Progress>,
    /// When something is asked again by itself, of itself or of whom it waits for.
    pub next: Option<i64>,
}

/// How far a collection is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many of it are gone.
    pub gone: u64,
    /// How many belong to it.
    pub doomed: u64,
}

/// What there is to say of a life that dies.
pub(super) fn dying(
    snapshot: &Snapshot,
    judgement: &Judgement,
    plan: &Plan,
    finding: &Finding,
    now: i64,
) -> Dying {
    let life = finding.life;
    let waits = waits(snapshot, judgement, plan, life);
    let blockers = blockers(snapshot, judgement, life);
    let nexts = waits.told.iter().flat_map(|wait| &wait.blockers).chain(&blockers);
    let next = nexts.filter_map(|blocker| blocker.next).filter(|next| *next >= now).min();
    Dying {
        stage: stage_of(snapshot, life),
        destroyed: snapshot.is_destroyed(life),
        blockers,
        waits: waits.told,
        waits_for: waits.all,
        omitted: waits.omitted,
        next,
        ..reason(snapshot, judgement, finding)
    }
}

/// Only why it dies: not where it stands, nor what it waits for.
pub(super) fn reason(snapshot: &Snapshot, judgement: &Judgement, finding: &Finding) -> Dying {
    let life = finding.life;
    let chain = chain(snapshot, judgement, life);
    let root = snapshot.get(&finding.root);
    let named = chain.last().filter(|step| step.object.uid == finding.root.0);
    Dying {
        marked: snapshot.deleted(life),
        detector: finding.detector,
        accused: root.and_then(|root| match &judgement.doomed.get(&root)?.cause {
            Cause::Accused { accused } => Some((accused.said.by.clone(), accused.said.because.clone())),
            _ => None,
        }),
        policy: finding.policy,
        by: finding.initiator.clone().or_else(|| asked_by(snapshot, &finding.root)),
        collection: snapshot.collection(life).map(str::to_owned),
        approved: root.and_then(|root| snapshot.approved(root)).map(str::to_owned),
        root: named.map_or_else(|| name::of_uid(snapshot, &finding.root), |step| step.object.clone()),
        asked: root.and_then(|root| {
            let marked = snapshot.deleted(root)?;
            // What holds others goes after them in any case.
            let holder = snapshot.is_namespace(root) || snapshot.is_definition(root);
            let found = judgement.doomed.get(&root).map_or(finding.policy, |root| root.policy);
            Some((marked, snapshot.policy(root).or_else(|| holder.then_some(found))))
        }),
        chain,
        stage: None,
        destroyed: false,
        blockers: Vec::new(),
        waits: Vec::new(),
        waits_for: 0,
        omitted: 0,
        progress: None,
        next: None,
    }
}

fn asked_by(snapshot: &Snapshot, root: &Uid) -> Option<String> {
    let living = snapshot.get(root).and_then(|root| snapshot.deleted_by(root));
    living.or_else(|| snapshot.removed_by(root)).map(str::to_owned)
}

/// The journal of a life, if it has one.
pub(super) fn journal_of(snapshot: &Snapshot, life: LifeId) -> Option<Result<State, BadJournal>> {
    snapshot.journal(life).map(State::decode)
}

/// The step that a life takes.
pub(super) fn stage_of(snapshot: &Snapshot, life: LifeId) -> Option<Stage> {
    journal_of(snapshot, life)?.ok().map(|state| state.stage)
}
