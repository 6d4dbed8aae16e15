//! Why each doomed life dies: the shortest chain to a root, of equal ones the first by key.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use sexton_model::{Policy, Uid};

use super::spread::{Pull, Spread, Start};
use super::{Cause, Detector, Finding, Roots};
use crate::snapshot::{LifeId, Ownership, Snapshot};

/// So far up a chain of marked owners the root is looked for when not everything is judged.
const FAR_ENOUGH: usize = 64;

/// The end of a chain as far as it is known.
struct Link {
    detector: Detector,
    cause: Cause,
    root: Uid,
    initiator: Option<String>,
}

/// The chains in the making.
pub(super) struct Chains<'a, 'b> {
    spread: &'b Spread<'a>,
    snapshot: &'a Snapshot,
    links: HashMap<LifeId, Link>,
    /// Those of the outermost layer that have somebody below them.
    layer: Vec<LifeId>,
    /// Those that follow a removal that was seen, unless a shorter chain explains them.
    after_removal: Vec<LifeId>,
}

impl<'a, 'b> Chains<'a, 'b> {
    pub(super) fn new(spread: &'b Spread<'a>, roots: Roots<'_>, starts: &[Start]) -> Chains<'a, 'b> {
        let (links, layer) = (HashMap::with_capacity(spread.doomed.len()), Vec::new());
        let after_removal = spread.after_removal.clone();
        let mut chains = Chains { spread, snapshot: spread.snapshot, links, layer, after_removal };
        for start in starts.iter().filter(|start| spread.doomed.contains_key(&start.life)) {
            chains.root(start.life, start.detector, start.cause.clone());
        }
        let given = match roots {
            Roots::These { lives, .. } => lives,
            _ => &[],
        };
        for life in given.iter().filter(|life| chains.snapshot.is_marked(**life)) {
            match chains.above(*life) {
                Some(cause) => chains.begin(*life, cause),
                None => chains.root(*life, Detector::Deleted, Cause::Asked),
            }
        }
        for (life, _) in spread.doomed.iter().filter(|(_, state)| state.marked) {
            if !chains.links.contains_key(life) {
                match chains.above(*life) {
                    None => chains.root(*life, Detector::Deleted, Cause::Asked),
                    Some(Cause::OwnersGone { .. }) => chains.after_removal.push(*life),
                    Some(_) => {}
                }
            }
        }
        chains
    }

    /// One finding for each doomed life.
    pub(super) fn findings(mut self) -> BTreeMap<LifeId, Finding> {
        self.step();
        self.after_removals();
        self.run();
        self.circles();
        self.outside();
        let doomed = &self.spread.doomed;
        let finding = |(life, link): (LifeId, Link)| {
            let Link { detector, cause, root, initiator } = link;
            let (policy, marked) = (doomed[&life].pull.policy(), doomed[&life].marked);
            (life, Finding { life, detector, cause, policy, marked, root, initiator })
        };
        self.links.into_iter().map(finding).collect()
    }

    /// What is marked and has no chain yet hangs on circles of marked owners: whoever was marked first began it.
    fn circles(&mut self) {
        for life in self.left().into_iter().filter(|life| self.snapshot.is_marked(*life)) {
            if self.links.contains_key(&life) {
                continue;
            }
            let (mut path, mut places, mut at) = (Vec::new(), HashMap::new(), life);
            let mut outside = None;
            while places.try_insert(at, path.len()).is_ok() {
                path.push(at);
                let cause = self.above(at);
                match cause.as_ref().and_then(Cause::life) {
                    Some(next) if self.links.contains_key(&next) => break,
                    Some(next) if self.spread.doomed.contains_key(&next) => at = next,
                    Some(_) => outside = cause,
                    None => break,
                }
            }
            let circle = &path[places.get(&at).copied().unwrap_or_default()..];
            let first = circle.iter().copied().min_by(|a, b| self.marked_before(*a, *b)).unwrap_or(life);
            match outside {
                Some(cause) => self.begin(first, cause),
                None => self.root(first, Detector::Deleted, Cause::Asked),
            }
            self.run();
            // Nobody is doomed without a finding, whatever the chain.
            self.root(life, Detector::Deleted, Cause::Asked);
            self.run();
        }
    }

