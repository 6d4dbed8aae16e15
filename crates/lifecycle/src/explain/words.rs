//! The facts of an explanation in words. Short ones: they stand in columns.

use std::fmt;

use sexton_model::Policy;
use sexton_model::feed::WHOLE_GROUP;

use super::{Before, Blocker, Condition, Link, Naming, Obstacle, Owner, OwnerState};
use crate::destruction::{Block, Callee, Stage};
use crate::detect::WhyHeld;
use crate::plan::Relation;
use crate::snapshot::{WhyInvalid, WhyUnknown};

/// Longer uids are cut.
const UID: usize = 13;

/// A policy, as people say it.
pub(super) fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Cascade => "cascade",
        Policy::Foreground => "foreground",
        Policy::Background => "background",
        Policy::Orphan => "orphan",
    }
}

/// Enough of a uid to tell it from others.
pub(super) fn uid(uid: &str) -> String {
    match uid.char_indices().nth(UID) {
        Some(_) => format!("{}…", uid.chars().take(8).collect::<String>()),
        None => uid.to_owned(),
    }
}

/// What happens in a step.
pub(super) fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Fresh => "about to begin",
        Stage::Warning => "warning its subscribers",
        Stage::Warned => "its subscribers are warned",
        Stage::Notifying => "notifying its subscribers",
        Stage::Notified => "its subscribers are notified",
        Stage::Marking => "being marked",
        Stage::Destroying => "in its destroy step",
        Stage::Destroyed => "destroyed, telling its subscribers",
        Stage::Releasing | Stage::Released => "destroyed, about to go",
        Stage::Rescued => "rescued",
        Stage::Cancelled => "cancelled",
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Link::OwnedBy => "owned by",
            Link::WasOwnedBy => "was owned by",
            Link::In => "in",
            Link::DefinedBy => "defined by",
        })
    }
}

/// Why somebody goes before `above`.
pub(super) fn before(before: Before, above: &str) -> String {
    match before {
        Before::Together => format!("dies together with {above}"),
        Before::Order => format!("comes before {above} in the order of its module"),
        Before::Relation(relation) => match relation {
            Relation::Subscription => format!("{above} outlives it by its own wish"),
            Relation::Class => format!("{above} gives code to its kind"),
            Relation::Owner => format!("owned by {above}"),
            Relation::Background => format!("goes first, {above} follows it"),
            Relation::Namespace => format!("in {above}"),
            Relation::Definition => format!("defined by {above}"),
        },
    }
}

impl Blocker {
    /// What is in the way, in one line.
    pub fn text(&self, naming: &Naming) -> String {
        match &self.what {
            Obstacle::Finalizer { name } => format!("held by the finalizer {name}"),
            Obstacle::Call { callee, subscriber, phase, block, failures, error } => {
                let who = match (callee, subscriber) {
                    (Callee::Destroy, _) => "destroy".to_owned(),
                    (_, Some(object)) if !object.name.is_empty() => {
                        format!("{} {}", phase.word(), naming.name(object))
                    }
                    (Callee::Subscriber(uid), _) => format!("{} {uid}", phase.word()),
                };
                format!("{who} {}{}", call(block.as_ref(), *failures), colon(error))
            }
            Obstacle::Spared { object, why } => spared(&naming.name(object), why),
            Obstacle::InUse { object, others: 0 } => format!("in use by {}", naming.name(object)),
            Obstacle::InUse { object, others } => {
                format!("in use by {} and {others} more", naming.name(object))
            }
            Obstacle::Unseen { kind, reason } if kind.resource == WHOLE_GROUP => {
                format!("the group {} does not answer{}", kind.group, colon(reason))
            }
            Obstacle::Unseen { kind, reason } => format!("not all {kind} can be seen{}", colon(reason)),
            Obstacle::Journal { error } => error.clone(),
        }
    }
}

fn call(block: Option<&Block>, failures: u32) -> String {
    match block {
        Some(Block::Veto) => "says no".to_owned(),
        Some(Block::Blocked { by }) if by.is_empty() => "is blocked".to_owned(),
        Some(Block::Blocked { by }) => format!("is blocked by {by}"),
        Some(Block::Missing) => "cannot be called".to_owned(),
        Some(Block::Failed) => format!("failed {}, no more attempts", times(failures)),
        None => format!("failed {}", times(failures)),
    }
}

fn times(count: u32) -> String {
    match count {
        0 | 1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

fn colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

/// Why somebody who would die does not.
pub(super) fn spared(name: &str, why: &WhyHeld) -> String {
    match why {
        WhyHeld::Protected(reason) if reason == "true" => format!("{name} is protected"),
        WhyHeld::Protected(reason) => format!("{name} is protected: {reason}"),
        WhyHeld::NotApproved(digest) => format!("{name} was not in the plan {digest} that was approved"),
        WhyHeld::NotInPlan => format!("{name} is not in the plan that is carried out"),
    }
}

impl Owner {
    /// An owner and what is known of it.
    pub fn text(&self, naming: &Naming, now: i64) -> String {
        let state = match &self.state {
            OwnerState::Alive => "alive".to_owned(),
            OwnerState::Protected => "alive, protected".to_owned(),
            OwnerState::Marked(since) => format!("marked {} ago", sexton_model::time::age(now - since)),
            OwnerState::Absent { seen: false, .. } => "does not exist".to_owned(),
            OwnerState::Absent { by: Some(by), .. } => format!("removed by {by}"),
            OwnerState::Absent { .. } => "removed".to_owned(),
            OwnerState::Invalid(why) => format!("not what it says: that life {}", invalid(*why)),
            OwnerState::Unknown(why) => format!("nobody knows: {}", unknown(why)),
        };
        let controller = if self.controller { ", controller" } else { "" };
        format!("{} (uid {}, {state}{controller})", naming.name(&self.object), uid(&self.object.uid))
    }
}

fn invalid(why: WhyInvalid) -> &'static str {
    match why {
        WhyInvalid::Name => "has another name",
        WhyInvalid::Kind => "is of another kind",
        WhyInvalid::Namespace => "is in another namespace",
        WhyInvalid::NotInNamespace => "is in a namespace, and this one is in none",
    }
}

fn unknown(why: &WhyUnknown) -> String {
    match why {
        WhyUnknown::KindUnknown => "there is no such kind now".to_owned(),
        WhyUnknown::Incomplete(reason) => format!("not all of that kind can be seen{}", colon(reason)),
        WhyUnknown::Starting => "not everything has been seen yet".to_owned(),
    }
}

impl Condition {
    /// What would have to happen.
    pub fn text(&self, naming: &Naming) -> String {
        match self {
            Condition::Owner { object, policies } => {
                let words: Vec<&str> = policies.iter().map(|one| policy(*one)).collect();
                format!("{} is deleted ({})", naming.name(object), words.join(", "))
            }
            Condition::AllOwners => "all its owners are deleted".to_owned(),
            Condition::Namespace(object) | Condition::Definition(object) => {
                format!("{} is deleted", naming.name(object))
            }
            Condition::Leaves { manager } => {
                format!("it leaves the module {manager} and {manager} is applied")
            }
        }
    }
}
