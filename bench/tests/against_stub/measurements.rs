//! Each measurement against an honest server: the line's fields and counts.
//! Must not know: how the stub works.

use serde_json::Value;

use crate::program::run;
use crate::state::Fault;
use crate::stub::Stub;

fn honest() -> Stub {
    Stub::start(Fault::None, None)
}

fn assert_shared_fields(line: &Value, bench: &str) {
    assert_eq!(line["bench"], bench);
    assert_eq!(line["version"], 1);
    for field in ["seconds", "rate", "p50_us", "p99_us", "max_us", "client_cpu_seconds"] {
        assert!(line[field].is_number(), "{field} of {line}");
    }
    assert!(line["p50_us"].as_f64() <= line["p99_us"].as_f64());
    assert!(line["p99_us"].as_f64() <= line["max_us"].as_f64());
}

#[test]
fn create_counts_and_measures_processes() {
    let stub = honest();
    let pid = std::process::id().to_string();
    let flags = ["create", "--count", "57", "--clients", "4", "--pid", &pid, "--pid", &pid];
    let run = run(&stub.url(), &flags);
    let line = run.clean_line();
    assert_shared_fields(line, "create");
    assert_eq!(line["server"], stub.url());
    assert_eq!(line["count"], 57);
    assert_eq!(line["clients"], 4);
    assert_eq!(line["size"], 1024);
    assert_eq!(line["cut_short"], false);
    assert!(line["cpu_seconds"].is_number());
    assert!(line["cpu_us_per_op"].is_number());
    assert_eq!(line["pids"].as_array().unwrap().len(), 2);
    assert!(line["rss_mib"].as_f64() > line["pids"][0]["rss_mib"].as_f64(), "summed");
    assert_eq!(stub.objects(), 57);
}

#[test]
fn created_objects_refer_to_their_owner() {
    let stub = honest();
    let run = run(&stub.url(), &["create", "--count", "3", "--clients", "1", "--owner", "--size", "700"]);
    run.clean_line();
    let state = stub.state.lock().unwrap();
    assert!(state.namespaces.contains("bench"));
    let (owners, owned): (Vec<_>, Vec<_>) =
        state.objects.values().partition(|object| object["metadata"]["ownerReferences"].is_null());
    assert_eq!((owners.len(), owned.len()), (1, 3));
    for object in owned {
        let reference = &object["metadata"]["ownerReferences"][0];
        assert_eq!(reference["name"], owners[0]["metadata"]["name"]);
        assert_eq!(reference["uid"], owners[0]["metadata"]["uid"]);
        assert_eq!(reference["blockOwnerDeletion"], true);
    }
}

#[test]
fn get_list_and_delete_use_what_create_made() {
    let stub = honest();
    run(&stub.url(), &["create", "--count", "25", "--owner"]).clean_line();
    let got = run(&stub.url(), &["get", "--count", "40", "--clients", "3"]);
    assert_shared_fields(got.clean_line(), "get");
    assert_eq!(got.lines[0]["count"], 40);
    let listed = run(&stub.url(), &["list", "--page", "10", "--expect", "25"]);
    let line = listed.clean_line();
    assert_shared_fields(line, "list");
    assert_eq!((line["pages"].as_u64(), line["objects"].as_u64()), (Some(3), Some(26)));
    assert_eq!(line["objects_of_prefix"], 25);
    let deleted = run(&stub.url(), &["delete", "--clients", "2"]);
    assert_shared_fields(deleted.clean_line(), "delete");
    assert_eq!(deleted.lines[0]["count"], 25);
    assert_eq!(stub.objects(), 1, "the owner stays");
    let policies = stub.state.lock().unwrap().policies.clone();
    assert!(policies.iter().all(|policy| policy.as_deref() == Some("Background")), "{policies:?}");
}