    /// Those that follow from something that was not itself looked at.
    fn outside(&mut self) {
        for life in self.left() {
            if let Some(cause) = self.above(life)
                && !self.links.contains_key(&life)
            {
                self.begin(life, cause);
            }
        }
        self.run();
    }

    /// The doomed lives without a chain, in the order in which they were marked.
    fn left(&self) -> Vec<LifeId> {
        let doomed = self.spread.doomed.keys();
        let mut left: Vec<LifeId> = doomed.filter(|life| !self.links.contains_key(*life)).copied().collect();
        left.sort_by(|a, b| self.marked_before(*a, *b));
        left
    }

    fn marked_before(&self, a: LifeId, b: LifeId) -> Ordering {
        let when = |life: LifeId| self.snapshot.deleted(life).unwrap_or(i64::MAX);
        when(a).cmp(&when(b)).then_with(|| self.snapshot.compare(a, b))
    }

    fn root(&mut self, life: LifeId, detector: Detector, cause: Cause) {
        let mut initiator = self.snapshot.deleted_by(life).map(str::to_owned);
        let root = self.snapshot.uid(life);
        let (mut detector, mut cause) = (detector, cause);
        if let Some(accused) = self.snapshot.accusation(life).filter(|_| cause == Cause::Asked) {
            // What somebody accused is marked by now.
            (detector, cause) = (Detector::Accused, Cause::Accused { accused: accused.clone() });
        }
        if let Cause::Accused { accused } = &cause {
            initiator = initiator.or_else(|| accused.said.initiator.clone());
        }
        self.add(life, Link { detector, cause, root, initiator });
    }

    fn add(&mut self, life: LifeId, link: Link) {
        if self.links.try_insert(life, link).is_ok() && self.has_below(life) {
            self.layer.push(life);
        }
    }

    fn has_below(&self, life: LifeId) -> bool {
        let snapshot = self.snapshot;
        snapshot.is_referenced(life) || snapshot.is_namespace(life) || snapshot.is_definition(life)
    }

    fn run(&mut self) {
        while !self.layer.is_empty() {
            self.step();
        }
    }

    /// One layer further.
    fn step(&mut self) {
        let snapshot = self.snapshot;
        let mut layer = std::mem::take(&mut self.layer);
        layer.sort_by(|a, b| snapshot.compare(*a, *b));
        for above in layer {
            for dependent in snapshot.valid_dependents(above) {
                if self.condemns(above, dependent) {
                    self.extend(above, dependent, Cause::OwnerDoomed { owner: above });
                }
            }
            let namespace = snapshot.is_namespace(above);
            for member in snapshot.contents(above) {
                let cause = match namespace {
                    true => Cause::InNamespace { namespace: above },
                    false => Cause::OfDefinition { definition: above },
                };
                if self.takes(above, member) {
                    self.extend(above, member, cause);
                }
            }
        }
    }

    fn extend(&mut self, above: LifeId, below: LifeId, cause: Cause) {
        if self.links.contains_key(&below) {
            return;
        }
        let link = &self.links[&above];
        let own = self.snapshot.deleted_by(below).map(str::to_owned);
        let initiator = own.or_else(|| link.initiator.clone());
        let link = Link { detector: Detector::Cascade, cause, root: link.root.clone(), initiator };
        self.add(below, link);
    }

    /// Whether an owner's death is a reason for a dependent's.
    fn condemns(&self, owner: LifeId, dependent: LifeId) -> bool {
        let Some(state) = self.spread.doomed.get(&dependent) else { return false };
        let pull = self.spread.pull(owner);
        if state.marked {
            // Whoever is not marked yet cannot be why somebody else is.
            return pull.goes() && self.snapshot.is_marked(owner);
        }
        let tally = self.spread.tallies.get(&dependent).copied().unwrap_or_default();
        // Who has an owner that lives on dies for another reason, unless a cascade takes it.
        let strong = if tally.by_cascade { pull == Pull::Cascade } else { pull.goes() && tally.keepers == 0 };
        strong && self.spread.approvals.of(self.snapshot, owner).is_none()
    }

