//! Why each doomed object is doomed: the shortest chain of causes to a root; of equally short ones the first by key.
//!
//! A breadth-first search from the roots along the edges by which [`Propagation`] doomed objects. Every doomed object
//! gets one [`ChainLink`], when the search first reaches it, so the chain back to the root is a shortest one:
//!
//! ```text
//!   a (root) ◀── b ◀── c          link of a: requested            root a
//!   a ◀───────────── c            link of b: owner a is doomed    root a
//!                                 link of c: owner a is doomed    root a   (not b: that chain is longer)
//! ```
//!
//! Four kinds of objects begin a chain, in this order:
//!
//! 1. assumed deletions, and terminating objects that no other deletion explains;
//! 2. objects of which an owner's removal was seen;
//! 3. cycles of terminating objects that explain each other: the object deleted first begins
//!    ([`CauseChains::break_cycles`]);
//! 4. objects whose cause is outside of what was examined ([`CauseChains::attach_to_outside`]).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use sexton_model::{Policy, Uid};

use super::effect::DeletionEffect;
use super::propagation::{AssumedDeletion, Propagation};
use super::{Cause, Detector, Finding, Roots};
use crate::snapshot::{NodeId, Ownership, Snapshot};

/// How many terminating owners are followed upwards to find the root of a chain that begins outside of what was
/// examined.
const MAX_ANCESTORS: usize = 64;

/// Why one object is doomed, and where its chain begins.
struct ChainLink {
    detector: Detector,
    cause: Cause,
    root: Uid,
    requester: Option<String>,
}

/// The breadth-first search, with what it found so far.
pub(super) struct CauseChains<'a, 'b> {
    propagation: &'b Propagation<'a>,
    snapshot: &'a Snapshot,
    links: HashMap<NodeId, ChainLink>,
    /// The objects of the current layer that have dependents or contents.
    layer: Vec<NodeId>,
    /// Objects with an owner whose removal was seen; a shorter chain may explain them before it is their turn.
    after_removal: Vec<NodeId>,
}

impl<'a, 'b> CauseChains<'a, 'b> {
    /// Prepares the first layer: the roots.
    pub(super) fn new(
        propagation: &'b Propagation<'a>,
        roots: Roots<'_>,
        assumed: &[AssumedDeletion],
    ) -> CauseChains<'a, 'b> {
        let (links, layer) = (HashMap::with_capacity(propagation.doomed.len()), Vec::new());
        let (snapshot, after_removal) = (propagation.snapshot, propagation.after_removal.clone());
        let mut chains = CauseChains { propagation, snapshot, links, layer, after_removal };
        for deletion in assumed.iter().filter(|deletion| propagation.doomed.contains_key(&deletion.node)) {
            chains.add_root(deletion.node, deletion.detector, deletion.cause.clone());
        }
        let given = match roots {
            Roots::Only { nodes, .. } => nodes,
            _ => &[],
        };
        for node in given.iter().filter(|node| chains.snapshot.is_terminating(**node)) {
            match chains.direct_cause(*node) {
                Some(cause) => chains.start_chain(*node, cause),
                None => chains.add_root(*node, Detector::Deleted, Cause::Requested),
            }
        }
        for (node, _) in propagation.doomed.iter().filter(|(_, state)| state.is_terminating) {
            if !chains.links.contains_key(node) {
                match chains.direct_cause(*node) {
                    None => chains.add_root(*node, Detector::Deleted, Cause::Requested),
                    Some(Cause::OwnersGone { .. }) => chains.after_removal.push(*node),
                    Some(_) => {}
                }
            }
        }
        chains
    }

