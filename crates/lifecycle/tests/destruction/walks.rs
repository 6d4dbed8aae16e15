//! Walks: one object, its subscribers, and what they hear in which order.

use sexton_lifecycle::destruction::*;
use sexton_model::subscription::{self, Target};

use crate::driver::{LIFE, Manner, World, answered, done, handler, subscriber};

/// REQ-MUR-90, REQ-MUR-99, REQ-MUR-14, REQ-MUR-27, REQ-MUR-28, REQ-MUR-29: warned, notified, destroyed, told, and
/// every call says which phase it is.
#[test]
fn everybody_hears_of_every_phase_in_order() {
    for origin in [Origin::Requested, Origin::Candidate] {
        let mut world = World::new(origin, &["a", "c"], true);
        let end = world.run();
        assert_eq!(
            world.phases(),
            [
                "warning a",
                "warning c",
                "notifying a",
                "notifying c",
                "destroying destroy",
                "destroyed a",
                "destroyed c"
            ]
        );
        assert_eq!((end.stage, end.outcome), (Stage::Released, Some(Ending::Done)));
        assert!(world.is_terminating && world.state.is_destroyed() && !world.state.is_abandoned());
        assert_eq!(end.keys.len(), 7);
    }
}

/// REQ-MUR-28: without a destroy method the object is destroyed all the same; without subscribers no handler is called.
#[test]
fn what_there_is_not_is_left_out() {
    let mut world = World::new(Origin::Candidate, &[], false);
    assert_eq!(world.run().stage, Stage::Released);
    assert!(world.calls.is_empty() && world.is_terminating && world.state.is_destroyed());
    let begin = Event::Begin {
        origin: Origin::Requested,
        subscribers: vec![Subscriber { uid: "a".into(), has_handler: false }],
        has_destroy: false,
    };
    let (state, actions) = step(&State::new(LIFE), &begin).unwrap();
    assert_eq!((state.stage, actions), (Stage::Warned, vec![Action::Journal]));
}

/// REQ-MUR-94: a subscriber is called once in each phase, however often it subscribed.
#[test]
fn many_subscriptions_are_one_call() {
    let mut world = World::new(Origin::Requested, &["a", "a", "a"], true);
    world.run();
    assert_eq!(world.phases(), ["warning a", "notifying a", "destroying destroy", "destroyed a"]);
}

/// REQ-MUR-96, REQ-MUR-97: of three subscriptions two can be undone without effect, and the third ends it.
#[test]
fn subscriptions_are_counted() {
    for (undone, heard) in [(0, true), (2, true), (3, false), (4, false)] {
        let (mut all, target) = (Vec::new(), Target::parse("Vm/b").unwrap());
        (0..3).for_each(|_| subscription::subscribe(&mut all, target.clone(), None, Some("gone".into())));
        (0..undone).for_each(|_| _ = subscription::unsubscribe(&mut all, &target, None));
        let subscribers: Vec<&str> = all.iter().map(|_| "a").collect();
        let mut world = World::new(Origin::Requested, &subscribers, false);
        assert_eq!(world.run().stage, Stage::Released);
        let expected: &[&str] = if heard { &["warning a", "notifying a", "destroyed a"] } else { &[] };
        assert_eq!(world.phases(), expected, "{undone} undone");
    }
}

/// REQ-MUR-95: a subscriber that unsubscribed between two phases, or while a call waits, is not called any more.
#[test]
fn who_left_hears_nothing() {
    let mut world = World::new(Origin::Requested, &["a", "c"], true);
    world.subscribers.retain(|subscriber| subscriber.uid != "a");
    world.run();
    let heard: Vec<String> = world.phases().into_iter().filter(|call| call.ends_with(" a")).collect();
    assert_eq!(heard, ["warning a"]);

    let (state, _) = begun(Origin::Requested, &["a"]);
    let failed = Outcome::Failed { reason: "no".into() };
    let (state, _) = step(&state, &answered(Phase::Warning, &handler("a"), failed, 0)).unwrap();
    let (state, actions) = step(&state, &Event::SubscriberLeft { uid: "a".into() }).unwrap();
    assert_eq!((state.stage, actions), (Stage::Warned, vec![Action::Journal]));
}

