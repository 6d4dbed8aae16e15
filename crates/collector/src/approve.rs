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
use sexton_model::{Policy, Revision, Status};

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

/// What became of the marks.
#[derive(Debug, Default)]
pub struct Marked {
    /// How many were marked or went at once.
    pub taken: usize,
    /// Up to here has been written.
    pub revision: Revision,
    /// Who was not taken, and why. Somebody who was gone already is not among them.
    pub refused: Vec<(LifeId, Box<Status>)>,
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

/// The writes that an approved plan begins with, owners before those they own: marks of all that would follow a mark,
/// and the deletion of whatever was asked for. What follows somebody who goes at once is left to a collector.
pub fn items(world: &World, judgement: &Judgement, plan: &Plan, approval: &Approval) -> Vec<(LifeId, Item)> {
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
        let finding = &step.finding;
        let item = if finding.cause == Cause::Asked {
            items::delete(snapshot, judgement, finding, &signature)
        } else if to_mark.contains(&step.life) {
            // What would go at once could go before its turn: with this policy it waits, and goes all the same.
            let policy =
                if finding.policy == Policy::Background { Policy::Foreground } else { finding.policy };
            let finding = Finding { policy, ..finding.clone() };
            Item {
                absent: Vec::new(),
                marked: Vec::new(),
                ..items::delete(snapshot, judgement, &finding, &signature)
            }
        } else {
            continue;
        };
        writes.push((step.life, item));
    }
    writes
}

/// Everybody who is not marked yet and is below a mark: without one of its own it would be a stranger there.
fn to_mark(snapshot: &Snapshot, judgement: &Judgement, plan: &Plan) -> BTreeSet<LifeId> {
    let followers = followers(plan);
    let doomed = |life: Option<LifeId>| life.is_some_and(|life| judgement.dooms(life));
    let mut work: Vec<LifeId> = Vec::new();
    for step in plan.steps() {
        let (life, finding) = (step.life, &step.finding);
        let inside = doomed(snapshot.namespace_life(life)) || doomed(snapshot.definition_life(life));
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

/// Makes the writes.
///
/// # Errors
/// See [`ApproveError`]. What was marked stays marked.
pub async fn send(gateway: Arc<dyn Gateway>, writes: Vec<(LifeId, Item)>) -> Result<Marked, ApproveError> {
    let (lives, items): (Vec<LifeId>, Vec<Item>) = writes.into_iter().unzip();
    let sent = Hand::new(gateway, None).send(items).await.map_err(|error| match error {
        SendError::Bulk(error) => ApproveError::Bulk(error),
        SendError::Strange { sent, got } => ApproveError::Strange { sent, got },
        // Nothing was said about a lease, and it was not made beside something else.
        SendError::Stale | SendError::BrokenOff => ApproveError::Strange { sent: lives.len(), got: 0 },
    })?;
    let refusal = |(life, result): (LifeId, &ItemResult)| {
        let status = result.status.clone().filter(|_| result.code >= 400 && result.code != 404)?;
        Some((life, status))
    };
    Ok(Marked {
        taken: sent.results.iter().filter(|result| result.outcome.is_some()).count(),
        revision: sent.revision,
        refused: lives.iter().copied().zip(&sent.results).filter_map(refusal).collect(),
    })
}
