//! The table as text: every kind of state with every kind of event, and what comes of it.

use std::fmt::Write;

use sexton_lifecycle::destruction::*;

use crate::driver::{LIFE, answered, done, handler, subscriber};

fn after(events: &[Event]) -> State {
    events.iter().fold(State::new(LIFE), |state, event| step(&state, event).unwrap().0)
}

fn begin(origin: Origin) -> Event {
    Event::Begin { origin, subscribers: vec![subscriber("a")], has_destroy: true }
}

fn turn(together: bool) -> Event {
    Event::PredecessorsGone { subscribers: vec![subscriber("a")], together }
}

fn says(phase: Phase, outcome: Outcome) -> Event {
    let callee = if phase == Phase::Destroying { Callee::Destroy } else { handler("a") };
    answered(phase, &callee, outcome, 100)
}

fn veto() -> Outcome {
    Outcome::Veto { reason: "no".into(), until: None }
}

/// Every kind of state, with a name.
fn states() -> Vec<(&'static str, State)> {
    use Origin::{Candidate, Requested};
    use Phase::{Destroyed, Destroying, Notifying, Warning};
    let busy = || Outcome::InProgress { after: 30 };
    let warned = |origin| vec![begin(origin), says(Warning, done())];
    let notifying = |origin| [warned(origin), vec![turn(false)]].concat();
    let circle = [warned(Requested), vec![turn(true), says(Notifying, done())]].concat();
    let destroying = [notifying(Requested), vec![says(Notifying, done())]].concat();
    let destroyed = [destroying.clone(), vec![says(Destroying, done())]].concat();
    let releasing = [destroyed.clone(), vec![says(Destroyed, done())]].concat();
    let and = |events: &[Event], event| after(&[events, &[event]].concat());
    vec![
        ("fresh", State::new(LIFE)),
        ("warning, accused", after(&[begin(Candidate)])),
        ("warning, asked", after(&[begin(Requested)])),
        ("warning, asked, blocked", and(&[begin(Requested)], says(Warning, veto()))),
        ("warned, accused", after(&warned(Candidate))),
        ("warned, asked", after(&warned(Requested))),
        ("notifying, accused", after(&notifying(Candidate))),
        ("notifying, asked", after(&notifying(Requested))),
        ("notifying, asked, blocked", and(&notifying(Requested), says(Notifying, veto()))),
        ("notified, in a circle", after(&circle)),
        ("marking", and(&notifying(Candidate), says(Notifying, done()))),
        ("destroying", after(&destroying)),
        ("destroying, in progress", and(&destroying, says(Destroying, busy()))),
        ("destroying, blocked", and(&destroying, says(Destroying, veto()))),
        ("destroyed", after(&destroyed)),
        ("releasing", after(&releasing)),
        ("released", and(&releasing, Event::Released)),
        ("rescued", after(&[begin(Candidate), Event::Rescued])),
        ("cancelled", after(&[begin(Candidate), says(Warning, veto())])),
    ]
}

/// Every kind of event, with a name. Answers are those of the current phase and its callee.
fn events(state: &State) -> Vec<(&'static str, Event)> {
    let reason = || "why".to_owned();
    let phase = state.phase().unwrap_or(Phase::Warning);
    let callee = if phase == Phase::Destroying { Callee::Destroy } else { handler("a") };
    let until = Some(900);
    vec![
        ("Begin", begin(Origin::Candidate)),
        ("Asked", Event::Requested),
        ("Rescued", Event::Rescued),
        ("Cancelled", Event::Cancelled { reason: reason() }),
        ("PredecessorsGone", turn(false)),
        ("CircleNotified", Event::CircleNotified),
        ("Marked", Event::Terminating),
        ("Done", says(phase, done())),
        ("Gone", says(phase, Outcome::Gone)),
        ("InProgress", says(phase, Outcome::InProgress { after: 30 })),
        ("Blocked", says(phase, Outcome::Blocked { by: "x".into(), reason: reason() })),
        ("Veto", says(phase, veto())),
        ("Veto until 900", says(phase, Outcome::Veto { reason: reason(), until })),
        ("Retry", says(phase, Outcome::Retry { after: 30, reason: reason() })),
        ("Failed", says(phase, Outcome::Failed { reason: reason() })),
        ("HookError", says(phase, Outcome::HookError { reason: reason() })),
        ("Missing", says(phase, Outcome::Missing { what: reason() })),
        ("Done, of a stranger", answered(phase, &handler("x"), done(), 100)),
        ("Done, of a later phase", says(Phase::Destroyed, done())),
        ("Left", Event::SubscriberLeft { uid: "a".into() }),
        ("Tick", Event::Tick { now: 1_000 }),
        ("RetryNow", Event::RetryNow { callee: None }),
        ("Forced", Event::Forced { callee, reason: reason() }),
        ("Released", Event::Released),
        ("Resume", Event::Resume),
    ]
}

fn action(action: &Action) -> String {
    match action {
        Action::Call { callee, phase, attempt, .. } => {
            format!("Call {callee} {} #{attempt}", phase.word())
        }
        Action::CancelCollection { by, .. } => format!("CancelCollection by {by}"),
        other => format!("{other:?}"),
    }
}

fn result(before: &State, result: Result<(State, Vec<Action>), IllegalEvent>) -> String {
    let (state, actions) = match result {
        Err(illegal) => return format!("illegal: {illegal}"),
        Ok((state, actions)) if state == *before && actions.is_empty() => return "ignored".into(),
        Ok(step) => step,
    };
    let mut text = format!("{:?}", state.stage).to_lowercase();
    for blocker in blocked_calls(&state) {
        let what = blocker.block.map_or("failing".to_owned(), |what| format!("{what:?}"));
        let next = blocker.next.map_or(String::new(), |next| format!(" until {next}"));
        let _ = write!(text, " [{} {what}{next}]", blocker.callee);
    }
    let actions: Vec<String> = actions.iter().map(action).collect();
    format!("{text}: {}", if actions.is_empty() { "-".into() } else { actions.join(", ") })
}

#[test]
fn the_table() {
    let mut text = String::new();
    for (name, state) in states() {
        let _ = writeln!(text, "{name}");
        for (event, happens) in events(&state) {
            let _ = writeln!(text, "  {event:<24}{}", result(&state, step(&state, &happens)));
        }
    }
    insta::assert_snapshot!(text);
}

/// What was to be done for an object that was saved meanwhile is not done any more.
#[test]
fn what_came_too_late_is_not_wanted() {
    let begun = step(&State::new(LIFE), &begin(Origin::Candidate)).unwrap();
    let (warning, actions) = begun;
    assert!(actions.iter().all(|action| warning.still_wants(action)));
    let (saved, forget) = step(&warning, &Event::Rescued).unwrap();
    let calls = actions.iter().filter(|action| matches!(action, Action::Call { .. }));
    assert_eq!(calls.clone().count(), 1);
    assert!(
        calls.clone().all(|action| !saved.still_wants(action))
            && forget.iter().all(|action| saved.still_wants(action))
    );
    assert!(!saved.still_wants(&Action::Delete) && !saved.still_wants(&Action::Release));
}
