//! Removals without a termination before them, for when the server's disk has no space for one.
//!
//! An object without dependents, finalizers and steps would be set terminating and removed in one round. The removal
//! alone has the same effect on the same evidence, and frees disk space instead of using some.

use std::collections::HashSet;

use sexton_lifecycle::plan::Step;
use sexton_lifecycle::{Finding, NodeId, Snapshot};
use sexton_model::Policy;
use sexton_model::bulk::Item;

use super::early;
use super::items::Signature;
use crate::decide::Decision;
use crate::hooked::has_steps;

/// Whether an object may be removed without having been terminating.
pub(super) fn may_go(
    snapshot: &Snapshot,
    decision: &Decision,
    step: &Step,
    marked_now: &HashSet<NodeId>,
) -> bool {
    let life = step.node;
    !step.finding.is_terminating
        && !has_steps(snapshot, life)
        && !snapshot.is_referenced(life)
        && !snapshot.is_namespace(life)
        && !snapshot.is_definition(life)
        && snapshot.finalizers(life).next().is_none()
        && early::may_be_marked(snapshot, decision, &step.finding, marked_now)
}

/// The removal: on the evidence of the deletion, and only as long as nothing refers to the object.
pub(super) fn removal(snapshot: &Snapshot, decision: &Decision, finding: &Finding) -> Item {
    let finding = Finding { policy: Policy::Background, ..finding.clone() };
    let item = decision.deletion(snapshot, &finding, &Signature::default());
    Item { unreferenced: true, ..item }
}
