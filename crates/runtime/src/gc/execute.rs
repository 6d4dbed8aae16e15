//! Execution of a plan, group by group.
//!
//! A group is one object, or several that form a circle and take every step together. A group is ready when all groups
//! that have to go before it are destroyed. For ready groups:
//!
//! 1. [`Collection::notify_group`]: call the subscribers' handlers (phase notifying). A failure stops the group.
//! 2. [`Collection::record_intents`]: the recorder writes the intent for stored objects, and may refuse.
//! 3. `destroy`: run the destructors. In a group, dependents go before their owners; an owner is not touched
//!    if one of its dependents could not be destroyed.
//! 4. Record the outcome, call the subscribers' handlers (phase destroyed), record the release.
//!
//! Stored objects take these steps in batches of up to [`MAX_GROUPS_PER_BATCH`] groups, since each record is a write;
//! others go one group at a time. An object that cannot be destroyed stays alive, and so does everything that has to
//! come after it.

use std::collections::VecDeque;
use std::time::Duration;

use hashbrown::HashSet;
use sexton_lifecycle::NodeId;
use sexton_lifecycle::destruction::{Event, Stage, State, step};
use sexton_lifecycle::plan::{Group, PlanProgress};
use tokio::time::Instant;

use super::collection::Collection;
use super::plan::{ObjectPlan, owns};
use super::recorder::{Intent, ObjectJournal, Permit};
use super::subscribe;
use super::{Doomed, Failure, Phase, Reason, RecorderError, Untold};
use crate::world::Handle;

/// At most this many groups of stored objects are recorded with one write. Most groups are a single object.
const MAX_GROUPS_PER_BATCH: usize = 1_000;
/// Outcomes are recorded at the latest after this time, even if more objects of the batch have to be destroyed: if the
/// run is killed, what it has not recorded is destroyed again.
const MAX_UNRECORDED: Duration = Duration::from_secs(1);

/// An object of a ready group.
struct Member {
    life: NodeId,
    object: Handle,
    reasons: Vec<Reason>,
    wave: usize,
    /// Identifies the group: its first member.
    group: NodeId,
}

