//! How many requests commands make on a cluster that is not ours: what is known is not asked for again.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;
#[path = "serve/process.rs"]
#[allow(dead_code, reason = "the other tests of it use more")]
mod process;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::Play;
use process::Server;

/// Requests that the server has answered so far, by its own count.
fn answered(server: &Server) -> usize {
    let mut socket = TcpStream::connect(&server.address).unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address);
    socket.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    let counts = text.lines().filter(|line| line.contains("requests_total{"));
    counts.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum()
}

fn maps(names: impl Iterator<Item = usize>) -> String {
    names
        .map(|name| {
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{name}}}\ndata: {{a: b}}\n")
        })
        .collect()
}

/// A command costs a list of each kind, or two, and a bounded number of requests for each object that it touches. The
/// bounds leave room for chance, and none for a second discovery or for listing everything again.
#[test]
fn what_is_known_is_not_asked_for_again() {
    let play = Play::new();
    let server = Server::start(&play.data(), &["--plain"]);
    let at = format!("--server {}", server.url);
    let kinds = play.run(&format!("kinds -o name {at}")).out.lines().count();
    let cost = |arguments: &str, input: &str| {
        let before = answered(&server);
        let ran = play.run_with(&format!("{arguments} {at}"), input);
        assert_eq!(ran.code, 0, "{arguments}: {ran:?}");
        assert!(!ran.err.contains("WARN"), "{ran:?}");
        // One of them asked for the count.
        answered(&server) - before - 1
    };
    let apply = "apply -f - --manager shop --yes";
    cost(apply, &maps(0..3));
    let why = cost("why cm/m0", "");
    assert!(why <= kinds + 10, "why: {why} requests for {kinds} kinds");
    let unchanged = cost(apply, &maps(0..3));
    assert!(unchanged <= kinds + 30, "unchanged: {unchanged} requests for {kinds} kinds");
    let sweep = cost(apply, &maps(0..2));
    assert!(sweep <= 3 * kinds + 40, "a sweep of one: {sweep} requests for {kinds} kinds");
    let many = 100;
    cost("apply -f - --manager many --yes", &maps(10..10 + many));
    let destroy = cost("destroy many --yes", "");
    assert!(destroy <= 3 * kinds + 60 + 5 * many, "destroy of {many}: {destroy} requests for {kinds} kinds");
}
