//! Circles: who dies together has to be one, and what was dropped has to be part of one.

use hashbrown::{HashMap, HashSet};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::relations::Edge;
use super::{Flaw, Places, name};
use crate::plan::{Plan, Relation};
use crate::snapshot::{LifeId, Snapshot};

/// Every group is a circle, and every dropped edge is soft, real, and in a circle with a stronger one.
pub(super) fn justified(
    snapshot: &Snapshot,
    plan: &Plan,
    places: &Places,
    edges: &[Edge],
    flaws: &mut Vec<Flaw>,
) {
    groups(plan, places, edges, flaws);
    if plan.dropped.is_empty() {
        return;
    }
    let background = |edge: &&Edge| edge.relation == Relation::Background;
    let all = circles(plan, edges.iter());
    let circles = circles(plan, edges.iter().filter(|edge| !background(edge)));
    let same = |edge: &&Edge| circles.get(&edge.first) == circles.get(&edge.second);
    let hard = edges.iter().filter(|edge| edge.relation.is_hard()).filter(same);
    let mixed: HashSet<Option<&usize>> = hard.map(|edge| circles.get(&edge.first)).collect();
    let real: HashSet<&Edge> = edges.iter().collect();
    let families = families(plan, edges);
    for edge in &plan.dropped {
        let place = |life| places.get(&life).map(|place| place.1);
        let real = real.contains(edge) && place(edge.first) != place(edge.second);
        let needed = if background(&edge) {
            all.get(&edge.first) == all.get(&edge.second)
        } else {
            !edge.relation.is_hard() && same(&edge) && mixed.contains(&circles.get(&edge.first))
        };
        // What belongs to the one still goes before the other, unless that is in the circle as well.
        let wave = |life: &LifeId| places.get(life).map(|place| place.0);
        let family = families.get(&edge.first).into_iter().flatten().filter(|_| !background(&edge));
        let mut free = family.filter(|member| circles.get(*member) != circles.get(&edge.second));
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

/// For each life those who go before it because they belong to it.
fn families(plan: &Plan, edges: &[Edge]) -> HashMap<LifeId, Vec<LifeId>> {
    let dropped: HashSet<&Edge> = plan.dropped.iter().collect();
    let mut families: HashMap<LifeId, Vec<LifeId>> = HashMap::new();
    let belongs = |edge: &&Edge| !edge.relation.is_hard() && edge.relation != Relation::Background;
    for edge in edges.iter().filter(belongs).filter(|edge| !dropped.contains(edge)) {
        families.entry(edge.second).or_default().push(edge.first);
    }
    families
}

/// The members of a group reach each other without leaving it.
fn groups(plan: &Plan, places: &Places, edges: &[Edge], flaws: &mut Vec<Flaw>) {
    if plan.groups().all(|group| group.members.len() < 2) {
        return;
    }
    let inside = |edge: &&Edge| {
        let place = |life| places.get(&life).map(|place| place.1);
        edge.relation != Relation::Background && place(edge.first) == place(edge.second)
    };
    let circles = circles(plan, edges.iter().filter(inside));
    for group in plan.groups().filter(|group| group.members.len() > 1) {
        let mut of = group.members.iter().map(|step| circles.get(&step.life));
        let first = of.next();
        if of.any(|circle| Some(circle) != first) {
            let named = group.members.first().map(|step| step.key.to_string());
            flaws.push(Flaw::NoCircle(named.unwrap_or_default()));
        }
    }
}

/// The number of the circle that each life is in.
fn circles<'a>(plan: &Plan, edges: impl Iterator<Item = &'a Edge>) -> HashMap<LifeId, usize> {
    let mut graph = DiGraph::<LifeId, ()>::new();
    let nodes: HashMap<LifeId, _> = plan.steps().map(|step| (step.life, graph.add_node(step.life))).collect();
    for edge in edges {
        if let (Some(first), Some(second)) = (nodes.get(&edge.first), nodes.get(&edge.second)) {
            graph.add_edge(*first, *second, ());
        }
    }
    let circles = kosaraju_scc(&graph).into_iter().enumerate();
    circles
        .flat_map(|(number, nodes)| nodes.into_iter().map(move |node| (node, number)))
        .map(|(node, number)| (graph[node], number))
        .collect()
}
