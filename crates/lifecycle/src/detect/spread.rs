//! The least fixpoint: from the roots outwards, with a list of work and a count of what keeps each life.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};
use sexton_model::{Policy, Uid};

use super::approvals::{self, Approvals};
use super::{Cause, DeletionScope, Detector, Roots, Settings, WhyHeld};
use crate::protect::Protection;
use crate::snapshot::{LifeId, Ownership, Snapshot};

/// A life that is taken to be deleted though it is not marked.
pub(super) struct Start {
    pub(super) life: LifeId,
    pub(super) policy: Policy,
    pub(super) detector: Detector,
    pub(super) cause: Cause,
}

/// How strongly a dying life pulls its dependents along. The policies in ascending order of what they destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pull {
    /// Not at all: it does not die, or is held and nobody follows before it is gone.
    None,
    Orphan,
    Background,
    Foreground,
    Cascade,
}

impl Pull {
    pub(super) fn of(policy: Policy) -> Pull {
        match policy {
            Policy::Orphan => Pull::Orphan,
            Policy::Background => Pull::Background,
            Policy::Foreground => Pull::Foreground,
            Policy::Cascade => Pull::Cascade,
        }
    }

    pub(super) fn policy(self) -> Policy {
        match self {
            Pull::None | Pull::Background => Policy::Background,
            Pull::Orphan => Policy::Orphan,
            Pull::Foreground => Policy::Foreground,
            Pull::Cascade => Policy::Cascade,
        }
    }

    /// Whether an owner like this no longer keeps its dependents.
    pub(super) fn goes(self) -> bool {
        self > Pull::Orphan
    }
}

/// A doomed life.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    pub(super) pull: Pull,
    pub(super) marked: bool,
    /// What its dependents have been told of its pull.
    told: Pull,
}

/// What is known of a life that something pulls at, and that is not marked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    /// References to owners that keep it, or may.
    pub(super) keepers: u32,
    /// By an owner, or by the removal of one.
    pub(super) pulled: bool,
    pub(super) by_foreground: bool,
    pub(super) by_cascade: bool,
    /// By its namespace or its definition.
    pub(super) contained: bool,
    /// The same, by somebody whose deletion was approved without this life. Only names who has to wait.
    pub(super) unapproved: bool,
    /// An owner leaves it behind.
    pub(super) released: bool,
    /// It names an owner whose removal was seen.
    pub(super) by_removal: bool,
    /// It has references that are not what they say.
    pub(super) misled: bool,
}

/// What becomes of a marked life that is reached.
#[derive(Debug, Clone, Copy)]
enum Reached {
    /// It is among the roots, and followed as such.
    IsFollowed,
    /// It is named: it was looked at before.
    Name,
    /// It is followed, because nothing else does.
    Follow,
}

/// The fixpoint in the making.
pub(super) struct Spread<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) protection: &'a Protection,
    scope: &'a DeletionScope,
    /// The lives of the scope that are there, if it does not have all.
    scoped: Option<HashSet<LifeId>>,
    /// What becomes of a marked life that is reached.
    reached: Reached,
    pub(super) approvals: Approvals,
    pub(super) doomed: HashMap<LifeId, State>,
    pub(super) tallies: HashMap<LifeId, Tally>,
    pub(super) held: HashMap<LifeId, WhyHeld>,
    /// Lives with references to a doomed life that are not what they say.
    pub(super) misled: HashSet<LifeId>,
    /// Lives that were looked at and name an owner whose removal was seen.
    pub(super) after_removal: Vec<LifeId>,
    work: VecDeque<LifeId>,
}

