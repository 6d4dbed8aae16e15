//! The judge: sees every commit in the order of revisions and asks of each whether it may be, by the state right
//! before it. What must not be is kept with the last steps that led to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sexton_store::engine::Op;

use super::life::{Life, Owner};
use super::model::{Leads, Model};
use super::steps::Steps;
use super::told::told;

/// So many steps are shown with a failure.
const SHOWN: usize = 80;

/// More requests than this are a circle.
const ENDLESS: u64 = 4_000;

/// The writer of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The server by itself.
    Server,
    /// Any client that is not the collector.
    People,
    /// A collector, by its number.
    Collector(usize),
}

tokio::task_local! {
    /// The client whose request is being served.
    pub static ACTOR: Actor;
}

/// What a collector has surely seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    /// Up to this revision.
    pub revision: u64,
    /// Except that lines were lost.
    pub blind: bool,
}

/// What happened, in numbers: a run in which nothing happened proves nothing.
#[derive(Debug, Clone, Default)]
pub struct Figures(pub BTreeMap<&'static str, u64>);

impl Figures {
    /// One more.
    pub fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }
}

/// The judge.
#[derive(Debug, Default)]
pub struct Judge {
    /// The world.
    pub model: Model,
    slots: BTreeMap<Vec<u8>, String>,
    shown: VecDeque<String>,
    /// Show so many steps, instead of the usual number.
    pub most: Option<usize>,
    /// What must not be.
    pub violations: Vec<String>,
    /// By the number of the collector, when it began its last request.
    pub known: BTreeMap<usize, Known>,
    /// When objects became terminating, by uid.
    pub(super) marked_at: BTreeMap<String, u64>,
    /// When what they subscribe to was changed last.
    pub(super) subscribed_at: BTreeMap<String, u64>,
    /// The revision that the collector knew when the turn of an object came, by uid: what is put before it later comes
    /// too late.
    pub(super) turn_at: BTreeMap<String, u64>,
    /// The objects in a circle with each, when its turn came: they go together, whatever becomes of the circle.
    pub(super) together: BTreeMap<String, BTreeSet<String>>,
    /// Candidates whose subscribers were notified while they were garbage: nothing saves them any more.
    condemned: BTreeSet<String>,
    /// The steps of each destruction.
    pub steps: Steps,
    /// What happened.
    pub figures: Figures,
    /// The epoch of the lease.
    pub epoch: i64,
    /// The collector that began this epoch: no other may write in it.
    turn_of: Option<usize>,
    /// When objects were changed or removed last, by uid.
    pub(super) changed_at: BTreeMap<String, u64>,
}

impl Judge {
    /// Notes a step.
    pub fn note(&mut self, what: impl Into<String>) {
        if self.shown.len() >= self.most.unwrap_or(SHOWN) {
            self.shown.pop_front();
        }
        let what = what.into();
        // What is said again and again would hide what led to it.
        if self.shown.iter().rev().take(6).any(|known| *known == what) {
            return;
        }
        self.shown.push_back(what);
    }

    /// The last steps.
    pub fn story(&self) -> String {
        self.shown.iter().cloned().collect::<Vec<_>>().join("\n")
    }

    /// Something that must not be.
    pub fn accuse(&mut self, what: String) {
        self.note(format!("!!! {what}"));
        self.violations.push(what);
    }

    /// Takes in a commit, the last operation of which got this revision.
    pub fn committed(&mut self, actor: Actor, ops: &[Op], revision: u64) {
        let there = |op: &&Op| match op {
            Op::Put { .. } => true,
            Op::Delete { key } => self.slots.contains_key(key.as_ref()),
        };
        let effective: Vec<Op> = ops.iter().filter(there).cloned().collect();
        let first = revision + 1 - effective.len() as u64;
        for (at, op) in (first..).zip(&effective) {
            let (key, after) = match op {
                Op::Put { key, value } => (key, Life::read(key, value)),
                Op::Delete { key } => (key, None),
            };
            let before = self.slots.get(key.as_ref()).and_then(|uid| self.model.lives.get(uid)).cloned();
            self.change(actor, before.as_ref(), after.as_ref(), at);
            for life in before.iter().chain(&after) {
                self.changed_at.insert(life.uid.clone(), at);
            }
            self.take_in(actor, key, before, after, at);
        }
    }

