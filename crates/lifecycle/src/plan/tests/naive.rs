//! Plans of random worlds against the rules as they are written, pair by pair.

use proptest::prelude::*;
use sexton_model::Policy;

use super::super::{Plan, PlanProgress, Relation};
use super::world::{detection, snapshot, text, verified};
use crate::detect::Detection;
use crate::snapshot::{NodeId, Ownership, Snapshot};

/// A random world: lines, and deletions.
#[derive(Debug, Clone)]
pub(super) struct Random {
    pub(super) lines: Vec<String>,
    pub(super) deleted: Vec<(String, Policy)>,
}

impl Random {
    pub(super) fn judged(&self, lines: &[String]) -> (Snapshot, Detection) {
        let snapshot = snapshot(lines.iter().map(String::as_str));
        let deleted: Vec<(&str, Policy)> =
            self.deleted.iter().map(|(word, policy)| (word.as_str(), *policy)).collect();
        let detection = detection(&snapshot, &deleted);
        (snapshot, detection)
    }
}

prop_compose! {
    pub(super) fn worlds(modules: bool)(count in 1_usize..9)(
        owners in prop::collection::vec(prop::collection::btree_set(0..count, 0..3), count),
        watched in prop::collection::vec(prop::collection::btree_set(0..count, 0..2), count),
        orders in prop::collection::vec(prop::option::of((0_i64..4, 0..2)), count),
        deleted in prop::collection::btree_map(0..count, 0_usize..4, 1..=count),
    ) -> Random {
        let word = |number: usize| format!("{}/{number}", ["Vm", "App", "Net"][number % 3]);
        let mut lines: Vec<String> = (0..owners.len()).map(|number| {
            let named: Vec<String> = owners[number].iter().map(|owner| word(*owner)).collect();
            let mut line = format!("{} <- {}", word(number), named.join(", "));
            watched[number].iter().for_each(|target| line.push_str(&format!(" ; watches {}", word(*target))));
            if let Some((order, manager)) = orders[number].filter(|_| modules) {
                line.push_str(&format!(" ; order {order} of m{manager}"));
            }
            line
        }).collect();
        lines.push("Namespace/a".to_owned());
        let policies = [Policy::Cascade, Policy::Foreground, Policy::Background, Policy::Orphan];
        let deleted = deleted.into_iter().map(|(number, policy)| (word(number), policies[policy])).collect();
        Random { lines, deleted }
    }
}

/// The same lines; those of some references do not block, and some objects are terminating.
fn some_free(lines: &[String], free: u16, terminating: u16) -> Vec<String> {
    let change = |(number, line): (usize, &String)| {
        let (object, rest) = line.split_once(" ; ").map_or((line.as_str(), ""), |(one, rest)| (one, rest));
        let (object, owners) = object.split_once(" <- ").unwrap_or((object, ""));
        let owners = owners.split(", ").filter(|owner| !owner.is_empty());
        let mark = if free >> number & 1 == 1 { "?" } else { "" };
        let owners: Vec<String> = owners.map(|owner| format!("{}{mark}", owner.trim())).collect();
        let mut line = format!("{object} <- {}", owners.join(", "));
        if !rest.is_empty() {
            line.push_str(&format!(" ; {rest}"));
        }
        if terminating >> number & 1 == 1 && !object.starts_with("Namespace") {
            line.push_str(" ; marked");
        }
        line
    };
    lines.iter().enumerate().map(change).collect()
}

/// Edges as written in the documents, by position among the doomed; without background deletions.
struct Model {
    nodes: Vec<NodeId>,
    hard: Vec<Vec<bool>>,
    owned: Vec<Vec<bool>>,
    all: Vec<Vec<bool>>,
}

fn closed(mut edges: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    let many = edges.len();
    for middle in 0..many {
        for from in 0..many {
            for to in 0..many {
                edges[from][to] |= edges[from][middle] && edges[middle][to];
            }
        }
    }
    edges
}

/// Which objects have to be destroyed before which others by destruction dependencies, also through survivors.
fn dependencies(snapshot: &Snapshot, doomed: &[NodeId]) -> Vec<Vec<bool>> {
    let others = snapshot.nodes().filter(|node| !doomed.contains(node));
    let all_nodes: Vec<NodeId> = doomed.iter().copied().chain(others).collect();
    let mut hard = vec![vec![false; all_nodes.len()]; all_nodes.len()];
    for (to, subscriber) in all_nodes.iter().enumerate() {
        for target in snapshot.targets_of(*subscriber).iter().filter(|target| *target != subscriber) {
            let from = all_nodes.iter().position(|other| other == target).unwrap();
            hard[from][to] = true;
        }
    }
    let closed = closed(hard).into_iter().take(doomed.len());
    closed.map(|row| row.into_iter().take(doomed.len()).collect()).collect()
}

impl Model {
    fn new(snapshot: &Snapshot, detection: &Detection) -> Model {
        let nodes: Vec<NodeId> = detection.doomed.keys().copied().collect();
        let place = |node: &NodeId| nodes.iter().position(|other| other == node);
        let hard = dependencies(snapshot, &nodes);
        let mut all = hard.clone();
        let mut owned = vec![vec![false; nodes.len()]; nodes.len()];
        for (from, node) in nodes.iter().enumerate() {
            for (reference, ownerships) in snapshot.owners(*node) {
                let Ownership::Valid(owner) = ownerships else { continue };
                // A foreground deletion waits for terminating dependents only if they block.
                let policy = detection.doomed.get(&owner).map(|finding| finding.policy);
                let terminating = snapshot.is_terminating(*node);
                if policy == Some(Policy::Foreground) && terminating && !reference.is_blocking {
                    continue;
                }
                if let Some(to) = place(&owner).filter(|to| *to != from) {
                    (all[from][to], owned[from][to]) = (true, true);
                }
            }
        }
        Model { nodes, hard, owned: closed(owned), all: closed(all) }
    }
}

