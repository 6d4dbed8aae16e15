//! Commands on a data directory that a server serves: they find it, and only while it lives.

use std::path::Path;
use std::process::{Command, Output};

use crate::process::Server;

/// `sexton` on a data directory, in an environment that names nothing.
fn sexton(data: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
    command.args(arguments).arg("--data").arg(data).env_clear().env("HOME", data).output().unwrap()
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const CONFIG: &str = "apiVersion: v1\nclusters:\n- cluster:\n    server: URL\n  name: sexton\ncontexts:\n\
    - context:\n    cluster: sexton\n    namespace: shop\n    user: sexton\n  name: sexton\n\
    current-context: sexton\nkind: Config\nusers:\n- name: sexton\n  user: {}\n";

#[test]
fn commands_use_the_server_that_serves_their_directory() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let server = Server::start(&data, &[]);
    let file = dir.path().join("a.yaml");
    std::fs::write(&file, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").unwrap();
    let put = sexton(&data, &["put", "-f", file.to_str().unwrap()]);
    assert_eq!(out(&put), "+ ConfigMap/a created\n");
    let note = format!("using the server {}, which serves {}\n", server.url, data.display());
    assert!(err(&put).starts_with(&note), "{put:?}");
    let header = out(&sexton(&data, &["modules", "-o", "json"]));
    assert!(header.contains(&format!("\"target\":\"{}\"", server.url)), "{header}");
    let config = sexton(&data, &["kubeconfig", "-n", "shop"]);
    assert_eq!(out(&config), CONFIG.replace("URL", &server.url));
    // It was killed, and what it left behind leads nowhere.
    let url = server.url.clone();
    server.kill();
    let left = std::fs::read_to_string(data.join("server.json")).unwrap();
    assert!(left.contains(&url), "{left}");
    let got = sexton(&data, &["get", "cm", "-o", "name"]);
    assert_eq!((out(&got), err(&got)), ("configmap/a\n".into(), String::new()));
    let config = sexton(&data, &["kubeconfig"]);
    assert_eq!(config.status.code(), Some(1));
    assert!(err(&config).contains("no server uses") && err(&config).contains("sexton serve"), "{config:?}");
    // One that ends well leaves nothing.
    assert!(Server::start(&data, &[]).stop());
    assert!(!data.join("server.json").exists());
}

/// The variable names a server; what is typed is stronger, and what is not an address is named with the variable.
#[test]
fn a_server_of_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let (data, other) = (dir.path().join("data"), dir.path().join("other"));
    let server = Server::start(&data, &[]);
    let ask = |url: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
        command
            .args(arguments)
            .current_dir(dir.path())
            .env_clear()
            .env("SEXTON_SERVER", url)
            .output()
            .unwrap()
    };
    let got = ask(&server.url, &["get", "cm"]);
    let target = format!("nothing found on {} (SEXTON_SERVER), namespace default\n", server.url);
    assert_eq!((got.status.code(), err(&got)), (Some(0), target));
    let typed = ask(&server.url, &["get", "cm", "--data", other.to_str().unwrap()]);
    assert!(err(&typed).contains("(embedded, empty)"), "{typed:?}");
    let wrong = ask("127.0.0.1:8180", &["get", "cm"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(err(&wrong).contains("SEXTON_SERVER") && err(&wrong).contains("http://"), "{wrong:?}");
}
