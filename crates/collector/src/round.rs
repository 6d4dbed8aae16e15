//! One round: a decision about the whole snapshot, and one attempt to carry it out.
//!
//! 1. Decide, and note the decision in the ledger.
//! 2. Prepare the first writes while the plan is checked. If the check fails, nothing is done.
//! 3. Objects without steps: send the first writes, then the removals. A refusal that shows that the snapshot is out
//!    of date
//!    ends this part.
//! 4. Objects with steps: `hooked` takes them one step further.
//! 5. Report: blockers, records of collections, Events.
//!
//! Whatever fails is not repeated here: the next round decides anew, from a newer snapshot.

use std::collections::BTreeSet;

use sexton_lifecycle::destruction::Stage;
use sexton_lifecycle::plan::Step;
use sexton_model::bulk::Outcome;
use sexton_model::{Revision, Uid};

use crate::blockers::{Stuck, blockers};
use crate::controller::{Collector, Stop};
use crate::decide::{Decision, decide};
use crate::hooked::has_steps;
use crate::perform::{self, First, Prepared, SendError, Sent, Turns, Writes};

/// What namespaces and definitions wait for if a controller deletes their contents.
const CONTROLLED: &str = "a controller of the cluster deletes what is in it";

impl Collector {
    /// Makes one round. Returns the revision up to which it wrote.
    pub(crate) async fn round(&mut self) -> Result<Revision, SendError> {
        let now = self.means.clock.now();
        self.waiting.let_through = self.ledger.let_through(&self.view.snapshot);
        let mut decision = decide(&self.view, &self.settings, &mut self.waiting, now);
        self.summary.doomed = decision.judgement.doomed.len();
        decision.unwarned = self.unwarned(&decision);
        let held = decision.fuse.as_ref().filter(|_| !decision.let_through);
        self.summary.held = held.map(ToString::to_string);
        self.ledger.note(&self.view.snapshot, &decision, now);
        let prepared = match perform::prepare(&self.view.snapshot, &decision, &self.ledger) {
            Ok(prepared) => prepared,
            Err(unproved) => {
                // Never carry out a plan that its independent check rejects.
                tracing::error!(%unproved, "nothing is done");
                self.summary.trouble = Some(unproved.to_string());
                self.rest();
                return Ok(Revision::NONE);
            }
        };
        let (mut sent, stuck) = self.simple(&decision, prepared).await?;
        let stepped = self.steps(&decision, now).await?;
        sent.absorb(stepped);
        self.keep_books(&decision, stuck, now);
        Ok(sent.revision)
    }

    /// Before the collector ends: journals the answers to calls, so that the next collector does not repeat them.
    pub(crate) async fn write_down(&mut self) {
        if !self.actives.wait() || !self.view.synced() {
            return;
        }
        let now = self.means.clock.now();
        let decision = decide(&self.view, &self.settings, &mut self.waiting, now);
        if decision.prove(&self.view.snapshot).is_err() {
            return;
        }
        if let Err(error) = self.steps(&decision, now).await {
            tracing::warn!(%error, "the last answers were not written down");
        }
    }

    /// Whether nothing new may begin, because the collector is about to stop.
    pub(crate) fn is_draining(&self) -> bool {
        *self.stop.borrow() >= Stop::Drain
    }

