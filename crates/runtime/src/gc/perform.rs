//! Carries out a plan: groups whose turn has come are notified of, destroyed, marked and told of; stored ones in
//! batches.

use std::collections::VecDeque;
use std::time::Duration;

use hashbrown::HashSet;
use sexton_lifecycle::NodeId;
use sexton_lifecycle::destruction::{Event, Stage, State, step};
use sexton_lifecycle::plan::{Group, PlanProgress};
use tokio::time::Instant;

use super::keeper::{Ended, Intent, Permit};
use super::order::{Trial, owns};
use super::run::Run;
use super::subscribe;
use super::{Doomed, Failure, KeeperError, Phase, Reason, Untold};
use crate::world::Handle;

/// So many groups of stored objects are recorded at once. Most groups are one object.
const BATCH: usize = 1_000;
/// After so long the ends of stored objects are recorded, though more of their batch are to be destroyed: what a run that
/// is killed has not recorded is destroyed once more.
const UNRECORDED: Duration = Duration::from_secs(1);

/// An object whose turn has come.
struct Member {
    life: NodeId,
    object: Handle,
    reasons: Vec<Reason>,
    wave: usize,
    /// The first of those who take each step together.
    group: NodeId,
}

impl Run<'_> {
    /// As far as it can be carried out.
    pub(super) async fn perform(&mut self, trial: &Trial) {
        let mut progress = PlanProgress::new(&trial.plan);
        let mut ready: Vec<&Group> = progress.ready().collect();
        let mut gone: HashSet<NodeId> = HashSet::with_capacity(trial.plan.len());
        let mut wave = 0;
        while !ready.is_empty() && !self.is_over() {
            let is_stored = |group: &&Group| {
                let keys = group.members.iter().filter_map(|step| trial.object(step.node));
                keys.into_iter().any(|key| self.stored.contains(&key))
            };
            let (stored, free): (Vec<&Group>, Vec<&Group>) = ready.into_iter().partition(is_stored);
            let mut next: Vec<&Group> = Vec::new();
            for batch in free.chunks(1).chain(stored.chunks(BATCH)) {
                for life in self.batch(trial, batch, wave).await {
                    gone.insert(life);
                    next.extend(progress.set_gone(life));
                }
                if self.is_over() {
                    break;
                }
            }
            next.sort_by(|a, b| first(a).cmp(&first(b)));
            ready = next;
            wave += 1;
        }
        if !self.is_over() {
            self.report.waiting.extend(
                trial.waiting(&self.gc.world, &gone, |key| self.held.contains(&key) || self.is_stuck(key)),
            );
        }
    }

    /// Some groups whose turn has come; gives back who of them is destroyed.
    async fn batch(&mut self, trial: &Trial, groups: &[&Group], wave: usize) -> Vec<NodeId> {
        let mut members: Vec<Member> = Vec::new();
        for group in groups {
            let turn = self.turn(trial, group, wave).await;
            if self.is_over() {
                return Vec::new();
            }
            members.extend(turn);
        }
        let mut members: VecDeque<Member> = self.intend(members).await.into();
        let mut gone = Vec::with_capacity(members.len());
        while !members.is_empty() {
            gone.extend(self.destroy_some(&mut members).await);
        }
        gone
    }

    /// Destroys members, whole groups at a time, until it is time to record that; then tells of their ends.
    async fn destroy_some(&mut self, members: &mut VecDeque<Member>) -> Vec<NodeId> {
        let began = Instant::now();
        let (mut destroyed, mut failed, mut untouched): (Vec<Member>, Vec<Member>, Vec<Member>) =
            Default::default();
        let mut last = None;
        loop {
            let goes_on =
                |next: &Member| last.is_none_or(|last| last == next.group) || began.elapsed() < UNRECORDED;
            if !members.front().is_some_and(goes_on) {
                break;
            }
            let Some(member) = members.pop_front() else { break };
            last = Some(member.group);
            // In a group the owned go first: their owner waits for them, as it would outside of one.
            let waits = |other: &Member| {
                let (owner, owned) = (member.object.key(), other.object.key());
                other.group == member.group && owns(&self.gc.world, owner, owned)
            };
            if self.stopped.is_some() || failed.iter().chain(&untouched).any(waits) {
                untouched.push(member);
            } else if self.destroy(&member.object).await {
                self.record(&member);
                destroyed.push(member);
            } else {
                failed.push(member);
            }
        }
        self.withdraw(&untouched).await;
        self.keep(destroyed.iter().chain(&failed), true).await;
        for member in &destroyed {
            if self.stopped.is_none() {
                self.tell(&member.object, Phase::Destroyed).await;
            }
            self.feed_released(&member.object);
        }
        self.keep(destroyed.iter(), false).await;
        // Nobody asks for it any more.
        destroyed.iter().for_each(|member| _ = self.states.remove(&member.object.key()));
        destroyed.into_iter().map(|member| member.life).collect()
    }

    /// Notifies of a group. Nobody if one of them does not get on: they take each step together.
    async fn turn(&mut self, trial: &Trial, group: &Group, wave: usize) -> Vec<Member> {
        let mut members = Vec::with_capacity(group.members.len());
        for step in trial.members(&self.gc.world, group) {
            let object = trial.object(step.node).and_then(|key| self.gc.world.handle(key));
            let Some(object) = object.filter(|object| !self.held.contains(&object.key())) else {
                return Vec::new();
            };
            if self.stage(object.key()).is_none() {
                self.begin(&object, Vec::new());
            }
            if self.stage(object.key()) != Some(Stage::Warned) {
                return Vec::new();
            }
            let reasons = trial.reasons(&self.gc.world, step.node);
            let (life, group) = (step.node, group.members[0].node);
            members.push(Member { life, object, reasons, wave, group });
        }
        let together = members.len() > 1;
        for member in &members {
            self.notify(&member.object, together).await;
            if self.is_over() {
                return Vec::new();
            }
        }
        if members.iter().any(|member| self.is_stuck(member.object.key())) {
            return Vec::new();
        }
        if together {
            for member in &members {
                self.feed(&member.object, &Event::CircleNotified);
            }
        }
        members
    }

    /// The last moment: whoever may still die is marked, after that was recorded where it is stored.
    async fn intend(&mut self, members: Vec<Member>) -> Vec<Member> {
        let marked = |member: &Member| {
            let state = self.states.get(&member.object.key())?;
            step(state, &Event::Terminating).ok().map(|(next, _)| next)
        };
        let states: Vec<Option<State>> = members.iter().map(marked).collect();
        let mut intents: Vec<Intent<'_>> = Vec::new();
        for (member, state) in members.iter().zip(&states) {
            if let (Some(state), true) = (state, self.stored.contains(&member.object.key())) {
                intents.push(Intent { object: &member.object, state, reasons: &member.reasons });
            }
        }
        if !intents.is_empty() {
            let permits = self.gc.settings.keeper.intend(&intents).await;
            let objects: Vec<Handle> = intents.iter().map(|intent| intent.object.clone()).collect();
            self.permitted(&objects, permits);
        }
        let mut go: Vec<Member> = Vec::with_capacity(members.len());
        let mut stay: Vec<Member> = Vec::new();
        let refused: HashSet<NodeId> = self.refused(&members);
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

    fn permitted(&mut self, objects: &[Handle], permits: Result<Vec<Permit>, KeeperError>) {
        match permits {
            Ok(permits) => {
                for (object, permit) in objects.iter().zip(permits) {
                    if let Permit::Hold(reason) = permit {
                        self.hold(object, reason);
                    }
                }
            }
            Err(error) => {
                for object in objects {
                    self.stuck.insert(object.key());
                    let (id, class, name) = (object.id(), object.class().shared_name(), object.name());
                    let (phase, callee, error) = (Phase::Destroying, object.id(), error.to_string());
                    self.report.failed.push(Failure { id, class, name, phase, callee, error });
                }
            }
        }
    }

    /// Who does not die after all, with those who would have died together with them.
    fn refused(&self, members: &[Member]) -> HashSet<NodeId> {
        let no = |member: &&Member| {
            let key = member.object.key();
            self.held.contains(&key) || self.is_stuck(key)
        };
        let groups: HashSet<NodeId> = members.iter().filter(no).map(|member| member.group).collect();
        let refused = members.iter().filter(|member| groups.contains(&member.group));
        refused.map(|member| member.life).collect()
    }

    /// Nothing was called of these, though that may be recorded.
    async fn withdraw(&mut self, members: &[Member]) {
        let stored = members.iter().filter(|member| self.stored.contains(&member.object.key()));
        let objects: Vec<Handle> = stored.map(|member| member.object.clone()).collect();
        if objects.is_empty() {
            return;
        }
        if let Err(error) = self.gc.settings.keeper.withdrawn(&objects).await {
            let told =
                |object: &Handle| Untold { id: object.id(), subscriber: None, error: error.to_string() };
            self.report.untold.extend(objects.iter().map(told));
        }
    }

    /// Tells the keeper of the stored ones among some that a step is done.
    async fn keep(&mut self, members: impl Iterator<Item = &Member>, ended: bool) {
        let stored = members.filter(|member| self.stored.contains(&member.object.key()));
        let batch: Vec<Ended<'_>> = stored
            .filter_map(|member| {
                let state = self.states.get(&member.object.key())?;
                Some(Ended { object: &member.object, state })
            })
            .collect();
        if batch.is_empty() {
            return;
        }
        let keeper = &self.gc.settings.keeper;
        let result = if ended { keeper.ended(&batch).await } else { keeper.released(&batch).await };
        if let Err(error) = result {
            let told =
                |one: &Ended<'_>| Untold { id: one.object.id(), subscriber: None, error: error.to_string() };
            self.report.untold.extend(batch.iter().map(told));
        }
    }

    fn record(&mut self, member: &Member) {
        let object = &member.object;
        self.report.destroyed.push(Doomed {
            id: object.id(),
            class: object.class().shared_name(),
            name: object.name(),
            reasons: member.reasons.clone(),
            wave: member.wave,
        });
    }

    fn feed_released(&mut self, object: &Handle) {
        if self.stage(object.key()) == Some(Stage::Releasing) {
            self.feed(object, &Event::Released);
        }
        self.gc.world.write(|store| subscribe::end(store, object.key()));
    }
}

/// The key of the first member, by which groups are sorted.
fn first<'a>(group: &&'a Group) -> Option<&'a str> {
    group.members.first().map(|step| step.key.name.as_str())
}
