//! From lives that were found to be garbage to a judgement: each with the reason that explains it best.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashSet;
use sexton_model::{Policy, Uid};

use super::{Cause, Detector, Finding, Hold, Judgement, Settings, WhyHeld};
use crate::snapshot::{LifeId, Snapshot};

/// How they were found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found {
    Unreachable,
    Removed,
}

/// Nobody else dies for that, nobody who is destroyed already, and nobody who is protected.
pub(super) fn condemned(
    snapshot: &Snapshot,
    lives: &[LifeId],
    found: Found,
    settings: &Settings,
) -> Judgement {
    let (mut doomed, mut holds) = (HashSet::with_capacity(lives.len()), Vec::new());
    let mut order: Vec<LifeId> = Vec::with_capacity(lives.len());
    let there = lives.iter().filter(|life| snapshot.contains(**life) && !snapshot.is_destroyed(**life));
    for life in there.copied() {
        match settings.protection.of(snapshot, life) {
            Some(why) => holds.push(Hold { life, keeps: None, why: WhyHeld::Protected(why) }),
            None if doomed.insert(life) => order.push(life),
            None => {}
        }
    }
    order.sort_by(|a, b| snapshot.compare(*a, *b));
    holds.sort_by(|a, b| snapshot.compare(a.life, b.life));
    holds.dedup();
    let mut followers = Followers { snapshot, doomed, found, findings: BTreeMap::new() };
    let owned = |life: &LifeId| snapshot.owner_lives(*life).any(|owner| followers.doomed.contains(&owner));
    let (below, heads): (Vec<LifeId>, Vec<LifeId>) = order.into_iter().partition(owned);
    heads.into_iter().for_each(|life| followers.root(life));
    // What is left hangs on circles of owners: the first of each begins it.
    below.into_iter().for_each(|life| followers.root(life));
    Judgement { doomed: followers.findings, holds, ..Judgement::default() }
}

struct Followers<'a> {
    snapshot: &'a Snapshot,
    doomed: HashSet<LifeId>,
    found: Found,
    findings: BTreeMap<LifeId, Finding>,
}

impl Followers<'_> {
    /// A life that follows nobody, with all that follow it; nothing if it follows somebody.
    fn root(&mut self, life: LifeId) {
        if self.findings.contains_key(&life) {
            return;
        }
        let root = self.snapshot.uid(life);
        let (detector, cause) = match self.found {
            Found::Unreachable => (Detector::Unreachable, Cause::Unreachable),
            Found::Removed => (Detector::Removed, Cause::Removed),
        };
        self.add(life, detector, cause, &root);
        let mut work = VecDeque::from([life]);
        while let Some(owner) = work.pop_front() {
            for dependent in self.snapshot.valid_dependents(owner) {
                if self.doomed.contains(&dependent) && !self.findings.contains_key(&dependent) {
                    self.add(dependent, Detector::Cascade, Cause::OwnerDoomed { owner }, &root);
                    work.push_back(dependent);
                }
            }
        }
    }

    fn add(&mut self, life: LifeId, detector: Detector, cause: Cause, root: &Uid) {
        let (policy, root) = (Policy::Cascade, root.clone());
        let finding = Finding { life, detector, cause, policy, marked: false, root, initiator: None };
        self.findings.insert(life, finding);
    }
}
