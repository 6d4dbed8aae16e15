//! Cycles: every group has to be one, and every dropped edge has to be part of one.

use hashbrown::{HashMap, HashSet};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::edges::Edge;
use super::{Flaw, Positions, name};
use crate::plan::{Plan, Relation};
use crate::snapshot::{NodeId, Snapshot};

/// Every group is a cycle. Every dropped edge exists, is soft, and is in a cycle with a stronger edge.
pub(super) fn verify(
    snapshot: &Snapshot,
    plan: &Plan,
    positions: &Positions,
    edges: &[Edge],
    flaws: &mut Vec<Flaw>,
) {
    groups(plan, positions, edges, flaws);
    if plan.dropped.is_empty() {
        return;
    }
    let background = |edge: &&Edge| edge.relation == Relation::Background;
    let all = cycles(plan, edges.iter());
    let cycles = cycles(plan, edges.iter().filter(|edge| !background(edge)));
    let same = |edge: &&Edge| cycles.get(&edge.first) == cycles.get(&edge.second);
    let hard = edges.iter().filter(|edge| edge.relation.is_hard()).filter(same);
    let mixed: HashSet<Option<&usize>> = hard.map(|edge| cycles.get(&edge.first)).collect();
    let real: HashSet<&Edge> = edges.iter().collect();
    let families = families(plan, edges);
    for edge in &plan.dropped {
        let place = |node| positions.get(&node).map(|place| place.1);
        let real = real.contains(edge) && place(edge.first) != place(edge.second);
        let needed = if background(&edge) {
            all.get(&edge.first) == all.get(&edge.second)
        } else {
            !edge.relation.is_hard() && same(&edge) && mixed.contains(&cycles.get(&edge.first))
        };
        // The family of the first still goes before the second, apart from members that are in the cycle as well.
        let wave = |node: &NodeId| positions.get(node).map(|place| place.0);
        let family = families.get(&edge.first).into_iter().flatten().filter(|_| !background(&edge));
        let mut free = family.filter(|member| cycles.get(*member) != cycles.get(&edge.second));
        let needed = real && needed && free.all(|member| wave(member) < wave(&edge.second));
        if !needed {
            flaws.push(Flaw::Dropped {
                first: name(snapshot, edge.first),
                second: name(snapshot, edge.second),
                relation: edge.relation,
            });
        }
    }
}

/// For each object its dependents and contents whose edges to it were kept.
fn families(plan: &Plan, edges: &[Edge]) -> HashMap<NodeId, Vec<NodeId>> {
    let dropped: HashSet<&Edge> = plan.dropped.iter().collect();
    let mut families: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    let belongs = |edge: &&Edge| !edge.relation.is_hard() && edge.relation != Relation::Background;
    for edge in edges.iter().filter(belongs).filter(|edge| !dropped.contains(edge)) {
        families.entry(edge.second).or_default().push(edge.first);
    }
    families
}

/// The members of each group reach each other by edges inside the group.
fn groups(plan: &Plan, positions: &Positions, edges: &[Edge], flaws: &mut Vec<Flaw>) {
    if plan.groups().all(|group| group.members.len() < 2) {
        return;
    }
    let inside = |edge: &&Edge| {
        let place = |node| positions.get(&node).map(|place| place.1);
        edge.relation != Relation::Background && place(edge.first) == place(edge.second)
    };
    let cycles = cycles(plan, edges.iter().filter(inside));
    for group in plan.groups().filter(|group| group.members.len() > 1) {
        let mut of = group.members.iter().map(|step| cycles.get(&step.node));
        let first = of.next();
        if of.any(|cycle| Some(cycle) != first) {
            let named = group.members.first().map(|step| step.key.to_string());
            flaws.push(Flaw::NoCycle(named.unwrap_or_default()));
        }
    }
}

/// The number of the cycle (strongly connected component) of each object.
fn cycles<'a>(plan: &Plan, edges: impl Iterator<Item = &'a Edge>) -> HashMap<NodeId, usize> {
    let mut graph = DiGraph::<NodeId, ()>::new();
    let vertices: HashMap<NodeId, _> =
        plan.steps().map(|step| (step.node, graph.add_node(step.node))).collect();
    for edge in edges {
        if let (Some(first), Some(second)) = (vertices.get(&edge.first), vertices.get(&edge.second)) {
            graph.add_edge(*first, *second, ());
        }
    }
    let cycles = kosaraju_scc(&graph).into_iter().enumerate();
    cycles
        .flat_map(|(number, vertices)| vertices.into_iter().map(move |vertex| (vertex, number)))
        .map(|(vertex, number)| (graph[vertex], number))
        .collect()
}