    /// Whether the death of a namespace or a definition is a reason for a member's.
    fn takes(&self, container: LifeId, member: LifeId) -> bool {
        let Some(state) = self.spread.doomed.get(&member) else { return false };
        if state.marked {
            return self.snapshot.is_marked(container);
        }
        let other = self.spread.tallies.get(&member).is_some_and(|tally| tally.by_cascade);
        let approved = || self.spread.approvals.of(self.snapshot, container).is_some();
        !other && (self.snapshot.is_event(member) || !approved())
    }

    /// Those that follow a removal that was seen.
    fn after_removals(&mut self) {
        for life in std::mem::take(&mut self.after_removal) {
            if self.links.contains_key(&life) || !self.spread.doomed.contains_key(&life) {
                continue;
            }
            let tally = self.spread.tallies.get(&life).copied().unwrap_or_default();
            if !tally.by_cascade
                && tally.keepers == 0
                && let Some(cause) = self.removed(life)
            {
                self.begin(life, cause);
            }
        }
    }

    /// The owners of a life whose removal was seen, unless one is there that may explain it better.
    fn removed(&self, life: LifeId) -> Option<Cause> {
        let (mut uids, mut any_seen, mut others) = (Vec::new(), false, false);
        for (reference, owner) in self.snapshot.ownerships(life) {
            match owner {
                Ownership::Absent { seen } => {
                    any_seen |= seen;
                    uids.push(reference.uid);
                }
                _ => others = true,
            }
        }
        let explains = any_seen && !(others && self.snapshot.is_marked(life));
        let uids = || uids.into_iter().map(|id| self.snapshot.uid_of(id)).collect();
        explains.then(|| Cause::OwnersGone { uids: uids() })
    }

    /// The marked life, or the removal, from which a life follows directly. Of several the first by key.
    fn above(&self, life: LifeId) -> Option<Cause> {
        let snapshot = self.snapshot;
        let owners = snapshot.owner_lives(life).filter(|owner| *owner != life && self.condemns(*owner, life));
        let owner = owners.min_by(|a, b| snapshot.compare(*a, *b));
        let [namespace, definition] =
            self.snapshot.marked_around(life).map(|one| one.filter(|one| self.takes(*one, life)));
        owner
            .map(|owner| Cause::OwnerDoomed { owner })
            .or(namespace.map(|namespace| Cause::InNamespace { namespace }))
            .or(definition.map(|definition| Cause::OfDefinition { definition }))
            .or_else(|| self.removed(life))
    }

    /// Begins a chain at a life that follows from something outside of it.
    fn begin(&mut self, life: LifeId, cause: Cause) {
        let snapshot = self.snapshot;
        let mut initiator = snapshot.deleted_by(life).map(str::to_owned);
        let (mut at, mut next, mut root) = (life, Some(cause.clone()), snapshot.uid(life));
        for _ in 0..FAR_ENOUGH {
            let above = match next {
                Some(Cause::OwnersGone { uids }) => {
                    let (gone, by) = self.first_seen(at, uids);
                    root = gone;
                    initiator = initiator.or(by);
                    break;
                }
                Some(cause) => cause.life(),
                None => break,
            };
            let Some(above) = above else { break };
            root = snapshot.uid(above);
            initiator = initiator.or_else(|| snapshot.deleted_by(above).map(str::to_owned));
            (at, next) = (above, self.above_marked(above));
        }
        self.add(life, Link { detector: Detector::Cascade, cause, root, initiator });
    }

    fn above_marked(&self, life: LifeId) -> Option<Cause> {
        let snapshot = self.snapshot;
        let taking = |owner: &LifeId| {
            let policy = if snapshot.is_marked(*owner) { snapshot.policy(*owner) } else { None };
            matches!(policy, Some(Policy::Cascade | Policy::Foreground))
        };
        let owner = snapshot.owner_lives(life).filter(taking).min_by(|a, b| snapshot.compare(*a, *b));
        owner.map(|owner| Cause::OwnerDoomed { owner })
    }

    /// Of removed owners the first by uid whose removal was seen, and who asked for it.
    fn first_seen(&self, life: LifeId, uids: Vec<Uid>) -> (Uid, Option<String>) {
        let seen = uids.iter().filter(|uid| self.snapshot.was_removed(uid)).min();
        let by = seen.and_then(|uid| self.snapshot.removed_by(uid)).map(str::to_owned);
        (seen.cloned().unwrap_or_else(|| self.snapshot.uid(life)), by)
    }
}
