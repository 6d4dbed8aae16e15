//! `kill -9` of the server, with the collector in it, at every single change of a destruction with hooks: the end is
//! always the right one, and no hook ever sees a new idempotency key for the same call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::hooked::{ALLOWED, CONFIG_MAPS, define_class};
use crate::process::Server;
use crate::raw::{ask, watch};

/// More changes than the destruction takes; a belt.
const MOST_CHANGES: usize = 80;

/// What a hook does: it writes down what it was asked, and says that it is done.
const HOOK: &str = r#"doc=$(cat)
first() { printf %s "$doc" | grep -o "\"$1\":\"[A-Za-z0-9-]*\"" | head -n 1 | cut -d '"' -f 4; }
echo "$(first phase) $(first method) $(first id) $SEXTON_IDEMPOTENCY_KEY" >> "$LOG"
"#;

/// An application that owns a network and two machines; the network hears of the machines, and outlives them.
fn furnish(dir: &Path, address: &str) {
    define_class(address, dir, HOOK, json!({"LOG": dir.join("log")}));
    let make = |name: &str, metadata: Value| {
        let mut metadata = metadata;
        metadata["name"] = name.into();
        let made = ask(address, "POST", CONFIG_MAPS, &json!({"metadata": metadata, "data": {"id": name}}));
        made["metadata"]["uid"].as_str().unwrap().to_owned()
    };
    let app = make("app", json!({}));
    let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "app", "uid": app}]);
    make("vm-1", json!({"ownerReferences": owners}));
    make("vm-2", json!({"ownerReferences": owners}));
    let hears = "- {target: ConfigMap/vm-1, handler: gone}\n- {target: ConfigMap/vm-2, handler: gone}";
    let annotations = json!({"sexton.dev/destruction-dependencies": hears});
    make("lan", json!({"ownerReferences": owners, "annotations": annotations}));
}

/// Waits until no ConfigMap is left.
fn wait_until_gone(address: &str) {
    loop {
        let listed = ask(address, "GET", CONFIG_MAPS, &Value::Null);
        if listed["items"].as_array().unwrap().is_empty() {
            return;
        }
        let version = listed["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
        // Whatever happens next is a reason to look again; a server that does nothing ends the test by its time limit.
        watch(address, version).unwrap().chunk().unwrap();
    }
}

/// Deletes the application and kills the server when the n-th change was heard. Says whether it came to that.
fn interrupted(dir: &Path, at: usize) -> bool {
    let server = Server::start(dir, &ALLOWED);
    furnish(dir, &server.address);
    let listed = ask(&server.address, "GET", CONFIG_MAPS, &Value::Null);
    let head: u64 = listed["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    let mut feed = watch(&server.address, head).unwrap();
    ask(&server.address, "DELETE", &format!("{CONFIG_MAPS}/app"), &json!({}));
    let (mut heard, mut gone) = (0, 0);
    while heard < at && gone < 4 {
        let Some(chunk) = feed.chunk().unwrap() else { break };
        let text = String::from_utf8(chunk).unwrap();
        heard += text.matches("\"type\":\"").count();
        gone += text.matches("\"type\":\"DELETED\"").count();
    }
    server.kill();
    heard >= at
}

fn check(dir: &Path, at: usize) {
    let log = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
    let mut keys: BTreeMap<(&str, &str, &str), BTreeSet<&str>> = BTreeMap::new();
    let mut first = BTreeMap::new();
    for (number, line) in log.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let [phase, method, id, key] = words[..] else { panic!("killed at {at}: {line:?}") };
        keys.entry((phase, method, id)).or_default().insert(key);
        first.entry((phase, id)).or_insert(number);
    }
    for (call, keys) in &keys {
        assert_eq!(keys.len(), 1, "killed at {at}: {call:?} was made with several keys\n{log}");
    }
    for id in ["app", "lan", "vm-1", "vm-2"] {
        assert!(
            keys.contains_key(&("destroying", "destroy", id)),
            "killed at {at}: {id} was not destroyed\n{log}"
        );
    }
    for vm in ["vm-1", "vm-2"] {
        let order = ["warning", "notifying", "destroying", "destroyed"].map(|phase| first[&(phase, vm)]);
        assert!(order.is_sorted(), "killed at {at}: steps of {vm} out of order\n{log}");
        assert!(order[2] < first[&("destroying", "lan")], "killed at {at}: the network before {vm}\n{log}");
    }
    assert!(first[&("destroying", "lan")] < first[&("destroying", "app")], "killed at {at}\n{log}");
}

/// EXT-25, EXT-26, REQ-MUR-12: the server is killed at every change in turn; `SEXTON_LONG=1` leaves none out.
#[test]
fn killed_at_every_change_it_ends_right_and_with_the_same_keys() {
    let step = if std::env::var_os("SEXTON_LONG").is_some() { 1 } else { 5 };
    for at in (1..MOST_CHANGES).step_by(step) {
        let dir = tempfile::tempdir().unwrap();
        let came = interrupted(dir.path(), at);
        let server = Server::start(dir.path(), &ALLOWED);
        wait_until_gone(&server.address);
        check(dir.path(), at);
        if !came {
            return;
        }
    }
    panic!("the destruction takes more than {MOST_CHANGES} changes");
}
