//! A world for one object: carries actions out, answers calls as each callee is made, lets time pass, and can crash.

use std::collections::{BTreeMap, BTreeSet};

use sexton_lifecycle::destruction::*;

/// The object that is destroyed.
pub(crate) const LIFE: &str = "b";
pub(crate) const RETRY: Retry = Retry { limit: 3, backoff: 1, max_backoff: 60 };

pub(crate) fn subscriber(uid: &str) -> Subscriber {
    Subscriber { uid: uid.into(), has_handler: true }
}

pub(crate) fn handler(uid: &str) -> Callee {
    Callee::Subscriber(uid.into())
}

pub(crate) fn answered(phase: Phase, callee: &Callee, outcome: Outcome, now: i64) -> Event {
    Event::Answered { phase, callee: callee.clone(), outcome, retry: RETRY, now }
}

pub(crate) fn done() -> Outcome {
    Outcome::Done { output: String::new() }
}

/// How a callee answers. It gives the same answer to the same question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Manner {
    Done,
    Gone,
    FailsTimes(u32),
    RetriesTimes(u32),
    CrashesTimes(u32),
    BusyUntil(i64),
    BlockedUntil(i64),
    MissingUntil(i64),
    VetoUntil(i64),
    Veto,
}

impl Manner {
    fn answer(&self, attempt: u32, now: i64) -> Outcome {
        let reason = "because".to_owned();
        match self {
            Manner::Gone => Outcome::Gone,
            Manner::FailsTimes(times) if attempt <= *times => Outcome::Failed { reason },
            Manner::CrashesTimes(times) if attempt <= *times => Outcome::HookError { reason },
            Manner::RetriesTimes(times) if attempt <= *times => Outcome::Retry { after: 5, reason },
            Manner::BusyUntil(time) if now < *time => Outcome::InProgress { after: 3 },
            Manner::BlockedUntil(time) if now < *time => Outcome::Blocked { by: "Vm/x".into(), reason },
            Manner::MissingUntil(time) if now < *time => Outcome::Missing { what: "vmGone".into() },
            Manner::VetoUntil(time) if now < *time => Outcome::Veto { reason, until: Some(*time) },
            Manner::Veto => Outcome::Veto { reason, until: None },
            _ => done(),
        }
    }
}

/// What is the same however often the world crashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) stage: Stage,
    pub(crate) outcome: Option<Ending>,
    pub(crate) forced: u32,
    pub(crate) blocked: Vec<(Callee, Option<Block>)>,
    pub(crate) keys: BTreeSet<String>,
    pub(crate) is_terminating: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) begin: Event,
    pub(crate) subscribers: Vec<Subscriber>,
    pub(crate) together: bool,
    pub(crate) manners: BTreeMap<(Phase, Callee), Manner>,
    /// Whether calls that stay blocked are given up in the end.
    pub(crate) force: bool,
    /// After so many actions and events everything that is not journalled is lost.
    pub(crate) crashes: Vec<usize>,
    pub(crate) state: State,
    /// The text on the object.
    pub(crate) journal: Option<String>,
    pub(crate) is_terminating: bool,
    pub(crate) removed: bool,
    pub(crate) cancelled: bool,
    pub(crate) forgotten: bool,
    /// Every call in order: phase and callee.
    pub(crate) calls: Vec<(Phase, Callee)>,
    pub(crate) keys: BTreeSet<String>,
    inbox: Vec<Event>,
    now: i64,
    ticks: usize,
}

struct Crash;

impl World {
    pub(crate) fn new(origin: Origin, subscribers: &[&str], has_destroy: bool) -> World {
        let subscribers: Vec<Subscriber> = subscribers.iter().map(|uid| subscriber(uid)).collect();
        World {
            begin: Event::Begin { origin, subscribers: subscribers.clone(), has_destroy },
            subscribers,
            together: false,
            manners: BTreeMap::new(),
            force: false,
            crashes: Vec::new(),
            state: State::new(LIFE),
            journal: None,
            is_terminating: origin == Origin::Requested,
            removed: false,
            cancelled: false,
            forgotten: false,
            calls: Vec::new(),
            keys: BTreeSet::new(),
            inbox: Vec::new(),
            now: 0,
            ticks: 0,
        }
    }

