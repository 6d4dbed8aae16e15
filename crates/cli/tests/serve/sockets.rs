//! Bad connections: half requests, silence, floods, and a good end.

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::process::Server;
use crate::raw::{Connection, watch};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn alive(server: &Server) {
    let answer = Connection::open(&server.address).unwrap().ask("GET", "/readyz", "", "").unwrap();
    assert_eq!((answer.code, answer.body), (200, json!("ok")));
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Half-open connections and truncated requests cost nothing and break nothing.
#[test]
fn half_requests_are_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    alive(&server);
    let before = resident_kib(server.pid());
    let silent: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    for half in [
        "GET",
        "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{\"meta",
        "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
        "GET / HTTP/9.9\r\n\r\n",
        "\0\0\0\0",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense",
    ] {
        for _ in 0..20 {
            let mut connection = Connection::open(&server.address).unwrap();
            connection.send(half.as_bytes()).unwrap();
        }
    }
    alive(&server);
    let grown = resident_kib(server.pid()).saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} KiB more for half requests");
    drop(silent);
    assert!(server.stop());
}

/// A body over the limit is refused without being read to its end, and the server goes on.
#[test]
fn a_huge_body_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let mut connection = Connection::open(&server.address).unwrap();
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        10 << 20
    );
    connection.send(head.as_bytes()).unwrap();
    // The server may close while we still send; what counts is the answer.
    let piece = vec![b' '; 1 << 20];
    for _ in 0..10 {
        if connection.send(&piece).is_err() {
            break;
        }
    }
    if let Ok(answer) = connection.answer() {
        assert_eq!((answer.code, &answer.body["reason"]), (413, &json!("RequestEntityTooLarge")));
    }
    alive(&server);
}

/// Watches end when the server is asked to stop, and it stops at once.
#[test]
fn watches_do_not_hold_up_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let mut watching = watch(&server.address, 1).unwrap();
    assert!(server.stop());
    // The chunked body ends properly, it is not cut off.
    while watching.chunk().unwrap().is_some() {}
}

/// A watcher that does not read is no reason for anybody to wait, and does not make the server grow.
#[test]
fn a_stalled_watcher_blocks_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--history-size", "4"]);
    let stalled: Vec<Connection> = (0..20).map(|_| watch(&server.address, 1).unwrap()).collect();
    let mut writer = Connection::open(&server.address).unwrap();
    let filler = "x".repeat(32 << 10);
    for number in 0..600 {
        let body = json!({"metadata": {"name": format!("n{number}")}, "data": {"v": filler}}).to_string();
        assert_eq!(writer.ask("POST", CONFIG_MAPS, "application/json", &body).unwrap().code, 201);
        let path = format!("{CONFIG_MAPS}/n{number}");
        let options = r#"{"propagationPolicy":"Background"}"#;
        assert_eq!(writer.ask("DELETE", &path, "application/json", options).unwrap().code, 200);
    }
    // 600 objects of 32 KiB came and went: twenty watchers with queues of their own would hold 375 MiB.
    assert!(resident_kib(server.pid()) < 256 << 10);
    drop(stalled);
    assert!(server.stop());
}

/// Too many at once are told to come back, and then served.
#[test]
fn over_the_limit_is_429() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--max-watches", "2"]);
    let first = watch(&server.address, 1).unwrap();
    let _second = watch(&server.address, 1).unwrap();
    let ask = || {
        let mut connection = Connection::open(&server.address).unwrap();
        connection
            .ask("GET", "/api/v1/configmaps?watch=true&resourceVersion=1&timeoutSeconds=1", "", "")
            .unwrap()
    };
    let refused = ask();
    assert_eq!((refused.code, &refused.body["reason"]), (429, &json!("TooManyRequests")));
    alive(&server);
    drop(first);
    // The place is free once the server has noticed that the first watcher is gone.
    let until = Instant::now() + Duration::from_secs(120);
    while ask().code != 200 {
        assert!(Instant::now() < until, "nobody noticed that the first watcher is gone");
    }
}

/// One process per directory: the second is told who has it and where to ask instead.
#[test]
fn the_second_server_is_told_about_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_sexton"))
        .arg("--data")
        .arg(dir.path())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(5), "{said}");
    assert!(said.contains(&server.address), "it names the address: {said}");
}

/// On any address but loopback the server insists on TLS and authentication, and says how to make them.
#[test]
fn an_open_address_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = std::process::Command::new(env!("CARGO_BIN_EXE_sexton"))
        .arg("--data")
        .arg(dir.path())
        .args(["serve", "--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    let next = "sexton serve --listen 0.0.0.0:0 --self-signed --host NAME";
    assert!(said.contains(next) && said.contains("--tokens"), "{said}");
}

/// A connection that closes right after asking leaves nothing behind.
#[test]
fn clients_that_run_away_are_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    for _ in 0..300 {
        let mut connection = Connection::open(&server.address).unwrap();
        connection.send(b"GET /api/v1/configmaps?watch=true HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    }
    alive(&server);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    std::io::Write::write_all(&mut stream, b"GET /livez HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("ok"), "{text}");
    assert!(server.stop());
}
