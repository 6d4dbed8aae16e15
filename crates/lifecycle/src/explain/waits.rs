//! What a doomed object waits for: the paths to predecessors that are stuck, and the number of all predecessors.
//!
//! With hundreds of predecessors only the ends matter: objects that are blocked themselves. The search walks the plan
//! backwards from the object; each found end is shown with the path to it, as one tree:
//!
//! ```text
//!   App/prod
//!     waits for Vm/shop            depth 0: between App/prod and the end
//!       waits for Disk/data        depth 1: the end; its destroy method failed
//!   3 have to go before it         Vm/shop, Disk/data, and Disk/other, which is not stuck
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sexton_model::hook::ObjectRef;

use super::doomed::stage_of;
use super::{Blocker, blockers};
use crate::destruction::Stage;
use crate::detect::Detection;
use crate::plan::{Plan, Relation};
use crate::snapshot::{NodeId, Snapshot};

/// How many ends are shown; the rest is counted.
const MAX_SHOWN_ENDS: usize = 10;
/// Of longer paths without a fork only both ends are shown.
const MAX_PATH_LEN: usize = 5;

/// A predecessor on the path to an end.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The depth in the tree. An entry is below the last entry before it with a smaller depth; those of depth 0 are
    /// direct predecessors of the explained object.
    pub depth: usize,
    /// The predecessor.
    pub object: ObjectRef,
    /// Why it goes before the entry above it, or before the last of those left out between them.
    pub reason: WaitReason,
    /// How many predecessors between it and the entry above are left out.
    pub between: usize,
    /// The stage of its destruction, if it has a journal.
    pub stage: Option<Stage>,
    /// Whether it is terminating.
    pub is_terminating: bool,
    /// What blocks it itself.
    pub blockers: Vec<Blocker>,
}

/// Why an object is destroyed before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitReason {
    /// One of the plan's relations.
    Relation(Relation),
    /// They are in one cycle and take each step together.
    Together,
    /// It has a higher place in the order of its module.
    Order,
}

/// The result: a tree of predecessors, and counts.
#[derive(Debug, Default)]
pub(super) struct WaitTree {
    /// The tree in depth-first order.
    pub(super) entries: Vec<Wait>,
    /// How many objects must go first, in all.
    pub(super) predecessor_count: usize,
    /// How many ends are left out.
    pub(super) omitted: usize,
}

/// A breadth-first search for all predecessors of an object.
struct PredecessorSearch<'a> {
    snapshot: &'a Snapshot,
    plan: &'a Plan,
    /// For each object the barriers before it.
    behind: BTreeMap<NodeId, Vec<usize>>,
    /// The barriers whose predecessors were found already.
    passed: BTreeSet<usize>,
    /// The object from which each was found.
    parent: BTreeMap<NodeId, NodeId>,
    /// Nearer ones first.
    found: Vec<NodeId>,
}

/// Searches the plan backwards from an object.
pub(super) fn waits(snapshot: &Snapshot, detection: &Detection, plan: &Plan, node: NodeId) -> WaitTree {
    let mut search = PredecessorSearch::new(snapshot, plan);
    search.run(node);
    let found: Vec<NodeId> = search.found.iter().copied().filter(|one| *one != node).collect();
    let blocked: BTreeSet<NodeId> =
        detection.exclusions.iter().filter_map(|exclusion| exclusion.blocks).collect();
    let stuck = |one: &NodeId| {
        let in_use = || snapshot.objects_of_class(*one).any(|user| !detection.is_doomed(user));
        blocked.contains(one) || in_use() || !blockers::own(snapshot, *one).is_empty()
    };
    let mut ends = found.iter().copied().filter(stuck);
    let mut shown: Vec<NodeId> = ends.by_ref().take(MAX_SHOWN_ENDS).collect();
    let mut omitted = ends.count();
    if shown.is_empty() {
        // No predecessor is stuck: show those that are being destroyed now.
        let mut free = found.iter().copied().filter(|one| search.is_free(*one));
        shown.extend(free.by_ref().take(MAX_SHOWN_ENDS));
        omitted = free.count();
    }
    let entries = search.tree(detection, node, &shown);
    WaitTree { entries, predecessor_count: found.len(), omitted }
}

