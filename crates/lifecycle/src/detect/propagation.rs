//! The doomed set as a least fixpoint: a worklist of doomed objects, and per dependent a count of solid owners.
//!
//! The rule for one object that is not terminating ([`Propagation::effect_on`]):
//!
//! ```text
//! doomed with Cascade      if some owner has the effect Cascade
//! doomed                   if some owner dooms its dependents, and no owner is solid
//! doomed with Background   if its namespace or its definition is doomed
//! survives                 otherwise
//! ```
//!
//! Each rule can only add objects and only strengthen effects, so there is one least solution, and any order of work
//! finds it. A worked example: `a` is terminating with `foregroundDeletion`, `keeper` is not deleted.
//!
//! ```text
//!   a ◀── x ◀── y          x, y and z name the owners that the arrows lead to
//!   a ◀── z ──▶ keeper
//!
//!   worklist   taken   dependents of it                               doomed
//!   [a]        a       x: no solid owner left → doomed, queued        {a}
//!                      z: keeper is solid     → survives
//!   [x]        x       y: no solid owner left → doomed, queued        {a, x}
//!   [y]        y       none                                           {a, x, y}
//! ```
//!
//! [`super::report`] then says that `z` loses its reference to `a`. If `keeper` were doomed later, `z` would be
//! updated: its count of solid owners falls to 0, and it is doomed as well.
//!
//! Objects are examined lazily, when something around them is doomed; whatever no deletion reaches costs nothing.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};
use sexton_model::{Policy, Uid};

use super::approvals::{self, Approvals};
use super::effect::{DeletionEffect, DoomState, OwnerSummary};
use super::{Cause, DeletionScope, DetectionSettings, Detector, Roots, WhyExcluded};
use crate::protect::Protection;
use crate::snapshot::{NodeId, Ownership, Snapshot};

/// An object that is treated as deleted although it need not be terminating: the root of a preview, an orphan, or a
/// candidate.
pub(super) struct AssumedDeletion {
    pub(super) node: NodeId,
    pub(super) policy: Policy,
    pub(super) detector: Detector,
    pub(super) cause: Cause,
}

/// What propagation does with a terminating object that it reaches from another.
#[derive(Debug, Clone, Copy)]
enum OnTerminating {
    /// Nothing: every terminating object of the scope is a root, and in the worklist already.
    Ignore,
    /// List it as doomed, without following it further.
    List,
    /// Put it into the worklist.
    Follow,
}

/// The state of the fixpoint; complete after [`Propagation::run`].
pub(super) struct Propagation<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) protection: &'a Protection,
    scope: &'a DeletionScope,
    /// The objects of the scope that exist; `None` if the scope is all objects.
    nodes_in_scope: Option<HashSet<NodeId>>,
    on_terminating: OnTerminating,
    pub(super) approvals: Approvals,
    pub(super) doomed: HashMap<NodeId, DoomState>,
    /// Of every object that was examined and is not terminating, doomed or not.
    pub(super) summaries: HashMap<NodeId, OwnerSummary>,
    /// Objects that the rules would doom, and that are protected or not in the plan.
    pub(super) excluded: HashMap<NodeId, WhyExcluded>,
    /// Objects with a reference to a doomed object that does not match it.
    pub(super) with_invalid_references: HashSet<NodeId>,
    /// Examined objects that name an owner whose removal was seen, in the order in which they were examined.
    pub(super) after_removal: Vec<NodeId>,
    /// Doomed objects whose effect grew since their dependents counted it.
    worklist: VecDeque<NodeId>,
}

