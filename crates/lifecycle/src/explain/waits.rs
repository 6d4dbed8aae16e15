//! Whom a dying life waits for: the ways from it to those that are really stuck, and how many others there are.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sexton_model::hook::ObjectRef;

use super::dying::stage_of;
use super::{Blocker, blockers};
use crate::destruction::Stage;
use crate::detect::Judgement;
use crate::plan::{Plan, Relation};
use crate::snapshot::{LifeId, Snapshot};

/// So many ends of the chain are named; the rest is counted.
const MOST: usize = 10;
/// Of longer ways without a fork only both ends are told.
const LONGEST: usize = 5;

/// A life that has to go before another.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// How far from the life that is explained: 0 is what that waits for itself. Whoever is deeper belongs to the
    /// last one before it that is less deep.
    pub depth: usize,
    /// Who has to go.
    pub object: ObjectRef,
    /// Why it goes before the one above, or before the last of those between.
    pub before: Before,
    /// So many between it and the one above are not told.
    pub between: usize,
    /// The step that it takes, if it takes steps.
    pub stage: Option<Stage>,
    /// Whether it is marked.
    pub marked: bool,
    /// What keeps it.
    pub blockers: Vec<Blocker>,
}

/// Why one life goes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Before {
    /// One of the plan's relations.
    Relation(Relation),
    /// They are in one circle and take each step together.
    Together,
    /// It stands higher in the order of its module.
    Order,
}

/// What is waited for.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// As a tree in the order in which it is told.
    pub(super) told: Vec<Wait>,
    /// How many have to go before, in all.
    pub(super) all: usize,
    /// How many of those that are stuck are not told.
    pub(super) omitted: usize,
}

/// Everybody who goes before a life, and how they were found.
struct Search<'a> {
    snapshot: &'a Snapshot,
    plan: &'a Plan,
    /// Behind which barriers lives are.
    behind: BTreeMap<LifeId, Vec<usize>>,
    opened: BTreeSet<usize>,
    parent: BTreeMap<LifeId, LifeId>,
    /// Nearer ones first.
    found: Vec<LifeId>,
}

/// Walks back through the plan.
pub(super) fn waits(snapshot: &Snapshot, judgement: &Judgement, plan: &Plan, life: LifeId) -> Waits {
    let mut search = Search::new(snapshot, plan);
    search.run(life);
    let found: Vec<LifeId> = search.found.iter().copied().filter(|one| *one != life).collect();
    let kept: BTreeSet<LifeId> = judgement.holds.iter().filter_map(|hold| hold.keeps).collect();
    let stuck = |one: &LifeId| {
        let in_use = || snapshot.users_of(*one).any(|user| !judgement.dooms(user));
        kept.contains(one) || in_use() || !blockers::own(snapshot, *one).is_empty()
    };
    let mut ends = found.iter().copied().filter(stuck);
    let mut named: Vec<LifeId> = ends.by_ref().take(MOST).collect();
    let mut omitted = ends.count();
    if named.is_empty() {
        // Nobody is stuck: those whose turn it is are being worked on.
        let mut free = found.iter().copied().filter(|one| search.is_free(*one));
        named.extend(free.by_ref().take(MOST));
        omitted = free.count();
    }
    let told = search.tree(judgement, life, &named);
    Waits { told, all: found.len(), omitted }
}

