//! What somebody sees of a deletion on a server: one that dies meanwhile, and what belongs to two collections.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::Server;
use crate::raw::{Connection, ask};

/// Looks again and again, within bounds, until it is so.
fn until(address: &str, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let found = Connection::open(address).unwrap().ask("GET", path, "application/json", "").unwrap();
        if is_so(&found.body) {
            return found.body;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "{path}: {}", found.body);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server that dies while a deletion is followed is told, with what to type; it is no panic.
#[test]
fn a_server_that_dies_while_it_is_followed_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/x"]}});
    ask(&server.address, "POST", "/api/v1/namespaces/default/configmaps", &held);
    let mut child = Command::new(env!("CARGO_BIN_EXE_sexton"))
        .args(["delete", "cm/held", "--yes", "--server", &server.url])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("0 of 1 gone") {
        line.clear();
        assert!(talk.read_line(&mut line).unwrap() > 0, "it ended before it followed anything");
    }
    let url = server.url.clone();
    server.kill();
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    assert!(rest.contains(&format!("see how far it is   sexton collections --server {url}")), "{rest}");
    assert!(!rest.contains("panicked"), "{rest}");
}

/// What a namespace takes over from another collection is not called gone there, and events are not counted.
#[test]
fn who_goes_over_to_another_collection_is_not_gone() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let address = server.address.as_str();
    ask(address, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": "b"}}));
    let maps = "/api/v1/namespaces/b/configmaps";
    let root = ask(address, "POST", maps, &json!({"metadata": {"name": "root"}}));
    let uid = root["metadata"]["uid"].as_str().unwrap();
    let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "root", "uid": uid,
        "blockOwnerDeletion": true}]);
    let metadata = json!({"name": "held", "finalizers": ["example.com/x"], "ownerReferences": owners});
    ask(address, "POST", maps, &json!({"metadata": metadata}));
    let event = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "ConfigMap", "namespace": "b"}});
    ask(address, "POST", "/api/v1/namespaces/b/events", &event);
    ask(address, "DELETE", &format!("{maps}/root"), &json!({"propagationPolicy": "Foreground"}));
    let letters: String = uid.chars().filter(|c| *c != '-').take(16).collect();
    let first = format!("/apis/sexton.dev/v1/collections/c-{letters}");
    until(address, &first, |record| record["status"]["phase"] == "blocked");
    let namespace = ask(address, "DELETE", "/api/v1/namespaces/b", &Value::Null);
    let record = until(address, &first, |record| record["status"]["phase"] == "done");
    let outcome = record["status"]["outcome"].as_str().unwrap();
    assert!(outcome.starts_with("0 gone, 2 go on in c-"), "{outcome}");
    assert_eq!(record["status"]["doomed"], 0);
    let letters: String = namespace["metadata"]["uid"].as_str().unwrap().replace('-', "");
    let second = format!("/apis/sexton.dev/v1/collections/c-{}", &letters[..16]);
    ask(address, "PATCH", &format!("{maps}/held"), &json!({"metadata": {"finalizers": null}}));
    let record = until(address, &second, |record| record["status"]["phase"] == "done");
    assert_eq!(record["status"]["outcome"], "3 gone");
    let tombstones = ask(address, "GET", "/apis/sexton.dev/v1/tombstones", &Value::Null);
    assert!(!tombstones.to_string().contains("\"Event\""), "{tombstones}");
}
