//! From a detection to a plan.

use super::edges::DoomedGraph;
use super::order::PlanOrder;
use super::{Group, Plan, Step, Wave};
use crate::detect::Detection;
use crate::snapshot::{NodeId, Snapshot};

/// Makes the plan that destroys all doomed objects of a detection. Costs as much as they have edges, however many
/// objects survive.
pub fn make(snapshot: &Snapshot, detection: &Detection) -> Plan {
    let doomed = DoomedGraph::new(snapshot, detection);
    let order = PlanOrder::of(&doomed);
    let plan = Plan {
        waves: waves(&order, &doomed),
        strips: detection.strips.clone(),
        dropped: order.dropped(&doomed),
        out_of_order: order.out_of_order(&doomed),
        barriers: order.barriers(&doomed),
        exclusions: detection.exclusions.clone(),
        ..Plan::default()
    };
    plan.indexed().written(snapshot)
}

fn waves(order: &PlanOrder<'_>, doomed: &DoomedGraph<'_>) -> Vec<Wave> {
    let mut groups: Vec<Group> = vec![Group::default(); order.families.groups.count];
    let nodes = doomed.nodes.iter().zip(&order.families.groups.of);
    for ((node, group), before) in nodes.zip(order.predecessors(doomed)) {
        let after = before.into_iter().map(|node| doomed.nodes[node as usize]).collect();
        let members = &mut groups[*group as usize].members;
        // Most groups have one member.
        members.reserve_exact(1);
        members.extend(step(doomed, *node, after));
    }
    // Groups are numbered by their first members, and these by key: each wave is sorted.
    let mut waves: Vec<Wave> = Vec::new();
    for (group, wave) in groups.into_iter().zip(&order.waves) {
        let wave = *wave as usize;
        if waves.len() <= wave {
            waves.resize_with(wave + 1, Wave::default);
        }
        waves[wave].groups.push(group);
    }
    waves
}

fn step(doomed: &DoomedGraph<'_>, node: NodeId, after: Vec<NodeId>) -> Option<Step> {
    Some(Step {
        node,
        key: doomed.snapshot.key(node),
        kind: doomed.snapshot.kind(node).to_owned(),
        uid: doomed.snapshot.uid(node),
        finding: doomed.detection.doomed.get(&node)?.clone(),
        after,
    })
}
