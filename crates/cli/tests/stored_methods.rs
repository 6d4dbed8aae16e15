//! Methods of classes that are stored on a cluster: others can write them there, so commands run only what their user
//! allows on this machine.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;
#[path = "serve/process.rs"]
#[allow(dead_code, reason = "the other tests of it use more")]
mod process;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::modules::kind_with_class;
use common::{Play, Ran, ended};
use process::Server;

/// A cluster of another make with a kind whose class names a program of this machine.
struct Cluster {
    play: Play,
    server: Server,
}

const VOLUME: &str = "apiVersion: example.com/v1\nkind: Volume\nmetadata: {name: data}\n";
const ORPHAN: &str = "apiVersion: example.com/v1\nkind: Volume\nmetadata:\n  name: orphan\n  ownerReferences:\n  - \
     {apiVersion: v1, kind: ConfigMap, name: gone, uid: 11111111-1111-1111-1111-111111111111}\n";

impl Cluster {
    fn new() -> Cluster {
        let play = Play::new();
        let server = Server::start(&play.data(), &["--plain"]);
        let cluster = Cluster { play, server };
        let dir = cluster.play.path().display().to_string();
        cluster.play.file("hooks/README", "programs");
        cluster.play.program("hooks/rm", &format!("#!/bin/sh\necho ran >> {dir}/ran\n"));
        let methods = format!("  destroy: {{exec: {{argv: [\"{dir}/hooks/rm\"]}}}}\n");
        cluster.run("install-crds", "");
        cluster.run("put -f -", &kind_with_class("Volume", &methods));
        cluster
    }

    #[track_caller]
    fn run(&self, arguments: &str, input: &str) -> String {
        let ran = self.try_run(arguments, input);
        assert_eq!(ran.code, 0, "{arguments}: {ran:?}");
        ran.out
    }

    fn try_run(&self, arguments: &str, input: &str) -> Ran {
        self.play.run_with(&format!("{arguments} --server {}", self.server.url), input)
    }

    fn flag(&self) -> String {
        format!("--allow-exec {}/hooks", self.play.path().display())
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.play.path().join("ran")).unwrap_or_default().lines().count()
    }
}

/// Without the flag nothing is marked, and the flag is named; with it, or with the variable, the method runs.
#[test]
fn a_stored_method_runs_only_if_the_user_allows_it() {
    let cluster = Cluster::new();
    cluster.run("put -f -", ORPHAN);
    cluster.run("apply -f - --manager shop --yes", &VOLUME.replace("name: data", "name: member"));
    cluster.run(
        "apply -f - --manager shop --yes",
        &format!("{VOLUME}---\n{}", VOLUME.replace("name: data", "name: member")),
    );
    let one = VOLUME.replace("name: data", "name: member");
    let commands = [
        ("delete volume data --yes", ""),
        ("apply -f - --manager shop --yes", one.as_str()),
        ("destroy shop --yes", ""),
        ("orphans --collect --min-age 0s --yes", ""),
    ];
    for (command, input) in commands {
        let refused = cluster.try_run(command, input);
        refused
            .fails(3, &["would run what is not allowed on this machine", &format!("add {}", cluster.flag())]);
    }
    let all = cluster.run("get volumes -o yaml", "");
    assert!(all.matches("kind: Volume\n").count() == 3 && !all.contains("deletionTimestamp"), "{all}");
    assert_eq!(cluster.runs(), 0);

    for (at, (command, input)) in commands.into_iter().enumerate().skip(1) {
        cluster.run(&format!("{command} {}", cluster.flag()), input);
        assert_eq!(cluster.runs(), at, "{command}");
    }
    cluster.run("put -f -", VOLUME);
    let mut by_variable =
        cluster.play.command(&format!("delete volume data --yes --server {}", cluster.server.url));
    let hooks = cluster.play.path().join("hooks");
    let ran = common::finish(by_variable.env("SEXTON_ALLOW_EXEC", hooks).stdin(Stdio::null()));
    assert_eq!((ran.code, cluster.runs()), (0, 4), "{ran:?}");
}

/// What is terminating already waits, and the next command with the flag goes on.
#[test]
fn what_is_terminating_waits_for_the_flag() {
    let cluster = Cluster::new();
    cluster.run("put -f -", VOLUME);
    cluster.play.program("hooks/rm", "#!/bin/sh\nexit 1\n");
    let failed = cluster.try_run(&format!("delete volume data --yes --timeout 2s {}", cluster.flag()), "");
    assert_eq!(failed.code, 3, "{failed:?}");
    let dir = cluster.play.path().display().to_string();
    cluster.play.program("hooks/rm", &format!("#!/bin/sh\necho ran >> {dir}/ran\n"));
    for command in ["resume", "retry volume/data"] {
        let refused = cluster.try_run(command, "");
        refused.fails(3, &["may not be run, because no --allow-exec names its directory"]);
    }
    assert_eq!(cluster.runs(), 0);
    cluster.run(&format!("retry volume/data {}", cluster.flag()), "");
    assert_eq!((cluster.runs(), cluster.run("get volumes -o name", "").as_str()), (1, ""));
}

