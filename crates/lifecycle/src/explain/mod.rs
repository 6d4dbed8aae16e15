//! Explanations: why an object is doomed and what it waits for; or why it survives and what would doom it.
//!
//! [`explain`] returns plain data: facts, each with the objects that it is about. [`story`] puts them into words: a
//! headline, lines with commands, and a footer. Both are pure: the same snapshot, detection and plan give the same
//! bytes.
//!
//! The caller decides how an explanation is shown. Nothing here executes a remedy; it only names the command.

mod blockers;
mod chain;
mod doomed;
mod naming;
mod phrases;
mod remedy;
mod story;
mod subscriptions;
mod surviving;
mod waits;

use sexton_model::Policy;
use sexton_model::hook::ObjectRef;

use crate::detect::{Detection, Finding, Grace};
use crate::plan::Plan;
use crate::snapshot::{NodeId, Snapshot};

pub use blockers::{Blocker, Obstacle};
pub use chain::{ChainStep, LinkKind};
pub use doomed::{CollectionProgress, DoomedDetails};
pub use naming::Naming;
pub use remedy::Remedy;
pub use story::{Line, Story, SuggestedCommand, story};
pub use subscriptions::{PeerState, SubscriptionPeer, Subscriptions};
pub use surviving::{Condition, ExcludedDetails, Orphan, Owner, OwnerState, SurvivingDetails};
pub use waits::{Wait, WaitReason};

/// The explanation of one object.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The object.
    pub subject: ObjectRef,
    /// Whether it is doomed, with the details.
    pub status: Status,
    /// Its subscriptions, in both directions.
    pub subscriptions: Subscriptions,
    /// What could not be parsed and is ignored.
    pub note: Option<String>,
}

/// Whether an object is doomed, with the details.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// It is.
    Doomed(Box<DoomedDetails>),
    /// It is not.
    Surviving(Box<SurvivingDetails>),
}

/// Explains an object as it was last seen, at a moment in seconds since 1970.
///
/// The detection has to be that of all deletions under way ([`crate::Roots::All`]), and the plan was made of it.
///
/// # Panics
/// If the object is gone: see [`Snapshot::contains`].
pub fn explain(
    snapshot: &Snapshot,
    detection: &Detection,
    plan: &Plan,
    node: NodeId,
    now: i64,
) -> Explanation {
    let status = match detection.doomed.get(&node) {
        Some(finding) => Status::Doomed(Box::new(doomed::doomed(snapshot, detection, plan, finding, now))),
        None => Status::Surviving(Box::new(surviving::surviving(snapshot, detection, node))),
    };
    let subscriptions = subscriptions::subscriptions(snapshot, detection, node);
    let note = snapshot.note(node).map(str::to_owned);
    Explanation { subject: snapshot.object_ref(node), status, subscriptions, note }
}

/// Why an object is doomed, in the sentence with which its [`story`] begins, without the subject and without times: the
/// same reason always gives the same sentence.
pub fn sentence(snapshot: &Snapshot, detection: &Detection, finding: &Finding, naming: &Naming) -> String {
    story::headline(&doomed::reason(snapshot, detection, finding), naming, None)
}

impl Explanation {
    /// The modules that would sweep it if they were applied without it.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        let conditions = match &self.status {
            Status::Surviving(details) => details.doomed_if.as_slice(),
            Status::Doomed(_) => &[],
        };
        conditions.iter().filter_map(|condition| match condition {
            Condition::Leaves { manager } => Some(manager.as_str()),
            _ => None,
        })
    }

    /// Removes the condition that leaving its module would doom it: there is no such module, or it does not sweep.
    #[must_use]
    pub fn without_sweep(mut self) -> Explanation {
        if let Status::Surviving(details) = &mut self.status {
            details.doomed_if.retain(|condition| !matches!(condition, Condition::Leaves { .. }));
        }
        self
    }

    /// Adds the progress of its collection, from the record of that.
    #[must_use]
    pub fn with_progress(mut self, progress: CollectionProgress) -> Explanation {
        if let Status::Doomed(details) = &mut self.status {
            details.progress = Some(progress);
        }
        self
    }

    /// The uid of the root, if that does not show any more with which policy its deletion was requested.
    pub fn lacks_policy(&self) -> Option<&str> {
        match &self.status {
            Status::Doomed(details) => {
                details.requested.filter(|(_, policy)| policy.is_none()).map(|_| details.root.uid.as_str())
            }
            Status::Surviving(_) => None,
        }
    }

    /// Adds that policy, from the record of the collection.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Explanation {
        if let Status::Doomed(details) = &mut self.status
            && let Some((_, known)) = &mut details.requested
        {
            *known = Some(policy);
        }
        self
    }

    /// Adds the grace period of an orphan.
    #[must_use]
    pub fn with_grace(mut self, grace: Grace<'_>) -> Explanation {
        let uid = sexton_model::Uid(self.subject.uid.clone());
        if let Status::Surviving(details) = &mut self.status
            && let Some(orphan) = &mut details.orphan
        {
            let since = grace.since.get(&uid).copied().unwrap_or(grace.now);
            (orphan.grace, orphan.due) = (Some(grace.period), Some(since.saturating_add(grace.period)));
        }
        self
    }
}
