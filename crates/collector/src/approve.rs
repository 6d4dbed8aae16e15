//! The first writes of a deletion that a user has approved as a plan: they set exactly the objects of that plan
//! terminating.
//!
//! Every object that would otherwise follow another one is set terminating itself, with the digest of the plan. An
//! object that becomes a dependent later was not approved: it is reported as a blocker instead of being destroyed. It
//! must not decide which objects are doomed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sexton_client::{BulkError, Gateway};
use sexton_lifecycle::plan::{Plan, Step};
use sexton_lifecycle::{Cause, Detection, Finding, NodeId, Snapshot};
use sexton_model::bulk::{Item, ItemResult};
use sexton_model::{Policy, Revision, Status, Uid};

use crate::hooked::has_steps;
use crate::perform::items::{self, Signature};
use crate::perform::{Hand, SendError};
use crate::preview::World;

/// An approval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approval {
    /// The digest of the plan.
    pub digest: String,
    /// The requester, if the server cannot know.
    pub by: Option<String>,
}

/// Which finalizers hold an object until its turn comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Our collector continues: the finalizer of each policy holds.
    #[default]
    OurServer,
    /// A command continues, on a cluster of another make. Its finalizer is only put on objects that have to wait. The
    /// others are removed at once, and the contents of namespaces and definitions are left to the controllers there.
    Command,
    /// Kubernetes' garbage collector continues: only finalizers that it knows hold.
    Kubernetes,
}

/// The first write about one object.
#[derive(Debug)]
pub struct Mark {
    life: NodeId,
    root: Uid,
    item: Item,
}

impl Mark {
    /// Whether a user asked for this deletion, rather than it following from another.
    fn is_asked(&self) -> bool {
        !self.item.unmarked
    }

    /// The order of writes where the server does not check their evidence. An object with steps in a doomed namespace
    /// needs its finalizer before the controller deletes it; then come requested deletions, then what follows.
    fn stage(&self, snapshot: &Snapshot, judgement: &Detection) -> u8 {
        match self.is_asked() {
            true => 1,
            false if has_steps(snapshot, self.life) && is_inside(snapshot, judgement, self.life) => 0,
            false => 2,
        }
    }
}

/// The outcome of the writes.
#[derive(Debug, Default)]
pub struct Marked {
    /// How many are terminating, or were removed at once.
    pub taken: usize,
    /// The revision up to which was written.
    pub revision: Revision,
    /// Refused objects, and why. Objects that were gone already are not among them.
    pub refused: Vec<(NodeId, Box<Status>)>,
    /// Objects that were not touched, because their root was refused.
    pub untouched: Vec<NodeId>,
}

/// Why the outcome is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// The request failed, or its answer was lost.
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
            // These writes have no lease, and are not made in a task.
            SendError::Stale | SendError::BrokenOff => ApproveError::Strange { sent: 0, got: 0 },
        }
    }
}

/// The first writes of an approved plan, owners before their dependents: the requested deletions, and a deletion of
/// every object that would follow a terminating one. What follows an object that is removed at once is left to a
/// collector.
pub fn items(
    world: &World,
    judgement: &Detection,
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
        let item = if finding.cause == Cause::Requested {
            items::delete(snapshot, judgement, &finding, &signature)
        } else if to_mark.contains(&step.node) && !is_controlled(snapshot, judgement, step.node, order) {
            Item {
                absent: Vec::new(),
                marked: Vec::new(),
                ..items::delete(snapshot, judgement, &finding, &signature)
            }
        } else {
            continue;
        };
        writes.push(Mark { life: step.node, root: finding.root, item });
    }
    if order != Order::OurServer {
        writes.sort_by_key(|mark| mark.stage(snapshot, judgement));
    }
    writes
}

/// The policy of a first write.
fn policy(snapshot: &Snapshot, step: &Step, order: Order) -> Policy {
    let policy = step.finding.policy;
    let asked = step.finding.cause == Cause::Requested;
    // An object with `Background` could be removed before its turn. With `Foreground` it waits, and is removed all
    // the same.
    let waiting = if policy == Policy::Background && !asked { Policy::Foreground } else { policy };
    let waits = !step.after.is_empty() || snapshot.is_referenced(step.node);
    match (order, waiting) {
        (Order::OurServer, waiting) => waiting,
        (_, Policy::Cascade | Policy::Foreground) if !waits => Policy::Background,
        (Order::Kubernetes, Policy::Cascade) => Policy::Foreground,
        (_, waiting) => waiting,
    }
}

