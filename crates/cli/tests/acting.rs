//! What commands destroy: the objects of the plan that was shown, and nothing else, on the embedded store and on a server
//! that looks like any Kubernetes without its collector.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;
#[path = "serve/process.rs"]
#[allow(dead_code, reason = "the other tests of it use more")]
mod process;
#[path = "serve/raw.rs"]
#[allow(dead_code, reason = "the other tests of it use more")]
mod raw;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Play, Ran, ended};
use process::Server;
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A target: the store of the directory, or a plain server.
struct Target {
    play: Play,
    server: Option<Server>,
}

impl Target {
    fn embedded() -> Target {
        Target { play: Play::new(), server: None }
    }

    fn foreign() -> Target {
        let play = Play::new();
        let server = Some(Server::start(&play.data(), &["--plain"]));
        Target { play, server }
    }

    fn line(&self, arguments: &str) -> String {
        match &self.server {
            Some(server) => format!("{arguments} --server {}", server.url),
            None => arguments.to_owned(),
        }
    }

    fn run(&self, arguments: &str) -> Ran {
        self.play.run(&self.line(arguments))
    }

    #[track_caller]
    fn done(&self, arguments: &str) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments}: {ran:?}");
        ran
    }

    #[track_caller]
    fn put(&self, text: &str) {
        let ran = self.play.run_with(&self.line("put -f -"), text);
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    fn read(&self, object: &str) -> Value {
        serde_json::from_str(&self.done(&format!("get {object} -o json")).out).unwrap()
    }

    /// Puts a ConfigMap with an owner, and further metadata as it stands in YAML.
    #[track_caller]
    fn map(&self, name: &str, owner: Option<&str>, metadata: &str) {
        let mut text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n{metadata}");
        if let Some(owner) = owner {
            let uid = self.read(&format!("cm/{owner}"))["metadata"]["uid"].as_str().unwrap().to_owned();
            text.push_str(&format!(
                "  ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: {owner}, uid: {uid}}}]\n"
            ));
        }
        self.put(&text);
    }

    /// A request of somebody else.
    fn ask(&self, method: &str, path: &str, body: &Value) {
        let address = &self.server.as_ref().unwrap().address;
        let mut connection = raw::Connection::open(address).unwrap();
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let answer = connection.ask(method, path, kind, &body.to_string()).unwrap();
        assert!(answer.code < 300, "{method} {path}: {answer:?}");
    }

    /// Somebody else deletes an owner of two, and on a server a namespace with one object in it.
    fn deletion_of_others(&self) {
        self.map("theirs", None, "");
        ["theirs-1", "theirs-2"].iter().for_each(|name| self.map(name, Some("theirs"), ""));
        if self.server.is_none() {
            self.done("delete cm/theirs --yes --no-wait");
            return;
        }
        self.put("apiVersion: v1\nkind: Namespace\nmetadata: {name: old}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: inside, namespace: old}\n");
        self.ask("DELETE", &format!("{MAPS}/theirs"), &json!({"propagationPolicy": "Foreground"}));
        self.ask("DELETE", "/api/v1/namespaces/old", &json!({}));
    }

    /// Everything of the others is still there, and of ours only this.
    #[track_caller]
    fn left(&self, ours: &[&str]) {
        let mut expected: Vec<String> = ours.iter().map(|name| format!("configmap/{name}")).collect();
        expected.extend(["theirs", "theirs-1", "theirs-2"].map(|name| format!("configmap/{name}")));
        expected.sort();
        let found = self.done("get cm -o name").out;
        let mut found: Vec<&str> = found.lines().filter(|line| !line.contains("sexton-module")).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
        if self.server.is_some() {
            self.done("get cm inside -n old");
        }
    }
}

fn both() -> [Target; 2] {
    let both = [Target::embedded(), Target::foreign()];
    both.iter().for_each(Target::deletion_of_others);
    both
}

