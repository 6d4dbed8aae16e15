//! Deletions that do not get on: they say why, and what to type; what is interrupted goes on.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::modules::kind_with_class;
use common::{Play, Ran, ended};

const METHODS: &str = r#"  destroy: {exec: {argv: ["DIR/volume-rm"]}, deadlineSeconds: 120}
  handlers:
    told: {exec: {argv: ["/bin/true"]}}
  retry: {limit: 1, backoffSeconds: 1}
"#;

/// A volume with a destroy method that does this, owned by a ConfigMap.
fn volume(script: &str) -> Play {
    let play = Play::new();
    play.program("volume-rm", &format!("#!/bin/sh\n{script}\n"));
    play.put(&kind_with_class("Volume", &METHODS.replace("DIR", &play.path().display().to_string())));
    play.map("shop", &[], "");
    let uid = play.uid("cm/shop");
    play.put(&format!(
        "apiVersion: example.com/v1\nkind: Volume\nmetadata:\n  name: data\n  ownerReferences:\n  \
         - {{apiVersion: v1, kind: ConfigMap, name: shop, uid: {uid}}}\n"
    ));
    play
}

#[test]
fn a_finalizer_of_somebody_else_is_named_and_can_be_given_up() {
    let play = Play::new();
    play.map("h", &[], "  finalizers: [x.example/wait]\n");
    let stuck = play.run("delete cm/h --yes");
    let force = "sexton force ConfigMap/h --blocker finalizer:x.example/wait --reason \"…\"";
    stuck.fails(3, &["held by the finalizer x.example/wait", force, "0 gone · 1 still there"]);
    assert_eq!(stuck.out, "! ConfigMap/h is marked, and still there\n");
    let why = play.run("why cm/h").out;
    assert!(why.contains(force) && why.contains(", policy cascade"), "{why}");
    assert!(play.run("why cm/h -o json").out.contains("\n{\"kind\":\"Why\",\"subject\":"));
    let name = play.run("collections -o name").out;
    let shown = play.run(&format!("collections {}", name.trim())).out;
    assert!(shown.contains("is blocked (delete") && shown.contains(force), "{shown}");
    play.run("force cm/h --blocker nope --reason x")
        .fails(3, &["does not wait for \"nope\"", "--blocker finalizer:"]);
    play.command("").args(["force", "cm/h", "--reason", " "]).status().unwrap();
    play.run("force cm/h").fails(1, &["--reason"]);
    let forced = play.run("force cm/h --reason gone-by-hand");
    forced.says("~ ConfigMap/h gives up: held by the finalizer x.example/wait\n");
    let gone = play.run("why cm/h").out;
    assert!(gone.contains("may still exist") && gone.contains("gone-by-hand"), "{gone}");
}

/// EXT-25: a failing destroy is recorded, retried, and never taken for done; what must follow it waits.
#[test]
fn a_failing_method_is_told_retried_and_given_up_only_by_force() {
    let play = volume("echo 'volume is attached to vm-9' >&2; exit 1");
    let stuck = play.run("delete cm/shop --yes");
    stuck.fails(3, &["no more attempts", "volume is attached to vm-9", "sexton retry Volume/data"]);
    assert!(stuck.err.contains("destroy failed"), "{}", stuck.err);
    play.run("get volumes -o name").says("volume.example.com/data\n");
    play.program("volume-rm", "#!/bin/sh\nexit 0\n");
    play.run("retry volumes/data").says("~ Volume/data is tried again\n");
    play.run("get volumes,cm -o name").says("");
    assert!(play.run("why volume/data").out.starts_with("Volume/data was destroyed"), "it says how it ended");
}

/// REQ-MUR-55, REQ-MUR-60, EXT-28: subscriptions are counted, and an unknown handler is refused both ways.
#[test]
fn subscriptions() {
    let play = volume("exit 0");
    for verb in ["subscribe", "unsubscribe"] {
        play.run(&format!("{verb} volume/data cm/shop --handler nope"))
            .fails(1, &["has no handler \"nope\"", "it has: told"]);
    }
    play.run("subscribe volume/data cm/shop --handler told")
        .says("+ Volume/data hears of the end of ConfigMap/shop by told\n");
    play.run("subscribe volume/data cm/shop --handler told")
        .says("+ Volume/data hears of the end of ConfigMap/shop by told, 2 times\n");
    let uid = play.uid("cm/shop");
    assert!(play.run("get volume data -o yaml").out.contains(&uid), "the life is meant, not the name");
    play.run("unsubscribe volume/data cm/shop")
        .says("~ Volume/data hears of the end of ConfigMap/shop, 1 subscription is left\n");
    play.run("unsubscribe volume/data cm/shop")
        .says("- Volume/data does not hear of the end of ConfigMap/shop any more\n");
    play.run("unsubscribe volume/data cm/shop").says("= Volume/data has no subscription to ConfigMap/shop\n");
    play.run("subscribe cm/shop volume/gone").fails(1, &["there is no Volume/gone"]);
    play.run("subscribe cm/shop volume/gone --by-name")
        .says("+ ConfigMap/shop hears of the end of Volume/gone\n");
    play.run("subscribe cm/shop volume/data --handler x").fails(1, &["ConfigMap has no class"]);
}

