//! Short phrases for the facts of an explanation; they stand in columns.

use std::fmt;

use sexton_model::Policy;
use sexton_model::feed::WHOLE_GROUP;

use super::{Blocker, Condition, LinkKind, Naming, Obstacle, Owner, OwnerState, WaitReason};
use crate::destruction::{Block, Callee, Stage};
use crate::detect::WhyExcluded;
use crate::plan::Relation;
use crate::snapshot::{WhyInvalid, WhyUnknown};

/// Longer uids are cut.
const MAX_UID_CHARS: usize = 13;

/// A policy in words.
pub(super) fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Cascade => "cascade",
        Policy::Foreground => "foreground",
        Policy::Background => "background",
        Policy::Orphan => "orphan",
    }
}

/// A uid, shortened to what tells it from others.
pub(super) fn uid(uid: &str) -> String {
    match uid.char_indices().nth(MAX_UID_CHARS) {
        Some(_) => format!("{}…", uid.chars().take(8).collect::<String>()),
        None => uid.to_owned(),
    }
}

/// What happens in a stage.
pub(super) fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Fresh => "about to begin",
        Stage::Warning => "warning its subscribers",
        Stage::Warned => "its subscribers are warned",
        Stage::Notifying => "notifying its subscribers",
        Stage::Notified => "its subscribers are notified",
        Stage::Deleting => "being marked",
        Stage::Destroying => "in its destroy step",
        Stage::Destroyed => "destroyed, telling its subscribers",
        Stage::Releasing | Stage::Released => "destroyed, about to go",
        Stage::Rescued => "rescued",
        Stage::Cancelled => "cancelled",
    }
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinkKind::OwnedBy => "owned by",
            LinkKind::WasOwnedBy => "was owned by",
            LinkKind::In => "in",
            LinkKind::DefinedBy => "defined by",
        })
    }
}

/// Why an object is destroyed before `above`.
pub(super) fn wait_reason(reason: WaitReason, above: &str) -> String {
    match reason {
        WaitReason::Together => format!("dies together with {above}"),
        WaitReason::Order => format!("comes before {above} in the order of its module"),
        WaitReason::Relation(relation) => match relation {
            Relation::Subscription => format!("{above} subscribes to it"),
            Relation::Class => format!("{above} gives code to its kind"),
            Relation::Owner => format!("owned by {above}"),
            Relation::Background => format!("goes first, {above} follows it"),
            Relation::Namespace => format!("in {above}"),
            Relation::Definition => format!("defined by {above}"),
        },
    }
}

impl Blocker {
    /// The blocker in one line.
    pub fn text(&self, naming: &Naming) -> String {
        match &self.obstacle {
            Obstacle::Finalizer { name } => format!("held by the finalizer {name}"),
            Obstacle::Call { callee, subscriber, phase, block, failures, error } => {
                let method = match (callee, subscriber) {
                    (Callee::Destroy, _) => "destroy".to_owned(),
                    (_, Some(object)) if !object.name.is_empty() => {
                        format!("{} {}", phase.word(), naming.name(object))
                    }
                    (Callee::Subscriber(uid), _) => format!("{} {uid}", phase.word()),
                };
                format!("{method} {}{}", call(block.as_ref(), *failures), colon(error))
            }
            Obstacle::Excluded { object, why } => excluded(&naming.name(object), why),
            Obstacle::InUse { object, others: 0 } => format!("in use by {}", naming.name(object)),
            Obstacle::InUse { object, others } => {
                format!("in use by {} and {others} more", naming.name(object))
            }
            Obstacle::NotListed { kind, reason } if kind.resource == WHOLE_GROUP => {
                format!("the group {} does not answer{}", kind.group, colon(reason))
            }
            Obstacle::NotListed { kind, reason } => format!("not all {kind} can be seen{}", colon(reason)),
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

/// Why an object is excluded.
pub(super) fn excluded(name: &str, why: &WhyExcluded) -> String {
    match why {
        WhyExcluded::Protected(reason) if reason == "true" => format!("{name} is protected"),
        WhyExcluded::Protected(reason) => format!("{name} is protected: {reason}"),
        WhyExcluded::NotApproved(digest) => format!("{name} was not in the plan {digest} that was approved"),
        WhyExcluded::NotInPlan => format!("{name} is not in the plan that is carried out"),
    }
}

impl Owner {
    /// An owner with what is known of it.
    pub fn text(&self, naming: &Naming, now: i64) -> String {
        let state = match &self.state {
            OwnerState::Alive => "alive".to_owned(),
            OwnerState::Protected => "alive, protected".to_owned(),
            OwnerState::Terminating(since) => format!("marked {} ago", sexton_model::time::age(now - since)),
            OwnerState::Absent { seen: false, .. } => "does not exist".to_owned(),
            OwnerState::Absent { by: Some(by), .. } => format!("removed by {by}"),
            OwnerState::Absent { .. } => "removed".to_owned(),
            OwnerState::Invalid(why) => format!("does not match: the object with that uid {}", invalid(*why)),
            OwnerState::Unknown(why) => format!("not known: {}", unknown(why)),
        };
        let is_controller = if self.is_controller { ", controller" } else { "" };
        format!("{} (uid {}, {state}{is_controller})", naming.name(&self.object), uid(&self.object.uid))
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
    /// The condition in words.
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
