//! Detections that doom exactly the objects that the caller names: no dependent besides them follows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hashbrown::HashSet;
use sexton_model::{Policy, Uid};

use super::{Cause, Detection, DetectionSettings, Detector, Exclusion, Finding, WhyExcluded};
use crate::snapshot::{NodeId, Snapshot};

/// The ids in `before` that are not in `now`. Only ids are compared: an object that moved or changed is not missing.
pub fn missing_ids<'a>(
    before: impl IntoIterator<Item = &'a str>,
    now: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let now: BTreeSet<&str> = now.into_iter().collect();
    let before: BTreeSet<&str> = before.into_iter().collect();
    before.difference(&now).copied().collect()
}

/// Dooms objects that the incoming model does not contain any more.
pub fn doom_removed(snapshot: &Snapshot, nodes: &[NodeId], settings: &DetectionSettings) -> Detection {
    doom_given(snapshot, nodes, (Detector::Removed, Cause::Removed), settings)
}

/// Dooms objects that no root of a model refers to: see [`super::reachable`].
pub fn doom_unreachable(snapshot: &Snapshot, nodes: &[NodeId], settings: &DetectionSettings) -> Detection {
    doom_given(snapshot, nodes, (Detector::Unreachable, Cause::Unreachable), settings)
}

/// Dooms the given objects that exist, are not destroyed already, and are not protected.
///
/// An object that another of them owns is explained by that owner ([`Cause::OwnerDoomed`]), all others by `reason`.
fn doom_given(
    snapshot: &Snapshot,
    nodes: &[NodeId],
    reason: (Detector, Cause),
    settings: &DetectionSettings,
) -> Detection {
    let (mut doomed, mut exclusions) = (HashSet::with_capacity(nodes.len()), Vec::new());
    let mut by_key: Vec<NodeId> = Vec::with_capacity(nodes.len());
    let existing = nodes.iter().filter(|node| snapshot.contains(**node) && !snapshot.is_destroyed(**node));
    for node in existing.copied() {
        match settings.protection.of(snapshot, node) {
            Some(why) => exclusions.push(Exclusion { node, blocks: None, why: WhyExcluded::Protected(why) }),
            None if doomed.insert(node) => by_key.push(node),
            None => {}
        }
    }
    by_key.sort_by(|a, b| snapshot.compare_keys(*a, *b));
    exclusions.sort_by(|a, b| snapshot.compare_keys(a.node, b.node));
    exclusions.dedup();
    let mut causes = GivenCauses { snapshot, doomed, reason, findings: BTreeMap::new() };
    let is_owned = |node: &NodeId| snapshot.valid_owners(*node).any(|owner| causes.doomed.contains(&owner));
    let (owned, owners): (Vec<NodeId>, Vec<NodeId>) = by_key.into_iter().partition(is_owned);
    owners.into_iter().for_each(|node| causes.add_root(node));
    // What has no finding now is part of a cycle of owners, or owned by one: the first by key of each becomes its root.
    owned.into_iter().for_each(|node| causes.add_root(node));
    Detection { doomed: causes.findings, exclusions, ..Detection::default() }
}

/// The findings in the making.
struct GivenCauses<'a> {
    snapshot: &'a Snapshot,
    doomed: HashSet<NodeId>,
    reason: (Detector, Cause),
    findings: BTreeMap<NodeId, Finding>,
}

impl GivenCauses<'_> {
    /// Adds the finding of an object and of all that it owns, directly or not. Does nothing if it has one already.
    fn add_root(&mut self, node: NodeId) {
        if self.findings.contains_key(&node) {
            return;
        }
        let root = self.snapshot.uid(node);
        let (detector, cause) = self.reason.clone();
        self.add(node, detector, cause, &root);
        let mut worklist = VecDeque::from([node]);
        while let Some(owner) = worklist.pop_front() {
            for dependent in self.snapshot.valid_dependents(owner) {
                if self.doomed.contains(&dependent) && !self.findings.contains_key(&dependent) {
                    self.add(dependent, Detector::Cascade, Cause::OwnerDoomed { owner }, &root);
                    worklist.push_back(dependent);
                }
            }
        }
    }

    fn add(&mut self, node: NodeId, detector: Detector, cause: Cause, root: &Uid) {
        let (policy, root) = (Policy::Cascade, root.clone());
        let finding = Finding { node, detector, cause, policy, is_terminating: false, root, requester: None };
        self.findings.insert(node, finding);
    }
}
