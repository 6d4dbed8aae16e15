//! Whatever happens in whatever order: no step is skipped, repeated or undone, and failed is never destroyed.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sexton_lifecycle::destruction::*;

use crate::driver::{LIFE, RETRY, handler, subscriber};

fn phase() -> impl Strategy<Value = Phase> {
    use Phase::{Destroyed, Destroying, Notifying, Warning};
    prop::sample::select(vec![Warning, Notifying, Destroying, Destroyed])
}

fn callee() -> impl Strategy<Value = Callee> {
    prop::sample::select(vec![handler("a"), handler("c"), handler(LIFE), handler("x"), Callee::Destroy])
}

fn subscribers() -> impl Strategy<Value = Vec<Subscriber>> {
    prop::collection::vec(prop::sample::select(vec!["a", "c", LIFE]), 0..4)
        .prop_map(|uids| uids.into_iter().map(subscriber).collect())
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let reason = String::from("r");
    prop_oneof![
        6 => Just(Outcome::Done { output: "o".into() }),
        1 => Just(Outcome::Gone),
        1 => (0_i64..9).prop_map(|after| Outcome::InProgress { after }),
        1 => Just(Outcome::Blocked { by: "x".into(), reason: reason.clone() }),
        1 => prop::option::of(0_i64..99).prop_map(|until| Outcome::Veto { reason: "v".into(), until }),
        1 => Just(Outcome::Retry { after: 3, reason: reason.clone() }),
        1 => Just(Outcome::Failed { reason: reason.clone() }),
        1 => Just(Outcome::HookError { reason }),
        1 => Just(Outcome::Missing { what: "m".into() }),
    ]
}

/// An event, or the answer to something that is open.
#[derive(Debug, Clone)]
enum Next {
    Any(Event),
    Answer(usize, Outcome),
}

fn next() -> impl Strategy<Value = Next> {
    let origin = prop::sample::select(vec![Origin::Requested, Origin::Candidate]);
    let retry = Retry { limit: 1, ..RETRY };
    let event = prop_oneof![
        3 => (origin, subscribers(), any::<bool>())
            .prop_map(|(origin, subscribers, has_destroy)| Event::Begin { origin, subscribers, has_destroy }),
        4 => (subscribers(), any::<bool>())
            .prop_map(|(subscribers, together)| Event::PredecessorsGone { subscribers, together }),
        1 => Just(Event::Requested),
        1 => Just(Event::Rescued),
        1 => Just(Event::Cancelled { reason: "c".into() }),
        2 => Just(Event::CircleNotified),
        2 => Just(Event::Terminating),
        2 => (phase(), callee(), outcome(), 0_i64..99).prop_map(move |(phase, callee, outcome, now)| {
            Event::Answered { phase, callee, outcome, retry, now }
        }),
        1 => prop::sample::select(vec!["a", "c", LIFE, "x"]).prop_map(|uid| Event::SubscriberLeft { uid: uid.into() }),
        3 => (0_i64..999).prop_map(|now| Event::Tick { now }),
        1 => prop::option::of(callee()).prop_map(|callee| Event::RetryNow { callee }),
        1 => callee().prop_map(|callee| Event::Forced { callee, reason: "f".into() }),
        2 => Just(Event::Released),
        1 => Just(Event::Resume),
    ];
    prop_oneof![1 => event.prop_map(Next::Any), 1 => (any::<usize>(), outcome()).prop_map(|(n, o)| Next::Answer(n, o))]
}

/// What an observer of events and actions knows.
#[derive(Debug, Default)]
struct Ledger {
    /// Calls that were made and not answered.
    flying: BTreeSet<(Phase, Callee)>,
    /// Calls that ended well.
    ended: BTreeSet<(Phase, Callee)>,
    excused: BTreeSet<(Phase, Callee)>,
    /// The calls that each phase that began has to make.
    must: BTreeSet<(Phase, Callee)>,
    is_terminating: bool,
    destroyed: bool,
}