/// A method that fails for good is waited for no longer than it is tried.
#[test]
fn a_method_that_was_given_up_ends_the_command() {
    let cluster = Cluster::new();
    let dir = cluster.play.path().display().to_string();
    let methods = format!(
        "  destroy: {{exec: {{argv: [\"{dir}/hooks/rm\"]}}}}\n  retry: {{limit: 1, backoffSeconds: 1}}\n"
    );
    cluster.run("put -f -", &kind_with_class("Volume", &methods));
    cluster.play.program("hooks/rm", "#!/bin/sh\necho attached >&2\nexit 1\n");
    cluster.run("put -f -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: root}\n");
    let yaml = cluster.run("get cm root -o yaml", "");
    let uid = yaml.lines().find_map(|line| line.trim().strip_prefix("uid: ")).unwrap();
    let owner = format!("ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: root, uid: {uid}}}]");
    cluster.run("put -f -", &VOLUME.replace("name: data", &format!("name: data, {owner}")));
    let begun = std::time::Instant::now();
    let stuck = cluster.try_run(&format!("delete cm root --yes {}", cluster.flag()), "");
    stuck.fails(3, &["destroy failed", "attached", "sexton retry Volume/data"]);
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "it waited for nothing: {stuck:?}");
}

/// A module whose destruction was interrupted is resumed to its end: its record goes, too, and the command says so.
#[test]
fn resume_removes_the_record_of_an_interrupted_module() {
    let cluster = Cluster::new();
    let dir = cluster.play.path().display().to_string();
    let wait = format!("#!/bin/sh\ncd {dir}\necho run >> runs\nuntil [ -e go ]; do sleep 0.05; done\n");
    cluster.play.program("hooks/rm", &wait);
    cluster.run(
        "apply -f - --manager shop --yes",
        &format!("{VOLUME}---\n{}", VOLUME.replace("name: data", "name: other")),
    );
    let destroy = format!("destroy shop --yes {} --server {}", cluster.flag(), cluster.server.url);
    let mut child =
        cluster.play.command(&destroy).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while std::fs::read_to_string(cluster.play.path().join("runs")).unwrap_or_default().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before a method ran");
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("finishing what is under way") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended without a word");
    }
    cluster.play.file("go", "");
    child.stderr = Some(stderr.into_inner());
    let interrupted = ended(child);
    assert_eq!(interrupted.code, 130, "{interrupted:?}");

    let resumed = cluster.run(&format!("resume {}", cluster.flag()), "");
    assert_eq!(resumed, "- shop is gone\n");
    assert_eq!(cluster.run("modules", ""), "");
    assert_eq!(cluster.run("get volumes,leases -n default -o name", ""), "");
}

/// On a server others store programs and grants, too: what runs on this machine is only what this user names.
#[test]
fn grants_of_others_do_not_hold_here() {
    let play = Play::new();
    let notes = play.path().join("notes");
    let text = r#"format "1.4"
        local Thing = class("Thing", {
            properties = { name = { usage = "In", type = "string" } },
            destroy = function(self) exec { program = "sh", args = { "-c", "echo gone >> NOTES" } } end,
        })
        function deploy(env) env.applications = { new(Thing, { name = "a" }, env) } end"#;
    play.file("thing.luau", &text.replace("NOTES", &notes.display().to_string()));
    let server = Server::start(&play.data(), &[]);
    let on = format!("--server {}", server.url);
    assert_eq!(play.run(&format!("run thing.luau --env prod --allow-exec sh {on}")).code, 0);
    // The second run lets go of the first thing.
    let run = play.run(&format!("run thing.luau --env prod --yes {on}"));
    run.fails(4, &["allowed by an earlier run, and not to this one unless it names it: --allow-exec sh"]);
    let ended = play.run(&format!("destroy --env prod --yes {on}"));
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(
        format!("{}{}", ended.out, ended.err).contains("no --allow-exec names its directory"),
        "{ended:?}"
    );
    assert!(!notes.exists(), "a program of this machine was started");
    let ended = play.run(&format!("destroy --env prod --yes --allow-exec /usr/bin {on}"));
    assert!(ended.code == 0 && notes.exists(), "{ended:?}");
}
