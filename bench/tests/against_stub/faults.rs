//! Each check against a server that breaks the rule it checks.
//! Must not know: how the stub misbehaves.

use crate::program::{Run, run};
use crate::state::Fault;
use crate::stub::Stub;

fn list_with(fault: Fault) -> Run {
    let stub = Stub::start(fault, None);
    run(&stub.url(), &["create", "--count", "15"]).clean_line();
    run(&stub.url(), &["list", "--page", "10"])
}

fn watch_with(fault: Fault) -> Run {
    let stub = Stub::start(fault, None);
    // Long enough that a machine that does something else for a while writes more than ten, and all of them are heard.
    let flags = ["--watchers", "2", "--rate", "100", "--seconds", "3", "--drain-seconds", "5"];
    run(&stub.url(), &[&["watch"], flags.as_slice()].concat())
}

#[test]
fn a_repeated_object_is_caught() {
    let run = list_with(Fault::RepeatedObject);
    assert_eq!(run.faulty_line()["duplicates"], 1);
    assert!(run.talk.contains("more than once"), "{}", run.talk);
}

#[test]
fn a_moving_version_is_caught() {
    let run = list_with(Fault::MovingVersion);
    assert_eq!(run.faulty_line()["resource_versions"], 2);
}

#[test]
fn a_missing_object_is_caught() {
    let stub = Stub::start(Fault::None, None);
    run(&stub.url(), &["create", "--count", "15"]).clean_line();
    let run = run(&stub.url(), &["list", "--expect", "16"]);
    assert_eq!(run.faulty_line()["objects_of_prefix"], 15);
}

#[test]
fn a_lost_event_is_caught() {
    let run = watch_with(Fault::LostEvent);
    let line = run.faulty_line();
    assert_eq!(line["lost"], 2, "one per watcher");
    let received = line["writes"].as_u64().unwrap() - 1;
    assert_eq!(line["events_per_watcher"], serde_json::json!([received, received]));
    assert!(run.talk.contains("lost 1 events"), "{}", run.talk);
}

#[test]
fn a_repeated_event_is_caught() {
    let run = watch_with(Fault::RepeatedEvent);
    let line = run.faulty_line();
    assert_eq!((line["lost"].as_u64(), line["duplicated"].as_u64()), (Some(0), Some(2)));
}

#[test]
fn an_ended_watch_is_caught() {
    let run = watch_with(Fault::EndedWatch);
    let line = run.faulty_line();
    assert_eq!(line["events_per_watcher"], serde_json::json!([10, 10]));
    assert_eq!(line["lost"].as_u64().unwrap(), 2 * (line["writes"].as_u64().unwrap() - 10));
    assert!(run.talk.contains("ended the watch"), "{}", run.talk);
}

#[test]
fn refusals_are_counted_and_three_are_shown() {
    let stub = Stub::start(Fault::RefusedCreate, None);
    let run = run(&stub.url(), &["create", "--count", "50", "--clients", "2"]);
    let line = run.faulty_line();
    assert_eq!((line["count"].as_u64(), line["errors"].as_u64()), (Some(40), Some(10)));
    assert_eq!(run.talk.matches("503 Service Unavailable").count(), 3);
    assert_eq!(run.talk.matches("stub is tired").count(), 3);
}

#[test]
fn no_server_is_an_error_without_a_line() {
    let run = run("http://127.0.0.1:1", &["create", "--count", "1"]);
    assert_eq!((run.code, run.lines.len()), (1, 0));
    assert!(run.talk.contains("cannot connect"), "{}", run.talk);
}