    /// Carries out the plan for objects without steps.
    async fn simple(
        &mut self,
        decision: &Decision,
        prepared: Prepared<'_>,
    ) -> Result<(Sent, Stuck), SendError> {
        self.turn.clear();
        // A collector that is about to stop begins nothing new.
        let Some(hand) = self.hand.clone().filter(|_| !self.is_draining()) else {
            return Ok((Sent::default(), Stuck::default()));
        };
        // A round can write for a long time, so the sender itself watches for the signal to stop.
        let hand = hand.until(Some(self.stop.clone()));
        let (mut sent, first, turns) = self.send_first(&hand, decision, prepared).await?;
        if sent.refusals().any(|(_, refusal)| Sent::denial(refusal).is_none()) {
            // The snapshot is out of date. Terminating objects stay so; the next round decides about the others.
            self.rest();
            return Ok((sent, Stuck::default()));
        }
        if self.is_draining() {
            return Ok((sent, Stuck::default()));
        }
        self.ledger.buries(&turns.burials);
        let stepping = turns.stepping;
        let mut refused = first.refused;
        let Writes { items, lives, stages, .. } = turns.writes;
        let removed = hand.send_in_stages(items, &stages).await?;
        let denials = lives.iter().zip(&removed.results);
        refused.extend(denials.filter_map(|(life, result)| Some((*life, Sent::denial(result)?))));
        if !refused.is_empty() || !first.no_space.is_empty() {
            if removed.removed() > 0 {
                // There was progress, and what had no space may have some now.
                self.backoff.reset();
            }
            self.rest();
        }
        let others = refused.into_iter();
        let others = others.map(|(life, why)| (life, format!("the server refuses its deletion: {why}")));
        let controlled = turns.controlled.into_iter();
        let others = others.chain(controlled.map(|life| (life, CONTROLLED.to_owned())));
        let stuck = Stuck { finalizers: turns.stuck, kept: turns.kept, others: others.collect() };
        self.summary.removed += removed.removed() as u64;
        if let Some((_, refused)) = removed.refusals().next() {
            let why = refused.status.as_ref().map(|status| status.message.clone()).unwrap_or_default();
            tracing::debug!(why, "a write was refused; the world is looked at again");
            self.rest();
        }
        sent.absorb(removed);
        let forced = perform::forced(&self.view.snapshot, &stuck.finalizers);
        if !forced.is_empty() {
            self.tell_forced(forced.iter().map(|(life, _)| *life));
            let items = forced.into_iter().map(|(life, mut item)| {
                let finding = &decision.judgement.doomed[&life];
                item.tombstone = self.ledger.tombstone_of_force(&self.view.snapshot, finding);
                item
            });
            sent.absorb(hand.send(items.collect()).await?);
        }
        self.turn = self.within_bounds(decision, &stepping);
        Ok((sent, stuck))
    }

    /// Roots of candidates with subscribers that are not all warned.
    fn unwarned(&self, decision: &Decision) -> BTreeSet<Uid> {
        let snapshot = &self.view.snapshot;
        if !decision.accuses_some && self.view.accused().next().is_none() {
            return BTreeSet::new();
        }
        let warned = |step: &Step| {
            let stage = self.actives.stage(snapshot, step.node);
            stage.is_some_and(|stage| (Stage::Warned..=Stage::Released).contains(&stage))
        };
        let accused = decision.plan.steps().filter(|step| decision.accuses(snapshot, &step.finding));
        let unwarned = accused.filter(|step| has_steps(snapshot, step.node) && !warned(step));
        unwarned.map(|step| step.finding.root.clone()).collect()
    }

    /// Sends the first writes. Meanwhile it computes the removals as they are if no write is refused, and again if
    /// one is.
    async fn send_first<'a>(
        &self,
        hand: &perform::Hand,
        decision: &'a Decision,
        mut prepared: Prepared<'a>,
    ) -> Result<(Sent, First, Turns<'a>), SendError> {
        if let Some(turns) = prepared.turns.take() {
            return Ok((Sent::default(), First::default(), turns));
        }
        let snapshot = &self.view.snapshot;
        let hoped = prepared.hoped();
        let Writes { items, lives, stages, .. } = prepared.first;
        let sending = hand.begin(items, stages);
        // Lets the task start to send, also where there is only one processor.
        tokio::task::yield_now().await;
        let turns = perform::turns(snapshot, decision, &hoped, &self.ledger);
        let sent = sending.done().await?;
        let mut first = First::default();
        for (life, result) in lives.into_iter().zip(&sent.results) {
            let marked = matches!(result.outcome, Some(Outcome::Marked | Outcome::Unchanged));
            if marked && hoped.marked.contains(&life) {
                first.marked.insert(life);
            }
            if Sent::has_no_space(result) && hoped.marked.contains(&life) {
                first.no_space.insert(life);
                continue;
            }
            first.refused.extend(Sent::denial(result).map(|why| (life, why)));
        }
        let turns = match first == hoped {
            true => turns,
            false => perform::turns(snapshot, decision, &first, &self.ledger),
        };
        Ok((sent, first, turns))
    }

    fn keep_books(&mut self, decision: &Decision, mut stuck: Stuck, now: i64) {
        let snapshot = &self.view.snapshot;
        stuck.others.extend(self.actives.troubled(snapshot));
        let steps = self.actives.iter().filter_map(|(uid, active)| {
            let life = snapshot.get(&sexton_model::Uid(uid.clone()))?;
            Some((life, &active.state))
        });
        let in_the_way = blockers(snapshot, &decision.judgement, steps, &stuck);
        self.summary.note_blockers(&in_the_way, snapshot);
        let held = self.ledger.note_held(decision, now);
        for record in self.ledger.balance(snapshot, decision, &in_the_way, now).into_iter().chain(held) {
            if let Some(scribe) = &self.scribe {
                scribe.write(record);
            }
        }
        self.tell(decision, &in_the_way);
    }
}
