//! Soft edges against hard ones: families go before their heads, also where one of them cannot. What a background
//! deletion adds to that gives way to both.
//!
//! Ownership counts transitively. If a head cannot go before its own owner, what belongs to it still does; so each
//! family has an *end*, which comes after all its members and before its head, and the ends follow each other whatever
//! the heads do. Only where edges have to be dropped is that needed; elsewhere the edges themselves say it all.

use std::collections::{BTreeMap, BTreeSet};

use super::relations::Doomed;
use super::{Barrier, Relation};
use crate::graph::{Components, Graph, Groups, Growing, Node, components, settle};

/// What became of the hard and soft edges.
pub(super) struct Families {
    /// The group of each life.
    pub(super) groups: Groups,
    /// All that holds, between groups and the nodes behind them, which are ends of families.
    pub(super) kept: Graph,
    /// What became of each edge between lives.
    pub(super) fates: Vec<Fate>,
    /// Who goes before whom although the edge that said so first was dropped.
    pub(super) more: Vec<(Node, Node)>,
    /// Families whose heads go in another order than they themselves.
    pub(super) barriers: Vec<Barrier>,
}

/// What became of a soft edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It holds.
    Kept,
    /// It holds between the two, but not for the rest of the circle of owners that the second is in.
    Alone,
    /// It does not hold.
    Dropped,
}

impl Families {
    pub(super) fn new(doomed: &Doomed<'_>) -> Families {
        let hard = doomed.edges.iter().filter(|edge| edge.2.is_hard()).map(|edge| (edge.0, edge.1));
        let hard: Vec<(Node, Node)> = hard.collect();
        let circles = components(&Graph::new(doomed.lives.len(), &hard));
        let circles = Groups::new((0..).zip(&doomed.lives).map(|(node, _)| circles.of(node)));
        let hard = circles.between(hard.into_iter());
        let up = doomed.edges.iter().filter(|edge| is_up(edge)).map(|edge| (edge.0, edge.1));
        let settled = settle(&hard, &circles.between(up), true);
        if !settled.dropped.is_empty() {
            return Ends::new(doomed, circles, &hard).settled(doomed).with_background(doomed);
        }
        let groups = composed(&circles, &settled.groups, settled.groups.count);
        let strong = doomed.edges.iter().filter(|edge| edge.2 != Relation::Background);
        let kept = groups.between(strong.map(|edge| (edge.0, edge.1)));
        let fates = vec![Fate::Kept; doomed.edges.len()];
        Families { groups, kept, fates, more: Vec::new(), barriers: Vec::new() }.with_background(doomed)
    }

    /// Adds that the roots of background deletions go first, where nothing else is against it.
    fn with_background(mut self, doomed: &Doomed<'_>) -> Families {
        let of = &self.groups.of;
        let pair = |edge: &(Node, Node, Relation)| (of[edge.0 as usize], of[edge.1 as usize]);
        let background = |edge: &(Node, Node, Relation)| {
            let (from, to) = pair(edge);
            edge.2 == Relation::Background && from != to
        };
        let weak: Vec<(Node, Node)> = doomed.edges.iter().filter(|edge| background(edge)).map(pair).collect();
        if weak.is_empty() {
            return self;
        }
        let dropped = settle(&self.kept, &Graph::new(self.kept.len(), &weak), false).dropped;
        for (edge, fate) in doomed.edges.iter().zip(&mut self.fates) {
            if background(edge) && dropped.contains(&pair(edge)) {
                *fate = Fate::Dropped;
            }
        }
        let weak = weak.into_iter().filter(|edge| !dropped.contains(edge));
        let kept: Vec<(Node, Node)> = self.kept.edges().chain(weak).collect();
        self.kept = Graph::new(self.kept.len(), &kept);
        self
    }
}

/// Whether the second is the head of a family that the first is in.
fn is_up(edge: &(Node, Node, Relation)) -> bool {
    !edge.2.is_hard() && edge.2 != Relation::Background
}

fn composed(circles: &Groups, groups: &Groups, count: usize) -> Groups {
    Groups { of: circles.of.iter().map(|circle| groups.of[*circle as usize]).collect(), count }
}