impl Model {
    fn hard_before(&self, a: usize, b: usize) -> bool {
        self.hard[a][b] && !self.hard[b][a]
    }

    /// Owned over any number of steps, and no way back by any edges.
    fn owned_before(&self, a: usize, b: usize) -> bool {
        self.owned[a][b] && !self.all[b][a]
    }
}

fn place(plan: &Plan, snapshot: &Snapshot, node: NodeId) -> (usize, *const super::super::Group) {
    let uid = snapshot.uid(node);
    (plan.wave_of(&uid).unwrap(), std::ptr::from_ref(plan.group_of(&uid).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// REQ-MUR-21, REQ-MUR-22, REQ-MUR-24, REQ-MUR-25, EXT-24: every pair is in the order that the rules give it.
    #[test]
    fn plans_keep_the_rules(world in worlds(false), free in any::<u16>(), terminating in any::<u16>()) {
        let (snapshot, detection) = world.judged(&some_free(&world.lines, free, terminating & free));
        let plan = verified(&snapshot, &detection);
        prop_assert_eq!(plan.len(), detection.doomed.len());
        let model = Model::new(&snapshot, &detection);
        let background = detection.doomed.values().any(|finding| finding.policy == Policy::Background);
        for (a, first) in model.nodes.iter().enumerate() {
            for (b, second) in model.nodes.iter().enumerate().filter(|(b, _)| a != *b) {
                let (one, other) = (place(&plan, &snapshot, *first), place(&plan, &snapshot, *second));
                match (model.hard[a][b], model.hard[b][a]) {
                    (true, true) => prop_assert_eq!(one, other, "a hard circle is a group"),
                    (true, false) => prop_assert!(one.0 < other.0, "\n{}", text(&snapshot, &plan)),
                    _ => {}
                }
                // Background deletions turn some edges round.
                if !background && model.owned_before(a, b) {
                    prop_assert!(one.0 < other.0, "\n{}", text(&snapshot, &plan));
                }
                if one.1 == other.1 && !background {
                    prop_assert!(model.all[a][b] && model.all[b][a], "a group is a circle");
                }
            }
        }
        if !background {
            for edge in &plan.dropped {
                let place = |node: NodeId| model.nodes.iter().position(|other| *other == node).unwrap();
                let (first, second) = (place(edge.first), place(edge.second));
                prop_assert_eq!(edge.relation, Relation::Owner);
                prop_assert!(model.all[second][first], "dropped without a contradiction");
            }
        }
    }

    /// The same world seen in another order gives the same bytes.
    #[test]
    fn plans_do_not_depend_on_chance(world in worlds(true), seed in any::<u64>()) {
        let (snapshot, detection) = world.judged(&world.lines);
        let plan = verified(&snapshot, &detection);
        let mut lines = world.lines.clone();
        let mixed = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        lines.sort_by_key(|line| line.bytes().fold(seed, mixed));
        let (other, judged) = world.judged(&lines);
        let again = verified(&other, &judged);
        prop_assert_eq!(plan.text(), again.text());
        prop_assert_eq!(&plan.digest, &again.digest);
        prop_assert_eq!(text(&snapshot, &plan), text(&other, &again));
    }

    /// EXT-25: an object that is stuck blocks only what must follow it; all other groups are done in the end, in order.
    #[test]
    fn progress_follows_the_plan(world in worlds(true), stuck in any::<prop::sample::Index>()) {
        let (snapshot, detection) = world.judged(&world.lines);
        let plan = verified(&snapshot, &detection);
        prop_assume!(!plan.is_empty());
        let stuck = plan.steps().nth(stuck.index(plan.len())).unwrap().node;
        let mut progress = PlanProgress::new(&plan);
        let mut gone: Vec<NodeId> = Vec::new();
        let model = Model::new(&snapshot, &detection);
        let background = detection.doomed.values().any(|finding| finding.policy == Policy::Background);
        let mut ready: Vec<_> = progress.ready().collect();
        while let Some(group) = ready.pop() {
            for step in &group.members {
                prop_assert!(step.after.iter().all(|before| gone.contains(before)), "too early");
                let second = model.nodes.iter().position(|node| *node == step.node).unwrap();
                for (first, node) in model.nodes.iter().enumerate().filter(|_| !background) {
                    let before = model.hard_before(first, second) || model.owned_before(first, second);
                    prop_assert!(!before || gone.contains(node), "too early\n{}", text(&snapshot, &plan));
                }
            }
            for step in group.members.iter().filter(|step| step.node != stuck) {
                gone.push(step.node);
                ready.extend(progress.set_gone(step.node));
            }
        }
        let follows = |node: &NodeId| {
            let wave = |node| plan.wave_of(&snapshot.uid(node)).unwrap();
            *node == stuck || wave(*node) > wave(stuck)
        };
        prop_assert!(plan.steps().map(|step| step.node).filter(|node| !gone.contains(node)).all(|node| follows(&node)));
        progress.set_gone(stuck).iter().for_each(|group| ready.push(group));
        gone.push(stuck);
        while let Some(group) = ready.pop() {
            for step in &group.members {
                gone.push(step.node);
                ready.extend(progress.set_gone(step.node));
            }
        }
        prop_assert!(progress.is_done());
    }
}
