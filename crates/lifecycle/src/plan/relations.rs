//! Who dies before whom, and why: the edges between those who die. Looks at them and their edges, and at those who live
//! on only where a destruction dependency leads through them.

use hashbrown::{HashMap, HashSet};

use super::Relation;
use crate::detect::Judgement;
use crate::graph::Node;
use crate::snapshot::{LifeId, Ownership, Snapshot};

/// Whom somebody who lives on leads to, for each who was asked.
type Through = HashMap<LifeId, Vec<Node>>;

/// Those who die, numbered by their keys, and the edges between them.
pub(super) struct Doomed<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) judgement: &'a Judgement,
    /// By key.
    pub(super) lives: Vec<LifeId>,
    numbers: HashMap<LifeId, Node>,
    /// The first dies before the second.
    pub(super) edges: Vec<(Node, Node, Relation)>,
}

impl<'a> Doomed<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, judgement: &'a Judgement) -> Doomed<'a> {
        let there = judgement.doomed.keys().copied().filter(|life| snapshot.contains(*life));
        let mut lives: Vec<LifeId> = there.collect();
        lives.sort_by(|a, b| snapshot.compare(*a, *b));
        let numbers = (0..).zip(&lives).map(|(number, life)| (*life, number)).collect();
        let mut doomed = Doomed { snapshot, judgement, lives, numbers, edges: Vec::new() };
        doomed.relate();
        doomed
    }

    fn relate(&mut self) {
        let holders = self
            .lives
            .iter()
            .any(|life| self.snapshot.is_namespace(*life) || self.snapshot.is_definition(*life));
        let (mut edges, mut through) = (Vec::new(), HashMap::new());
        for (node, life) in (0..).zip(&self.lives) {
            self.hard(node, *life, &mut through, &mut edges);
            self.owners(node, *life, &mut edges);
            if holders {
                self.contained(node, *life, &mut edges);
            }
        }
        self.edges = edges;
    }

    fn number(&self, life: LifeId) -> Option<Node> {
        self.numbers.get(&life).copied()
    }

    fn hard(&self, node: Node, life: LifeId, through: &mut Through, edges: &mut Vec<(Node, Node, Relation)>) {
        if !self.snapshot.subscriptions(life).is_empty() {
            let mut add = |target: Node| {
                if target != node {
                    edges.push((target, node, Relation::Subscription));
                }
            };
            for target in self.snapshot.targets_of(life) {
                match self.number(target) {
                    Some(target) => add(target),
                    None => {
                        let behind = through.entry(target).or_insert_with(|| self.behind(target));
                        behind.iter().copied().for_each(&mut add);
                    }
                }
            }
        }
        let class = self.snapshot.class_for(life).filter(|class| *class != life);
        edges.extend(class.and_then(|class| self.number(class)).map(|class| (node, class, Relation::Class)));
    }

    /// Those who die and on whom somebody who lives on depends, directly or through others who live on.
    fn behind(&self, stays: LifeId) -> Vec<Node> {
        let mut found = Vec::new();
        let (mut seen, mut left): (HashSet<LifeId>, _) = (HashSet::new(), vec![stays]);
        seen.insert(stays);
        while let Some(next) = left.pop() {
            for target in self.snapshot.targets_of(next) {
                match self.number(target) {
                    Some(target) => found.push(target),
                    None if seen.insert(target) => left.push(target),
                    None => {}
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn owners(&self, node: Node, life: LifeId, edges: &mut Vec<(Node, Node, Relation)>) {
        let seen = self.snapshot.life(life);
        for reference in &seen.owners {
            let Ownership::Valid(owner) = self.snapshot.ownership(seen, reference) else { continue };
            let Some(number) = self.number(owner).filter(|number| *number != node) else { continue };
            if self.judgement.goes_without(self.snapshot, owner, life) {
                continue;
            }
            edges.push(match self.judgement.follows(self.snapshot, life, owner) {
                true => (number, node, Relation::Background),
                false => (node, number, Relation::Owner),
            });
        }
    }

    fn contained(&self, node: Node, life: LifeId, edges: &mut Vec<(Node, Node, Relation)>) {
        let namespace = self.snapshot.namespace_life(life).and_then(|holder| self.number(holder));
        edges.extend(namespace.map(|holder| (node, holder, Relation::Namespace)));
        let definition = self.snapshot.definition_life(life).and_then(|holder| self.number(holder));
        let definition = definition.filter(|holder| *holder != node);
        edges.extend(definition.map(|holder| (node, holder, Relation::Definition)));
    }
}