impl<'a> Spread<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, roots: Roots<'_>, settings: &'a Settings) -> Spread<'a> {
        let scoped = match &settings.scope {
            DeletionScope::All => None,
            DeletionScope::Only(uids) => Some(uids.iter().filter_map(|uid| snapshot.get(uid)).collect()),
        };
        let mut spread = Spread {
            snapshot,
            protection: &settings.protection,
            scope: &settings.scope,
            scoped,
            reached: match roots {
                Roots::All => Reached::IsFollowed,
                Roots::These { .. } => Reached::Name,
                Roots::None => Reached::Follow,
            },
            approvals: approvals::find(snapshot, roots),
            doomed: HashMap::new(),
            tallies: HashMap::new(),
            held: HashMap::new(),
            misled: HashSet::new(),
            after_removal: Vec::new(),
            work: VecDeque::new(),
        };
        match roots {
            Roots::All => {
                let marked: Vec<LifeId> =
                    snapshot.marked().filter(|life| spread.is_in_scope(*life)).collect();
                marked.into_iter().for_each(|life| spread.follow(life));
                let missed = snapshot.missed_ids().flat_map(|id| snapshot.all_dependents(id));
                missed.for_each(|dependent| spread.look(dependent));
            }
            Roots::These { lives, gone } => {
                let (marked, others): (Vec<LifeId>, Vec<LifeId>) =
                    lives.iter().partition(|life| snapshot.is_marked(**life));
                let marked: Vec<LifeId> =
                    marked.into_iter().filter(|life| spread.is_in_scope(*life)).collect();
                marked.into_iter().for_each(|life| spread.follow(life));
                let missed = gone.iter().flat_map(|uid| snapshot.dependents_of(uid));
                others.into_iter().chain(missed).for_each(|life| spread.look(life));
            }
            Roots::None => {}
        }
        spread
    }

    /// Takes a life to be deleted.
    pub(super) fn start(&mut self, start: &Start) {
        let (life, marked) = (start.life, self.snapshot.is_marked(start.life));
        let recorded = if marked { self.snapshot.policy(life) } else { None };
        let protected = if marked { None } else { self.protection.of(self.snapshot, life) };
        match protected {
            Some(why) => _ = self.held.insert(life, WhyHeld::Protected(why)),
            None if !self.may_doom(life) => {}
            None => self.doom(life, Pull::of(recorded.unwrap_or(start.policy)), marked),
        }
    }

    /// Works until nothing changes any more.
    pub(super) fn run(&mut self) {
        while let Some(life) = self.work.pop_front() {
            let Some(state) = self.doomed.get_mut(&life) else { continue };
            let (before, now) = (state.told, state.pull);
            state.told = now;
            self.tell_dependents(life, before, now);
            self.tell_contents(life);
        }
    }

    /// How a life pulls at its dependents, as far as they have been told. A marked life's pull never changes.
    pub(super) fn pull(&self, life: LifeId) -> Pull {
        match self.doomed.get(&life) {
            Some(state) => state.told.max(self.recorded(life)),
            None => self.recorded(life),
        }
    }

    fn approved(&self, life: LifeId) -> bool {
        self.approvals.of(self.snapshot, life).is_some()
    }

    fn recorded(&self, life: LifeId) -> Pull {
        if !self.snapshot.is_marked(life) {
            return Pull::None;
        }
        self.snapshot.policy(life).map_or(Pull::None, Pull::of)
    }

    fn doom(&mut self, life: LifeId, pull: Pull, marked: bool) {
        let state = self.doomed.entry(life).or_insert(State { pull: Pull::None, marked, told: Pull::None });
        if state.pull < pull {
            state.pull = pull;
            self.work.push_back(life);
        }
    }

    /// A marked life whose dependents are to be looked at.
    fn follow(&mut self, life: LifeId) {
        let pull = self.recorded(life);
        self.doom(life, pull, true);
        if pull == Pull::None && self.has_contents(life) {
            self.work.push_back(life);
        }
    }

    fn has_contents(&self, life: LifeId) -> bool {
        self.snapshot.is_namespace(life) || self.snapshot.is_definition(life)
    }

    fn tell_dependents(&mut self, life: LifeId, before: Pull, now: Pull) {
        if now == Pull::None {
            return;
        }
        let snapshot = self.snapshot;
        // Who looked at a marked owner before it was its turn already saw what it is.
        let seen_before = self.recorded(life).goes();
        let released = now.goes() && !before.goes() && !seen_before;
        for dependent in snapshot.all_dependents(snapshot.life(life).uid) {
            if !snapshot.depends_on(dependent, life) {
                self.misled.insert(dependent);
            } else if snapshot.is_marked(dependent) {
                if now.goes() {
                    self.reach(dependent);
                }
            } else if let Some(mut tally) = self.tallies.get(&dependent).copied() {
                tally.keepers -= u32::from(released);
                tally.count(now, self.approved(life));
                self.weigh(dependent, tally);
            } else {
                self.look(dependent);
            }
        }
    }

    fn tell_contents(&mut self, life: LifeId) {
        let snapshot = self.snapshot;
        let approved = self.approved(life);
        for member in snapshot.contents(life) {
            if snapshot.is_marked(member) {
                self.reach(member);
                continue;
            }
            let known = self.tallies.get(&member).copied();
            let mut tally = known.unwrap_or_else(|| self.tally(member));
            // Somebody tells something all the time: nobody approves each event, and none holds anything up.
            tally.contain(approved && !snapshot.is_event(member));
            self.weigh(member, tally);
        }
    }

    fn reach(&mut self, marked: LifeId) {
        match self.reached {
            Reached::IsFollowed => {}
            _ if !self.is_in_scope(marked) || self.doomed.contains_key(&marked) => {}
            Reached::Follow => self.follow(marked),
            Reached::Name => {
                let pull = self.recorded(marked);
                self.doomed.insert(marked, State { pull, marked: true, told: pull });
            }
        }
    }

    /// Looks at a life that is not marked: does anything pull at it that is settled already?
    fn look(&mut self, life: LifeId) {
        if !self.snapshot.is_marked(life) {
            let mut tally = self.tally(life);
            let around = self.snapshot.marked_around(life).into_iter().flatten();
            for around in around.filter(|around| self.is_in_scope(*around)) {
                tally.contain(self.approved(around) && !self.snapshot.is_event(life));
            }
            self.weigh(life, tally);
        }
    }

    /// Counts what keeps a life and what pulls at it.
    fn tally(&self, life: LifeId) -> Tally {
        let (snapshot, seen) = (self.snapshot, self.snapshot.life(life));
        let mut tally = Tally::default();
        for reference in &seen.owners {
            match snapshot.ownership(seen, reference) {
                Ownership::Valid(owner) => {
                    let pull = self.pull(owner);
                    tally.keepers += u32::from(!pull.goes());
                    tally.count(pull, self.approved(owner));
                }
                Ownership::Absent { .. } => match snapshot.seen_going(seen, reference) {
                    Some(gone) if gone.policy == Policy::Orphan => {
                        tally.keepers += 1;
                        tally.released = true;
                    }
                    Some(_) => {
                        tally.pulled = true;
                        tally.by_removal = true;
                    }
                    None => {}
                },
                Ownership::Unknown(_) => tally.keepers += 1,
                Ownership::Invalid(_) => tally.misled = true,
            }
        }
        tally
    }

    fn weigh(&mut self, life: LifeId, tally: Tally) {
        if self.tallies.insert(life, tally).is_none() && tally.by_removal {
            self.after_removal.push(life);
        }
        let pull = self.verdict(life, tally);
        if pull == Pull::None || self.doomed.get(&life).is_some_and(|state| state.pull >= pull) {
            return;
        }
        match self.protection.of(self.snapshot, life) {
            Some(why) => _ = self.held.insert(life, WhyHeld::Protected(why)),
            None if !self.may_doom(life) => _ = self.held.insert(life, WhyHeld::NotInPlan),
            None => self.doom(life, pull, false),
        }
    }

    /// Whether a life is among those that may be doomed.
    pub(super) fn is_in_scope(&self, life: LifeId) -> bool {
        self.scoped.as_ref().is_none_or(|scoped| scoped.contains(&life))
    }

    /// Whether references to an owner, which may be gone, are taken off what lives on.
    pub(super) fn may_strip(&self, owner: &Uid) -> bool {
        self.scope.contains(owner)
    }

    /// Whether a life may be doomed: events go with a namespace of the scope, though no plan names them.
    fn may_doom(&self, life: LifeId) -> bool {
        let in_scope = |namespace: LifeId| self.is_in_scope(namespace);
        self.is_in_scope(life)
            || (self.snapshot.is_event(life) && self.snapshot.namespace_life(life).is_some_and(in_scope))
    }

    fn verdict(&self, life: LifeId, tally: Tally) -> Pull {
        if tally.by_cascade {
            return Pull::Cascade;
        }
        let contained = if tally.contained { Pull::Background } else { Pull::None };
        if !tally.pulled || tally.keepers > 0 {
            return contained;
        }
        let own = match self.snapshot.policy(life) {
            _ if tally.by_foreground && self.snapshot.is_referenced(life) => Pull::Foreground,
            Some(Policy::Orphan) => Pull::Orphan,
            Some(Policy::Foreground) => Pull::Foreground,
            _ => Pull::Background,
        };
        own.max(contained)
    }
}

impl Tally {
    /// Whether anything happens to it, or would if it were not for something else.
    pub(super) fn concerned(&self) -> bool {
        self.pulled || self.contained || self.unapproved || self.released
    }

    /// A namespace or a definition around it goes; and whether that was approved without it.
    fn contain(&mut self, unapproved: bool) {
        match unapproved {
            true => self.unapproved = true,
            false => self.contained = true,
        }
    }

    fn count(&mut self, pull: Pull, approved: bool) {
        if !pull.goes() {
            self.released |= pull == Pull::Orphan;
            return;
        }
        if approved {
            self.unapproved = true;
            return;
        }
        self.pulled = true;
        self.by_foreground |= pull == Pull::Foreground;
        self.by_cascade |= pull == Pull::Cascade;
    }
}