impl<'a> Propagation<'a> {
    /// Prepares the roots. Nothing follows from them before [`Propagation::run`].
    pub(super) fn new(
        snapshot: &'a Snapshot,
        roots: Roots<'_>,
        settings: &'a DetectionSettings,
    ) -> Propagation<'a> {
        let nodes_in_scope = match &settings.scope {
            DeletionScope::All => None,
            DeletionScope::Only(uids) => Some(uids.iter().filter_map(|uid| snapshot.get(uid)).collect()),
        };
        let mut propagation = Propagation {
            snapshot,
            protection: &settings.protection,
            scope: &settings.scope,
            nodes_in_scope,
            on_terminating: match roots {
                Roots::All => OnTerminating::Ignore,
                Roots::Only { .. } => OnTerminating::List,
                Roots::None => OnTerminating::Follow,
            },
            approvals: approvals::find(snapshot, roots),
            doomed: HashMap::new(),
            summaries: HashMap::new(),
            excluded: HashMap::new(),
            with_invalid_references: HashSet::new(),
            after_removal: Vec::new(),
            worklist: VecDeque::new(),
        };
        match roots {
            Roots::All => {
                let terminating: Vec<NodeId> =
                    snapshot.terminating().filter(|node| propagation.is_in_scope(*node)).collect();
                terminating.into_iter().for_each(|node| propagation.enqueue_terminating(node));
                let dependents = snapshot.removed_owner_ids().flat_map(|id| snapshot.all_dependents(id));
                dependents.for_each(|dependent| propagation.examine(dependent));
            }
            Roots::Only { nodes, removed } => {
                let (terminating, others): (Vec<NodeId>, Vec<NodeId>) =
                    nodes.iter().partition(|node| snapshot.is_terminating(**node));
                let terminating: Vec<NodeId> =
                    terminating.into_iter().filter(|node| propagation.is_in_scope(*node)).collect();
                terminating.into_iter().for_each(|node| propagation.enqueue_terminating(node));
                let dependents = removed.iter().flat_map(|uid| snapshot.dependents_of(uid));
                others.into_iter().chain(dependents).for_each(|node| propagation.examine(node));
            }
            Roots::None => {}
        }
        propagation
    }

    /// Dooms an object as a root, unless it is protected or outside of the scope.
    pub(super) fn assume_deleted(&mut self, deletion: &AssumedDeletion) {
        let (node, is_terminating) = (deletion.node, self.snapshot.is_terminating(deletion.node));
        let recorded = if is_terminating { self.snapshot.policy(node) } else { None };
        let protected = if is_terminating { None } else { self.protection.of(self.snapshot, node) };
        match protected {
            Some(why) => _ = self.excluded.insert(node, WhyExcluded::Protected(why)),
            None if !self.may_doom(node) => {}
            None => self.doom(node, DeletionEffect::of(recorded.unwrap_or(deletion.policy)), is_terminating),
        }
    }

    /// Works until the worklist is empty: the fixpoint.
    pub(super) fn run(&mut self) {
        while let Some(node) = self.worklist.pop_front() {
            let Some(state) = self.doomed.get_mut(&node) else { continue };
            let (before, now) = (state.propagated, state.effect);
            state.propagated = now;
            self.propagate_to_dependents(node, before, now);
            self.propagate_to_contents(node);
        }
    }

    /// The effect of an object as far as its dependents have counted it. That of a terminating object never changes.
    pub(super) fn effect_of(&self, node: NodeId) -> DeletionEffect {
        match self.doomed.get(&node) {
            Some(state) => state.propagated.max(self.recorded_effect(node)),
            None => self.recorded_effect(node),
        }
    }

    fn is_approved(&self, node: NodeId) -> bool {
        self.approvals.of(self.snapshot, node).is_some()
    }

    /// The effect that the finalizers of a terminating object record.
    fn recorded_effect(&self, node: NodeId) -> DeletionEffect {
        if !self.snapshot.is_terminating(node) {
            return DeletionEffect::None;
        }
        self.snapshot.policy(node).map_or(DeletionEffect::None, DeletionEffect::of)
    }

    /// Adds an object to the doomed set, or strengthens its effect; queues it if its dependents have to count that.
    fn doom(&mut self, node: NodeId, effect: DeletionEffect, is_terminating: bool) {
        let none = DeletionEffect::None;
        let unseen = DoomState { effect: none, is_terminating, propagated: none };
        let state = self.doomed.entry(node).or_insert(unseen);
        if state.effect < effect {
            state.effect = effect;
            self.worklist.push_back(node);
        }
    }

    /// Dooms a terminating object and queues it. One without an effect is queued for its contents alone.
    fn enqueue_terminating(&mut self, node: NodeId) {
        let effect = self.recorded_effect(node);
        self.doom(node, effect, true);
        if effect == DeletionEffect::None && self.is_container(node) {
            self.worklist.push_back(node);
        }
    }

    fn is_container(&self, node: NodeId) -> bool {
        self.snapshot.is_namespace(node) || self.snapshot.is_definition(node)
    }

    /// Lets every dependent of an object count that its effect grew.
    fn propagate_to_dependents(&mut self, owner: NodeId, before: DeletionEffect, now: DeletionEffect) {
        if now == DeletionEffect::None {
            return;
        }
        let snapshot = self.snapshot;
        // A dependent that was examined earlier already counted the recorded effect of a terminating owner.
        let was_counted = self.recorded_effect(owner).dooms_dependents();
        let was_solid = now.dooms_dependents() && !before.dooms_dependents() && !was_counted;
        for dependent in snapshot.all_dependents(snapshot.node(owner).uid) {
            if !snapshot.depends_on(dependent, owner) {
                self.with_invalid_references.insert(dependent);
            } else if snapshot.is_terminating(dependent) {
                if now.dooms_dependents() {
                    self.reach_terminating(dependent);
                }
            } else if let Some(mut summary) = self.summaries.get(&dependent).copied() {
                summary.solid_owners -= u32::from(was_solid);
                summary.count_owner(now, self.is_approved(owner));
                self.update(dependent, summary);
            } else {
                self.examine(dependent);
            }
        }
    }

    /// Lets everything in a doomed namespace, or of a doomed definition, count that.
    fn propagate_to_contents(&mut self, container: NodeId) {
        let snapshot = self.snapshot;
        let is_approved = self.is_approved(container);
        for member in snapshot.contents(container) {
            if snapshot.is_terminating(member) {
                self.reach_terminating(member);
                continue;
            }
            let known = self.summaries.get(&member).copied();
            let mut summary = known.unwrap_or_else(|| self.summarize_owners(member));
            // Events are written all the time: no plan lists them, and they block no namespace.
            summary.count_container(is_approved && !snapshot.is_event(member));
            self.update(member, summary);
        }
    }

    fn reach_terminating(&mut self, node: NodeId) {
        match self.on_terminating {
            OnTerminating::Ignore => {}
            _ if !self.is_in_scope(node) || self.doomed.contains_key(&node) => {}
            OnTerminating::Follow => self.enqueue_terminating(node),
            OnTerminating::List => {
                let effect = self.recorded_effect(node);
                let listed = DoomState { effect, is_terminating: true, propagated: effect };
                self.doomed.insert(node, listed);
            }
        }
    }

    /// Examines an object that is not terminating for the first time: what its owners and containers do to it now.
    fn examine(&mut self, node: NodeId) {
        if !self.snapshot.is_terminating(node) {
            let mut summary = self.summarize_owners(node);
            let containers = self.snapshot.terminating_containers_of(node).into_iter().flatten();
            for container in containers.filter(|container| self.is_in_scope(*container)) {
                summary.count_container(self.is_approved(container) && !self.snapshot.is_event(node));
            }
            self.update(node, summary);
        }
    }

    /// Counts the owners of an object by their effect.
    fn summarize_owners(&self, node: NodeId) -> OwnerSummary {
        let (snapshot, dependent) = (self.snapshot, self.snapshot.node(node));
        let mut summary = OwnerSummary::default();
        for reference in &dependent.owners {
            match snapshot.ownership(dependent, reference) {
                Ownership::Valid(owner) => {
                    let effect = self.effect_of(owner);
                    summary.solid_owners += u32::from(!effect.dooms_dependents());
                    summary.count_owner(effect, self.is_approved(owner));
                }
                Ownership::Absent { .. } => match snapshot.seen_removal(dependent, reference) {
                    Some(removed) if removed.policy == Policy::Orphan => {
                        summary.solid_owners += 1;
                        summary.has_orphaning_owner = true;
                    }
                    Some(_) => {
                        summary.has_deleted_owner = true;
                        summary.has_removed_owner = true;
                    }
                    None => {}
                },
                Ownership::Unknown(_) => summary.solid_owners += 1,
                Ownership::Invalid(_) => summary.has_invalid_reference = true,
            }
        }
        summary
    }

    /// Stores the summary of an object and dooms the object if the rules say so now.
    fn update(&mut self, node: NodeId, summary: OwnerSummary) {
        if self.summaries.insert(node, summary).is_none() && summary.has_removed_owner {
            self.after_removal.push(node);
        }
        let effect = self.effect_on(node, summary);
        let is_known = |state: &DoomState| state.effect >= effect;
        if effect == DeletionEffect::None || self.doomed.get(&node).is_some_and(is_known) {
            return;
        }
        match self.protection.of(self.snapshot, node) {
            Some(why) => _ = self.excluded.insert(node, WhyExcluded::Protected(why)),
            None if !self.may_doom(node) => _ = self.excluded.insert(node, WhyExcluded::NotInPlan),
            None => self.doom(node, effect, false),
        }
    }

    /// Whether an object is in the scope of this detection.
    pub(super) fn is_in_scope(&self, node: NodeId) -> bool {
        self.nodes_in_scope.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }

    /// Whether references to an owner, which may be gone, are removed from survivors.
    pub(super) fn may_strip(&self, owner: &Uid) -> bool {
        self.scope.contains(owner)
    }

    /// Whether an object may be doomed: it is in scope, or an event in a namespace of the scope.
    fn may_doom(&self, node: NodeId) -> bool {
        let in_scope = |namespace: NodeId| self.is_in_scope(namespace);
        self.is_in_scope(node)
            || (self.snapshot.is_event(node) && self.snapshot.namespace_of(node).is_some_and(in_scope))
    }

    /// The rules: with which effect an object is doomed, or `None` if it survives.
    fn effect_on(&self, node: NodeId, summary: OwnerSummary) -> DeletionEffect {
        if summary.has_cascade_owner {
            return DeletionEffect::Cascade;
        }
        let by_container = match summary.is_in_doomed_container {
            true => DeletionEffect::Background,
            false => DeletionEffect::None,
        };
        if !summary.has_deleted_owner || summary.solid_owners > 0 {
            return by_container;
        }
        let by_owner = match self.snapshot.policy(node) {
            _ if summary.has_foreground_owner && self.snapshot.is_referenced(node) => {
                DeletionEffect::Foreground
            }
            Some(Policy::Orphan) => DeletionEffect::Orphan,
            Some(Policy::Foreground) => DeletionEffect::Foreground,
            _ => DeletionEffect::Background,
        };
        by_owner.max(by_container)
    }
}