    /// One finding for each doomed object.
    pub(super) fn findings(mut self) -> BTreeMap<NodeId, Finding> {
        self.extend_layer();
        self.start_after_removals();
        self.extend_all();
        self.break_cycles();
        self.attach_to_outside();
        let doomed = &self.propagation.doomed;
        let finding = |(node, link): (NodeId, ChainLink)| {
            let ChainLink { detector, cause, root, requester } = link;
            let (policy, is_terminating) = (doomed[&node].effect.policy(), doomed[&node].is_terminating);
            (node, Finding { node, detector, cause, policy, is_terminating, root, requester })
        };
        self.links.into_iter().map(finding).collect()
    }

    /// Explains terminating objects without a link: the cause of each is another of them, so the causes form cycles.
    ///
    /// Follows the causes upwards from such an object until one repeats, and starts a chain at the member of that cycle
    /// whose deletion began first: its deletion must have been requested. If the path leads to an object that was not
    /// doomed here, the chain starts with that cause instead.
    fn break_cycles(&mut self) {
        for node in self.unexplained().into_iter().filter(|node| self.snapshot.is_terminating(*node)) {
            if self.links.contains_key(&node) {
                continue;
            }
            let (mut path, mut places, mut at) = (Vec::new(), HashMap::new(), node);
            let mut outside = None;
            while places.try_insert(at, path.len()).is_ok() {
                path.push(at);
                let cause = self.direct_cause(at);
                match cause.as_ref().and_then(Cause::node) {
                    Some(next) if self.links.contains_key(&next) => break,
                    Some(next) if self.propagation.doomed.contains_key(&next) => at = next,
                    Some(_) => outside = cause,
                    None => break,
                }
            }
            let cycle = &path[places.get(&at).copied().unwrap_or_default()..];
            let first = cycle.iter().copied().min_by(|a, b| self.compare_deletion_times(*a, *b));
            let first = first.unwrap_or(node);
            match outside {
                Some(cause) => self.start_chain(first, cause),
                None => self.add_root(first, Detector::Deleted, Cause::Requested),
            }
            self.extend_all();
            // Every doomed object gets a finding, even if its chain is unusual.
            self.add_root(node, Detector::Deleted, Cause::Requested);
            self.extend_all();
        }
    }

    /// Explains objects whose cause was not examined itself.
    fn attach_to_outside(&mut self) {
        for node in self.unexplained() {
            if let Some(cause) = self.direct_cause(node)
                && !self.links.contains_key(&node)
            {
                self.start_chain(node, cause);
            }
        }
        self.extend_all();
    }

    /// The doomed objects without a link, in the order in which their deletions began.
    fn unexplained(&self) -> Vec<NodeId> {
        let doomed = self.propagation.doomed.keys();
        let mut nodes: Vec<NodeId> = doomed.filter(|node| !self.links.contains_key(*node)).copied().collect();
        nodes.sort_by(|a, b| self.compare_deletion_times(*a, *b));
        nodes
    }

    fn compare_deletion_times(&self, a: NodeId, b: NodeId) -> Ordering {
        let since = |node: NodeId| self.snapshot.terminating_since(node).unwrap_or(i64::MAX);
        since(a).cmp(&since(b)).then_with(|| self.snapshot.compare_keys(a, b))
    }

    /// Links an object as the root of its own chain.
    fn add_root(&mut self, node: NodeId, detector: Detector, cause: Cause) {
        let mut requester = self.snapshot.requester(node).map(str::to_owned);
        let root = self.snapshot.uid(node);
        let (mut detector, mut cause) = (detector, cause);
        if let Some(record) = self.snapshot.candidate_record(node).filter(|_| cause == Cause::Requested) {
            // The deletion of a candidate has begun by now: the record is still the reason.
            (detector, cause) = (Detector::Candidate, Cause::Candidate { record: record.clone() });
        }
        if let Cause::Candidate { record } = &cause {
            requester = requester.or_else(|| record.accusation.initiator.clone());
        }
        self.add(node, ChainLink { detector, cause, root, requester });
    }