    fn take_in(&mut self, actor: Actor, key: &[u8], before: Option<Life>, after: Option<Life>, at: u64) {
        if let Some(before) = before {
            let renewed = after.as_ref().is_some_and(|after| after.uid == before.uid);
            if !renewed {
                self.slots.remove(key);
                self.model.lives.remove(&before.uid);
                self.model.ghosts.insert(before.uid.clone(), before);
            }
        }
        let Some(after) = after else { return };
        if after.resource() == "leases" {
            let epoch = after.document["spec"]["leaseTransitions"].as_i64().unwrap_or(self.epoch);
            if let (Actor::Collector(number), true) = (actor, epoch != self.epoch) {
                self.turn_of = Some(number);
            }
            self.epoch = epoch;
        }
        let (uid, marked) = (after.uid.clone(), after.marked.is_some());
        let known = self.model.lives.get(&uid).map(|known| &known.subscriptions);
        if known.is_none_or(|known| *known != after.subscriptions) {
            self.subscribed_at.insert(uid.clone(), at);
        }
        self.slots.insert(key.to_vec(), uid.clone());
        self.steps.changed(&self.model, &after);
        self.model.lives.insert(uid.clone(), after);
        if marked && !self.marked_at.contains_key(&uid) {
            self.marked_at.insert(uid.clone(), at);
            self.steps.marked(&self.model, &uid);
        }
    }

    fn change(&mut self, actor: Actor, before: Option<&Life>, after: Option<&Life>, at: u64) {
        let Some(life) = after.or(before) else { return };
        if matches!(life.resource(), "leases" | "collections" | "tombstones" | "events") {
            return;
        }
        let what = told(before, after);
        self.note(format!("  {at:>5} {actor:?} {what} {}", life.named()));
        if let (Some(before), Some(after)) = (before, after)
            && before.uid == after.uid
            && before.marked.is_some()
            && before.marked != after.marked
        {
            self.accuse(format!("{at}: the mark of {} was changed", before.named()));
        }
        let Actor::Collector(number) = actor else { return };
        if self.turn_of.is_some_and(|turn_of| turn_of != number) {
            self.accuse(format!("{at}: {number} wrote {} after its turn", life.named()));
        }
        match (before, after) {
            (Some(before), Some(after)) if before.uid == after.uid => self.updated(number, before, after, at),
            (Some(before), None) => self.removed(number, before, at),
            _ => self.accuse(format!("{at}: the collector made {}", life.named())),
        }
    }

    fn updated(&mut self, number: usize, before: &Life, after: &Life, at: u64) {
        let name = before.named();
        if before.of_people() != after.of_people() {
            self.accuse(format!("{at}: the collector changed what is not its own of {name}"));
        }
        for owner in &after.owners {
            if !before.owners.contains(owner) {
                self.accuse(format!("{at}: the collector gave {name} an owner"));
            }
        }
        let lost = before.owners.iter().filter(|owner| !after.owners.contains(owner));
        for owner in lost.cloned().collect::<Vec<_>>() {
            self.figures.count("references stripped");
            let may = self.may_lose(number, before, &owner);
            if !may {
                self.accuse(format!("{at}: {name} lost its reference to {} without need", owner.uid));
            }
        }
        let kept: Vec<&String> = after.foreign().collect();
        for lost in before.foreign().filter(|one| !kept.contains(one)).cloned().collect::<Vec<_>>() {
            self.figures.count("finalizers forced");
            if !self.steps.was_forced(before, &format!("finalizer:{lost}")) {
                self.accuse(format!("{at}: the collector took {lost} off {name}"));
            }
        }
        for against in self.steps.rewritten(before, after) {
            self.accuse(format!("{at}: {name}: {against}"));
        }
        if before.marked.is_none() && before.journal().is_none() && after.journal().is_some() {
            let known = self.known.get(&number).copied().unwrap_or_default();
            let changed_at = &self.changed_at;
            let seen =
                |uid: &str| !known.blind && changed_at.get(uid).is_some_and(|at| *at <= known.revision);
            self.steps.accused(&self.model, before, seen);
        }
        if before.marked.is_none() && after.marked.is_some() {
            self.figures.count("marks");
            self.justify(number, before, "marked", at);
        }
        let notified = |life: &Life| {
            let stage = life.journal().map(|state| state["stage"].clone());
            stage.is_some_and(|stage| {
                !matches!(stage.as_str(), Some("warning" | "warned" | "rescued" | "cancelled"))
            })
        };
        if notified(after) && !notified(before) {
            self.turn_came(number, before, at);
        }
        if after.marked.is_none() && notified(after) && !notified(before) {
            self.justify(number, before, "condemned", at);
            self.condemned.insert(before.uid.clone());
        }
    }