impl Collection<'_> {
    /// Executes a plan as far as possible; objects that could not be destroyed are reported.
    pub(super) async fn execute(&mut self, plan: &ObjectPlan) {
        let mut progress = PlanProgress::new(&plan.lifecycle_plan);
        let mut ready: Vec<&Group> = progress.ready().collect();
        let mut gone: HashSet<NodeId> = HashSet::with_capacity(plan.lifecycle_plan.len());
        let mut wave = 0;
        while !ready.is_empty() && !self.has_ended() {
            let is_stored = |group: &&Group| {
                let keys = group.members.iter().filter_map(|step| plan.object(step.node));
                keys.into_iter().any(|key| self.stored.contains(&key))
            };
            let (stored, free): (Vec<&Group>, Vec<&Group>) = ready.into_iter().partition(is_stored);
            let mut next: Vec<&Group> = Vec::new();
            for batch in free.chunks(1).chain(stored.chunks(MAX_GROUPS_PER_BATCH)) {
                for life in self.execute_batch(plan, batch, wave).await {
                    gone.insert(life);
                    next.extend(progress.set_gone(life));
                }
                if self.has_ended() {
                    break;
                }
            }
            next.sort_by(|a, b| first(a).cmp(&first(b)));
            ready = next;
            wave += 1;
        }
        if !self.has_ended() {
            self.report.waiting.extend(plan.waiting(&self.gc.world, &gone, |key| {
                self.refused.contains(&key) || self.has_failed_call(key)
            }));
        }
    }

    /// Takes some ready groups through all steps and returns the nodes that were destroyed.
    async fn execute_batch(&mut self, plan: &ObjectPlan, groups: &[&Group], wave: usize) -> Vec<NodeId> {
        let mut members: Vec<Member> = Vec::new();
        for group in groups {
            let notified = self.notify_group(plan, group, wave).await;
            if self.has_ended() {
                return Vec::new();
            }
            members.extend(notified);
        }
        let mut members: VecDeque<Member> = self.record_intents(members).await.into();
        let mut gone = Vec::with_capacity(members.len());
        while !members.is_empty() {
            gone.extend(self.destroy_some(&mut members).await);
        }
        gone
    }

    /// Destroys whole groups from the front of `members` until [`MAX_UNRECORDED`] has passed, then records the
    /// outcomes and tells the subscribers. Returns the nodes that were destroyed.
    async fn destroy_some(&mut self, members: &mut VecDeque<Member>) -> Vec<NodeId> {
        let began = Instant::now();
        let (mut destroyed, mut failed, mut untouched): (Vec<Member>, Vec<Member>, Vec<Member>) =
            Default::default();
        let mut last = None;
        loop {
            let goes_on = |next: &Member| {
                last.is_none_or(|last| last == next.group) || began.elapsed() < MAX_UNRECORDED
            };
            if !members.front().is_some_and(goes_on) {
                break;
            }
            let Some(member) = members.pop_front() else { break };
            last = Some(member.group);
            // An owner is not destroyed while one of its dependents in the group is alive, as outside of a group.
            let waits = |other: &Member| {
                let (owner, owned) = (member.object.key(), other.object.key());
                other.group == member.group && owns(&self.gc.world, owner, owned)
            };
            if self.stopped.is_some() || failed.iter().chain(&untouched).any(waits) {
                untouched.push(member);
            } else if self.destroy(&member.object).await {
                self.report_destroyed(&member);
                destroyed.push(member);
            } else {
                failed.push(member);
            }
        }
        self.withdraw(&untouched).await;
        self.record_journals(destroyed.iter().chain(&failed), true).await;
        for member in &destroyed {
            if self.stopped.is_none() {
                self.tell(&member.object, Phase::Destroyed).await;
            }
            self.release(&member.object);
        }
        self.record_journals(destroyed.iter(), false).await;
        // Their journals are not needed any more.
        destroyed.iter().for_each(|member| _ = self.states.remove(&member.object.key()));
        destroyed.into_iter().map(|member| member.life).collect()
    }

    /// Notifies the subscribers of a group and returns its members; empty if any member cannot go on, since they take
    /// each step together.
    async fn notify_group(&mut self, plan: &ObjectPlan, group: &Group, wave: usize) -> Vec<Member> {
        let mut members = Vec::with_capacity(group.members.len());
        for step in plan.members(&self.gc.world, group) {
            let object = plan.object(step.node).and_then(|key| self.gc.world.handle(key));
            let Some(object) = object.filter(|object| !self.refused.contains(&object.key())) else {
                return Vec::new();
            };
            if self.stage(object.key()).is_none() {
                self.begin(&object, Vec::new());
            }
            if self.stage(object.key()) != Some(Stage::Warned) {
                return Vec::new();
            }
            let reasons = plan.reasons(&self.gc.world, step.node);
            let (life, group) = (step.node, group.members[0].node);
            members.push(Member { life, object, reasons, wave, group });
        }
        let together = members.len() > 1;
        for member in &members {
            self.notify(&member.object, together).await;
            if self.has_ended() {
                return Vec::new();
            }
        }
        if members.iter().any(|member| self.has_failed_call(member.object.key())) {
            return Vec::new();
        }
        if together {
            for member in &members {
                self.feed(&member.object, &Event::CircleNotified);
            }
        }
        members
    }

    /// Records the intents of stored members and returns the members that may be destroyed; from here on they cannot
    /// be saved. Intents of all others are withdrawn.
    async fn record_intents(&mut self, members: Vec<Member>) -> Vec<Member> {
        let terminating = |member: &Member| {
            let state = self.states.get(&member.object.key())?;
            step(state, &Event::Terminating).ok().map(|(next, _)| next)
        };
        let states: Vec<Option<State>> = members.iter().map(terminating).collect();
        let mut intents: Vec<Intent<'_>> = Vec::new();
        for (member, state) in members.iter().zip(&states) {
            if let (Some(state), true) = (state, self.stored.contains(&member.object.key())) {
                intents.push(Intent { object: &member.object, state, reasons: &member.reasons });
            }
        }
        if !intents.is_empty() {
            let permits = self.gc.settings.recorder.record_intents(&intents).await;
            let objects: Vec<Handle> = intents.iter().map(|intent| intent.object.clone()).collect();
            self.apply_permits(&objects, permits);
        }
        let mut go: Vec<Member> = Vec::with_capacity(members.len());
        let mut stay: Vec<Member> = Vec::new();
        let refused: HashSet<NodeId> = self.refused_members(&members);
        for (member, state) in members.into_iter().zip(states) {
            match state {
                Some(state) if !refused.contains(&member.life) => {
                    self.states.insert(member.object.key(), state);
                    go.push(member);
                }
                _ => stay.push(member),
            }
        }
        self.withdraw(&stay).await;
        go
    }

    /// Notes which objects were refused; if the intents could not be recorded, all of them have failed.
    fn apply_permits(&mut self, objects: &[Handle], permits: Result<Vec<Permit>, RecorderError>) {
        match permits {
            Ok(permits) => {
                for (object, permit) in objects.iter().zip(permits) {
                    if let Permit::Refused(reason) = permit {
                        self.refuse(object, reason);
                    }
                }
            }
            Err(error) => {
                for object in objects {
                    self.failed_objects.insert(object.key());
                    let (id, class, name) = (object.id(), object.class().shared_name(), object.name());
                    let (phase, callee, error) = (Phase::Destroying, object.id(), error.to_string());
                    self.report.failed.push(Failure { id, class, name, phase, callee, error });
                }
            }
        }
    }

    /// The members that must not be destroyed, with all other members of their groups.
    fn refused_members(&self, members: &[Member]) -> HashSet<NodeId> {
        let no = |member: &&Member| {
            let key = member.object.key();
            self.refused.contains(&key) || self.has_failed_call(key)
        };
        let groups: HashSet<NodeId> = members.iter().filter(no).map(|member| member.group).collect();
        let refused = members.iter().filter(|member| groups.contains(&member.group));
        refused.map(|member| member.life).collect()
    }

    /// Withdraws the recorded intents of members on which `destroy` was not called.
    async fn withdraw(&mut self, members: &[Member]) {
        let stored = members.iter().filter(|member| self.stored.contains(&member.object.key()));
        let objects: Vec<Handle> = stored.map(|member| member.object.clone()).collect();
        if objects.is_empty() {
            return;
        }
        if let Err(error) = self.gc.settings.recorder.record_withdrawals(&objects).await {
            let untold =
                |object: &Handle| Untold { id: object.id(), subscriber: None, error: error.to_string() };
            self.report.untold.extend(objects.iter().map(untold));
        }
    }

    /// Records the journals of the stored members: their outcomes, or (`ended` is false) their releases.
    async fn record_journals(&mut self, members: impl Iterator<Item = &Member>, ended: bool) {
        let stored = members.filter(|member| self.stored.contains(&member.object.key()));
        let batch: Vec<ObjectJournal<'_>> = stored
            .filter_map(|member| {
                let state = self.states.get(&member.object.key())?;
                Some(ObjectJournal { object: &member.object, state })
            })
            .collect();
        if batch.is_empty() {
            return;
        }
        let recorder = &self.gc.settings.recorder;
        let result = if ended {
            recorder.record_outcomes(&batch).await
        } else {
            recorder.record_releases(&batch).await
        };
        if let Err(error) = result {
            let untold = |one: &ObjectJournal<'_>| Untold {
                id: one.object.id(),
                subscriber: None,
                error: error.to_string(),
            };
            self.report.untold.extend(batch.iter().map(untold));
        }
    }

    fn report_destroyed(&mut self, member: &Member) {
        let object = &member.object;
        self.report.destroyed.push(Doomed {
            id: object.id(),
            class: object.class().shared_name(),
            name: object.name(),
            reasons: member.reasons.clone(),
            wave: member.wave,
        });
    }

    /// The last step of an object: its journal is complete, and all its subscriptions end.
    fn release(&mut self, object: &Handle) {
        if self.stage(object.key()) == Some(Stage::Releasing) {
            self.feed(object, &Event::Released);
        }
        self.gc.world.write(|store| subscribe::end(store, object.key()));
    }
}

/// The name of the first member's node, by which groups are sorted: creation order.
fn first<'a>(group: &&'a Group) -> Option<&'a str> {
    group.members.first().map(|step| step.key.name.as_str())
}