    fn add(&mut self, node: NodeId, link: ChainLink) {
        if self.links.try_insert(node, link).is_ok() && self.has_dependents_or_contents(node) {
            self.layer.push(node);
        }
    }

    fn has_dependents_or_contents(&self, node: NodeId) -> bool {
        let snapshot = self.snapshot;
        snapshot.is_referenced(node) || snapshot.is_namespace(node) || snapshot.is_definition(node)
    }

    /// Extends all chains as far as they go.
    fn extend_all(&mut self) {
        while !self.layer.is_empty() {
            self.extend_layer();
        }
    }

    /// Extends all chains by one link, in the order of the keys of their last objects.
    fn extend_layer(&mut self) {
        let snapshot = self.snapshot;
        let mut layer = std::mem::take(&mut self.layer);
        layer.sort_by(|a, b| snapshot.compare_keys(*a, *b));
        for above in layer {
            for dependent in snapshot.valid_dependents(above) {
                if self.is_owner_cause(above, dependent) {
                    self.extend(above, dependent, Cause::OwnerDoomed { owner: above });
                }
            }
            let is_namespace = snapshot.is_namespace(above);
            for member in snapshot.contents(above) {
                let cause = match is_namespace {
                    true => Cause::InNamespace { namespace: above },
                    false => Cause::OfDefinition { definition: above },
                };
                if self.is_container_cause(above, member) {
                    self.extend(above, member, cause);
                }
            }
        }
    }

    fn extend(&mut self, above: NodeId, below: NodeId, cause: Cause) {
        if self.links.contains_key(&below) {
            return;
        }
        let link = &self.links[&above];
        let own = self.snapshot.requester(below).map(str::to_owned);
        let requester = own.or_else(|| link.requester.clone());
        let link = ChainLink { detector: Detector::Cascade, cause, root: link.root.clone(), requester };
        self.add(below, link);
    }

    /// Whether an owner's deletion is a cause of a dependent's.
    fn is_owner_cause(&self, owner: NodeId, dependent: NodeId) -> bool {
        let Some(state) = self.propagation.doomed.get(&dependent) else { return false };
        let effect = self.propagation.effect_of(owner);
        if state.is_terminating {
            // What is not terminating yet cannot have caused a deletion that has begun.
            return effect.dooms_dependents() && self.snapshot.is_terminating(owner);
        }
        let summary = self.propagation.summaries.get(&dependent).copied().unwrap_or_default();
        // With a solid owner only a cascade dooms it, and then only the owner with the cascade is the cause.
        let is_sufficient = match summary.has_cascade_owner {
            true => effect == DeletionEffect::Cascade,
            false => effect.dooms_dependents() && summary.solid_owners == 0,
        };
        is_sufficient && self.propagation.approvals.of(self.snapshot, owner).is_none()
    }

    /// Whether the deletion of a namespace or a definition is a cause of a member's.
    fn is_container_cause(&self, container: NodeId, member: NodeId) -> bool {
        let Some(state) = self.propagation.doomed.get(&member) else { return false };
        if state.is_terminating {
            return self.snapshot.is_terminating(container);
        }
        let by_cascade =
            self.propagation.summaries.get(&member).is_some_and(|summary| summary.has_cascade_owner);
        let is_approved = || self.propagation.approvals.of(self.snapshot, container).is_some();
        !by_cascade && (self.snapshot.is_event(member) || !is_approved())
    }

    /// Starts chains at objects whose owners' removal was seen, unless another owner explains them.
    fn start_after_removals(&mut self) {
        for node in std::mem::take(&mut self.after_removal) {
            if self.links.contains_key(&node) || !self.propagation.doomed.contains_key(&node) {
                continue;
            }
            let summary = self.propagation.summaries.get(&node).copied().unwrap_or_default();
            if !summary.has_cascade_owner
                && summary.solid_owners == 0
                && let Some(cause) = self.removed_owners(node)
            {
                self.start_chain(node, cause);
            }
        }
    }