    pub(crate) fn with(mut self, phase: Phase, callee: Callee, manner: Manner) -> World {
        self.manners.insert((phase, callee), manner);
        self
    }

    pub(crate) fn phases(&self) -> Vec<String> {
        self.calls.iter().map(|(phase, callee)| format!("{} {callee}", phase.word())).collect()
    }

    fn tick(&mut self) -> Result<(), Crash> {
        self.ticks += 1;
        if self.crashes.contains(&self.ticks) { Err(Crash) } else { Ok(()) }
    }

    fn take(&mut self, event: &Event) -> Result<(), Crash> {
        self.tick()?;
        let (state, actions) = step(&self.state, event).unwrap();
        self.state = state;
        for action in actions {
            self.tick()?;
            self.perform(action);
        }
        self.tick()
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Journal => self.journal = Some(self.state.encode().unwrap()),
            Action::Delete => {
                self.is_terminating = true;
                self.inbox.push(Event::Terminating);
            }
            Action::Release => {
                self.removed = true;
                self.inbox.push(Event::Released);
            }
            Action::CancelCollection { .. } => self.cancelled = true,
            Action::Forget => {
                self.journal = None;
                self.forgotten = true;
            }
            Action::Call { callee, phase, key, attempt } => {
                self.keys.insert(key);
                self.calls.push((phase, callee.clone()));
                let manner = self.manners.get(&(phase, callee.clone())).unwrap_or(&Manner::Done);
                self.inbox.push(answered(phase, &callee, manner.answer(attempt, self.now), self.now));
            }
        }
    }

    /// What happens next by itself, if anything does.
    fn next(&mut self) -> Option<Event> {
        if !self.inbox.is_empty() {
            return Some(self.inbox.remove(0));
        }
        match self.state.stage {
            Stage::Fresh => return Some(self.begin.clone()),
            Stage::Warned => {
                let (subscribers, together) = (self.subscribers.clone(), self.together);
                return Some(Event::PredecessorsGone { subscribers, together });
            }
            Stage::Notified => return Some(Event::CircleNotified),
            _ => {}
        }
        if let Some(due) = due(&self.state) {
            self.now = self.now.max(due);
            return Some(Event::Tick { now: self.now });
        }
        let blocker = blocked_calls(&self.state).into_iter().next().filter(|_| self.force)?;
        Some(Event::Forced { callee: blocker.callee, reason: "enough".into() })
    }

    /// Until nothing happens any more.
    pub(crate) fn run(&mut self) -> End {
        for _ in 0..2_000 {
            if self.removed || self.forgotten {
                break;
            }
            let Some(event) = self.next() else { break };
            if self.take(&event).is_err() {
                self.restart();
            }
        }
        // Without a journal the object itself tells how it ended.
        let stage = match (self.removed, self.forgotten) {
            (true, _) => Stage::Released,
            (_, true) => Stage::Cancelled,
            _ => self.state.stage,
        };
        assert!(
            stage.is_over() || due(&self.state).is_none(),
            "it does not come to an end: {:?}",
            self.state
        );
        // A survivor keeps nothing of its state, crash or not.
        let left = if self.forgotten { &State::new(LIFE) } else { &self.state };
        End {
            stage,
            outcome: left.outcome,
            forced: left.forced,
            blocked: blocked_calls(left).into_iter().map(|blocker| (blocker.callee, blocker.block)).collect(),
            keys: self.keys.clone(),
            is_terminating: self.is_terminating,
        }
    }

    /// All that is left is the journal, and what was done to the object.
    fn restart(&mut self) {
        self.inbox.clear();
        self.state = match &self.journal {
            Some(text) => State::decode(text).unwrap(),
            None => State::new(LIFE),
        };
        if self.journal.is_some() {
            self.inbox.push(Event::Resume);
        }
    }
}