fn documents(names: &[&str]) -> String {
    let document =
        |name: &&str| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    names.iter().map(document).collect()
}

/// A deletion takes what was shown along, and leaves the deletions of others alone.
#[test]
fn a_deletion_destroys_its_plan() {
    for target in both() {
        target.map("mine", None, "");
        target.map("mine-1", Some("mine"), "");
        let ran = target.done("delete cm/mine --yes");
        assert!(ran.err.contains("Plan: 2 to destroy") && ran.err.contains("✔ 2 gone"), "{ran:?}");
        target.left(&[]);
    }
}

/// REQ-CLD-6: neither do a sweep and the end of a module.
#[test]
fn a_module_destroys_its_plan() {
    for target in both() {
        for names in [&["a", "b", "c"][..], &["a", "b"]] {
            let line = target.line("apply -f - --manager shop --yes");
            let ran = target.play.run_with(&line, &documents(names));
            assert_eq!(ran.code, 0, "{ran:?}");
        }
        target.left(&["a", "b"]);
        let ran = target.done("destroy shop --yes");
        assert!(ran.out.contains("2 with it"), "{ran:?}");
        target.left(&[]);
    }
}

/// Neither does the collection of orphans.
#[test]
fn collected_orphans_are_those_of_the_plan() {
    for target in both() {
        target.put("apiVersion: v1\nkind: Service\nmetadata:\n  name: lost\n  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: gone}]\n");
        let ran = target.done("orphans --kinds svc --min-age 0s --collect --yes");
        assert!(ran.out.ends_with("- Service/lost destroyed\n"), "{ran:?}");
        target.left(&[]);
    }
}

/// Neither does a run of a program.
#[test]
fn a_run_destroys_its_own() {
    let target = Target::embedded();
    target.deletion_of_others();
    target.play.file("empty.luau", "function deploy() end\n");
    let ran = target.run("run empty.luau --env lab --yes");
    assert_eq!(ran.code, 0, "{ran:?}");
    target.left(&[]);
}

/// What a command left is resumed: on the embedded store all of it, on a cluster what is not of others.
#[test]
fn what_commands_left_is_resumed() {
    for target in both() {
        target.map("mine", None, "");
        target.map("mine-1", Some("mine"), "");
        target.done("delete cm/mine --yes --no-wait");
        let ran = target.done("resume");
        match target.server {
            Some(_) => {
                assert!(ran.err.contains(": 1 is being destroyed"), "the leaf went with its mark: {ran:?}");
                target.left(&[]);
                let ran = target.done("resume");
                assert!(ran.err.contains("nothing is being destroyed"), "{ran:?}");
            }
            None => {
                assert!(
                    ran.err.contains(": 5 are being destroyed") && ran.err.contains("✔ 5 gone"),
                    "{ran:?}"
                );
                target.done("get cm -o name").says("");
            }
        }
    }
}

/// The books of a deletion that waits are kept open by commands that do something else.
#[test]
fn records_of_others_stay_open() {
    let target = Target::embedded();
    target.map("held", None, "  finalizers: [x.example/wait]\n");
    target.map("mine", None, "");
    assert_eq!(target.run("delete cm/held --yes").code, 3);
    target.done("delete cm/mine --yes");
    let records = target.done("collections").out;
    assert!(records.contains("blocked") || records.contains("Blocked"), "{records}");
}

/// D17: the default policy is carried out by the command, the owner last, and nothing of ours stays behind.
#[test]
fn a_cascade_is_carried_out_in_order() {
    let target = Target::foreign();
    target.map("alone", None, "");
    target.done("delete cm/alone --yes");
    target.map("app", None, "");
    target.map("vm", Some("app"), "");
    target.map("disk", Some("vm"), "");
    let ran = target.done("delete cm/app --yes -o name");
    assert!(ran.out.ends_with("ConfigMap/disk\nConfigMap/vm\nConfigMap/app\n"), "{ran:?}");
    target.done("get cm -o name").says("");
}