    /// The absent owners of an object as its cause, if the removal of one was seen. Not for a terminating object with
    /// other owners: one of those may be what it was deleted with.
    fn removed_owners(&self, node: NodeId) -> Option<Cause> {
        let (mut uids, mut any_seen, mut has_others) = (Vec::new(), false, false);
        for (reference, owner) in self.snapshot.resolved_references(node) {
            match owner {
                Ownership::Absent { seen } => {
                    any_seen |= seen;
                    uids.push(reference.uid);
                }
                _ => has_others = true,
            }
        }
        let explains = any_seen && !(has_others && self.snapshot.is_terminating(node));
        let uids = || uids.into_iter().map(|id| self.snapshot.uid_of(id)).collect();
        explains.then(|| Cause::OwnersGone { uids: uids() })
    }

    /// The terminating object, or the removal, from which an object's deletion follows directly: an owner, else the
    /// namespace, the definition, or removed owners. Of several owners the first by key.
    fn direct_cause(&self, node: NodeId) -> Option<Cause> {
        let snapshot = self.snapshot;
        let owners = snapshot.valid_owners(node);
        let owners = owners.filter(|owner| *owner != node && self.is_owner_cause(*owner, node));
        let owner = owners.min_by(|a, b| snapshot.compare_keys(*a, *b));
        let containers = self.snapshot.terminating_containers_of(node);
        let [namespace, definition] =
            containers.map(|container| container.filter(|one| self.is_container_cause(*one, node)));
        owner
            .map(|owner| Cause::OwnerDoomed { owner })
            .or(namespace.map(|namespace| Cause::InNamespace { namespace }))
            .or(definition.map(|definition| Cause::OfDefinition { definition }))
            .or_else(|| self.removed_owners(node))
    }

    /// Links an object to a cause that has no link itself, and looks for the root above that cause.
    fn start_chain(&mut self, node: NodeId, cause: Cause) {
        let snapshot = self.snapshot;
        let mut requester = snapshot.requester(node).map(str::to_owned);
        let (mut at, mut next, mut root) = (node, Some(cause.clone()), snapshot.uid(node));
        for _ in 0..MAX_ANCESTORS {
            let above = match next {
                Some(Cause::OwnersGone { uids }) => {
                    let (removed, by) = self.first_removed(at, uids);
                    root = removed;
                    requester = requester.or(by);
                    break;
                }
                Some(cause) => cause.node(),
                None => break,
            };
            let Some(above) = above else { break };
            root = snapshot.uid(above);
            requester = requester.or_else(|| snapshot.requester(above).map(str::to_owned));
            (at, next) = (above, self.terminating_owner(above));
        }
        self.add(node, ChainLink { detector: Detector::Cascade, cause, root, requester });
    }

    /// The first owner by key that is terminating and dooms its dependents at once.
    fn terminating_owner(&self, node: NodeId) -> Option<Cause> {
        let snapshot = self.snapshot;
        let dooms = |owner: &NodeId| {
            let policy = if snapshot.is_terminating(*owner) { snapshot.policy(*owner) } else { None };
            matches!(policy, Some(Policy::Cascade | Policy::Foreground))
        };
        let owners = snapshot.valid_owners(node).filter(dooms);
        let owner = owners.min_by(|a, b| snapshot.compare_keys(*a, *b));
        owner.map(|owner| Cause::OwnerDoomed { owner })
    }

    /// Of removed owners the first by uid whose removal was seen, and the requester of that removal.
    fn first_removed(&self, node: NodeId, uids: Vec<Uid>) -> (Uid, Option<String>) {
        let seen = uids.iter().filter(|uid| self.snapshot.is_removal_known(uid)).min();
        let by = seen.and_then(|uid| self.snapshot.removal_requester(uid)).map(str::to_owned);
        (seen.cloned().unwrap_or_else(|| self.snapshot.uid(node)), by)
    }
}
