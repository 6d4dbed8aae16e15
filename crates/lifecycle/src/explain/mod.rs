//! Why a life dies, and what it waits for; or why it lives, and what would end it.
//!
//! [`explain`] gives plain data: facts, each with the objects that it is about. [`story`] puts them into words, in the
//! shape in which they are shown: a headline, a chain of lines with what can be typed about each, and a last word.
//! Both are pure: the same snapshot, judgement and plan give the same bytes.
//!
//! It must not know who asks, how it is shown, or how anything is cleared: it only names the command.

mod blockers;
mod chain;
mod dying;
mod living;
mod name;
mod remedy;
mod story;
mod subscriptions;
mod waits;
mod words;

use sexton_model::Policy;
use sexton_model::hook::ObjectRef;

use crate::detect::{Finding, Grace, Judgement};
use crate::plan::Plan;
use crate::snapshot::{LifeId, Snapshot};

pub use blockers::{Blocker, Obstacle};
pub use chain::{Link, Step};
pub use dying::{Dying, Progress};
pub use living::{Condition, Kept, Living, Orphan, Owner, OwnerState};
pub use name::Naming;
pub use remedy::Remedy;
pub use story::{Line, Story, Typed, story};
pub use subscriptions::{OtherSide, Subscribed, Subscriptions};
pub use waits::{Before, Wait};

/// What there is to say about one life.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Whom it is about.
    pub subject: ObjectRef,
    /// Whether it dies, and everything about that.
    pub fate: Fate,
    /// What it subscribes to, and what subscribes to it.
    pub subscriptions: Subscriptions,
    /// What could not be understood of it, and is therefore not heeded.
    pub note: Option<String>,
}

/// Whether a life dies.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// It does.
    Dies(Box<Dying>),
    /// It does not.
    Lives(Box<Living>),
}

/// Explains a life as it was last seen, at a moment in seconds since 1970.
///
/// The judgement is that of everything that goes on ([`crate::Roots::All`]), and the plan was made of it.
///
/// # Panics
/// If the life is gone: see [`Snapshot::contains`].
pub fn explain(
    snapshot: &Snapshot,
    judgement: &Judgement,
    plan: &Plan,
    life: LifeId,
    now: i64,
) -> Explanation {
    let fate = match judgement.doomed.get(&life) {
        Some(finding) => Fate::Dies(Box::new(dying::dying(snapshot, judgement, plan, finding, now))),
        None => Fate::Lives(Box::new(living::living(snapshot, judgement, life))),
    };
    let subscriptions = subscriptions::subscriptions(snapshot, judgement, life);
    let note = snapshot.note(life).map(str::to_owned);
    Explanation { subject: snapshot.object(life), fate, subscriptions, note }
}

/// Why a life dies, in the one sentence with which its [`story`] begins, without the subject; and without anything that
/// changes by time passing, so that the same reason is the same sentence. Who waits for whom is not looked at.
pub fn sentence(snapshot: &Snapshot, judgement: &Judgement, finding: &Finding, naming: &Naming) -> String {
    story::headline(&dying::reason(snapshot, judgement, finding), naming, None)
}

impl Explanation {
    /// The modules that would have to be applied without it for it to be swept.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        let conditions = match &self.fate {
            Fate::Lives(living) => living.dies_if.as_slice(),
            Fate::Dies(_) => &[],
        };
        conditions.iter().filter_map(|condition| match condition {
            Condition::Leaves { manager } => Some(manager.as_str()),
            _ => None,
        })
    }

    /// Takes back that leaving its module would end it: there is no such module, or it sweeps nothing.
    #[must_use]
    pub fn without_sweep(mut self) -> Explanation {
        if let Fate::Lives(living) = &mut self.fate {
            living.dies_if.retain(|condition| !matches!(condition, Condition::Leaves { .. }));
        }
        self
    }

    /// Adds how far its collection is, from the record of that.
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Explanation {
        if let Fate::Dies(dying) = &mut self.fate {
            dying.progress = Some(progress);
        }
        self
    }

    /// The root of the deletion, if it does not say any more with which policy that was asked for.
    pub fn lacks_policy(&self) -> Option<&str> {
        match &self.fate {
            Fate::Dies(dying) => {
                dying.asked.filter(|(_, policy)| policy.is_none()).map(|_| dying.root.uid.as_str())
            }
            Fate::Lives(_) => None,
        }
    }

    /// Adds with which policy that was, from the record of its collection.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Explanation {
        if let Fate::Dies(dying) = &mut self.fate
            && let Some((_, known)) = &mut dying.asked
        {
            *known = Some(policy);
        }
        self
    }

    /// Adds how long a life without owners is left alone.
    #[must_use]
    pub fn with_grace(mut self, grace: Grace<'_>) -> Explanation {
        let uid = sexton_model::Uid(self.subject.uid.clone());
        if let Fate::Lives(living) = &mut self.fate
            && let Some(orphan) = &mut living.orphan
        {
            let since = grace.since.get(&uid).copied().unwrap_or(grace.now);
            (orphan.grace, orphan.due) = (Some(grace.period), Some(since.saturating_add(grace.period)));
        }
        self
    }
}