/// REQ-MUR-98: an object that subscribed to itself is warned and notified; once destroyed, no method of it runs.
#[test]
fn a_object_can_subscribe_to_itself() {
    let mut world = World::new(Origin::Candidate, &[LIFE], true);
    assert_eq!(world.run().stage, Stage::Released);
    assert_eq!(world.phases(), ["warning b", "notifying b", "destroying destroy"]);
}

/// REQ-MUR-91: a reference made while the warning is out saves an accused object; later it does not, and it never saves
/// what a user deleted.
#[test]
fn a_rescue_ends_it_cleanly() {
    let (warning, _) = begun(Origin::Candidate, &["a"]);
    let (warned, _) = step(&warning, &answered(Phase::Warning, &handler("a"), done(), 1)).unwrap();
    for state in [&warning, &warned] {
        let (state, actions) = step(state, &Event::Rescued).unwrap();
        assert_eq!((state.stage, actions), (Stage::Rescued, vec![Action::Forget]));
    }
    let turn = Event::PredecessorsGone { subscribers: vec![subscriber("a")], together: false };
    let (notifying, _) = step(&warned, &turn).unwrap();
    assert_eq!(step(&notifying, &Event::Rescued), Err(IllegalEvent::TooLate));
    let (in_flight, _) = begun(Origin::Requested, &["a"]);
    assert_eq!(step(&in_flight, &Event::Rescued), Err(IllegalEvent::Irreversible));
}

/// REQ-MUR-92, REQ-MUR-93: a veto in the warning or in the notification cancels the collection that accuses; the object
/// stays, unmarked and without a journal.
#[test]
fn a_veto_saves_the_accused() {
    for phase in [Phase::Warning, Phase::Notifying] {
        let mut world =
            World::new(Origin::Candidate, &["a", "c"], true).with(phase, handler("a"), Manner::Veto);
        assert_eq!(world.run().stage, Stage::Cancelled);
        assert!(world.cancelled && world.forgotten && !world.is_terminating && world.journal.is_none());
        assert!(!world.phases().contains(&"destroying destroy".to_owned()));
    }
}

/// REQ-MUR-92, REQ-MUR-93: what a user deleted is blocked by a veto, with its name and reason; it is asked again at
/// the time the veto gives.
#[test]
fn a_veto_blocks_what_was_asked_for() {
    for phase in [Phase::Warning, Phase::Notifying] {
        let mut world =
            World::new(Origin::Requested, &["a", "c"], true).with(phase, handler("a"), Manner::Veto);
        let end = world.run();
        assert_eq!(end.blocked, [(handler("a"), Some(Block::Veto))]);
        assert_eq!(blocked_calls(&world.state)[0].reason, "because");
        assert!(!world.cancelled && !world.forgotten);

        let manner = Manner::VetoUntil(500);
        let mut world = World::new(Origin::Requested, &["a", "c"], true).with(phase, handler("a"), manner);
        assert_eq!(world.run().stage, Stage::Released);
        assert_eq!(world.calls.iter().filter(|call| **call == (phase, handler("a"))).count(), 2);
    }
}

/// EXT-25: failures are counted, repeated with growing pauses, and block in the end; what follows waits.
#[test]
fn failures_are_repeated_and_then_block() {
    for manner in [Manner::FailsTimes(9), Manner::CrashesTimes(9), Manner::RetriesTimes(9)] {
        let mut world = World::new(Origin::Requested, &["a"], true).with(
            Phase::Destroying,
            Callee::Destroy,
            manner.clone(),
        );
        let end = world.run();
        assert_eq!(end.blocked, [(Callee::Destroy, Some(Block::Failed))], "{manner:?}");
        assert!(!world.state.is_destroyed() && !world.removed);
        assert_eq!(world.phases()[2..], ["destroying destroy"; 4]);
        let (state, actions) = step(&world.state, &Event::RetryNow { callee: None }).unwrap();
        assert!(matches!(&actions[..], [Action::Journal, Action::Call { attempt: 1, .. }]), "{actions:?}");
        let (state, _) = step(&state, &answered(Phase::Destroying, &Callee::Destroy, done(), 99)).unwrap();
        assert!(state.is_destroyed() && !state.is_abandoned());
    }
}

