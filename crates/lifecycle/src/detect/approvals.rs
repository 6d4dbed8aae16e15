//! Whose deletion was approved with a plan: dependents that were not in it are not followed.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::{HashMap, HashSet};
use sexton_model::Policy;

use super::Roots;
use crate::snapshot::{LifeId, Snapshot};

/// So many marked lives above one are asked when not everything is judged.
const FAR_ENOUGH: usize = 256;

/// From marked lives to the digest of the plan in which they were approved, themselves or what they follow.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    digests: Vec<String>,
    by_life: HashMap<LifeId, usize>,
    /// Whether only the lives above each one are asked, when somebody wants to know.
    one_by_one: bool,
}

impl Approvals {
    /// The digest, if there is one.
    pub(super) fn of<'a>(&'a self, snapshot: &'a Snapshot, life: LifeId) -> Option<&'a str> {
        if !snapshot.is_marked(life) || !snapshot.any_approved() {
            return None;
        }
        match self.by_life.get(&life) {
            Some(digest) => Some(&self.digests[*digest]),
            None if self.one_by_one => above(snapshot, life),
            None => snapshot.approved(life),
        }
    }
}

/// Finds all that matter. A life that follows several approved ones gets the first of their digests.
pub(super) fn find(snapshot: &Snapshot, roots: Roots<'_>) -> Approvals {
    match roots {
        _ if !snapshot.any_approved() => Approvals::default(),
        Roots::All => everywhere(snapshot),
        Roots::These { .. } | Roots::None => Approvals { one_by_one: true, ..Approvals::default() },
    }
}

/// One's own approval, or that of the nearest marked life from which one's own death follows.
fn above(snapshot: &Snapshot, life: LifeId) -> Option<&str> {
    let (mut seen, mut layer): (HashSet<LifeId>, _) = (HashSet::from([life]), vec![life]);
    while !layer.is_empty() && seen.len() < FAR_ENOUGH {
        if let Some(digest) = layer.iter().filter_map(|life| snapshot.approved(*life)).min() {
            return Some(digest);
        }
        let mut next = Vec::new();
        for life in layer {
            let owners = snapshot.owner_lives(life).filter(|owner| takes(snapshot, *owner));
            let around = snapshot.marked_around(life).into_iter().flatten();
            next.extend(owners.chain(around).filter(|above| seen.insert(*above)));
        }
        layer = next;
    }
    None
}

/// Whether a life is marked in such a way that its dependents die with it.
fn takes(snapshot: &Snapshot, life: LifeId) -> bool {
    let policy = if snapshot.is_marked(life) { snapshot.policy(life) } else { None };
    matches!(policy, Some(Policy::Cascade | Policy::Foreground))
}

fn everywhere(snapshot: &Snapshot) -> Approvals {
    let mut sources: BTreeMap<&str, Vec<LifeId>> = BTreeMap::new();
    for life in snapshot.marked() {
        if let Some(digest) = snapshot.approved(life) {
            sources.entry(digest).or_default().push(life);
        }
    }
    let mut found = Approvals::default();
    for (number, (digest, lives)) in sources.iter().enumerate() {
        found.digests.push((*digest).to_owned());
        lives.iter().for_each(|life| _ = found.by_life.insert(*life, number));
    }
    for (number, lives) in sources.into_values().enumerate() {
        let mut work = VecDeque::from(lives);
        while let Some(life) = work.pop_front() {
            let dependents = takes(snapshot, life).then(|| snapshot.valid_dependents(life));
            let dependents = dependents.into_iter().flatten();
            for below in dependents.chain(snapshot.contents(life)).filter(|life| snapshot.is_marked(*life)) {
                if found.by_life.try_insert(below, number).is_ok() {
                    work.push_back(below);
                }
            }
        }
    }
    found
}