/// The same with ends. Nodes are the circles of hard edges and, behind them, one end for each circle of owners.
struct Ends {
    circles: Groups,
    rings: Components,
    strong: Vec<(Node, Node)>,
    weak: Vec<(Node, Node)>,
}

impl Ends {
    fn new(doomed: &Doomed<'_>, circles: Groups, hard: &Graph) -> Ends {
        let circle = |node: Node| circles.of[node as usize];
        let up = doomed.edges.iter().filter(|edge| is_up(edge)).map(|edge| (circle(edge.0), circle(edge.1)));
        let up: Vec<(Node, Node)> = up.filter(|(from, to)| from != to).collect();
        let rings = components(&Graph::new(circles.count, &up));
        let mut ends = Ends { circles, rings, strong: hard.edges().collect(), weak: Vec::new() };
        let heads: Vec<(Node, Node)> = hard.nodes().map(|node| (ends.end(node), node)).collect();
        ends.strong.extend(heads);
        for (from, to) in up {
            if ends.rings.of(from) == ends.rings.of(to) {
                ends.weak.push((from, to));
            } else {
                ends.strong.push((ends.end(from), ends.end(to)));
                ends.weak.push((from, ends.end(to)));
            }
        }
        ends
    }

    /// The end of the family whose head a circle is.
    fn end(&self, circle: Node) -> Node {
        u32::try_from(self.circles.count).unwrap_or(u32::MAX) + self.rings.of(circle)
    }

    fn settled(self, doomed: &Doomed<'_>) -> Families {
        let nodes = self.circles.count + self.rings.count();
        let settled = settle(&Graph::new(nodes, &self.strong), &Graph::new(nodes, &self.weak), true);
        let unit = |node: Node| settled.groups.of[node as usize];
        // Groups are numbered by their lowest nodes, so those of lives come before the ends.
        let lives = self.circles.of.iter().map(|circle| unit(*circle) as usize + 1).max().unwrap_or(0);
        let groups = composed(&self.circles, &settled.groups, lives);
        let all = settled.groups.between(self.strong.iter().chain(&self.weak).copied());
        let mut kept: Vec<(Node, Node)> =
            all.edges().filter(|edge| !settled.dropped.contains(edge)).collect();
        let mut growing = Growing::new(all.len(), kept.iter().copied());
        let mut fate = |edge: &(Node, Node, Relation)| {
            let (from, to) = (groups.of[edge.0 as usize], groups.of[edge.1 as usize]);
            let (low, high) = (self.circles.of[edge.0 as usize], self.circles.of[edge.1 as usize]);
            let direct = !is_up(edge) || self.rings.of(low) == self.rings.of(high);
            let stands = (from, if direct { to } else { unit(self.end(high)) });
            match () {
                () if from == to || !settled.dropped.contains(&stands) => Fate::Kept,
                () if !direct && growing.add(from, to) => {
                    kept.push((from, to));
                    Fate::Alone
                }
                () => Fate::Dropped,
            }
        };
        let fates: Vec<Fate> = doomed.edges.iter().map(&mut fate).collect();
        let parted =
            doomed.edges.iter().zip(&fates).filter(|(edge, fate)| is_up(edge) && **fate != Fate::Kept);
        let end = |life: Node| unit(self.end(self.circles.of[life as usize]));
        let parted = parted.map(|(edge, _)| (groups.of[edge.0 as usize], end(edge.1))).collect();
        let further = further(&all, lives, &mut growing, &parted);
        kept.extend(&further);
        let unit_of_end: Vec<Node> = self.circles.of.iter().map(|circle| unit(self.end(*circle))).collect();
        let members = Members::new(&groups, &unit_of_end);
        let more = members.pairs(&further);
        let barriers = members.barriers(doomed, &fates, &more);
        Families { kept: Graph::new(settled.groups.count, &kept), groups, fates, more, barriers }
    }
}