    /// Whether an object that stays may lose a reference to an owner, by what the collector could know.
    fn may_lose(&self, number: usize, life: &Life, owner: &Owner) -> bool {
        let known = self.known.get(&number).copied().unwrap_or_default();
        let changed = |uid: &String| self.changed_at.get(uid).is_some_and(|at| *at > known.revision);
        let unseen = || known.blind || self.model.above(life).iter().any(changed);
        match self.model.leads(life, owner) {
            Leads::To(owner) if owner.marked.is_none() => false,
            Leads::To(owner) if owner.has("orphan") => true,
            Leads::To(owner) if owner.has("cascade_deletion") => false,
            Leads::To(_) | Leads::Nowhere => self.model.is_kept(life) || unseen(),
            Leads::ToGhost => {
                let orphaned = self.model.ghosts.get(&owner.uid).is_some_and(|ghost| ghost.has("orphan"));
                orphaned || self.model.is_kept(life) || unseen()
            }
            Leads::Astray | Leads::Unknown => false,
        }
    }

    /// Whether an owner is terminating with another policy than the collector could know: that is no condition of its
    /// writes.
    fn changed_policy(&self, number: usize, life: &Life) -> bool {
        let known = self.known.get(&number).copied().unwrap_or_default();
        let above = self.model.above(life);
        let marked =
            above.iter().filter(|uid| self.model.lives.get(*uid).is_some_and(|one| one.marked.is_some()));
        let mut marked = marked.filter_map(|uid| self.changed_at.get(uid));
        marked.any(|at| known.blind || *at > known.revision)
    }

    /// Complains if an object that is not terminating must not be destroyed, by what is true at this very moment:
    /// whatever was done right before is a condition of the write.
    fn justify(&mut self, number: usize, life: &Life, what: &str, at: u64) {
        let name = life.named();
        if life.protected() && !self.condemned.contains(&life.uid) {
            self.accuse(format!("{at}: {name} is protected and was {what}"));
        }
        if !self.condemned.contains(&life.uid) && !self.model.doomed().contains_key(&life.uid) {
            if self.changed_policy(number, life) {
                return self.figures.count("policies that were changed at the last moment");
            }
            self.accuse(format!("{at}: {name} was {what} and nothing asked for it: {:?}", life.owners));
        }
    }

    fn removed(&mut self, number: usize, life: &Life, at: u64) {
        self.figures.count("removals");
        let name = life.named();
        let foreign: Vec<String> = life.foreign().cloned().collect();
        for held in foreign {
            if !self.steps.was_forced(life, &format!("finalizer:{held}")) {
                self.accuse(format!("{at}: {name} went with the finalizer {held} on"));
            }
        }
        if life.marked.is_none() {
            self.justify(number, life, "removed", at);
        } else {
            self.nobody_waits(life, at);
        }
        self.order(number, life, at);
        let missing = self.steps.missing(&self.model, life);
        for what in missing {
            self.accuse(format!("{at}: {name} was removed though {what}"));
        }
    }

    /// Owners go when those that they wait for are gone, unless they go in a circle.
    fn nobody_waits(&mut self, life: &Life, at: u64) {
        let (cascade, foreground, orphan) =
            (life.has("cascade_deletion"), life.has("foregroundDeletion"), life.has("orphan"));
        let mut left = Vec::new();
        for (dependent, blocks) in self.model.dependents(life) {
            let waited_for = cascade || orphan || (foreground && blocks);
            if waited_for && dependent.uid != life.uid && !self.model.waits(dependent, life, false) {
                left.push(dependent.named());
            }
        }
        for inside in self.model.lives.values() {
            if self.model.around(inside).any(|around| around.uid == life.uid) {
                left.push(inside.named());
            }
        }
        if !left.is_empty() {
            let name = life.named();
            self.accuse(format!("{at}: {name} ({:?}) went before {}", life.finalizers, left.join(", ")));
        }
    }
}

impl Judge {
    /// Counts a request of a collector; true when there were more than anything here can be worth.
    pub fn is_endless(&mut self, path: &str) -> bool {
        if !path.ends_with("/bulk") {
            return false;
        }
        self.figures.count("requests");
        let many = self.figures.0["requests"];
        if many > ENDLESS - SHOWN as u64 / 2 {
            self.note(format!("request {path}"));
        }
        if many == ENDLESS {
            self.accuse(format!("{many} requests and no end"));
        }
        many >= ENDLESS
    }
}
