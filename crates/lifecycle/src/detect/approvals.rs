//! Which deletions were approved with a plan. Dependents that such a plan does not list are not doomed by them.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::{HashMap, HashSet};
use sexton_model::Policy;

use super::Roots;
use crate::snapshot::{NodeId, Snapshot};

/// How many terminating objects above one are searched for an approval when only some roots are processed.
const MAX_ANCESTORS: usize = 256;

/// For each terminating object the digest of the plan with which its deletion, or that from which it follows, was
/// approved.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    digests: Vec<String>,
    by_node: HashMap<NodeId, usize>,
    /// Whether `by_node` is empty and each question searches upwards from its object. Cheaper if few questions come.
    is_lazy: bool,
}

impl Approvals {
    /// The digest, if there is one.
    pub(super) fn of<'a>(&'a self, snapshot: &'a Snapshot, node: NodeId) -> Option<&'a str> {
        if !snapshot.is_terminating(node) || !snapshot.has_approved() {
            return None;
        }
        match self.by_node.get(&node) {
            Some(digest) => Some(&self.digests[*digest]),
            None if self.is_lazy => inherited(snapshot, node),
            None => snapshot.approved_plan(node),
        }
    }
}

/// Finds the approvals that matter for these roots. An object below several approved ones gets the first of their
/// digests.
pub(super) fn find(snapshot: &Snapshot, roots: Roots<'_>) -> Approvals {
    match roots {
        _ if !snapshot.has_approved() => Approvals::default(),
        Roots::All => propagate(snapshot),
        Roots::Only { .. } | Roots::None => Approvals { is_lazy: true, ..Approvals::default() },
    }
}

/// The object's own approval, or that of the nearest terminating object from which its deletion follows.
fn inherited(snapshot: &Snapshot, node: NodeId) -> Option<&str> {
    let (mut seen, mut layer): (HashSet<NodeId>, _) = (HashSet::from([node]), vec![node]);
    while !layer.is_empty() && seen.len() < MAX_ANCESTORS {
        if let Some(digest) = layer.iter().filter_map(|node| snapshot.approved_plan(*node)).min() {
            return Some(digest);
        }
        let mut next = Vec::new();
        for node in layer {
            let owners = snapshot.valid_owners(node).filter(|owner| dooms_dependents(snapshot, *owner));
            let containers = snapshot.terminating_containers_of(node).into_iter().flatten();
            next.extend(owners.chain(containers).filter(|above| seen.insert(*above)));
        }
        layer = next;
    }
    None
}

/// Whether an object is terminating with a policy that deletes its dependents with it.
fn dooms_dependents(snapshot: &Snapshot, node: NodeId) -> bool {
    let policy = if snapshot.is_terminating(node) { snapshot.policy(node) } else { None };
    matches!(policy, Some(Policy::Cascade | Policy::Foreground))
}

/// Hands the digests of all approved objects down to the terminating objects below them.
fn propagate(snapshot: &Snapshot) -> Approvals {
    let mut sources: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    for node in snapshot.terminating() {
        if let Some(digest) = snapshot.approved_plan(node) {
            sources.entry(digest).or_default().push(node);
        }
    }
    let mut approvals = Approvals::default();
    for (number, (digest, nodes)) in sources.iter().enumerate() {
        approvals.digests.push((*digest).to_owned());
        nodes.iter().for_each(|node| _ = approvals.by_node.insert(*node, number));
    }
    for (number, nodes) in sources.into_values().enumerate() {
        let mut worklist = VecDeque::from(nodes);
        while let Some(node) = worklist.pop_front() {
            let dependents = dooms_dependents(snapshot, node).then(|| snapshot.valid_dependents(node));
            let below = dependents.into_iter().flatten().chain(snapshot.contents(node));
            for below in below.filter(|node| snapshot.is_terminating(*node)) {
                if approvals.by_node.try_insert(below, number).is_ok() {
                    worklist.push_back(below);
                }
            }
        }
    }
    approvals
}