/// A namespace is left to its controller, and it is said so. Here there is none.
#[test]
fn a_namespace_waits_for_its_controller() {
    let target = Target::foreign();
    target.put("apiVersion: v1\nkind: Namespace\nmetadata: {name: old}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: inside, namespace: old}\n");
    let shown = target.done("plan delete ns/old -o json").out;
    let lines = shown.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let digest = lines.filter_map(|line| Some(line["digest"].as_str()?.to_owned())).next().unwrap();
    let ran = target.run(&format!("delete ns/old --approve {digest} --timeout 2s"));
    ran.fails(4, &["Namespace/old", "held by the finalizer kubernetes", "the namespace controller deletes"]);
    let why = target.done("why ns/old").out;
    assert!(why.contains("held by the finalizer kubernetes in its spec"), "{why}");
    assert_eq!(target.run("get cm inside -n old").code, 1, "its contents are gone");
}

/// What cannot be finished is left to the collector of Kubernetes, without a finalizer of ours; and the same command
/// finishes it where there is none.
#[test]
fn what_is_blocked_is_handed_over() {
    let target = Target::foreign();
    target.map("app", None, "");
    target.map("vm", Some("app"), "  finalizers: [x.example/wait]\n");
    let ran = target.run("delete cm/app --yes --timeout 1s");
    ran.fails(3, &["held by the finalizer x.example/wait", "1 is left to the collector of Kubernetes"]);
    assert_eq!(target.read("cm/app")["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    target.ask("PATCH", &format!("{MAPS}/vm"), &json!({"metadata": {"finalizers": null}}));
    let ran = target.done("delete cm/app --yes");
    assert!(ran.err.contains("✔ 1 gone"), "{ran:?}");
    target.done("get cm -o name").says("");
}

fn wait_for(mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < until, "it takes too long");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// EXT-26: after Ctrl-C nothing of ours stays; after `kill -9` it is finished by `resume`.
#[test]
fn interrupted_and_killed() {
    for signal in ["-INT", "-KILL"] {
        let target = Target::foreign();
        target.map("app", None, "");
        target.map("vm", Some("app"), "  finalizers: [x.example/wait]\n");
        let line = target.line("delete cm/app --yes --timeout 100s");
        let child = target.play.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(|| target.read("cm/vm")["metadata"]["deletionTimestamp"].is_string());
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let ran = ended(child);
        let held = target.read("cm/app")["metadata"]["finalizers"].clone();
        if signal == "-INT" {
            ran.fails(130, &["interrupted: 0 of 2 are gone", "sexton resume"]);
            assert_eq!(held, json!(["foregroundDeletion"]));
        } else {
            assert_eq!(held, json!(["cascade_deletion"]));
        }
        target.ask("PATCH", &format!("{MAPS}/vm"), &json!({"metadata": {"finalizers": null}}));
        let ran = target.done("resume");
        assert!(ran.err.contains("✔ 1 gone"), "{signal}: {ran:?}");
        target.done("get cm -o name").says("");
    }
}

/// What is given up is given up by the command; a tombstone is kept where the server knows our kinds, and promised only
/// there.
#[test]
fn force_is_carried_out() {
    for installed in [false, true] {
        let target = Target::foreign();
        if installed {
            target.done("install-crds");
        }
        target.map("app", None, "");
        target.map("vm", Some("app"), "  finalizers: [x.example/wait]\n");
        assert_eq!(target.run("delete cm/app --yes --timeout 1s").code, 3);
        let ran = target.done("force cm/vm --reason by-hand");
        assert_eq!(ran.err.contains("no tombstone is kept there"), !installed, "{ran:?}");
        target.done("get cm -o name").says("");
        if installed {
            let why = target.done("why cm/vm").out;
            assert!(why.contains("was given up") && why.contains("by-hand"), "{why}");
        }
    }
}
