//! Who would be destroyed by a sweep, who follows, and who is spared.

use sexton_lifecycle::Judgement;
use sexton_lifecycle::module::Member;
use sexton_lifecycle::plan::Plan;

use crate::preview::World;

/// A resource that would be accused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Victim {
    /// The resource; without an order it goes last.
    pub member: Member,
    /// Why, in words.
    pub reason: String,
}

/// A resource that is unmarked and in scope, and spared all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The resource.
    pub member: Member,
    /// Why, in words.
    pub why: String,
}

/// What the collector makes of the accusations: the plan with all that follows, its order and its reasons.
#[derive(Debug)]
pub struct Destruction {
    /// The world that it was planned in.
    pub world: World,
    /// Who dies and why.
    pub judgement: Judgement,
    /// In which order.
    pub plan: Plan,
}
