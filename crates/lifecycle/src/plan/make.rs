//! From a judgement to a plan: groups, what has to give way, waves.

use std::collections::BTreeSet;

use super::ranks::Ranks;
use super::relations::Doomed;
use super::{Barrier, DroppedEdge, Group, Plan, Step, Wave};
use crate::detect::Judgement;
use crate::graph::{Graph, Groups, Node, components, settle, weighted_layers};
use crate::snapshot::{LifeId, Snapshot};

/// Orders the deaths that a judgement demands. Costs as much as those who die have edges; nobody else is looked at.
pub fn make(snapshot: &Snapshot, judgement: &Judgement) -> Plan {
    let doomed = Doomed::new(snapshot, judgement);
    let order = Order::of(&doomed);
    let plan = Plan {
        waves: order.waves(&doomed),
        strips: judgement.strips.clone(),
        dropped: order.dropped(&doomed),
        out_of_order: order.out_of_order(&doomed),
        barriers: order.barriers(&doomed),
        holds: judgement.holds.clone(),
        ..Plan::default()
    };
    plan.indexed().written(snapshot)
}

/// How it was settled.
struct Order<'a> {
    /// The group of each life.
    groups: Groups,
    /// Soft edges between groups that do not hold.
    dropped: BTreeSet<(Node, Node)>,
    ranks: Ranks<'a>,
    /// Edges to and from barriers that do not hold.
    unranked: BTreeSet<(Node, Node)>,
    /// The wave of each group.
    layers: Vec<u32>,
}

impl<'a> Order<'a> {
    fn of(doomed: &Doomed<'a>) -> Order<'a> {
        let of_kind = |hard: bool| {
            let edges = doomed.edges.iter().filter(move |(_, _, relation)| relation.is_hard() == hard);
            edges.map(|(first, second, _)| (*first, *second))
        };
        let hard: Vec<(Node, Node)> = of_kind(true).collect();
        let circles = components(&Graph::new(doomed.lives.len(), &hard));
        let circles = Groups::new((0..).zip(&doomed.lives).map(|(node, _)| circles.of(node)));
        let settled = settle(&circles.between(of_kind(true)), &circles.between(of_kind(false)), true);
        let of: Vec<Node> = circles.of.iter().map(|circle| settled.groups.of[*circle as usize]).collect();
        let groups = Groups { of, count: settled.groups.count };
        let kept = |edge: &(Node, Node)| !settled.dropped.contains(edge);
        let all = groups.between(doomed.edges.iter().map(|(first, second, _)| (*first, *second)));
        let kept: Vec<(Node, Node)> = all.edges().filter(kept).collect();
        let strong = Graph::new(groups.count, &kept);

        let ranks = Ranks::new(doomed, &groups.of, &strong);
        let nodes = groups.count + ranks.barriers;
        let unranked = settle(&Graph::new(nodes, &kept), &Graph::new(nodes, &ranks.edges), false).dropped;
        let ranked = ranks.edges.iter().filter(|edge| !unranked.contains(edge));
        let edges: Vec<(Node, Node)> = kept.iter().chain(ranked).copied().collect();
        // Barriers take no time themselves.
        let length = |node: Node| u32::from((node as usize) < groups.count);
        let layers = weighted_layers(&Graph::new(nodes, &edges), length).unwrap_or_default();
        debug_assert_eq!(layers.len(), nodes, "what is settled has no cycle");
        Order { groups, dropped: settled.dropped, ranks, unranked, layers }
    }

    /// The groups that an edge between two lives leads from and to; `None` inside of one.
    fn pair(&self, first: Node, second: Node) -> Option<(Node, Node)> {
        let (from, to) = (self.groups.of[first as usize], self.groups.of[second as usize]);
        (from != to).then_some((from, to))
    }

    fn waves(&self, doomed: &Doomed<'_>) -> Vec<Wave> {
        let mut after: Vec<Vec<Node>> = vec![Vec::new(); doomed.lives.len()];
        for (first, second, _) in &doomed.edges {
            if self.pair(*first, *second).is_some_and(|pair| !self.dropped.contains(&pair)) {
                after[*second as usize].push(*first);
            }
        }
        let mut groups: Vec<Group> = vec![Group::default(); self.groups.count];
        for ((node, life), mut after) in (0..).zip(&doomed.lives).zip(after) {
            after.sort_unstable();
            after.dedup();
            let after = after.into_iter().map(|before| doomed.lives[before as usize]).collect();
            let group = self.groups.of[node as usize] as usize;
            groups[group].members.extend(step(doomed, *life, after));
        }
        // Groups are numbered by their first members, and those by their keys.
        let mut waves: Vec<Wave> = Vec::new();
        for (group, layer) in groups.into_iter().zip(&self.layers) {
            let wave = *layer as usize;
            if waves.len() <= wave {
                waves.resize_with(wave + 1, Wave::default);
            }
            waves[wave].groups.push(group);
        }
        waves
    }

    fn dropped(&self, doomed: &Doomed<'_>) -> Vec<DroppedEdge> {
        let mut given_up: Vec<(Node, Node, super::Relation)> = doomed
            .edges
            .iter()
            .filter(|(first, second, _)| {
                self.pair(*first, *second).is_some_and(|pair| self.dropped.contains(&pair))
            })
            .copied()
            .collect();
        given_up.sort_unstable();
        given_up.dedup();
        let life = |node: Node| doomed.lives[node as usize];
        let edge =
            |(first, second, relation)| DroppedEdge { first: life(first), second: life(second), relation };
        given_up.into_iter().map(edge).collect()
    }

    fn out_of_order(&self, doomed: &Doomed<'_>) -> Vec<LifeId> {
        let cut: BTreeSet<Node> = self.unranked.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let out = |(group, life): &(&Node, &LifeId)| {
            let place = (doomed.snapshot.manager(**life), doomed.snapshot.order(**life));
            let (Some(manager), Some(order)) = place else { return false };
            cut.contains(*group) || self.ranks.raised(**group, manager, order)
        };
        self.groups.of.iter().zip(&doomed.lives).filter(out).map(|(_, life)| *life).collect()
    }

    fn barriers(&self, doomed: &Doomed<'_>) -> Vec<Barrier> {
        let mut members: Vec<Vec<LifeId>> = vec![Vec::new(); self.groups.count];
        if self.ranks.barriers > 0 {
            for (group, life) in self.groups.of.iter().zip(&doomed.lives) {
                members[*group as usize].push(*life);
            }
        }
        let empty = Barrier { before: Vec::new(), after: Vec::new() };
        let mut barriers = vec![empty; self.ranks.barriers];
        for edge in self.ranks.edges.iter().filter(|edge| !self.unranked.contains(edge)) {
            let (from, to) = (edge.0 as usize, edge.1 as usize);
            if to >= self.groups.count {
                barriers[to - self.groups.count].before.extend(&members[from]);
            } else {
                barriers[from - self.groups.count].after.extend(&members[to]);
            }
        }
        barriers
    }
}

fn step(doomed: &Doomed<'_>, life: LifeId, after: Vec<LifeId>) -> Option<Step> {
    Some(Step {
        life,
        key: doomed.snapshot.key(life),
        kind: doomed.snapshot.kind(life).to_owned(),
        uid: doomed.snapshot.uid(life),
        finding: doomed.judgement.doomed.get(&life)?.clone(),
        after,
    })
}
