//! A deletion that somebody saw as a plan and approved: the writes that mark what was in that plan, and nobody else.
//!
//! Everybody who would otherwise follow the mark of another is marked, too, with the digest of the plan: whoever comes
//! later was not approved, and is named as what is in the way instead of being destroyed. It must not decide who dies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sexton_client::{BulkError, Gateway};
use sexton_lifecycle::plan::{Plan, Step};
use sexton_lifecycle::{Cause, Finding, Judgement, LifeId, Snapshot};
use sexton_model::bulk::{Item, ItemResult};
use sexton_model::{Policy, Revision, Status, Uid};

use crate::hooked::has_steps;
use crate::perform::items::{self, Signature};
use crate::perform::{Hand, SendError};
use crate::preview::World;

/// Who approved what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approval {
    /// The digest of the plan.
    pub digest: String,
    /// Who asked for it, if the server cannot know.
    pub by: Option<String>,
}

/// Which means hold an object until its turn has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// A collector of ours goes on with the marks: the finalizer of each policy holds.
    #[default]
    OurServer,
    /// A command goes on with the marks, on a cluster of another make. Its finalizer holds only what has to wait: the
    /// rest goes with its mark, and the contents of namespaces and definitions are left to the controllers there.
    Command,
    /// The collector of Kubernetes goes on with the marks: only finalizers that it knows hold.
    Kubernetes,
}

/// The write that an approved plan begins with, for one life.
#[derive(Debug)]
pub struct Mark {
    life: LifeId,
    root: Uid,
    item: Item,
}

impl Mark {
    /// What was asked for, rather than what follows from it.
    fn is_asked(&self) -> bool {
        !self.item.unmarked
    }

    /// In which order marks are made where nothing checks their evidence. What a controller of the cluster destroys with
    /// its namespace needs its hold before that; then comes what was asked for, then what follows.
    fn stage(&self, snapshot: &Snapshot, judgement: &Judgement) -> u8 {
        match self.is_asked() {
            true => 1,
            false if has_steps(snapshot, self.life) && is_inside(snapshot, judgement, self.life) => 0,
            false => 2,
        }
    }
}

/// What became of the marks.
#[derive(Debug, Default)]
pub struct Marked {
    /// How many were marked or went at once.
    pub taken: usize,
    /// Up to here has been written.
    pub revision: Revision,
    /// Who was not taken, and why. Somebody who was gone already is not among them.
    pub refused: Vec<(LifeId, Box<Status>)>,
    /// Who was not touched, because what it follows was refused.
    pub untouched: Vec<LifeId>,
}

/// Why nothing is known of the marks.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// The server did not do it, or it is not known whether it did.
    #[error("the deletion was not carried through")]
    Bulk(#[source] BulkError),
    /// The answer does not fit the request.
    #[error("the server answered {got} items of {sent}")]
    Strange {
        /// How many were sent.
        sent: usize,
        /// How many were answered.
        got: usize,
    },
}

impl From<SendError> for ApproveError {
    fn from(error: SendError) -> ApproveError {
        match error {
            SendError::Bulk(error) => ApproveError::Bulk(error),
            SendError::Strange { sent, got } => ApproveError::Strange { sent, got },
            // Nothing was said about a lease, and it was not made beside something else.
            SendError::Stale | SendError::BrokenOff => ApproveError::Strange { sent: 0, got: 0 },
        }
    }
}

/// The writes that an approved plan begins with, owners before those they own: marks of all that would follow a mark,
/// and the deletion of whatever was asked for. What follows somebody who goes at once is left to a collector.
pub fn items(
    world: &World,
    judgement: &Judgement,
    plan: &Plan,
    approval: &Approval,
    order: Order,
) -> Vec<Mark> {
    let snapshot = world.snapshot();
    let signature = Signature {
        collection: None,
        initiator: approval.by.clone(),
        approved: Some(approval.digest.clone()).filter(|digest| !digest.is_empty()),
    };
    let to_mark = to_mark(snapshot, judgement, plan);
    let steps: Vec<&Step> = plan.steps().collect();
    let mut writes = Vec::new();
    for step in steps.iter().rev() {
        let finding = Finding { policy: policy(snapshot, step, order), ..step.finding.clone() };
        let item = if finding.cause == Cause::Asked {
            items::delete(snapshot, judgement, &finding, &signature)
        } else if to_mark.contains(&step.life) && !is_controlled(snapshot, judgement, step.life, order) {
            Item {
                absent: Vec::new(),
                marked: Vec::new(),
                ..items::delete(snapshot, judgement, &finding, &signature)
            }
        } else {
            continue;
        };
        writes.push(Mark { life: step.life, root: finding.root, item });
    }
    if order != Order::OurServer {
        writes.sort_by_key(|mark| mark.stage(snapshot, judgement));
    }
    writes
}

/// The policy of a mark.
fn policy(snapshot: &Snapshot, step: &Step, order: Order) -> Policy {
    let policy = step.finding.policy;
    let asked = step.finding.cause == Cause::Asked;
    // What would go at once could go before its turn: with this policy it waits, and goes all the same.
    let waiting = if policy == Policy::Background && !asked { Policy::Foreground } else { policy };
    let waits = !step.after.is_empty() || snapshot.is_referenced(step.life);
    match (order, waiting) {
        (Order::OurServer, waiting) => waiting,
        (_, Policy::Cascade | Policy::Foreground) if !waits => Policy::Background,
        (Order::Kubernetes, Policy::Cascade) => Policy::Foreground,
        (_, waiting) => waiting,
    }
}

