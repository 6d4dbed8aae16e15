//! Whose deletion was approved with a plan: dependents that were not in it are not followed.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;
use sexton_model::Policy;

use super::Roots;
use crate::snapshot::{LifeId, Snapshot};

/// From marked lives to the digest of the plan in which they were approved, themselves or what they follow.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    digests: Vec<String>,
    by_life: HashMap<LifeId, usize>,
}

impl Approvals {
    /// The digest, if there is one.
    pub(super) fn of<'a>(&'a self, snapshot: &'a Snapshot, life: LifeId) -> Option<&'a str> {
        let found = self.by_life.get(&life).map(|digest| self.digests[*digest].as_str());
        found.or_else(|| snapshot.approved(life).filter(|_| snapshot.is_marked(life)))
    }
}

/// Finds all that matter. A life that follows several approved ones gets the first of their digests.
pub(super) fn find(snapshot: &Snapshot, roots: Roots<'_>) -> Approvals {
    match roots {
        Roots::All => everywhere(snapshot),
        Roots::These { lives, .. } => nearby(snapshot, lives),
        Roots::None => Approvals::default(),
    }
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
            let takes = matches!(snapshot.policy(life), Some(Policy::Cascade | Policy::Foreground));
            let dependents = takes.then(|| snapshot.valid_dependents(life)).into_iter().flatten();
            for below in dependents.chain(snapshot.contents(life)).filter(|life| snapshot.is_marked(*life)) {
                if found.by_life.try_insert(below, number).is_ok() {
                    work.push_back(below);
                }
            }
        }
    }
    found
}

/// For lives by themselves: the approval of whom they follow directly.
fn nearby(snapshot: &Snapshot, lives: &[LifeId]) -> Approvals {
    let mut found = Approvals::default();
    for life in lives.iter().filter(|life| snapshot.is_marked(**life)) {
        let around = [snapshot.namespace_life(*life), snapshot.definition_life(*life)];
        let above = snapshot.owner_lives(*life).chain(around.into_iter().flatten());
        let inherited = above.filter(|above| snapshot.is_marked(*above));
        let inherited = inherited.filter_map(|above| snapshot.approved(above)).min();
        if let Some(digest) = snapshot.approved(*life).or(inherited) {
            found.digests.push(digest.to_owned());
            found.by_life.insert(*life, found.digests.len() - 1);
        }
    }
    found
}
