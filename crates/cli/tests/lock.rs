//! One process per data directory, and how the others find it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use common::{Play, SHOP, ended};

/// A watch that has listed what there is: it holds the directory.
fn watching(play: &Play, arguments: &str) -> (Child, Vec<String>) {
    let mut child = play.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut lines = vec![String::new(), String::new()];
    for line in &mut lines {
        stdout.read_line(line).unwrap();
    }
    // Whoever is written to must go on listening.
    child.stdout = Some(stdout.into_inner());
    (child, lines)
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_watch_holds_the_directory_until_it_is_interrupted() {
    let play = Play::new();
    assert_eq!(play.run_with("put -f -", SHOP).code, 0);
    let (child, lines) = watching(&play, "watch cm");
    assert!(lines[0].starts_with("  NAME   DATA   AGE") && lines[1].starts_with("+ a      3"), "{lines:?}");
    let refused = play.run("get cm");
    refused.fails(
        5,
        &[".sexton is in use", &format!("by process {}", child.id()), "sexton serve --data .sexton"],
    );
    play.run("kubeconfig").fails(5, &["not by a server"]);
    assert!(play.run("backup copy.db").code == 0, "a backup needs no lock");
    interrupt(&child);
    let ran = ended(child);
    assert_eq!(ran.code, 130, "{ran:?}");
    play.run("get cm -o name").says("configmap/a\n");
}

#[test]
fn a_watch_for_programs_begins_with_its_version() {
    let play = Play::new();
    assert_eq!(play.run_with("put -f -", SHOP).code, 0);
    let (child, lines) = watching(&play, "watch cm/a -o json");
    assert!(lines[0].starts_with("{\"kind\":\"Header\",\"version\":1,"), "{lines:?}");
    let change = "{\"kind\":\"Change\",\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\"";
    assert!(lines[1].starts_with(change), "{lines:?}");
    interrupt(&child);
    assert_eq!(ended(child).code, 130);
}

#[test]
fn short_commands_wait_for_each_other() {
    let play = Play::new();
    assert_eq!(play.run_with("put -f -", SHOP).code, 0);
    let start =
        || play.command("get cm -o name").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let running: Vec<Child> = (0..4).map(|_| start()).collect();
    running.into_iter().for_each(|child| ended(child).says("configmap/a\n"));
}

#[test]
fn a_kubeconfig_file_is_private_and_never_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let play = Play::new();
    play.file("token", "0123456789abcdef\n");
    play.file("ca.pem", "-----BEGIN CERTIFICATE-----\n");
    let arguments =
        "kubeconfig --server https://127.0.0.1:1 --token-file token --certificate-authority ca.pem -o k";
    play.run(arguments).says("");
    let text = std::fs::read_to_string(play.path().join("k")).unwrap();
    assert!(
        text.contains("token: 0123456789abcdef")
            && text.contains("certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="),
        "{text}"
    );
    assert_eq!(std::fs::metadata(play.path().join("k")).unwrap().permissions().mode() & 0o777, 0o600);
    play.run(arguments).fails(1, &["k exists"]);
    play.file("token", "0123456789abcdef,ada\n");
    play.run(&format!("{arguments}2")).fails(1, &["the token in token is not a token but a list"]);
    play.file("token", "0123456789abcdef\n");
    play.file("ca.pem", "nonsense");
    play.run(&format!("{arguments}2")).fails(1, &["ca.pem holds no certificate"]);
}
