//! The journal as text: compact, bounded, versioned.

use sexton_lifecycle::destruction::*;

use crate::driver::{RETRY, answered, handler, subscriber};
use crate::walks::begun;

#[test]
fn it_is_compact_and_reads_back() {
    let (state, _) = begun(Origin::Candidate, &["a", "c"]);
    let text = state.encode().unwrap();
    assert_eq!(
        text,
        r#"{"v":1,"state":{"uid":"b","origin":"accused","stage":"warning","hasDestroy":true,"subscribers":["a","c"],"open":{"a":{"asked":true},"c":{"asked":true}}}}"#
    );
    assert_eq!(State::decode(&text).unwrap(), state);
}

#[test]
fn what_is_not_understood_is_an_error() {
    let text = begun(Origin::Requested, &["a"]).0.encode().unwrap();
    assert!(matches!(State::decode(&text.replace(r#""v":1"#, r#""v":2"#)), Err(BadJournal::Version(2))));
    assert!(matches!(State::decode(&text.replace("origin", "reason")), Err(BadJournal::Form(_))));
    assert!(matches!(State::decode("{}"), Err(BadJournal::Form(_))));
    assert!(matches!(State::decode(&" ".repeat(MAX_JOURNAL_BYTES + 1)), Err(BadJournal::TooLong)));
    for (old, new) in [
        (r#""subscribers":["a"]"#, r#""subscribers":["x"]"#),
        (r#""stage":"warning""#, r#""stage":"destroyed""#),
        (r#""stage":"warning""#, r#""stage":"warned""#),
        (r#""open":{"a":{"asked":true}}"#, r#""open":{}"#),
        (r#""open":{"a":{"asked":true}}"#, r#""outcome":"done","open":{"a":{"asked":true}}"#),
    ] {
        let wrong = text.replace(old, new);
        assert!(matches!(State::decode(&wrong), Err(BadJournal::Contradiction(_))), "{wrong}");
    }
}

/// However many subscribers fail with however long errors, the journal fits into an annotation.
#[test]
fn it_is_bounded() {
    let uids: Vec<String> =
        (0..MAX_SUBSCRIBERS).map(|number| format!("{number:08x}-0000-4000-8000-000000000000")).collect();
    let subscribers = uids.iter().map(|uid| subscriber(uid)).collect();
    let begin = Event::Begin { origin: Origin::Requested, subscribers, has_destroy: true };
    let (mut state, _) = step(&State::new("b"), &begin).unwrap();
    for uid in &uids {
        let long = "\"\u{1}".repeat(1 << 14);
        let outcome = Outcome::Blocked { by: long.clone(), reason: long };
        state = step(&state, &answered(Phase::Warning, &handler(uid), outcome, 1_700_000_000)).unwrap().0;
    }
    let text = state.encode().unwrap();
    assert!(text.len() < MAX_JOURNAL_BYTES * 9 / 10, "{}", text.len());
    assert_eq!(State::decode(&text).unwrap(), state);
    assert!(blocked_calls(&state)[0].reason.len() <= MAX_ERROR_BYTES);

    let (state, _) = begun(Origin::Requested, &[]);
    let turn = Event::PredecessorsGone { subscribers: vec![], together: false };
    let (state, _) = step(&state, &turn).unwrap();
    let outcome = Outcome::Done { output: "x".repeat(1 << 20) };
    let event =
        Event::Answered { phase: Phase::Destroying, callee: Callee::Destroy, outcome, retry: RETRY, now: 0 };
    assert_eq!(step(&state, &event).unwrap().0.output.unwrap().len(), MAX_OUTPUT_BYTES);
}