/// Whether a controller of the cluster destroys a life, because its namespace or its definition goes. One that takes
/// steps is marked nevertheless: the mark holds it.
fn is_controlled(snapshot: &Snapshot, judgement: &Judgement, life: LifeId, order: Order) -> bool {
    order != Order::OurServer && is_inside(snapshot, judgement, life) && !has_steps(snapshot, life)
}

/// Whether the namespace or the definition of a life goes, too.
fn is_inside(snapshot: &Snapshot, judgement: &Judgement, life: LifeId) -> bool {
    let doomed = |around: Option<LifeId>| around.is_some_and(|around| judgement.dooms(around));
    doomed(snapshot.namespace_life(life)) || doomed(snapshot.definition_life(life))
}

/// Everybody who is not marked yet and is below a mark: without one of its own it would be a stranger there.
fn to_mark(snapshot: &Snapshot, judgement: &Judgement, plan: &Plan) -> BTreeSet<LifeId> {
    let followers = followers(plan);
    let mut work: Vec<LifeId> = Vec::new();
    for step in plan.steps() {
        let (life, finding) = (step.life, &step.finding);
        let inside = is_inside(snapshot, judgement, life);
        let goes_at_once = finding.policy == Policy::Background
            && (finding.cause == Cause::Asked || followers.contains(&life))
            && !inside;
        if !goes_at_once {
            work.push(life);
        }
    }
    let mut found: BTreeSet<LifeId> = work.iter().copied().collect();
    while let Some(owner) = work.pop() {
        let below = snapshot.dependents(owner).map(|(life, _)| life);
        let new = below.filter(|life| judgement.dooms(*life) && !found.contains(life));
        let new: Vec<LifeId> = new.collect();
        found.extend(&new);
        work.extend(new);
    }
    found.retain(|life| !snapshot.is_marked(*life));
    found
}

/// Everybody who follows, over owners, somebody who was asked to go at once.
fn followers(plan: &Plan) -> BTreeSet<LifeId> {
    let mut below: BTreeMap<LifeId, Vec<LifeId>> = BTreeMap::new();
    let mut work = Vec::new();
    for step in plan.steps() {
        match step.finding.cause {
            Cause::OwnerDoomed { owner } => below.entry(owner).or_default().push(step.life),
            Cause::Asked if step.finding.policy == Policy::Background => work.push(step.life),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    while let Some(life) = work.pop() {
        for follower in below.remove(&life).unwrap_or_default() {
            found.insert(follower);
            work.push(follower);
        }
    }
    found
}

/// Whether anything in a plan waits for something else, or takes steps: then it takes a collector to carry it out.
pub fn takes_a_collector(world: &World, plan: &Plan) -> bool {
    let snapshot = world.snapshot();
    let waits = |step: &Step| !step.after.is_empty() || snapshot.is_referenced(step.life);
    takes_steps(world, plan) || plan.steps().any(waits)
}

/// Whether anything in a plan takes steps, which only a collector of ours knows.
pub fn takes_steps(world: &World, plan: &Plan) -> bool {
    plan.steps().any(|step| has_steps(world.snapshot(), step.life))
}

/// Makes the writes.
///
/// # Errors
/// See [`ApproveError`]. What was marked stays marked.
pub async fn send(gateway: Arc<dyn Gateway>, writes: Vec<Mark>) -> Result<Marked, ApproveError> {
    if gateway.is_ours() {
        return send_all(gateway, writes).await;
    }
    // Nothing follows what was refused.
    let followers = writes.iter().rposition(Mark::is_asked).map_or(0, |last| last + 1);
    let mut first = writes;
    let others = first.split_off(followers);
    let roots: BTreeMap<LifeId, Uid> = first.iter().map(|mark| (mark.life, mark.root.clone())).collect();
    let mut marked = send_all(gateway.clone(), first).await?;
    let refused: BTreeSet<&Uid> = marked.refused.iter().filter_map(|(life, _)| roots.get(life)).collect();
    let (others, untouched): (Vec<Mark>, Vec<Mark>) =
        others.into_iter().partition(|mark| !refused.contains(&mark.root));
    marked.untouched = untouched.into_iter().map(|mark| mark.life).collect();
    if !others.is_empty() {
        let followed = send_all(gateway, others).await?;
        marked.taken += followed.taken;
        marked.revision = marked.revision.max(followed.revision);
        marked.refused.extend(followed.refused);
    }
    Ok(marked)
}

async fn send_all(gateway: Arc<dyn Gateway>, writes: Vec<Mark>) -> Result<Marked, ApproveError> {
    let (lives, items): (Vec<LifeId>, Vec<Item>) =
        writes.into_iter().map(|mark| (mark.life, mark.item)).unzip();
    let sent = Hand::new(gateway, None).send(items).await?;
    let refusal = |(life, result): (LifeId, &ItemResult)| {
        let status = result.status.clone().filter(|_| result.code >= 400 && result.code != 404)?;
        Some((life, status))
    };
    Ok(Marked {
        taken: sent.results.iter().filter(|result| result.outcome.is_some()).count(),
        revision: sent.revision,
        refused: lives.iter().copied().zip(&sent.results).filter_map(refusal).collect(),
        untouched: Vec::new(),
    })
}
