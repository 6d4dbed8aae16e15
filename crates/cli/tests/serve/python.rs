//! The Kubernetes client for Python against a real server: a script, and the lines that it prints.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::process::Server;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/files/client.py");
const PRINTED: &str = "\
created: a {'greeting': 'hello'}
again: (409, 'Conflict')
secret: {'key': 'dmFsdWU='}
patched: ['greeting', 'more']
replaced: {'only': 'this'}
replaced an old one: (409, 'Conflict')
pages: [['a', 'b0'], ['b1', 'b2'], ['b3', 'b4']]
nobody: (404, 'Not Found')
seen: ADDED below
seen: DELETED below
gone: (404, 'Not Found')
wrong type: (422, 'Unprocessable Entity')
dynamic: 2
applied: [2, 7]
conflict: 409
allowed: True
version: 1
from a document: file
leads: True
lease: first
done: yes
";

/// A Python that has the client: the one that `SEXTON_PYTHON` names, or the usual one.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("SEXTON_PYTHON").map(PathBuf::from);
    if let Some(named) = named {
        // Whoever names one means it: what is wrong with it shows when it is used.
        return Some(named);
    }
    let found = Command::new("python3")
        .args(["-c", "import kubernetes.leaderelection"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found.is_ok_and(|status| status.success()).then(|| PathBuf::from("python3"))
}

/// Typed, dynamic and custom objects, watches, pages, server-side apply, cascades, reviews, an election over a lease.
#[test]
fn the_python_client_sees_a_kubernetes() {
    let Some(python) = python() else {
        println!("skipped: needs the Kubernetes client for Python");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"), &[]);
    let output = Command::new(python).args([SCRIPT, &format!("http://{}", server.address)]).output().unwrap();
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(printed, PRINTED, "{said}");
    assert!(output.status.success(), "{said}");
}
