//! Cascades against a server that does them right, and against some that do not.
//! Must not know: how the stub deletes.

use serde_json::Value;

use crate::program::{Run, run};
use crate::state::Fault;
use crate::stub::Stub;

/// Seconds until what never comes is given up: enough for what does come, also while the machine does something else.
const WAIT: &str = "5";

fn cascade(stub: &Stub, flags: &[&str]) -> Run {
    run(&stub.url(), &[&["cascade", "--settle-ms", "0", "--clients", "8"], flags].concat())
}

fn faulty(fault: Fault, flags: &[&str]) -> (Value, String) {
    let stub = Stub::start(fault, None);
    let run = cascade(&stub, flags);
    let line = run.faulty_line().clone();
    assert_cleaned_up(&stub);
    (line, run.talk)
}

fn assert_cleaned_up(stub: &Stub) {
    let state = stub.state.lock().unwrap();
    assert!(state.objects.is_empty(), "{:?}", state.objects.keys());
    assert!(state.namespaces.is_empty(), "{:?}", state.namespaces);
}

#[test]
fn every_shape_goes_with_every_policy() {
    for (shape, objects, owners) in
        [(["flat", "30"], 31, 1), (["tree", "3x3"], 40, 13), (["chain", "9"], 9, 8)]
    {
        let stub = Stub::start(Fault::None, None);
        let run =
            cascade(&stub, &[shape.as_slice(), &["--policy", "background,foreground,default"]].concat());
        assert_eq!(run.code, 0, "{}", run.talk);
        for (line, (policy, ordered)) in
            run.lines.iter().zip([("background", false), ("foreground", true), ("default", false)])
        {
            assert_eq!(line["bench"], "cascade");
            assert_eq!(line["shape"], shape.join(" "));
            assert_eq!(line["policy"], policy);
            assert_eq!((line["count"].as_u64(), line["objects"].as_u64()), (Some(objects), Some(objects)));
            assert_eq!(line["order_required"], ordered);
            assert_eq!(line["owners_first"], if ordered { 0 } else { owners }, "{policy}");
            assert_eq!((line["left"].as_u64(), line["errors"].as_u64()), (Some(0), Some(0)));
            assert!(line["seconds"].as_f64() > Some(0.0));
            assert!(line["p50_us"].as_f64() > Some(0.0), "the DELETE's own answer");
        }
        assert_eq!(run.lines.len(), 3);
        let policies = stub.state.lock().unwrap().policies.clone();
        assert_eq!(
            policies.iter().map(Option::as_deref).collect::<Vec<_>>(),
            [Some("Background"), Some("Foreground"), None]
        );
        assert_cleaned_up(&stub);
    }
}

#[test]
fn a_default_that_waits_has_to_keep_the_order() {
    let stub = Stub::start(Fault::None, None);
    stub.state.lock().unwrap().default_waits = true;
    let run = cascade(&stub, &["tree", "2x3", "--policy", "default"]);
    let line = run.clean_line();
    assert_eq!((&line["order_required"], &line["owners_first"]), (&true.into(), &0.into()));
    let stub = Stub::start(Fault::OwnersFirst, None);
    stub.state.lock().unwrap().default_waits = true;
    assert_eq!(cascade(&stub, &["tree", "2x3", "--policy", "default"]).faulty_line()["owners_first"], 7);
}

#[test]
fn orphans_stay() {
    let stub = Stub::start(Fault::None, None);
    let run = cascade(&stub, &["flat", "25", "--policy", "orphan"]);
    assert_eq!(run.clean_line()["count"], 26);
    assert_eq!(run.lines[0]["owners_first"], 0);
    let run = cascade(&stub, &["tree", "3x2", "--policy", "orphan"]);
    assert_eq!(run.clean_line()["count"], 4, "the root and what it owned itself");
    assert_cleaned_up(&stub);
}

#[test]
fn only_metadata_is_asked_for() {
    let stub = Stub::start(Fault::None, None);
    cascade(&stub, &["flat", "3"]).clean_line();
    let accepted = stub.state.lock().unwrap().accepted.clone();
    assert_eq!(accepted.len(), 3, "the version, the watch, the verifying list");
    assert!(accepted[1].starts_with("application/json;as=PartialObjectMetadata;"), "{accepted:?}");
    assert!(accepted[2].starts_with("application/json;as=PartialObjectMetadataList;"), "{accepted:?}");
}

#[test]
fn rounds_are_repeated_and_processes_measured() {
    let stub = Stub::start(Fault::None, None);
    let pid = std::process::id().to_string();
    let run = cascade(&stub, &["flat", "20", "--repeat", "3", "--pid", &pid, "--pid", &pid]);
    let line = run.clean_line();
    assert_eq!((line["repeat"].as_u64(), line["count"].as_u64()), (Some(3), Some(21)));
    let mut seconds: Vec<f64> =
        line["round_seconds"].as_array().unwrap().iter().map(|each| each.as_f64().unwrap()).collect();
    seconds.sort_by(f64::total_cmp);
    assert_eq!(line["seconds"].as_f64(), Some(seconds[1]), "the median");
    assert_eq!(line["round_cpu_seconds"].as_array().unwrap().len(), 3);
    assert_eq!(line["pids"].as_array().unwrap().len(), 2);
    assert!(line["cpu_us_per_op"].is_number() && line["rss_mib"].as_f64() > Some(0.0));
    assert_cleaned_up(&stub);
}