/// Who cannot go before its own owner may still go before the owner's owner: the edges that say so.
fn further(
    all: &Graph,
    lives: usize,
    growing: &mut Growing,
    parted: &BTreeSet<(Node, Node)>,
) -> Vec<(Node, Node)> {
    let is_end = |node: &&Node| (**node as usize) >= lives;
    let mut added = BTreeSet::new();
    for (head, end) in parted {
        let mut seen = BTreeSet::from([*end]);
        let mut ways: Vec<Node> = all.successors(*end).iter().filter(is_end).copied().collect();
        while let Some(end) = ways.pop() {
            if !seen.insert(end) || added.contains(&(*head, end)) {
                continue;
            }
            if growing.add(*head, end) {
                added.insert((*head, end));
            } else if !growing.is_exhausted() {
                ways.extend(all.successors(end).iter().filter(is_end));
            }
        }
    }
    added.into_iter().collect()
}

/// Which lives are behind the nodes.
struct Members<'a> {
    groups: &'a Groups,
    unit_of_end: &'a [Node],
    in_group: BTreeMap<Node, Vec<Node>>,
    headed: BTreeMap<Node, Vec<Node>>,
}

impl<'a> Members<'a> {
    fn new(groups: &'a Groups, unit_of_end: &'a [Node]) -> Members<'a> {
        let (mut in_group, mut headed): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) = Default::default();
        for ((life, group), end) in (0..).zip(&groups.of).zip(unit_of_end) {
            in_group.entry(*group).or_default().push(life);
            headed.entry(*end).or_default().push(life);
        }
        Members { groups, unit_of_end, in_group, headed }
    }

    /// Edges from groups to ends, as edges from each life to each head.
    fn pairs(&self, edges: &[(Node, Node)]) -> Vec<(Node, Node)> {
        let mut pairs = Vec::new();
        for (group, end) in edges {
            for first in self.in_group.get(group).into_iter().flatten() {
                pairs.extend(self.headed.get(end).into_iter().flatten().map(|second| (*first, *second)));
            }
        }
        pairs
    }

    /// Where a head does not go before its owner, its family still does: one barrier for each such family.
    fn barriers(&self, doomed: &Doomed<'_>, fates: &[Fate], more: &[(Node, Node)]) -> Vec<Barrier> {
        let end = |life: Node| self.unit_of_end[life as usize];
        let edges = || doomed.edges.iter().zip(fates).filter(|(edge, _)| is_up(edge));
        let parted: BTreeSet<(Node, Node)> = edges()
            .filter(|(_, fate)| **fate != Fate::Kept)
            .map(|(edge, _)| (end(edge.0), end(edge.1)))
            .collect();
        let heads: BTreeSet<Node> = edges()
            .map(|(edge, _)| (end(edge.0), end(edge.1)))
            .filter(|(a, b)| a != b)
            .map(|(_, b)| b)
            .collect();
        let families: BTreeSet<Node> =
            parted.iter().map(|(family, _)| *family).filter(|family| heads.contains(family)).collect();
        let numbers: BTreeMap<Node, usize> =
            families.iter().enumerate().map(|(at, end)| (*end, at)).collect();
        let mut barriers = vec![(BTreeSet::new(), BTreeSet::new(), Vec::new()); families.len()];
        let kept = edges().filter(|(_, fate)| **fate == Fate::Kept).map(|(edge, _)| (edge.0, edge.1));
        let apart = |first: Node, second: Node| {
            end(first) != end(second) && self.groups.of[first as usize] != self.groups.of[second as usize]
        };
        for (first, second) in kept.chain(more.iter().copied()).filter(|edge| apart(edge.0, edge.1)) {
            if let Some(at) = numbers.get(&end(second)) {
                barriers[*at].0.insert(first);
            }
        }
        for (family, above) in parted.iter().filter(|(family, _)| families.contains(family)) {
            barriers[numbers[family]].1.extend(self.headed.get(above).into_iter().flatten().copied());
            if let Some(at) = numbers.get(above).filter(|_| family != above) {
                barriers[*at].2.push(numbers[family]);
            }
        }
        let lives =
            |nodes: BTreeSet<Node>| nodes.into_iter().map(|node| doomed.lives[node as usize]).collect();
        let barrier =
            |(before, after, follows)| Barrier { before: lives(before), after: lives(after), follows };
        barriers.into_iter().map(barrier).collect()
    }
}
