//! What a judgement should say, computed from the whole world again and again until nothing changes.
//!
//! It shares nothing with the code under test but the observations: no index, no work list, no count.

use std::collections::{BTreeMap, BTreeSet};

use sexton_lifecycle::{Observation, OwnerRef};

use crate::common::{Event, kind};

/// The world as it is: existing objects, and removals that were seen.
#[derive(Debug, Default)]
pub struct Naive {
    pub nodes: BTreeMap<String, Observation>,
    pub gone: BTreeMap<String, Observation>,
}

/// Doomed objects with their policies, lost references, excluded objects.
#[derive(Debug, Default, PartialEq)]
pub struct Expected {
    pub doomed: BTreeMap<String, &'static str>,
    pub strips: BTreeMap<String, Vec<String>>,
    pub held: BTreeSet<String>,
    pub unknown: BTreeSet<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Owner {
    Valid,
    Invalid,
    Followed,
    LeftBehind,
    Absent,
    Unknown,
}

const RANKS: [&str; 5] = ["", "Orphan", "Background", "Foreground", "Cascade"];

impl Naive {
    /// Keeps the newest of each object; an object that was seen to go stays gone.
    pub fn new(events: &[Event]) -> Naive {
        let mut naive = Naive::default();
        for event in events {
            if let Event::Put(seen) = event {
                let known = naive.nodes.get(&seen.uid.0).map(|known| known.revision);
                if known.is_none_or(|known| known < seen.revision) {
                    naive.nodes.insert(seen.uid.0.clone(), (**seen).clone());
                }
            }
        }
        for event in events {
            if let Event::Gone(uid, ..) = event
                && let Some(last) = naive.nodes.remove(&uid.0)
            {
                naive.gone.insert(uid.0.clone(), last);
            }
        }
        naive
    }

    fn recorded(seen: &Observation) -> usize {
        let has = |name: &str| seen.finalizers.iter().any(|finalizer| finalizer == name);
        match () {
            () if has("orphan") => 1,
            () if has("cascade_deletion") => 4,
            () if has("foregroundDeletion") => 3,
            () => 0,
        }
    }

    fn fits(seen: &Observation, reference: &OwnerRef, owner: &Observation) -> bool {
        let near = owner.key.namespace.is_empty() || owner.key.namespace == seen.key.namespace;
        near && (&reference.group, &reference.kind, &reference.name)
            == (&owner.key.kind.group, &owner.kind, &owner.key.name)
    }

    fn owner(&self, seen: &Observation, reference: &OwnerRef) -> Owner {
        if let Some(owner) = self.nodes.get(&reference.uid.0) {
            return if Self::fits(seen, reference, owner) { Owner::Valid } else { Owner::Invalid };
        }
        match self.gone.get(&reference.uid.0) {
            Some(owner) if Self::fits(seen, reference, owner) => {
                let left = owner.terminating_since.is_some() && Self::recorded(owner) == 1;
                return if left { Owner::LeftBehind } else { Owner::Followed };
            }
            _ => {}
        }
        let taken = self.nodes.values().any(|other| Self::fits(seen, reference, other));
        if taken || reference.kind != kind("mystery").1 { Owner::Absent } else { Owner::Unknown }
    }

    /// The namespace that an object is in, if that is doomed.
    fn around(&self, seen: &Observation, doomed: &BTreeMap<String, usize>) -> Option<String> {
        let namespace = format!("ns/{}", seen.key.namespace);
        doomed.contains_key(&namespace).then_some(namespace)
    }

    fn pull(&self, owner: &str, doomed: &BTreeMap<String, usize>) -> usize {
        let seen = &self.nodes[owner];
        let dying = doomed.get(owner).copied().unwrap_or_default();
        if seen.terminating_since.is_some() { Self::recorded(seen) } else { dying }
    }

    /// Approved objects: those that say so, and the terminating ones that follow them.
    fn approved(&self) -> BTreeSet<String> {
        let is_terminating = |seen: &&Observation| seen.terminating_since.is_some();
        let says = self.nodes.values().filter(is_terminating).filter(|seen| seen.approved.is_some());
        let mut approved: BTreeSet<String> = says.map(|seen| seen.uid.0.clone()).collect();
        loop {
            let before = approved.len();
            for seen in self.nodes.values().filter(is_terminating) {
                let follows = seen.owners.iter().any(|reference| {
                    self.owner(seen, reference) == Owner::Valid
                        && approved.contains(&reference.uid.0)
                        && Self::recorded(&self.nodes[&reference.uid.0]) > 2
                });
                if follows || approved.contains(&format!("ns/{}", seen.key.namespace)) {
                    approved.insert(seen.uid.0.clone());
                }
            }
            if approved.len() == before {
                return approved;
            }
        }
    }

