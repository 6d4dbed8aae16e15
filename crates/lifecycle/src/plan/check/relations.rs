//! Who must die before whom, derived from the side of those who go later.

use hashbrown::{HashMap, HashSet};
use sexton_model::Policy;

use super::super::{DroppedEdge, Plan, Relation};
use crate::detect::{Cause, Judgement};
use crate::snapshot::{LifeId, Snapshot};

/// The first has to die before the second.
pub(super) type Edge = DroppedEdge;

/// All edges between those who die.
pub(super) fn edges(snapshot: &Snapshot, judgement: &Judgement, plan: &Plan) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut add = |first: LifeId, second: LifeId, relation| {
        if first != second && judgement.dooms(first) && judgement.dooms(second) {
            edges.push(Edge { first, second, relation });
        }
    };
    let mut roots = Roots { judgement, known: HashMap::new() };
    for life in plan.steps().map(|step| step.life) {
        for (subscriber, _) in snapshot.subscribers_of(life) {
            add(life, subscriber, Relation::Subscription);
        }
        if let Some(class) = snapshot.class_for(life) {
            add(life, class, Relation::Class);
        }
        for (dependent, _) in snapshot.dependents(life) {
            if roots.is_root(life) && roots.of(dependent).is_some() {
                add(life, dependent, Relation::Background);
            } else {
                add(dependent, life, Relation::Owner);
            }
        }
        if let Some(root) = roots.of(life) {
            add(root, life, Relation::Background);
        }
        let relation = if snapshot.is_namespace(life) { Relation::Namespace } else { Relation::Definition };
        for content in snapshot.contents(life) {
            add(content, life, relation);
        }
    }
    let mut once = HashSet::with_capacity(edges.len());
    edges.retain(|edge| once.insert(*edge));
    edges
}

/// Which background deletion a life follows, over owners only.
struct Roots<'a> {
    judgement: &'a Judgement,
    known: HashMap<LifeId, Option<LifeId>>,
}

impl Roots<'_> {
    fn is_root(&self, life: LifeId) -> bool {
        let finding = self.judgement.doomed.get(&life);
        finding.is_some_and(|finding| finding.policy == Policy::Background && finding.cause == Cause::Asked)
    }

    /// Goes up from cause to cause; what was found is remembered for everybody on the way.
    fn of(&mut self, life: LifeId) -> Option<LifeId> {
        let mut way = Vec::new();
        let mut at = life;
        let root = loop {
            if let Some(known) = self.known.get(&at) {
                break *known;
            }
            // Until it is known better; so a circle of causes ends, too.
            self.known.insert(at, None);
            way.push(at);
            match self.judgement.doomed.get(&at).map(|finding| &finding.cause) {
                Some(Cause::OwnerDoomed { owner }) if self.is_root(*owner) => break Some(*owner),
                Some(Cause::OwnerDoomed { owner }) => at = *owner,
                _ => break None,
            }
        };
        way.into_iter().for_each(|passed| _ = self.known.insert(passed, root));
        root
    }
}