impl<'a> Search<'a> {
    fn new(snapshot: &'a Snapshot, plan: &'a Plan) -> Search<'a> {
        let mut behind: BTreeMap<LifeId, Vec<usize>> = BTreeMap::new();
        for (number, barrier) in plan.barriers.iter().enumerate() {
            barrier.after.iter().for_each(|life| behind.entry(*life).or_default().push(number));
        }
        let (opened, parent, found) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        Search { snapshot, plan, behind, opened, parent, found }
    }

    /// Whom the plan puts directly before a life, its own circle included; not those behind barriers.
    fn before(&self, life: LifeId) -> impl Iterator<Item = LifeId> + use<'a> {
        let (snapshot, plan) = (self.snapshot, self.plan);
        let uid = snapshot.uid(life);
        let after = plan.step_of(&uid).into_iter().flat_map(|step| step.after.iter().copied());
        let circle = plan.group_of(&uid).into_iter().flat_map(|group| group.members.iter());
        let circle = circle.map(|step| step.life).filter(move |other| *other != life);
        after.chain(circle).filter(move |one| snapshot.contains(*one))
    }

    fn run(&mut self, from: LifeId) {
        let mut queue = VecDeque::from([from]);
        self.parent.insert(from, from);
        while let Some(life) = queue.pop_front() {
            self.found.push(life);
            let mut next: Vec<LifeId> = self.before(life).collect();
            // Everybody before a barrier is found by the first who is behind it.
            for barrier in self.behind.get(&life).into_iter().flatten() {
                if self.opened.insert(*barrier) {
                    let before = self.plan.barriers[*barrier].before.iter();
                    next.extend(before.copied().filter(|one| self.snapshot.contains(*one)));
                }
            }
            for one in next {
                if let std::collections::btree_map::Entry::Vacant(place) = self.parent.entry(one) {
                    place.insert(life);
                    queue.push_back(one);
                }
            }
        }
    }

    /// Whether a life waits for nobody.
    fn is_free(&self, life: LifeId) -> bool {
        let barriers = self.behind.get(&life).into_iter().flatten();
        let mut before = barriers.flat_map(|barrier| &self.plan.barriers[*barrier].before);
        self.before(life).next().is_none() && !before.any(|one| self.snapshot.contains(*one))
    }

    /// The ways from a life to some ends, as one tree.
    fn tree(&self, judgement: &Judgement, root: LifeId, ends: &[LifeId]) -> Vec<Wait> {
        let mut children: BTreeMap<LifeId, Vec<LifeId>> = BTreeMap::new();
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
            list.sort_by(|a, b| self.snapshot.compare(*b, *a));
        }
        let (mut told, mut stack) = (Vec::new(), Vec::new());
        stack.extend(children.remove(&root).into_iter().flatten().map(|child| (child, root, 0, 0)));
        while let Some((life, above, depth, between)) = stack.pop() {
            told.push(Wait {
                depth,
                object: self.snapshot.object(life),
                before: relation(self.snapshot, self.plan, life, above),
                between,
                stage: stage_of(self.snapshot, life),
                marked: self.snapshot.is_marked(life),
                blockers: blockers::blockers(self.snapshot, judgement, life),
            });
            let way = way(life, &children, ends);
            match way[..] {
                [_, .., above, last] if way.len() > LONGEST => {
                    stack.push((last, above, depth + 1, way.len() - 2));
                }
                _ => {
                    let below = children.remove(&life).into_iter().flatten();
                    stack.extend(below.map(|child| (child, life, depth + 1, 0)));
                }
            }
        }
        told
    }
}

/// The way down from a life as long as there is only one, up to where it forks or ends.
fn way(life: LifeId, children: &BTreeMap<LifeId, Vec<LifeId>>, ends: &[LifeId]) -> Vec<LifeId> {
    let (mut way, mut at) = (vec![life], life);
    while let Some([only]) = children.get(&at).map(Vec::as_slice) {
        way.push(*only);
        at = *only;
        if ends.contains(&at) {
            break;
        }
    }
    way
}

/// Why the first goes before the second, by the strongest reason.
fn relation(snapshot: &Snapshot, plan: &Plan, first: LifeId, second: LifeId) -> Before {
    let uid = snapshot.uid(second);
    let together = plan.group_of(&uid).is_some_and(|group| group.members.iter().any(|one| one.life == first));
    let found = if together {
        return Before::Together;
    } else if snapshot.targets_of(second).contains(&first) {
        Relation::Subscription
    } else if snapshot.class_for(first) == Some(second) {
        Relation::Class
    } else if snapshot.depends_on(first, second) {
        Relation::Owner
    } else if snapshot.namespace_life(first) == Some(second) {
        Relation::Namespace
    } else if snapshot.definition_life(first) == Some(second) {
        Relation::Definition
    } else if plan.step_of(&uid).is_some_and(|step| step.after.contains(&first)) {
        Relation::Background
    } else {
        return Before::Order;
    };
    Before::Relation(found)
}
