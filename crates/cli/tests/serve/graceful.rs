//! A server that is asked to stop in the middle of a module's destruction goes on with it after its restart.

use std::io::BufRead;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::Server;

/// Much longer than it takes, and shorter than the time after which a collector looks at everything again.
const PATIENCE: Duration = Duration::from_secs(120);
/// The method is run by a shell.
const ALLOWED: [&str; 2] = ["--allow-exec", "/bin"];
const NAMES: [&str; 3] = ["a", "b", "c"];

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what}: it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn sexton(dir: &Path, server: &Server, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
    command.args(["--server", &server.url]).args(arguments.split(' ')).current_dir(dir);
    command
}

fn run(dir: &Path, server: &Server, arguments: &str) -> String {
    let output = sexton(dir, server, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A module of ConfigMaps whose destroy method waits for the file `go`, and writes down that it ran.
fn furnish(dir: &Path, server: &Server) {
    let hook = "echo run >> runs; until [ -e go ]; do sleep 0.05; done";
    let argv = serde_json::json!(["/bin/sh", "-c", format!("cd {}; {hook}", dir.display())]);
    let class = serde_json::json!({
        "apiVersion": "sexton.dev/v1", "kind": "Class", "metadata": {"name": "map"},
        "spec": {"for": {"kind": "ConfigMap"}, "destroy": {"exec": {"argv": argv}, "deadlineSeconds": 300}},
    });
    std::fs::write(dir.join("class.yaml"), class.to_string()).unwrap();
    run(dir, server, "put -f class.yaml");
    std::fs::create_dir(dir.join("m")).unwrap();
    std::fs::write(dir.join("m/sexton.yaml"), "manager: m\n").unwrap();
    for name in NAMES {
        let document = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
        std::fs::write(dir.join(format!("m/{name}.yaml")), document).unwrap();
    }
    run(dir, server, "apply -f m");
}

/// EXT-26: SIGTERM while the first of three methods runs. It is waited for, and the restarted server does the others by
/// itself; no method runs twice.
#[test]
fn stopped_in_the_middle_it_goes_on_after_its_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, data) = (dir.path(), dir.path().join("data"));
    let server = Server::start_with(&data, &ALLOWED, Stdio::piped());
    furnish(dir, &server);
    let mut destroying = sexton(dir, &server, "destroy m --yes");
    let mut destroying = destroying.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let runs = || std::fs::read_to_string(dir.join("runs")).unwrap_or_default().lines().count();
    wait_for("the first method runs", || runs() > 0);
    let stopped = server.stop_and(|logs| {
        let mut lines = logs.unwrap().lines();
        assert!(lines.any(|line| line.unwrap().contains("shutting down")), "it ended without a word");
        std::fs::write(dir.join("go"), "").unwrap();
    });
    assert!(stopped, "the server ends well when asked");
    _ = destroying.kill();
    _ = destroying.wait();
    assert_eq!(runs(), 1, "nothing new is begun by a server that stops");
    let server = Server::start(&data, &ALLOWED);
    wait_for("all are gone", || run(dir, &server, "get cm -o name").is_empty());
    assert_eq!(runs(), NAMES.len());
}
