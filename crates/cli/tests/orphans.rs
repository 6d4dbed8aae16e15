//! `sexton orphans`: on the embedded store, on a server of ours, and on one that looks like any other.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;
#[path = "serve/process.rs"]
#[allow(dead_code, reason = "the other tests of it use more")]
mod process;

use common::Play;
use process::Server;

const ORPHANS: &str = r#"
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: rss-a
  labels: {app: a, rss-operator-managed: "true"}
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: gone}]
---
apiVersion: v1
kind: Service
metadata:
  name: kept
  labels: {app: a}
  annotations: {sexton.dev/protect: "for the auditors"}
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: gone}]
---
apiVersion: v1
kind: Service
metadata:
  name: doubtful
  ownerReferences: [{apiVersion: nowhere.example.com/v1, kind: Thing, name: x, uid: other}]
"#;

const LOOKED: &str = "\
ORPHAN     StatefulSet/rss-a  ConfigMap/a (gone) does not exist
UNKNOWN    Service/doubtful   whether Thing.nowhere.example.com/x exists is not known: the server does not serve Thing.nowhere.example.com
PROTECTED  Service/kept       protected: for the auditors; ConfigMap/a (gone) does not exist
";

/// EXT-23: a manual trigger, and a dry run: without --collect nothing is written.
#[test]
fn a_look_tells_and_writes_nothing() {
    let play = Play::new();
    play.put(ORPHANS);
    let before = play.run("get sts,svc -o yaml").out;
    let looked = play.run("orphans --kinds sts,svc --min-age 0s");
    looked.says(&format!("{LOOKED}1 orphan, 1 unknown, 1 protected of 3 objects on .sexton (embedded)\n"));
    assert!(looked.err.contains("sexton orphans --collect --kinds sts,svc --min-age 0s"), "{}", looked.err);
    assert_eq!(play.run("get sts,svc -o yaml").out, before);
    // What was made just now is spared a while.
    let young = play.run("orphans --kinds sts");
    assert!(young.out.starts_with("TOO_YOUNG  StatefulSet/rss-a  only "), "{young:?}");
    assert!(young.err.contains("--min-age 0s"), "{young:?}");
    let lines = play.run("orphans --kinds sts --min-age 0s -o json").out;
    let first: serde_json::Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&first["verdict"], &first["label"]), (&"ORPHAN".into(), &"StatefulSet/rss-a".into()));
    let all = play.run("orphans --min-age 0s").out;
    assert!(all.starts_with("ORPHAN") && all.contains("without owners"), "{all}");
}

/// REQ-RSS-6: orphans go, and nobody else; somebody has to agree.
#[test]
fn orphans_are_collected_on_the_embedded_store() {
    let play = Play::new();
    play.put(ORPHANS);
    let command = "orphans --kinds sts,svc --min-age 0s --collect";
    play.run(command)
        .fails(3, &["somebody must say yes before deleting StatefulSet/rss-a", "--approve ", "--yes"]);
    play.run(&format!("{command} --approve 00000000")).fails(3, &["another plan"]);
    let done = play.run(&format!("{command} --yes"));
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.ends_with("- StatefulSet/rss-a destroyed\n"), "{done:?}");
    assert!(done.err.contains("collect StatefulSet/rss-a"), "{done:?}");
    play.run("get sts,svc -o name").says("service/doubtful\nservice/kept\n");
    let told = play.run("collections");
    assert!(told.out.contains("orphans-"), "{told:?}");
}

/// Too much at once is held, whoever asks, and it is said what lets it through.
#[test]
fn too_much_at_once_is_held() {
    let play = Play::new();
    let one = |number: usize| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: s{number:02}\n  ownerReferences: \
             [{{apiVersion: v1, kind: ConfigMap, name: a, uid: gone}}]\n"
        )
    };
    play.put(&(0..12).map(one).collect::<String>());
    let command = "orphans --kinds svc --min-age 0s --collect --yes";
    let held = play.run(command);
    held.fails(
        3,
        &["12 of 12 would be destroyed", "12 because ConfigMap/a (gone) does not exist", "--max-delete 12"],
    );
    let done = play.run(&format!("{command} --max-delete 12"));
    assert_eq!((done.code, play.run("get svc -o name").out.as_str()), (0, ""), "{done:?}");
}