#[test]
fn watch_sees_every_write_at_the_rate() {
    let stub = honest();
    let flags = ["watch", "--watchers", "3", "--rate", "100", "--seconds", "3", "--clients", "4"];
    let run = run(&stub.url(), &flags);
    let line = run.clean_line();
    assert_shared_fields(line, "watch");
    // A busy machine may write less than it was asked to, never more.
    let writes = line["writes"].as_u64().unwrap();
    assert!((10..=300).contains(&writes), "{writes}");
    assert_eq!(line["creates"].as_u64().unwrap() + line["updates"].as_u64().unwrap(), writes);
    assert!(line["updates"].as_u64() > Some(0));
    assert_eq!(line["events_per_watcher"], serde_json::json!([writes, writes, writes]));
    assert!(line["lag_max_us"].as_f64() > Some(0.0));
    assert!(line["drain_seconds"].is_number());
}

#[test]
fn single_is_set_against_fsync() {
    let stub = honest();
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let run = run(&stub.url(), &["single", "--count", "20", "--fsync-dir", dir, "--fsync-count", "10"]);
    let line = run.clean_line();
    assert_shared_fields(line, "single");
    assert_eq!(line["clients"], 1);
    assert_eq!(line["fsync_append"]["count"], 10);
    assert_eq!(line["fsync_prealloc"]["count"], 10);
    assert!(line["p99_above_fsync_append_us"].is_number());
    let shape = line["histogram_us"].as_array().unwrap();
    assert_eq!(shape.iter().map(|bar| bar[1].as_u64().unwrap()).sum::<u64>(), 20);
}

#[test]
fn all_runs_in_order_and_leaves_nothing() {
    let stub = honest();
    let flags = ["all", "--count", "30", "--gets", "10", "--rate", "100", "--seconds", "1", "--singles", "5"];
    let run = run(&stub.url(), &flags);
    assert_eq!(run.code, 0, "{}", run.talk);
    let order: Vec<&str> = run.lines.iter().map(|line| line["bench"].as_str().unwrap()).collect();
    assert_eq!(order, ["create", "get", "list", "watch", "single", "delete"]);
    assert_eq!(stub.objects(), 0);
}

#[test]
fn time_bounds_a_measurement() {
    let stub = honest();
    let run = run(&stub.url(), &["create", "--count", "100000000", "--clients", "2", "--max-seconds", "3"]);
    let line = run.clean_line();
    assert_eq!(line["cut_short"], true);
    assert_eq!(line["count"].as_u64().unwrap(), stub.objects() as u64);
}

#[test]
fn the_token_is_sent() {
    let stub = honest();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token");
    std::fs::write(&file, "secret\n").unwrap();
    run(&stub.url(), &["create", "--count", "1", "--token-file", file.to_str().unwrap()]).clean_line();
    assert_eq!(stub.state.lock().unwrap().authorization.as_deref(), Some("Bearer secret"));
}

#[test]
fn attack_compares_with_alone() {
    let stub = honest();
    let few = ["--lists", "3", "--bodies", "4", "--connections", "0", "--settle-ms", "0"];
    let flags = [&["attack", "--count", "20", "--clients", "2"][..], &few[..]].concat();
    let run = run(&stub.url(), &flags);
    let line = run.clean_line();
    assert_shared_fields(line, "attack");
    assert_eq!((&line["count"], &line["held"], &line["alone_errors"]), (&20.into(), &7.into(), &0.into()));
    for field in ["alone_rate", "alone_p99_us", "rate_ratio", "p99_ratio", "peak_mib"] {
        assert!(line[field].is_number(), "{field} of {line}");
    }
    assert_eq!(stub.objects(), 40);
}

/// What else belongs to the attack begins with it, and one that fails is no attack.
#[test]
fn a_program_adds_to_the_attack() {
    let (stub, dir) = (honest(), tempfile::tempdir().unwrap());
    let mark = dir.path().join("mark");
    let few = ["--lists", "1", "--bodies", "1", "--connections", "0", "--settle-ms", "0"];
    let flags = [&["attack", "--count", "2", "--clients", "1"][..], &few[..], &["--", "touch"][..]].concat();
    run(&stub.url(), &[&flags[..], &[mark.to_str().unwrap()]].concat()).clean_line();
    assert!(mark.exists());
    let missing = dir.path().join("missing/mark");
    assert_ne!(run(&stub.url(), &[&flags[..], &[missing.to_str().unwrap()]].concat()).code, 0);
}