/// Whether a controller of the cluster deletes an object, because its namespace or definition is deleted. An object
/// with steps gets a write nevertheless: its finalizer holds it.
fn is_controlled(snapshot: &Snapshot, judgement: &Detection, life: NodeId, order: Order) -> bool {
    order != Order::OurServer && is_inside(snapshot, judgement, life) && !has_steps(snapshot, life)
}

/// Whether the namespace or the definition of an object is doomed, too.
fn is_inside(snapshot: &Snapshot, judgement: &Detection, life: NodeId) -> bool {
    let doomed = |around: Option<NodeId>| around.is_some_and(|around| judgement.is_doomed(around));
    doomed(snapshot.namespace_of(life)) || doomed(snapshot.definition_of(life))
}

/// The objects below a terminating one that are not terminating yet: without a write of their own they would not
/// count as approved.
fn to_mark(snapshot: &Snapshot, judgement: &Detection, plan: &Plan) -> BTreeSet<NodeId> {
    let followers = followers(plan);
    let mut work: Vec<NodeId> = Vec::new();
    for step in plan.steps() {
        let (life, finding) = (step.node, &step.finding);
        let inside = is_inside(snapshot, judgement, life);
        let goes_at_once = finding.policy == Policy::Background
            && (finding.cause == Cause::Requested || followers.contains(&life))
            && !inside;
        if !goes_at_once {
            work.push(life);
        }
    }
    let mut found: BTreeSet<NodeId> = work.iter().copied().collect();
    while let Some(owner) = work.pop() {
        let below = snapshot.dependents(owner).map(|(life, _)| life);
        let new = below.filter(|life| judgement.is_doomed(*life) && !found.contains(life));
        let new: Vec<NodeId> = new.collect();
        found.extend(&new);
        work.extend(new);
    }
    found.retain(|life| !snapshot.is_terminating(*life));
    found
}

/// The objects that follow, over owners, an object that is removed at once by request.
fn followers(plan: &Plan) -> BTreeSet<NodeId> {
    let mut below: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    let mut work = Vec::new();
    for step in plan.steps() {
        match step.finding.cause {
            Cause::OwnerDoomed { owner } => below.entry(owner).or_default().push(step.node),
            Cause::Requested if step.finding.policy == Policy::Background => work.push(step.node),
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

/// Whether any object of a plan waits for another, or takes steps: then a collector must carry it out.
pub fn takes_a_collector(world: &World, plan: &Plan) -> bool {
    let snapshot = world.snapshot();
    let waits = |step: &Step| !step.after.is_empty() || snapshot.is_referenced(step.node);
    takes_steps(world, plan) || plan.steps().any(waits)
}

/// Whether any object of a plan takes steps, which only our collector can do.
pub fn takes_steps(world: &World, plan: &Plan) -> bool {
    plan.steps().any(|step| has_steps(world.snapshot(), step.node))
}

/// Makes the writes.
///
/// # Errors
/// See [`ApproveError`]. Objects that are terminating stay so.
pub async fn send(gateway: Arc<dyn Gateway>, writes: Vec<Mark>) -> Result<Marked, ApproveError> {
    if gateway.is_ours() {
        return send_all(gateway, writes).await;
    }
    // What follows a refused deletion is not written.
    let followers = writes.iter().rposition(Mark::is_asked).map_or(0, |last| last + 1);
    let mut first = writes;
    let others = first.split_off(followers);
    let roots: BTreeMap<NodeId, Uid> = first.iter().map(|mark| (mark.life, mark.root.clone())).collect();
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
    let (lives, items): (Vec<NodeId>, Vec<Item>) =
        writes.into_iter().map(|mark| (mark.life, mark.item)).unzip();
    let sent = Hand::new(gateway, None).send(items).await?;
    let refusal = |(life, result): (NodeId, &ItemResult)| {
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