/// On a server its own collector does the work.
#[test]
fn orphans_are_collected_on_a_server() {
    let play = Play::new();
    let server = Server::start(&play.data(), &["--orphan-grace", "3600"]);
    let at = format!("--server {}", server.url);
    assert_eq!(play.run_with(&format!("put -f - {at}"), ORPHANS).code, 0);
    let done = play.run(&format!("orphans --kinds sts,svc --min-age 0s --collect --yes {at}"));
    assert!(done.code == 0 && done.out.ends_with("- StatefulSet/rss-a destroyed\n"), "{done:?}");
    play.run(&format!("get sts,svc -o name {at}")).says("service/doubtful\nservice/kept\n");
}

/// A plain server has nothing that only we have; orphans are found and collected all the same, and it is said what is
/// weaker.
#[test]
fn orphans_are_collected_on_a_server_that_looks_like_any_other() {
    let play = Play::new();
    let server = Server::start(&play.data(), &["--plain"]);
    let at = format!("--server {}", server.url);
    assert_eq!(play.run_with(&format!("put -f - {at}"), ORPHANS).code, 0);
    let kinds = play.run(&format!("kinds {at}"));
    assert!(kinds.code == 0 && !kinds.out.contains("sexton.dev"), "{kinds:?}");
    let done = play.run(&format!("orphans --kinds sts,svc --min-age 0s --collect --yes {at}"));
    assert!(done.code == 0 && done.out.ends_with("- StatefulSet/rss-a destroyed\n"), "{done:?}");
    assert!(done.err.contains("looked up right before each write, not proved with it"), "{done:?}");
    play.run(&format!("get sts,svc -o name {at}")).says("service/doubtful\nservice/kept\n");
}

const RULE: &str = r#"
apiVersion: sexton.dev/v1
kind: Rule
metadata: {name: all}
spec: {detector: orphaned, kinds: [{group: apps, kind: StatefulSet}], minAge: 0s, mode: collect}
---
"#;

/// REQ-CLD-6: a command that sweeps does what it has shown, and leaves what rules would find to whoever collects there.
#[test]
fn a_sweep_takes_no_orphans_along() {
    let play = Play::new();
    let server = Server::start(&play.data(), &["--plain"]);
    let at = format!("--server {}", server.url);
    assert_eq!(play.run(&format!("install-crds {at}")).code, 0);
    assert_eq!(play.run_with(&format!("put -f - {at}"), &format!("{RULE}{ORPHANS}")).code, 0);
    let map = |name: &str| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    for documents in [map("one") + &map("two"), map("one")] {
        let done = play.run_with(&format!("apply -f - --manager shop --yes {at}"), &documents);
        assert_eq!(done.code, 0, "{done:?}");
    }
    play.run(&format!("get cm,sts -o name {at}")).says("configmap/one\nstatefulset.apps/rss-a\n");
}

/// Where nobody else collects, `resume` does: what a command left is finished from here.
#[test]
fn what_was_left_elsewhere_is_finished() {
    let play = Play::new();
    let server = Server::start(&play.data(), &["--plain"]);
    let at = format!("--server {}", server.url);
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: left";
    assert_eq!(play.run_with(&format!("put -f - {at}"), &format!("{map}}}\n")).code, 0);
    let shown = play.run(&format!("get cm/left -o json {at}")).out;
    let left: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let uid = left["metadata"]["uid"].as_str().unwrap();
    let owner = format!("{{apiVersion: v1, kind: ConfigMap, name: left, uid: {uid}}}");
    let below = format!("{map}-below, ownerReferences: [{owner}]}}\n");
    assert_eq!(play.run_with(&format!("put -f - {at}"), &below).code, 0);
    assert_eq!(play.run(&format!("delete cm/left --yes --no-wait {at}")).code, 0);
    let done = play.run(&format!("resume {at}"));
    assert!(done.code == 0 && done.err.contains("1 is being destroyed"), "{done:?}");
    play.run(&format!("get cm -o name {at}")).says("");
    assert!(play.run(&format!("resume {at}")).err.contains("nothing is being destroyed"));
}

/// What makes no sense is said so.
#[test]
fn nonsense_is_refused() {
    let play = Play::new();
    play.run("orphans --min-age soon").fails(1, &["write it like 90s"]);
    play.run("orphans --yes").fails(1, &["they go with --collect"]);
    play.run("orphans --kinds thingies").fails(1, &["there is no kind \"thingies\""]);
    play.run("orphans -l ((").fails(1, &["sexton orphans -l app=web"]);
}
