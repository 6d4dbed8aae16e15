//! Hooks with moods: they answer anything, late or never, and show every call to the judge. A call of a collector that
//! lost its lease is refused, as the documentation asks of hooks.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use sexton_collector::Runner;
use sexton_collector::hooks::HookError;
use sexton_model::class::Method;
use sexton_model::hook::{Call, Phase, Verdict};

use super::chance::Chance;
use super::judge::{ACTOR, Actor};
use super::sorts::path_of;
use super::wire::{Air, Wire};

/// What the hooks did, for all collectors together.
#[derive(Debug)]
pub struct Moods {
    /// Chance for the answers.
    pub chance: Mutex<Chance>,
    /// What was done already is done again at once.
    done: Mutex<BTreeMap<String, Verdict>>,
    now: i64,
}

impl Moods {
    /// Hooks that have done nothing yet.
    pub fn new(chance: Chance, now: i64) -> Moods {
        Moods { chance: Mutex::new(chance), done: Mutex::default(), now }
    }

    fn verdict(&self, moody: u64) -> Option<Verdict> {
        let mut chance = self.chance.lock().unwrap();
        let some = |chance: &mut Chance| Some(Duration::from_secs(chance.below(20)));
        let reason = String::from("because");
        if !chance.percent(moody) {
            return Some(if chance.percent(90) { Verdict::Done { output: None } } else { Verdict::Gone });
        }
        Some(match chance.below(8) {
            0 | 1 => Verdict::InProgress { after: some(&mut chance) },
            2 => Verdict::Blocked { by: Some("a stone".into()), reason },
            3 => Verdict::Veto { reason, until: None },
            4 => {
                let until = Some(self.now + chance.below(600).cast_signed());
                Verdict::Veto { reason, until }
            }
            5 => Verdict::Retry { after: some(&mut chance), reason },
            6 => Verdict::Failed { reason },
            _ => return None,
        })
    }
}

/// The hooks as one collector reaches them.
#[derive(Debug)]
pub struct Moody {
    /// The hooks.
    pub moods: Arc<Moods>,
    /// The collector's wire.
    pub wire: Wire,
}

fn reset(what: &str) -> HookError {
    HookError::Broken(Box::new(io::Error::new(io::ErrorKind::ConnectionReset, what.to_owned())))
}

impl Moody {
    fn accept(air: &Air, call: &Call) -> bool {
        let mut judge = air.judge.lock().unwrap();
        let subscriber = call.subscriber.as_ref().map(|document| document["metadata"]["uid"].to_string());
        judge.note(format!(
            "        call {} {} of {} for {} epoch {} attempt {}",
            call.phase,
            call.method,
            call.object["metadata"]["uid"],
            subscriber.unwrap_or_default(),
            call.epoch,
            call.attempt
        ));
        if call.epoch < judge.epoch {
            judge.figures.count("calls under an old epoch");
            return false;
        }
        judge.figures.count("calls");
        let judge = &mut *judge;
        for against in judge.steps.against(&judge.model, call) {
            judge.accuse(against);
        }
        true
    }
}

impl Moody {
    /// A subscriber that is warned of a candidate may rescue it: by taking away its owners, or by protecting it.
    async fn perhaps_rescue(&self, call: &Call) {
        let air = &self.wire.air;
        let uid = call.object["metadata"]["uid"].as_str().unwrap_or_default();
        let accused = air.judge.lock().unwrap().model.lives.get(uid).cloned();
        let Some(life) = accused.filter(|life| life.marked.is_none()) else { return };
        let patch = match self.moods.chance.lock().unwrap().below(8) {
            0 => json!({"metadata": {"ownerReferences": []}}),
            1 => json!({"metadata": {"annotations": {"sexton.dev/protect": "true"}}}),
            _ => return,
        };
        air.count("rescues by who was warned");
        let router = air.router.lock().unwrap().clone();
        let request = crate::call::Call::new(router, "MERGE", &path_of(&life)).json(&patch);
        ACTOR.scope(Actor::People, request.send()).await;
    }
}

#[async_trait]
impl Runner for Moody {
    async fn call(&self, method: &Method, call: &Call) -> Result<Verdict, HookError> {
        self.wire.gate().await;
        let air = &self.wire.air;
        if !Moody::accept(air, call) {
            return Err(reset("somebody else's turn"));
        }
        let (moody, takes) = {
            let weather = air.weather.lock().unwrap();
            (weather.moody, weather.call_takes)
        };
        if takes > 0 {
            let takes = self.moods.chance.lock().unwrap().below(takes);
            tokio::time::sleep(Duration::from_millis(takes)).await;
        }
        if moody > 0 && self.moods.chance.lock().unwrap().percent(30) {
            tokio::time::sleep(air.while_()).await;
        }
        let known = self.moods.done.lock().unwrap().get(&call.idempotency_key).cloned();
        let verdict = known.or_else(|| self.moods.verdict(moody));
        let Some(verdict) = verdict else {
            air.count("calls without an answer");
            tokio::time::sleep(method.deadline).await;
            return Err(HookError::Deadline { after: method.deadline });
        };
        if call.phase == Phase::Warning && takes == 0 {
            self.perhaps_rescue(call).await;
        }
        if matches!(verdict, Verdict::Done { .. } | Verdict::Gone) {
            self.moods.done.lock().unwrap().insert(call.idempotency_key.clone(), verdict.clone());
            air.judge.lock().unwrap().steps.answered(call);
        }
        air.judge
            .lock()
            .unwrap()
            .note(format!("        answer to {} {}: {verdict:?}", call.phase, call.method));
        self.wire.gate().await;
        if air.roll(|weather| weather.unanswered) {
            return Err(reset("the answer was lost"));
        }
        Ok(verdict)
    }
}
