//! How many requests commands make on a cluster that is not ours: what is known is not asked for again.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;
#[path = "serve/process.rs"]
#[allow(dead_code, reason = "the other tests of it use more")]
mod process;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use common::Play;
use common::authorizer::Authorizer;
use common::modules::kind_with_class;
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

/// What is listed or watched, by path, and how often discovery was asked.
#[derive(Debug, Default, Clone)]
struct Asked(Arc<Mutex<BTreeMap<String, usize>>>);

impl Asked {
    /// A way to the server that notes what is read.
    fn on_the_way_to(&self, server: &Server) -> Authorizer {
        let asked = self.clone();
        Authorizer::new(&server.address, move |method, path| {
            if method == "GET" {
                *asked.0.lock().unwrap().entry(path.to_owned()).or_default() += 1;
            }
            true
        })
    }

    /// What one command asked more often than `most`: lists and watches of a kind, not single objects.
    fn more_than(&self, most: usize) -> Vec<(String, usize)> {
        let asked = std::mem::take(&mut *self.0.lock().unwrap());
        assert_eq!((asked.get("/api"), asked.get("/apis")), (Some(&1), Some(&1)), "discovery: {asked:?}");
        let is_kind = |path: &str| match path.strip_prefix("/apis/") {
            Some(rest) => rest.split('/').count() == 3,
            None => path.starts_with("/api/") && path.split('/').count() == 4,
        };
        let often = asked.into_iter().filter(|(path, times)| is_kind(path) && *times > most);
        often.map(|(path, times)| (path.rsplit('/').next().unwrap().to_owned(), times)).collect()
    }
}

fn named(names: &[(&str, usize)]) -> Vec<(String, usize)> {
    names.iter().map(|(name, times)| ((*name).to_owned(), *times)).collect()
}

/// No command asks the same question twice. A look at all kinds is one list of each; a sweep adds a list of what carries the
/// module's label and a watch; classes are read whole once, besides; and what is left of a destroyed module is looked for
/// only where it had something.
#[test]
fn no_kind_is_listed_twice_for_the_same_question() {
    let play = Play::new();
    let server = Server::start(&play.data(), &["--plain"]);
    let asked = Asked::default();
    let line = asked.on_the_way_to(&server);
    let run = |arguments: &str, input: &str| {
        let ran = play.run_with(&format!("{arguments} --server {}", line.url), input);
        assert_eq!(ran.code, 0, "{arguments}: {ran:?}");
    };
    run("install-crds", "");
    run("put -f -", &kind_with_class("Volume", "  destroy: {exec: {argv: [\"/bin/true\"]}}\n"));
    let apply = "apply -f - --manager shop --yes";
    run(apply, &maps(0..3));
    let commands = [
        ("why cm/m0", String::new(), 1, named(&[("classes", 2)])),
        ("plan delete cm/m0", String::new(), 1, named(&[("classes", 2)])),
        (apply, maps(0..3), 1, named(&[])),
        (apply, maps(0..2), 3, named(&[("classes", 4), ("collections", 4)])),
        (
            "destroy shop --yes",
            String::new(),
            3,
            named(&[("configmaps", 4), ("classes", 4), ("collections", 4)]),
        ),
    ];
    for (command, input, most, exceptions) in commands {
        asked.0.lock().unwrap().clear();
        run(command, &input);
        let more: Vec<(String, usize)> = asked.more_than(most);
        let is_expected =
            |one: &&(String, usize)| exceptions.iter().any(|(kind, times)| *kind == one.0 && one.1 <= *times);
        let unexpected: Vec<&(String, usize)> = more.iter().filter(|one| !is_expected(one)).collect();
        assert!(unexpected.is_empty(), "{command}: {unexpected:?}");
    }
}
