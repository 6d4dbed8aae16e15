//! Removals without a mark before them, for when the server's disk has no space for marks.
//!
//! An object to which nothing refers, which nothing holds and which takes no steps would be marked and removed in one
//! breath. The removal alone comes to the same, rests on the same evidence, and frees space instead of taking some.

use std::collections::HashSet;

use sexton_lifecycle::plan::Step;
use sexton_lifecycle::{Finding, LifeId, Snapshot};
use sexton_model::Policy;
use sexton_model::bulk::Item;

use super::early;
use super::items::Signature;
use crate::decide::Decision;
use crate::hooked::has_steps;

/// Whether an object may go without having been marked.
pub(super) fn may_go(
    snapshot: &Snapshot,
    decision: &Decision,
    step: &Step,
    marked_now: &HashSet<LifeId>,
) -> bool {
    let life = step.life;
    !step.finding.marked
        && !has_steps(snapshot, life)
        && !snapshot.is_referenced(life)
        && !snapshot.is_namespace(life)
        && !snapshot.is_definition(life)
        && snapshot.finalizers(life).next().is_none()
        && early::may_be_marked(snapshot, decision, &step.finding, marked_now)
}

/// The removal: on the evidence of the mark, and as long as nothing refers to the object.
pub(super) fn removal(snapshot: &Snapshot, decision: &Decision, finding: &Finding) -> Item {
    let finding = Finding { policy: Policy::Background, ..finding.clone() };
    let item = decision.deletion(snapshot, &finding, &Signature::default());
    Item { unreferenced: true, ..item }
}
