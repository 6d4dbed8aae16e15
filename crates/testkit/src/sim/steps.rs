//! The steps of destructions: which method was called for what, which answered, which was given up.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sexton_model::hook::{Call, Phase};
use sexton_model::marks;

use super::life::Life;
use super::model::Model;

/// The steps of a destruction, in their order.
const STAGES: [&str; 10] = [
    "fresh",
    "warning",
    "warned",
    "notifying",
    "notified",
    "marking",
    "destroying",
    "destroyed",
    "releasing",
    "released",
];
/// From here on nothing saves it.
const MARKING: usize = 5;

/// What was observed of each destruction.
#[derive(Debug, Default)]
pub struct Steps {
    /// The subscribers that had to be notified when an object became terminating: by the uid of the object, their uids.
    told: BTreeMap<String, BTreeSet<String>>,
    /// Uids of objects that had a destroy method when they became terminating.
    destroys: BTreeSet<String>,
    /// Final answers: uid of the object, phase, callee.
    done: BTreeSet<(String, &'static str, String)>,
    /// The keys of calls.
    keys: BTreeMap<(String, &'static str, String), String>,
    /// What was given up by request: uid of the object and blocker.
    forced: BTreeSet<(String, String)>,
}

fn callee_of(call: &Call) -> String {
    let subscriber = call.subscriber.as_ref().and_then(|document| document["metadata"]["uid"].as_str());
    subscriber.unwrap_or("destroy").to_owned()
}

fn doomed_of(call: &Call) -> String {
    call.object["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
}

impl Steps {
    /// An object is terminating from now on.
    pub fn marked(&mut self, model: &Model, uid: &str) {
        let life = &model.lives[uid];
        if life.journal().is_some() {
            // Its steps began before: a later subscriber may have been missed.
            return;
        }
        let class = model.class(life.group(), &life.kind);
        if class.is_some_and(|class| class.document["spec"]["destroy"].is_object()) {
            self.destroys.insert(uid.to_owned());
        }
        let with_handler = model.subscribers(life).filter(|(_, handler)| handler.is_some());
        let with_handler = with_handler.filter(|(subscriber, _)| !subscriber.destroyed());
        let told = with_handler.map(|(subscriber, _)| subscriber.uid.clone()).collect();
        self.told.insert(uid.to_owned(), told);
    }

    /// An object is a candidate from now on. Subscribers that the collector could not have seen yet may be missed.
    pub fn accused(&mut self, model: &Model, life: &Life, seen: impl Fn(&str) -> bool) {
        let class = model.class(life.group(), &life.kind).filter(|class| seen(&class.uid));
        if class.is_some_and(|class| class.document["spec"]["destroy"].is_object()) {
            self.destroys.insert(life.uid.clone());
        }
        let told = model.subscribers(life).filter(|(other, handler)| handler.is_some() && seen(&other.uid));
        let told = told.filter(|(other, _)| !other.destroyed()).map(|(other, _)| other.uid.clone()).collect();
        self.told.insert(life.uid.clone(), told);
    }

    /// What speaks against a change of an object's annotations: no step is ever taken back, and nothing is said to be
    /// destroyed that is not.
    pub fn rewritten(&self, before: &Life, after: &Life) -> Vec<String> {
        let stage = |life: &Life| {
            let journal = life.journal()?;
            STAGES.iter().position(|stage| journal["stage"].as_str() == Some(stage))
        };
        let mut against = Vec::new();
        match (stage(before), stage(after)) {
            (Some(was), Some(is)) if is < was => {
                against.push(format!("the step {} was taken back to {}", STAGES[was], STAGES[is]));
            }
            (Some(was), None) if before.marked.is_some() || was >= MARKING => {
                against.push(format!("its journal was lost in the step {}", STAGES[was]));
            }
            _ => {}
        }
        let done = (before.uid.clone(), Phase::Destroying.word(), "destroy".to_owned());
        match (before.destroyed(), after.destroyed()) {
            (false, true) if self.destroys.contains(&before.uid) && !self.done.contains(&done) => {
                against.push("it is said to be destroyed, and its method never said so".to_owned());
            }
            (true, false) => against.push("it was destroyed, and is not any more".to_owned()),
            _ => {}
        }
        against
    }

    /// An object changed: it may have unsubscribed, or carry a request to the collector.
    pub fn changed(&mut self, model: &Model, after: &Life) {
        let before = model.lives.get(&after.uid);
        if before.is_some_and(|before| before.subscriptions != after.subscriptions || after.destroyed()) {
            self.told.values_mut().for_each(|told| _ = told.remove(&after.uid));
        }
        let Some(request) = after.annotations.get(marks::REQUEST) else { return };
        let request: Value = serde_json::from_str(request).unwrap_or(Value::Null);
        if let (Some("force"), Some(blocker)) = (request["want"].as_str(), request["blocker"].as_str()) {
            self.forced.insert((after.uid.clone(), blocker.to_owned()));
        }
    }

    /// Whether this was given up by request.
    pub fn was_forced(&self, life: &Life, blocker: &str) -> bool {
        self.forced.contains(&(life.uid.clone(), blocker.to_owned()))
    }

    fn is_done(&self, life: &Life, phase: Phase, callee: &str) -> bool {
        self.done.contains(&(life.uid.clone(), phase.word(), callee.to_owned()))
            || self.was_forced(life, callee)
    }

    /// A final answer.
    pub fn answered(&mut self, call: &Call) {
        self.done.insert((doomed_of(call), call.phase.word(), callee_of(call)));
    }

    /// What speaks against a call that is accepted now.
    pub fn against(&mut self, model: &Model, call: &Call) -> Vec<String> {
        let (uid, callee) = (doomed_of(call), callee_of(call));
        let name = format!("{} {} of {uid} by {callee}", call.phase, call.method);
        let Some(life) = model.lives.get(&uid) else { return Vec::new() };
        let mut against = Vec::new();
        let key = self.keys.entry((uid.clone(), call.phase.word(), callee.clone()));
        if *key.or_insert_with(|| call.idempotency_key.clone()) != call.idempotency_key {
            against.push(format!("{name} has another key than before"));
        }
        let journal = life.journal().unwrap_or(Value::Null);
        if journal["open"][&callee]["asked"] != Value::Bool(true) {
            against.push(format!("{name} is not announced in the journal {journal}"));
        }
        if journal["stage"].as_str() != Some(call.phase.word()) {
            against.push(format!("{name} is called for in the step {}", journal["stage"]));
        }
        if call.phase == Phase::Destroying && life.destroyed() {
            against.push(format!("{name} was destroyed already"));
        }
        if call.phase != Phase::Destroying
            && model.lives.get(&callee).is_some_and(|subscriber| subscriber.destroyed())
        {
            against.push(format!("{name}: the subscriber was destroyed already"));
        }
        let told: Vec<String> = self.told.get(&uid).into_iter().flatten().cloned().collect();
        let before: &[Phase] = match call.phase {
            Phase::Warning => &[],
            Phase::Notifying => &[Phase::Warning],
            Phase::Destroying | Phase::Destroyed => &[Phase::Warning, Phase::Notifying],
        };
        let heard = told.iter().filter(|one| call.phase == Phase::Destroying || **one == callee);
        for one in heard.filter(|one| model.lives.contains_key(*one)) {
            for phase in before.iter().filter(|phase| !self.is_done(life, **phase, one)) {
                against.push(format!("{name}, and {one} has not heard of {phase}"));
            }
        }
        if call.phase == Phase::Destroyed
            && self.destroys.contains(&uid)
            && !self.is_done(life, Phase::Destroying, "destroy")
        {
            against.push(format!("{name}, and it was never destroyed"));
        }
        against
    }

    /// What speaks against the removal of an object.
    pub fn missing(&self, model: &Model, life: &Life) -> Vec<String> {
        let mut missing = Vec::new();
        if life.marked.is_none() {
            if model.class(life.group(), &life.kind).is_some() {
                missing.push("its kind has a class".to_owned());
            }
            if let Some((other, _)) = model.subscribers(life).find(|(other, _)| other.uid != life.uid) {
                missing.push(format!("{} subscribes to it", other.named()));
            }
            return missing;
        }
        if self.destroys.contains(&life.uid) && !self.is_done(life, Phase::Destroying, "destroy") {
            missing.push("its destroy method never said done".to_owned());
        }
        for one in self.told.get(&life.uid).into_iter().flatten() {
            let here = model.lives.get(one).is_some_and(|subscriber| !subscriber.destroyed());
            for phase in [Phase::Warning, Phase::Notifying] {
                if here && !self.is_done(life, phase, one) {
                    missing.push(format!("{one} has not heard of {phase}"));
                }
            }
        }
        missing
    }
}
