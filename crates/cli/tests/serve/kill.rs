//! `kill -9` under load: what was acknowledged is there, revisions never go back, no event is lost or doubled.
//!
//! The oracle is the sequence of revisions itself: every acknowledged write carries one, the watch must show each of
//! them exactly once and in order, and replaying the watch must give the final list.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::Server;
use crate::raw::{Connection, watch};

const WRITERS: usize = 8;
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// An acknowledged write: the object's name and the revision the server gave it (0 for a removal, which tells none).
type Acknowledged = (String, u64);
/// The threads that write, each with what was acknowledged to it.
type Writers = Vec<thread::JoinHandle<Vec<Acknowledged>>>;

/// An event of the watch.
#[derive(Debug, Clone)]
struct Event {
    revision: u64,
    kind: String,
    name: String,
    value: String,
}

fn rounds() -> usize {
    if std::env::var_os("SEXTON_LONG").is_some() { 100 } else { 10 }
}

/// REQ-KRK-20, REQ-KRK-21, EXT-19: the long variant (`SEXTON_LONG=1`) kills a hundred times.
#[test]
fn nothing_acknowledged_is_lost_and_no_event_is_lost_or_doubled() {
    let dir = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut events) = (Vec::new(), Vec::<Event>::new());
    let (mut last_seen, mut head) = (0, 0);
    for round in 0..rounds() {
        let server = Server::start(dir.path(), &[]);
        let now = head_of(&server.address);
        assert!(now >= head, "round {round}: the revision went back from {head} to {now}");
        let listening = listen(&server.address, last_seen);
        let (acks, running, told) = load(&server.address, round);
        // A different number of acknowledged writes in each round, then the kill.
        for _ in 0..100 + round * 137 % 900 {
            told.recv_timeout(Duration::from_secs(120)).expect("writes are acknowledged");
        }
        server.kill();
        running.store(false, Ordering::Relaxed);
        let new: Vec<Acknowledged> = acks.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        assert!(!new.is_empty(), "round {round}: nothing was acknowledged, the round shows nothing");
        head = new.iter().map(|(_, revision)| *revision).fold(now, u64::max);
        acknowledged.extend(new);
        events.extend(listening.join().unwrap());
        last_seen = events.last().map_or(last_seen, |event| event.revision);
    }
    check(dir.path(), last_seen, head, &acknowledged, events);
}

fn check(data: &Path, last_seen: u64, head: u64, acknowledged: &[Acknowledged], mut events: Vec<Event>) {
    let server = Server::start(data, &[]);
    let now = head_of(&server.address);
    assert!(now >= head);
    events.extend(read_until(&server.address, last_seen, now));
    let listed = list(&server.address);
    for pair in events.windows(2) {
        assert!(pair[0].revision < pair[1].revision, "doubled or out of order: {pair:?}");
    }
    for (name, revision) in acknowledged.iter().filter(|(_, revision)| *revision > 0) {
        let shown = events.binary_search_by_key(revision, |event| event.revision);
        let shown = shown.unwrap_or_else(|_| panic!("{name} at {revision} was acknowledged and never shown"));
        assert_eq!(&events[shown].name, name);
    }
    // Names are never used twice: what was acknowledged as removed is gone, and its end was shown.
    for (name, _) in acknowledged.iter().filter(|(_, revision)| *revision == 0) {
        assert!(!listed.contains_key(name), "{name} was acknowledged as removed and is still there");
        let shown = events.iter().any(|event| event.name == *name && event.kind == "DELETED");
        assert!(shown, "{name} was acknowledged as removed and that was never shown");
    }
    let mut replayed = BTreeMap::new();
    for event in &events {
        match event.kind.as_str() {
            "DELETED" => replayed.remove(&event.name),
            _ => replayed.insert(event.name.clone(), event.value.clone()),
        };
    }
    assert_eq!(replayed, listed, "the watch and the list tell different stories");
    assert!(server.stop(), "the server ends well when asked");
}

/// Writers that create, update and delete objects of their own until the server is gone.
fn load(address: &str, round: usize) -> (Writers, Arc<AtomicBool>, Receiver<()>) {
    let running = Arc::new(AtomicBool::new(true));
    let (tell, told) = channel();
    let writers = (0..WRITERS).map(|writer| {
        let (address, running, tell) = (address.to_owned(), running.clone(), tell.clone());
        thread::spawn(move || write(&address, round, writer, &running, &tell))
    });
    (writers.collect(), running, told)
}