    /// With what rank an object that is not marked would die, counting the approved ones or not; and whether it is
    /// kept.
    fn verdict(
        &self,
        seen: &Observation,
        doomed: &BTreeMap<String, usize>,
        approved: &BTreeSet<String>,
    ) -> (usize, bool) {
        let (mut kept, mut pulls) = (false, vec![]);
        for reference in &seen.owners {
            match self.owner(seen, reference) {
                Owner::Valid => match self.pull(&reference.uid.0, doomed) {
                    0 | 1 => kept = true,
                    _ if approved.contains(&reference.uid.0) => {}
                    rank => pulls.push(rank),
                },
                Owner::Followed => pulls.push(2),
                Owner::LeftBehind | Owner::Unknown => kept = true,
                Owner::Absent | Owner::Invalid => {}
            }
        }
        let around = self.around(seen, doomed).is_some_and(|around| !approved.contains(&around));
        let mut rank = if around { 2 } else { 0 };
        if pulls.contains(&4) {
            rank = 4;
        } else if !kept && !pulls.is_empty() {
            let named = self.nodes.values().flat_map(|other| &other.owners).any(|one| one.uid == seen.uid);
            let own = match Self::recorded(seen) {
                _ if pulls.contains(&3) && named => 3,
                1 => 1,
                3 => 3,
                _ => 2,
            };
            rank = rank.max(own);
        }
        (rank, kept)
    }

    pub fn judge(&self) -> Expected {
        let approved = self.approved();
        let mut doomed: BTreeMap<String, usize> = BTreeMap::new();
        for (uid, seen) in &self.nodes {
            if seen.terminating_since.is_some() {
                doomed.insert(uid.clone(), Self::recorded(seen));
            }
        }
        let mut held = BTreeSet::new();
        loop {
            let mut changed = false;
            for (uid, seen) in self.nodes.iter().filter(|(_, seen)| seen.terminating_since.is_none()) {
                let (rank, _) = self.verdict(seen, &doomed, &approved);
                if rank == 0 || doomed.get(uid).is_some_and(|known| *known >= rank) {
                    continue;
                }
                if seen.protect.is_some() {
                    held.insert(uid.clone());
                } else {
                    doomed.insert(uid.clone(), rank);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let mut said = Expected { held, ..Expected::default() };
        for (uid, seen) in self.nodes.iter().filter(|(uid, _)| !doomed.contains_key(*uid)) {
            self.survivor(uid, seen, &doomed, &approved, &mut said);
        }
        let named = |(uid, rank): (String, usize)| (uid, RANKS[if rank == 0 { 2 } else { rank }]);
        said.doomed = doomed.into_iter().map(named).collect();
        said
    }

    fn survivor(
        &self,
        uid: &str,
        seen: &Observation,
        doomed: &BTreeMap<String, usize>,
        approved: &BTreeSet<String>,
        said: &mut Expected,
    ) {
        let (mut released, mut dying, mut unknown) = (vec![], vec![], vec![]);
        let (mut solid, mut pulled, mut cascade) = (false, false, false);
        for reference in &seen.owners {
            let name = reference.uid.0.clone();
            match self.owner(seen, reference) {
                Owner::Valid => match self.pull(&name, doomed) {
                    0 => solid = true,
                    1 => released.push(name),
                    rank => {
                        pulled = true;
                        cascade |= rank == 4;
                        dying.push(name);
                    }
                },
                Owner::Followed => {
                    pulled = true;
                    dying.push(name);
                }
                Owner::LeftBehind => released.push(name),
                Owner::Absent => dying.push(name),
                Owner::Unknown => unknown.push(name),
                Owner::Invalid => {}
            }
        }
        let around = self.around(seen, doomed).is_some_and(|around| approved.contains(&around));
        let kept = solid || !released.is_empty();
        // An owner that was approved without this object has to wait for it, if the object would follow otherwise.
        let spared =
            (around || cascade || (pulled && !kept && unknown.is_empty())) && !said.held.contains(uid);
        if spared {
            said.held.insert(uid.to_owned());
        }
        if pulled || around || !released.is_empty() || said.held.contains(uid) {
            said.unknown.extend(unknown.into_iter().map(|name| (uid.to_owned(), name)));
        }
        if kept && pulled && !cascade {
            released.append(&mut dying);
        }
        released.sort();
        released.dedup();
        if !released.is_empty() {
            said.strips.insert(uid.to_owned(), released);
        }
    }
}
