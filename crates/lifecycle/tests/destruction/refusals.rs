//! What is repeated, late or foreign changes nothing.

use sexton_lifecycle::destruction::*;

use crate::driver::{World, answered, done, handler};
use crate::walks::begun;

#[test]
fn a_stranger_is_refused_and_a_repetition_ignored() {
    let (state, _) = begun(Origin::Requested, &["a", "c"]);
    let stranger = answered(Phase::Warning, &handler("x"), done(), 0);
    assert_eq!(step(&state, &stranger), Err(IllegalEvent::NeverCalled(handler("x"))));
    assert_eq!(
        step(&state, &answered(Phase::Notifying, &handler("a"), done(), 0)),
        Err(IllegalEvent::TooEarly)
    );
    let first = answered(Phase::Warning, &handler("a"), done(), 0);
    let (state, _) = step(&state, &first).unwrap();
    assert_eq!(step(&state, &first).unwrap(), (state.clone(), vec![]));
    let failed = answered(Phase::Warning, &handler("a"), Outcome::Failed { reason: "late".into() }, 0);
    assert_eq!(step(&state, &failed).unwrap(), (state.clone(), vec![]));
}

/// A failure that is reported twice counts once.
#[test]
fn a_failure_counts_once() {
    let (state, _) = begun(Origin::Requested, &["a"]);
    let failed = answered(Phase::Warning, &handler("a"), Outcome::Failed { reason: "no".into() }, 0);
    let (state, _) = step(&state, &failed).unwrap();
    let (again, actions) = step(&state, &failed).unwrap();
    assert_eq!((again.open[&handler("a")].failures, actions), (1, vec![]));
}

#[test]
fn too_many_subscribers_are_refused() {
    let names: Vec<String> = (0..=MAX_SUBSCRIBERS).map(|number| format!("s-{number}")).collect();
    let subscribers = names.iter().map(|uid| crate::driver::subscriber(uid)).collect();
    let begin = Event::Begin { origin: Origin::Requested, subscribers, has_destroy: false };
    assert_eq!(step(&State::new("b"), &begin), Err(IllegalEvent::TooManySubscribers));
}

#[test]
fn a_deletion_by_a_user_takes_the_way_back_from_the_accused() {
    let (state, _) = begun(Origin::Candidate, &["a"]);
    let (state, actions) = step(&state, &Event::Requested).unwrap();
    assert_eq!(
        (state.origin, state.is_terminating, actions),
        (Origin::Requested, true, vec![Action::Journal])
    );
    assert_eq!(step(&state, &Event::Rescued), Err(IllegalEvent::Irreversible));
    assert_eq!(step(&state, &Event::Cancelled { reason: "x".into() }), Err(IllegalEvent::Irreversible));
    let veto = Outcome::Veto { reason: "no".into(), until: None };
    let (state, _) = step(&state, &answered(Phase::Warning, &handler("a"), veto, 0)).unwrap();
    assert_eq!(blocked_calls(&state).len(), 1);
}

#[test]
fn what_is_over_stays_over() {
    let mut world = World::new(Origin::Requested, &["a"], true);
    world.run();
    let (state, _) = step(&world.state, &Event::Released).unwrap();
    assert_eq!(state.stage, Stage::Released);
    assert_eq!(step(&state, &Event::Resume).unwrap(), (state.clone(), vec![]));
    assert_eq!(step(&state, &Event::RetryNow { callee: None }), Err(IllegalEvent::Over));
    assert_eq!(step(&state, &answered(Phase::Warning, &handler("a"), done(), 0)).unwrap().1, []);
}