/// EXT-25: after so few failures that they are repeated by themselves, all goes on as if nothing had been.
#[test]
fn what_works_in_the_end_is_as_good() {
    for manner in [
        Manner::FailsTimes(3),
        Manner::CrashesTimes(2),
        Manner::RetriesTimes(1),
        Manner::BusyUntil(1000),
        Manner::BlockedUntil(1000),
        Manner::MissingUntil(1000),
    ] {
        let mut world = World::new(Origin::Requested, &["a"], true)
            .with(Phase::Destroying, Callee::Destroy, manner.clone())
            .with(Phase::Notifying, handler("a"), manner.clone());
        let end = world.run();
        assert_eq!((end.stage, end.outcome), (Stage::Released, Some(Ending::Done)), "{manner:?}");
        assert_eq!(end.keys.len(), 4, "a repetition has the key of the first time");
    }
}

/// EXT-25: a handler that does not exist is a blocker, never skipped.
#[test]
fn a_missing_handler_blocks() {
    let (state, _) = begun(Origin::Requested, &["a"]);
    let missing = Outcome::Missing { what: "no handler vmGone in Class vm".into() };
    let (state, _) = step(&state, &answered(Phase::Warning, &handler("a"), missing, 7)).unwrap();
    let blocker = &blocked_calls(&state)[0];
    assert_eq!((blocker.block.clone(), blocker.since, blocker.next), (Some(Block::Missing), 7, Some(8)));
    assert_eq!((state.stage, due(&state)), (Stage::Warning, Some(8)));
}

/// EXT-25: force gives one call up, with a reason, and it is recorded that the outcome is unknown.
#[test]
fn force_is_recorded() {
    let mut world = World::new(Origin::Requested, &["a"], true).with(
        Phase::Destroying,
        Callee::Destroy,
        Manner::FailsTimes(9),
    );
    world.force = true;
    let end = world.run();
    assert_eq!((end.stage, end.outcome, end.forced), (Stage::Released, Some(Ending::Abandoned), 1));
    assert!(world.state.is_abandoned() && !world.state.is_destroyed());
    assert_eq!(world.state.abandoned.unwrap().reason, "enough");
}

/// EXT-26: the destruction is journalled before subscribers are notified, and a failed notification does not undo it.
#[test]
fn destroyed_is_written_before_it_is_told() {
    let (mut state, _) = begun(Origin::Requested, &["a"]);
    let turn = Event::PredecessorsGone { subscribers: vec![subscriber("a")], together: false };
    for event in [
        answered(Phase::Warning, &handler("a"), done(), 0),
        turn,
        answered(Phase::Notifying, &handler("a"), done(), 0),
    ] {
        state = step(&state, &event).unwrap().0;
    }
    let outcome = Outcome::Done { output: "freed".into() };
    let (state, actions) = step(&state, &answered(Phase::Destroying, &Callee::Destroy, outcome, 0)).unwrap();
    assert!(matches!(&actions[..], [Action::Journal, Action::Call { phase: Phase::Destroyed, .. }]));
    assert!(state.is_destroyed());
    assert_eq!(state.output.as_deref(), Some("freed"));

    let mut world = World::new(Origin::Requested, &["a"], true).with(
        Phase::Destroyed,
        handler("a"),
        Manner::FailsTimes(9),
    );
    assert_eq!(world.run().stage, Stage::Released);
    assert!(world.state.is_destroyed() && world.state.unnotified == 1);
}

/// REQ-MUR-17: in a cycle, no object is destroyed before all are notified.
#[test]
fn a_circle_is_notified_before_any_of_it_goes() {
    let mut world = World::new(Origin::Candidate, &["a"], true);
    world.together = true;
    assert_eq!(world.run().stage, Stage::Released);
    let (state, _) = begun(Origin::Requested, &[]);
    let turn = Event::PredecessorsGone { subscribers: vec![], together: true };
    let (state, actions) = step(&state, &turn).unwrap();
    assert_eq!((state.stage, actions), (Stage::Notified, vec![Action::Journal]));
    let (state, actions) = step(&state, &Event::CircleNotified).unwrap();
    assert_eq!((state.stage, actions.len()), (Stage::Destroying, 2));
}

pub(crate) fn begun(origin: Origin, subscribers: &[&str]) -> (State, Vec<Action>) {
    let subscribers = subscribers.iter().map(|uid| subscriber(uid)).collect();
    step(&State::new(LIFE), &Event::Begin { origin, subscribers, has_destroy: true }).unwrap()
}