fn write(
    address: &str,
    round: usize,
    writer: usize,
    running: &AtomicBool,
    tell: &Sender<()>,
) -> Vec<Acknowledged> {
    let acknowledged = Mutex::new(Vec::new());
    let attempt = || -> std::io::Result<()> {
        let mut connection = Connection::open(address)?;
        for number in 0..1_000_000 {
            if !running.load(Ordering::Relaxed) {
                break;
            }
            let name = format!("r{round}-w{writer}-{number}");
            let body = json!({"metadata": {"name": name}, "data": {"v": "1"}}).to_string();
            let note = |name: &str, answer: &Value| {
                let revision =
                    answer["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok());
                acknowledged.lock().unwrap().push((name.to_owned(), revision.unwrap_or(0)));
                let _ = tell.send(());
            };
            note(&name, &expect(connection.ask("POST", CONFIG_MAPS, "application/json", &body)?, 201));
            let path = format!("{CONFIG_MAPS}/{name}");
            let patch = r#"{"data":{"v":"2"}}"#;
            note(&name, &expect(connection.ask("PATCH", &path, "application/merge-patch+json", patch)?, 200));
            if number % 3 == 0 {
                let options = r#"{"propagationPolicy":"Background"}"#;
                note(&name, &expect(connection.ask("DELETE", &path, "application/json", options)?, 200));
            }
        }
        Ok(())
    };
    // It ends with a broken connection: that is the kill.
    let _ = attempt();
    acknowledged.into_inner().unwrap()
}

fn expect(answer: crate::raw::Answer, code: u16) -> Value {
    assert_eq!(answer.code, code, "{answer:?}");
    answer.body
}

/// Collects events in the background until the server is gone.
fn listen(address: &str, after: u64) -> thread::JoinHandle<Vec<Event>> {
    let mut connection = watch(address, after).unwrap();
    thread::spawn(move || {
        let mut lines = Lines::default();
        let mut events = Vec::new();
        while let Ok(Some(chunk)) = connection.chunk() {
            events.extend(lines.add(&chunk));
        }
        events
    })
}

/// Collects events up to a revision that is known to have happened.
fn read_until(address: &str, after: u64, head: u64) -> Vec<Event> {
    let mut events = Vec::new();
    // One write of our own at the end, so that there is an event to wait for.
    let mut connection = Connection::open(address).unwrap();
    let body = json!({"metadata": {"name": format!("end-{head}")}, "data": {"v": "end"}}).to_string();
    expect(connection.ask("POST", CONFIG_MAPS, "application/json", &body).unwrap(), 201);
    let mut watching = watch(address, after).unwrap();
    let mut lines = Lines::default();
    while events.last().is_none_or(|event: &Event| event.value != "end") {
        let chunk = watching.chunk().unwrap().expect("the watch ended before the last event");
        events.extend(lines.add(&chunk));
    }
    events
}

/// Lines out of chunks: a kill may cut one anywhere.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn add(&mut self, chunk: &[u8]) -> Vec<Event> {
        self.0.extend_from_slice(chunk);
        let mut events = Vec::new();
        while let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.0.drain(..=end).collect();
            let value: Value = serde_json::from_slice(&line).unwrap();
            let object = &value["object"];
            events.push(Event {
                revision: object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap(),
                kind: value["type"].as_str().unwrap().to_owned(),
                name: object["metadata"]["name"].as_str().unwrap().to_owned(),
                value: object["data"]["v"].as_str().unwrap_or_default().to_owned(),
            });
        }
        events
    }
}

fn get(address: &str, path: &str) -> Value {
    expect(Connection::open(address).unwrap().ask("GET", path, "application/json", "").unwrap(), 200)
}

fn head_of(address: &str) -> u64 {
    let list = get(address, "/api/v1/configmaps?limit=1");
    list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

fn list(address: &str) -> BTreeMap<String, String> {
    let list = get(address, "/api/v1/configmaps");
    let pair = |item: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&item["metadata"]["name"]), text(&item["data"]["v"]))
    };
    list["items"].as_array().unwrap().iter().map(pair).collect()
}