impl Ledger {
    /// Looks at one step that was taken.
    fn see(&mut self, before: &State, event: &Event, after: &State, actions: &[Action]) {
        match event {
            Event::Begin { origin, subscribers, .. } => {
                self.is_terminating = *origin == Origin::Requested;
                self.owe(Phase::Warning, subscribers);
            }
            Event::PredecessorsGone { subscribers, .. } if before.stage == Stage::Warned => {
                self.settled(Phase::Warning);
                self.owe(Phase::Notifying, subscribers);
            }
            Event::Requested => self.is_terminating = true,
            Event::Terminating => self.is_terminating |= before.stage == Stage::Deleting,
            Event::Answered { phase, callee, outcome, .. } => {
                let call = (*phase, callee.clone());
                let good = matches!(outcome, Outcome::Done { .. } | Outcome::Gone);
                let flew = self.flying.remove(&call);
                self.ended.extend((flew && good).then_some(call));
            }
            Event::SubscriberLeft { uid } => {
                self.excuse(&handler(uid), &[Phase::Warning, Phase::Notifying, Phase::Destroyed])
            }
            Event::Forced { callee, .. } => {
                let phase = before.phase();
                phase.into_iter().for_each(|phase| self.excuse(callee, &[phase]));
            }
            Event::Resume => self.flying.clear(),
            _ => {}
        }
        let journal = actions.iter().position(|action| *action == Action::Journal);
        for (at, action) in actions.iter().enumerate() {
            if !matches!(action, Action::Forget | Action::Journal) {
                let replayed = before.stage == Stage::Cancelled;
                assert!(
                    journal.is_some_and(|journal| journal < at) || replayed,
                    "an effect before its intent"
                );
            }
            self.act(after, action);
        }
    }

    fn owe(&mut self, phase: Phase, subscribers: &[Subscriber]) {
        self.must.extend(subscribers.iter().map(|subscriber| (phase, handler(&subscriber.uid))));
    }

    fn excuse(&mut self, callee: &Callee, phases: &[Phase]) {
        for phase in phases {
            self.flying.remove(&(*phase, callee.clone()));
            self.excused.insert((*phase, callee.clone()));
        }
    }

    /// All calls of a phase are answered or excused.
    fn settled(&self, phase: Phase) {
        for call in self.must.iter().filter(|(other, _)| *other == phase) {
            assert!(self.ended.contains(call) || self.excused.contains(call), "{call:?} was skipped");
        }
    }

    fn act(&mut self, after: &State, action: &Action) {
        match action {
            Action::Call { callee, phase, key, .. } => {
                let call = (*phase, callee.clone());
                assert!(!self.ended.contains(&call), "{call:?} is repeated");
                assert_eq!(*key, callee.key(LIFE, *phase));
                assert!(self.flying.insert(call), "asked while it was being asked");
                if *phase >= Phase::Destroying {
                    self.settled(Phase::Notifying);
                    assert!(self.is_terminating, "destroyed without being marked");
                }
                if *phase == Phase::Destroyed {
                    assert!(after.outcome.is_some());
                }
            }
            Action::Delete => self.settled(Phase::Notifying),
            Action::Release => {
                self.settled(Phase::Notifying);
                assert!(self.is_terminating && after.outcome.is_some());
            }
            _ => {}
        }
    }

    /// Invariants of any state.
    fn check(&mut self, before: &State, after: &State) {
        assert!(after.stage >= before.stage, "{:?} after {:?}", after.stage, before.stage);
        assert!(!before.stage.is_over() || after == before, "the end is not the end");
        assert!(!self.destroyed || after.is_destroyed(), "destroyed was undone");
        self.destroyed |= after.is_destroyed();
        if after.is_destroyed() && after.has_destroy {
            assert!(
                self.ended.contains(&(Phase::Destroying, Callee::Destroy)),
                "failed, and called destroyed"
            );
        }
        assert_eq!(State::decode(&after.encode().unwrap()).unwrap(), *after);
    }
}

fn event(state: &State, next: Next, now: i64) -> Event {
    match next {
        Next::Any(event) => event,
        Next::Answer(number, outcome) => {
            let callee = state.open.keys().nth(number % state.open.len().max(1)).cloned();
            let phase = state.phase().unwrap_or(Phase::Warning);
            let callee = callee.unwrap_or(Callee::Destroy);
            Event::Answered { phase, callee, outcome, retry: Retry { limit: 1, ..RETRY }, now }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// REQ-MUR-90, EXT-25, EXT-26: an observer finds nothing skipped, repeated or undone, no effect
    /// before its intent, and nothing destroyed whose method did not say so.
    #[test]
    fn no_step_is_skipped_repeated_or_undone(nexts in prop::collection::vec(next(), 0..60)) {
        let (mut state, mut ledger) = (State::new(LIFE), Ledger::default());
        for (now, next) in (0..).zip(nexts) {
            let event = event(&state, next, now);
            if let Ok((after, actions)) = step(&state, &event) {
                ledger.see(&state, &event, &after, &actions);
                ledger.check(&state, &after);
                state = after;
            }
        }
    }
}