impl<'a> PredecessorSearch<'a> {
    fn new(snapshot: &'a Snapshot, plan: &'a Plan) -> PredecessorSearch<'a> {
        let mut behind: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (number, barrier) in plan.barriers.iter().enumerate() {
            barrier.after.iter().for_each(|node| behind.entry(*node).or_default().push(number));
        }
        let (passed, parent, found) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        PredecessorSearch { snapshot, plan, behind, passed, parent, found }
    }

    /// The direct predecessors of an object in the plan and the other members of its cycle, but not what is before
    /// barriers.
    fn before(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<'a> {
        let (snapshot, plan) = (self.snapshot, self.plan);
        let uid = snapshot.uid(node);
        let after = plan.step_of(&uid).into_iter().flat_map(|step| step.after.iter().copied());
        let cycle = plan.group_of(&uid).into_iter().flat_map(|group| group.members.iter());
        let cycle = cycle.map(|step| step.node).filter(move |other| *other != node);
        after.chain(cycle).filter(move |one| snapshot.contains(*one))
    }

    fn run(&mut self, from: NodeId) {
        let mut queue = VecDeque::from([from]);
        self.parent.insert(from, from);
        while let Some(node) = queue.pop_front() {
            self.found.push(node);
            let mut next: Vec<NodeId> = self.before(node).collect();
            // What is before a barrier is found once, by the first object behind it.
            for barrier in self.behind.get(&node).into_iter().flatten() {
                if self.passed.insert(*barrier) {
                    let before = self.plan.barriers[*barrier].before.iter();
                    next.extend(before.copied().filter(|one| self.snapshot.contains(*one)));
                }
            }
            for one in next {
                if let std::collections::btree_map::Entry::Vacant(place) = self.parent.entry(one) {
                    place.insert(node);
                    queue.push_back(one);
                }
            }
        }
    }

    /// Whether an object has no predecessor left.
    fn is_free(&self, node: NodeId) -> bool {
        let barriers = self.behind.get(&node).into_iter().flatten();
        let mut before = barriers.flat_map(|barrier| &self.plan.barriers[*barrier].before);
        self.before(node).next().is_none() && !before.any(|one| self.snapshot.contains(*one))
    }

    /// The paths from an object to some ends, as one tree.
    fn tree(&self, detection: &Detection, root: NodeId, ends: &[NodeId]) -> Vec<Wait> {
        let mut children: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut seen = BTreeSet::from([root]);
        for end in ends {
            let mut at = *end;
            while seen.insert(at) {
                let parent = self.parent[&at];
                children.entry(parent).or_default().push(at);
                at = parent;
            }
        }
        for list in children.values_mut() {
            list.sort_by(|a, b| self.snapshot.compare_keys(*b, *a));
        }
        let (mut entries, mut stack) = (Vec::new(), Vec::new());
        stack.extend(children.remove(&root).into_iter().flatten().map(|child| (child, root, 0, 0)));
        while let Some((node, above, depth, between)) = stack.pop() {
            entries.push(Wait {
                depth,
                object: self.snapshot.object_ref(node),
                reason: reason(self.snapshot, self.plan, node, above),
                between,
                stage: stage_of(self.snapshot, node),
                is_terminating: self.snapshot.is_terminating(node),
                blockers: blockers::blockers(self.snapshot, detection, node),
            });
            let path = path(node, &children, ends);
            match path[..] {
                [_, .., above, last] if path.len() > MAX_PATH_LEN => {
                    stack.push((last, above, depth + 1, path.len() - 2));
                }
                _ => {
                    let below = children.remove(&node).into_iter().flatten();
                    stack.extend(below.map(|child| (child, node, depth + 1, 0)));
                }
            }
        }
        entries
    }
}

/// The path down from an object, up to where it forks or reaches an end.
fn path(node: NodeId, children: &BTreeMap<NodeId, Vec<NodeId>>, ends: &[NodeId]) -> Vec<NodeId> {
    let (mut path, mut at) = (vec![node], node);
    while let Some([only]) = children.get(&at).map(Vec::as_slice) {
        path.push(*only);
        at = *only;
        if ends.contains(&at) {
            break;
        }
    }
    path
}

/// Why the first goes before the second, by the strongest reason.
fn reason(snapshot: &Snapshot, plan: &Plan, first: NodeId, second: NodeId) -> WaitReason {
    let uid = snapshot.uid(second);
    let together = plan.group_of(&uid).is_some_and(|group| group.members.iter().any(|one| one.node == first));
    let found = if together {
        return WaitReason::Together;
    } else if snapshot.targets_of(second).contains(&first) {
        Relation::Subscription
    } else if snapshot.class_of(first) == Some(second) {
        Relation::Class
    } else if snapshot.depends_on(first, second) {
        Relation::Owner
    } else if snapshot.namespace_of(first) == Some(second) {
        Relation::Namespace
    } else if snapshot.definition_of(first) == Some(second) {
        Relation::Definition
    } else if plan.step_of(&uid).is_some_and(|step| step.after.contains(&first)) {
        Relation::Background
    } else {
        return WaitReason::Order;
    };
    WaitReason::Relation(found)
}
