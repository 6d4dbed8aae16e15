//! What a server runs and calls: nothing, unless its operator allows it; and what is not allowed waits, with the flag named.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::Server;
use crate::raw::Connection;

/// Much longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn ask(server: &Server, method: &str, path: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut connection = Connection::open(&server.address).unwrap();
    let answer = connection.ask(method, path, "application/json", &body).unwrap();
    assert!(answer.code < 300 || method == "GET", "{method} {path}: {answer:?}");
    answer.body
}

/// A class for ConfigMaps with this destroy method, an object of it, and its deletion.
fn delete_one(server: &Server, destroy: &Value) {
    let spec = json!({"for": {"kind": "ConfigMap"}, "destroy": destroy, "retry": {"maxBackoffSeconds": 1}});
    ask(server, "POST", "/apis/sexton.dev/v1/classes", &json!({"metadata": {"name": "cm"}, "spec": spec}));
    ask(server, "POST", MAPS, &json!({"metadata": {"name": "a"}}));
    ask(server, "DELETE", &format!("{MAPS}/a"), &Value::Null);
}

/// Looks again and again, within bounds.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}: it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The blocker of the only collection.
fn blocker(server: &Server) -> String {
    until("a blocker", || {
        let all = ask(server, "GET", "/apis/sexton.dev/v1/collections", &Value::Null);
        let reason = all["items"][0]["status"]["blockers"][0]["reason"].as_str()?;
        Some(reason.to_owned())
    })
}

fn gone(server: &Server) {
    until("the object goes", || {
        ask(server, "GET", MAPS, &Value::Null)["items"].as_array()?.is_empty().then_some(())
    });
}

/// A hook that leaves a mark; another process writes it, so that it is open for writing in none of ours.
fn hook(dir: &Path) -> String {
    let (hooks, mark) = (dir.join("hooks"), dir.join("mark"));
    std::fs::create_dir_all(&hooks).unwrap();
    let script = format!("printf '#!/bin/sh\\ntouch {}\\n' > \"$0\" && chmod 755 \"$0\"", mark.display());
    let program = hooks.join("leave-mark");
    assert!(Command::new("sh").args(["-c", &script]).arg(&program).status().unwrap().success());
    program.display().to_string()
}

/// A client can store a class, and with that run nothing on the machine of the server. `why`, the collection and
/// an event name the flag; with the flag the same object goes.
#[test]
fn nothing_is_run_unless_it_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let (data, mark) = (dir.path().join("data"), dir.path().join("mark"));
    let program = hook(dir.path());
    let flag = format!("--allow-exec {}/hooks", std::fs::canonicalize(dir.path()).unwrap().display());
    let server = Server::start(&data, &[]);
    delete_one(&server, &json!({"exec": {"argv": [program]}}));
    let blocker = blocker(&server);
    assert!(blocker.contains("the operator's settings") && blocker.contains(&flag), "{blocker}");
    let why = Command::new(env!("CARGO_BIN_EXE_sexton")).args(["why", "cm/a", "--data"]).arg(&data).output();
    let why = String::from_utf8(why.unwrap().stdout).unwrap();
    assert!(why.split_whitespace().collect::<Vec<_>>().join(" ").contains(&flag), "{why}");
    until("an event", || {
        let events = ask(&server, "GET", "/api/v1/namespaces/default/events", &Value::Null).to_string();
        events.contains("--allow-exec").then_some(())
    });
    assert!(!mark.exists());
    assert!(server.stop());
    let hooks = dir.path().join("hooks");
    let server = Server::start(&data, &["--allow-exec", hooks.to_str().unwrap()]);
    gone(&server);
    assert!(mark.exists());
}

/// Many objects that the settings block, and one that waits for them: the reason is told once, with the names of the
/// others.
#[test]
fn what_is_blocked_for_one_reason_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let program = hook(dir.path());
    let server = Server::start(&data, &[]);
    let spec = json!({"for": {"kind": "ConfigMap"}, "destroy": {"exec": {"argv": [program]}}});
    ask(&server, "POST", "/apis/sexton.dev/v1/classes", &json!({"metadata": {"name": "cm"}, "spec": spec}));
    for name in ["a", "b", "c"] {
        ask(&server, "POST", MAPS, &json!({"metadata": {"name": name, "labels": {"app": "web"}}}));
    }
    let uid = ask(&server, "GET", &format!("{MAPS}/a"), &Value::Null)["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": uid});
    let owned = json!({"metadata": {"name": "under-a", "ownerReferences": [owner]}});
    ask(&server, "POST", "/api/v1/namespaces/default/secrets", &owned);
    let held = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    let mut connection = Connection::open(&server.address).unwrap();
    let secret = "/api/v1/namespaces/default/secrets/under-a";
    connection.ask("PATCH", secret, "application/merge-patch+json", &held.to_string()).unwrap();
    let words = ["delete", "configmaps", "-l", "app=web", "--yes", "--data"];
    let deleted = Command::new(env!("CARGO_BIN_EXE_sexton")).args(words).arg(&data).output().unwrap();
    let told = String::from_utf8(deleted.stderr).unwrap();
    assert_eq!(deleted.status.code(), Some(3), "{told}");
    assert_eq!(told.matches("may not be run").count(), 1, "{told}");
    let same = |name: &str| told.contains(&format!("the same is in the way of ConfigMap/{name}"));
    assert!(same("b") || same("c"), "{told}");
    assert!(told.contains("held by the finalizer example.com/hold"), "{told}");
}

/// A directory that is allowed allows no shell: what the message proposes never lets everything in.
#[test]
fn a_shell_is_not_a_hook() {
    let dir = tempfile::tempdir().unwrap();
    hook(dir.path());
    let mark = dir.path().join("mark");
    let server = Server::start(
        &dir.path().join("data"),
        &["--allow-exec", dir.path().join("hooks").to_str().unwrap()],
    );
    delete_one(&server, &json!({"exec": {"argv": ["/bin/sh", "-c", format!("touch {}", mark.display())]}}));
    let blocker = blocker(&server);
    assert!(blocker.ends_with("add --allow-exec /etc/sexton/hooks"), "{blocker}");
    assert!(
        !blocker.contains("--allow-exec /usr/bin") && !blocker.contains("--allow-exec /bin"),
        "{blocker}"
    );
    assert!(!mark.exists());
}

/// The same of services: not this machine, whatever name leads there, unless it is named.
#[test]
fn nothing_is_called_unless_it_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = service.local_addr().unwrap().to_string();
    let server = Server::start(dir.path(), &[]);
    delete_one(&server, &json!({"http": {"url": format!("http://{host}/gone")}}));
    let blocker = blocker(&server);
    assert!(blocker.contains(&format!("add --allow-http {host}")), "{blocker}");
    service.set_nonblocking(true).unwrap();
    assert!(service.accept().is_err(), "it was not even connected to");
    service.set_nonblocking(false).unwrap();
    assert!(server.stop());
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = service.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").unwrap();
    });
    let server = Server::start(dir.path(), &["--allow-http", &host]);
    gone(&server);
    answering.join().unwrap();
}

/// What cannot be allowed is said before anything is served.
#[test]
fn what_cannot_be_allowed_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (flag, value, words) in [
        ("--allow-exec", "/nowhere/like/it", "cannot be allowed"),
        ("--allow-exec", "/tmp", "all users of this machine may write into it"),
        ("--allow-http", "http://a/b", "is not a host"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
        let refused = command
            .args(["serve", "--listen", "127.0.0.1:0", flag, value, "--data"])
            .arg(dir.path())
            .output();
        let refused = refused.unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && said.contains(words), "{flag} {value}: {said}");
    }
}