/// Runs a command that calls a method, presses Ctrl-C when the file `runs` shows that the method runs, and lets it end.
fn interrupted(play: &Play, command: &str) -> Ran {
    let mut child = play.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| std::fs::read_to_string(play.path().join("runs")).is_ok_and(|runs| !runs.is_empty()));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("finishing what is under way") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended without a word");
    }
    play.file("go", "");
    child.stderr = Some(stderr.into_inner());
    ended(child)
}

/// EXT-26: what is interrupted is resumed where it stopped; no method runs twice to its end.
#[test]
fn interrupted_and_resumed() {
    let play = volume("echo run >> runs; echo begun > begun; while [ ! -e go ]; do sleep 0.05; done");
    let dir = play.path().display().to_string();
    play.program(
        "volume-rm",
        &format!("#!/bin/sh\ncd {dir}\necho run >> runs\nwhile [ ! -e go ]; do sleep 0.05; done\n"),
    );
    let ran = interrupted(&play, "delete cm/shop --yes");
    assert_eq!(ran.code, 130, "{ran:?}");
    assert!(ran.err.contains("sexton resume"), "{}", ran.err);
    play.run("get cm -o name").says("configmap/shop\n");
    play.run("resume").says("");
    play.run("get volumes,cm -o name").says("");
    assert_eq!(std::fs::read_to_string(play.path().join("runs")).unwrap(), "run\n");
}

/// EXT-26, REQ-CLD-7: a module whose destruction is interrupted while the first of its methods runs is resumed: the others
/// go in their order, and no method runs twice.
#[test]
fn a_module_is_interrupted_and_resumed() {
    let play = Play::new();
    let dir = play.path().display().to_string();
    play.program(
        "volume-rm",
        &format!("#!/bin/sh\ncd {dir}\ngrep -o '\"name\":\"v-.\"' | head -n 1 >> runs\nuntil [ -e go ]; do sleep 0.05; done\n"),
    );
    play.put(&kind_with_class("Volume", &METHODS.replace("DIR", &dir)));
    play.file("m/sexton.yaml", "manager: m\n");
    for name in ["v-1", "v-2", "v-3"] {
        let text = format!("apiVersion: example.com/v1\nkind: Volume\nmetadata: {{name: {name}}}\n");
        play.file(&format!("m/{name}.yaml"), &text);
    }
    assert_eq!(play.run("apply -f m").code, 0);
    let ran = interrupted(&play, "destroy m --yes");
    assert!(ran.code == 130 && ran.err.contains("sexton resume"), "{ran:?}");
    play.run("get volumes -o name").says("volume.example.com/v-1\nvolume.example.com/v-2\n");
    let resumed = play.run("resume");
    assert_eq!(resumed.code, 0, "{resumed:?}");
    play.run("get volumes -o name").says("");
    let runs = std::fs::read_to_string(play.path().join("runs")).unwrap();
    assert_eq!(runs, "\"name\":\"v-3\"\n\"name\":\"v-2\"\n\"name\":\"v-1\"\n");
}

/// EXT-26: Ctrl-C stops a deletion of very many that takes no steps, says what is gone and left, and it can be resumed.
#[test]
fn a_large_deletion_without_methods_stops() {
    const MANY: usize = 6_000;
    let play = Play::new();
    play.map("root", &[], "");
    let uid = play.uid("cm/root");
    let owner = format!("ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: root, uid: {uid}}}]");
    let leaf =
        |n: usize| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: leaf-{n}, {owner}}}\n");
    play.file("m/sexton.yaml", "manager: m\n");
    play.file("m/all.yaml", &(0..MANY).map(leaf).collect::<String>());
    assert_eq!(play.run("apply -f m").code, 0);
    let mut child = play
        .command("delete cm/root --yes -o json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.find(|line| line.starts_with("{\"kind\":\"Gone\"")).unwrap();
    assert!(first.contains("leaf-"), "{first}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let last = lines.last().unwrap();
    let ran = ended(child);
    assert_eq!(ran.code, 130, "{}", ran.err);
    let result: serde_json::Value = serde_json::from_str(&last).unwrap();
    let (gone, left) = (result["gone"].as_u64().unwrap(), result["left"].as_u64().unwrap());
    assert!(gone > 0 && left > 0 && gone + left == MANY as u64 + 1, "{last}");
    assert!(ran.err.contains("are left\n") && ran.err.contains("sexton resume"), "{}", ran.err);
    assert_eq!(play.run("get cm -o name").out.lines().count() as u64, left);
    assert_eq!(play.run("resume").code, 0);
    play.run("get cm -o name").says("");
}

fn wait_for(mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < until, "it did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}