#[test]
fn a_world_is_made_kept_found_and_removed() {
    let stub = Stub::start(Fault::None, None);
    let flags = ["flat", "5", "--world", "6003"];
    let missing = cascade(&stub, &[flags.as_slice(), &["--world-exists"]].concat());
    assert_eq!((missing.code, missing.lines.len()), (1, 0));
    assert!(missing.talk.contains("no world of 6003"), "{}", missing.talk);
    let made = cascade(&stub, &[flags.as_slice(), &["--keep-world"]].concat());
    assert_eq!(made.clean_line()["world"], 6003);
    assert!(made.lines[0]["world_seconds"].is_number());
    assert_eq!(stub.objects(), 6004, "and the mark that it is complete");
    assert_world_is_of_families(&stub);
    let twice = cascade(&stub, &flags);
    assert_eq!(twice.code, 1);
    assert!(twice.talk.contains("--world-exists"), "{}", twice.talk);
    assert_eq!(stub.objects(), 6004, "an earlier run's world is not this run's to remove");
    let kept = cascade(&stub, &[flags.as_slice(), &["--world-exists", "--keep-world"]].concat());
    assert!(kept.clean_line()["world_seconds"].is_null());
    assert_eq!(stub.objects(), 6004);
    cascade(&stub, &[flags.as_slice(), &["--world-exists"]].concat()).clean_line();
    assert_cleaned_up(&stub);
}

fn assert_world_is_of_families(stub: &Stub) {
    let state = stub.state.lock().unwrap();
    assert_eq!(state.namespaces.iter().collect::<Vec<_>>(), ["bench-world-0", "bench-world-1"]);
    let mut owned = 0;
    for object in state.objects.values() {
        let Some(reference) = object["metadata"]["ownerReferences"].get(0) else { continue };
        let owner = &state.objects[reference["name"].as_str().unwrap()];
        assert_eq!(reference["uid"], owner["metadata"]["uid"]);
        assert_eq!(object["metadata"]["namespace"], owner["metadata"]["namespace"]);
        assert_eq!(object["data"]["payload"].as_str().unwrap().len(), 64);
        owned += 1;
    }
    assert_eq!(owned, 5402, "nine of ten");
}

#[test]
fn a_survivor_is_caught_and_named() {
    let (line, talk) = faulty(
        Fault::Survivor,
        &["flat", "20", "--max-seconds", WAIT, "--repeat", "3", "--policy", "background"],
    );
    assert_eq!((line["left"].as_u64(), line["count"].as_u64()), (Some(1), Some(20)));
    assert_eq!((line["cut_short"].as_bool(), line["repeat"].as_u64()), (Some(true), Some(1)));
    let (_, told) = talk.split_once("1 of 21 are left after ").unwrap_or_else(|| panic!("{talk}"));
    let (seconds, who) = told.split_once(" s: ").unwrap();
    // A busy machine notices a little later that the time is over.
    assert!(seconds.parse::<f64>().unwrap() >= WAIT.parse().unwrap(), "{talk}");
    assert!(who.starts_with("bench-background-1-00000020"), "{talk}");
    let (line, _) = faulty(Fault::Survivor, &["flat", "20", "--max-seconds", WAIT, "--policy", "orphan"]);
    assert_eq!((line["left"].as_u64(), line["errors"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn a_wrong_order_is_caught() {
    let (line, talk) = faulty(Fault::OwnersFirst, &["tree", "3x2", "--policy", "foreground"]);
    assert_eq!((line["owners_first"].as_u64(), line["errors"].as_u64()), (Some(4), Some(4)));
    assert_eq!(line["left"], 0);
    assert!(talk.contains("4 owners went before a dependent of theirs"), "{talk}");
}

#[test]
fn an_end_that_nobody_sees_is_caught() {
    let (line, talk) = faulty(Fault::SilentEnd, &["flat", "20", "--max-seconds", WAIT]);
    assert_eq!((line["left"].as_u64(), line["errors"].as_u64()), (Some(0), Some(1)));
    assert!(talk.contains("the end of 1 of 21 was not seen"), "{talk}");
}

#[test]
fn an_end_that_is_none_is_caught() {
    let (line, talk) = faulty(Fault::FalseEnd, &["chain", "5", "--policy", "background"]);
    assert_eq!((line["left"].as_u64(), line["errors"].as_u64()), (Some(1), Some(1)));
    assert!(talk.contains("the watch saw the end, but 1 of 5 are left"), "{talk}");
}

#[test]
fn a_lost_orphan_is_caught() {
    let (line, talk) = faulty(Fault::LostOrphan, &["flat", "20", "--policy", "orphan"]);
    assert_eq!(line["left"], 1);
    assert!(talk.contains("1 orphans that are missing"), "{talk}");
}

#[test]
fn a_failed_watch_is_caught() {
    let (_, talk) = faulty(Fault::FailedWatch, &["flat", "20"]);
    assert!(talk.contains("the watch broke off") && talk.contains("410"), "{talk}");
}

#[test]
fn a_cascade_that_cannot_begin_leaves_nothing() {
    let stub = Stub::start(Fault::RefusedCreate, None);
    let run = cascade(&stub, &["flat", "20"]);
    assert_eq!((run.code, run.lines.len()), (1, 0));
    assert!(run.talk.contains("stub is tired"), "{}", run.talk);
    assert_cleaned_up(&stub);
    for nonsense in [["flat", "many"], ["tree", "10"], ["chain", "0"]] {
        assert_eq!(cascade(&stub, &nonsense).code, 1, "{nonsense:?}");
    }
}
