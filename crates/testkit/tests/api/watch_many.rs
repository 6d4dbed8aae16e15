//! Many writers, many watchers, restarts: the same history for everybody. EXT-19.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use sexton_testkit::things::config_map;
use sexton_testkit::watch::short;
use sexton_testkit::{Watch, World};

const WRITERS: usize = 6;
const ROUNDS: usize = 25;

/// One writer's work: each round makes, changes and removes an object of its own.
async fn write(world: Arc<World>, writer: usize) {
    for round in 0..ROUNDS {
        write_once(&world, writer, round).await;
    }
}

async fn write_once(world: &World, writer: usize, round: usize) {
    let name = format!("w{writer}-{round}");
    world.create("configmaps", &config_map(&name)).await.expect(201);
    let path = format!("configmaps/{name}");
    world.merge(&path, &json!({"data": {"k": "2"}})).await.expect(200);
    world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
}

/// Writes on until it is enough.
async fn write_until(world: Arc<World>, writer: usize, enough: Arc<AtomicBool>) {
    let mut round = 0;
    while !enough.load(Ordering::Relaxed) {
        write_once(&world, writer, round).await;
        round += 1;
    }
}

/// EXT-19: each of several watchers sees each change of several writers exactly once, in the order of versions.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_change_once_and_in_order() {
    let world = Arc::new(World::new().await);
    let mut watches = Vec::new();
    for _ in 0..4 {
        watches.push(world.watch("configmaps?watch=1&resourceVersion=3").await);
    }
    let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(write(world.clone(), writer))).collect();
    let readers: Vec<_> = watches
        .into_iter()
        .map(|mut watch: Watch| tokio::spawn(async move { watch.shorts(WRITERS * ROUNDS * 3).await }))
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let mut histories = Vec::new();
    for reader in readers {
        histories.push(reader.await.unwrap());
    }
    // Nothing else was written, so the versions of the events are exactly all versions there are.
    let versions: Vec<u64> =
        histories[0].iter().map(|event| event.rsplit('@').next().unwrap().parse().unwrap()).collect();
    assert_eq!(versions, (4..=world.head().await).collect::<Vec<u64>>());
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in &histories[0] {
        let (kind, name) = event.split('@').next().unwrap().split_once(' ').unwrap();
        seen.entry(name.to_owned()).or_default().push(kind.to_owned());
    }
    assert_eq!(seen.len(), WRITERS * ROUNDS);
    assert!(seen.values().all(|kinds| kinds == &["ADDED", "MODIFIED", "DELETED"]));
    assert!(histories.iter().all(|history| *history == histories[0]));
}

/// Applies an event to what a watcher believes.
fn believe(world: &mut BTreeMap<String, Value>, event: &Value) {
    let name = event["object"]["metadata"]["name"].as_str().unwrap().to_owned();
    match event["type"].as_str().unwrap() {
        "DELETED" => assert!(world.remove(&name).is_some(), "removed twice: {name}"),
        "ADDED" => {
            assert!(world.insert(name.clone(), event["object"].clone()).is_none(), "added twice: {name}")
        }
        "MODIFIED" => {
            assert!(world.insert(name.clone(), event["object"].clone()).is_some(), "unknown: {name}")
        }
        other => panic!("{other}"),
    }
}

/// A list and the watch from its version together are the present.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn list_and_watch_make_the_present() {
    let world = Arc::new(World::new().await);
    let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(write(world.clone(), writer))).collect();
    let listed = world.get("configmaps?limit=500").await.expect(200);
    let mut believed: BTreeMap<String, Value> = BTreeMap::new();
    for item in listed.at("items").as_array().unwrap() {
        believed.insert(item["metadata"]["name"].as_str().unwrap().to_owned(), item.clone());
    }
    let mut watch = world.watch(&format!("configmaps?watch=1&resourceVersion={}", listed.version())).await;
    for writer in writers {
        writer.await.unwrap();
    }
    let last = world.create("configmaps", &config_map("last")).await.expect(201);
    loop {
        let event = watch.next().await.unwrap();
        believe(&mut believed, &event);
        if short(&event) == format!("ADDED last@{}", last.version()) {
            break;
        }
    }
    assert_eq!(believed.keys().collect::<Vec<_>>(), ["last"]);
}

/// A watch that begins with the present, begun while others write, joins present and future without a seam:
/// nothing is told twice, nothing is left out.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_present_and_what_follows_have_no_seam() {
    let (world, enough) = (Arc::new(World::new().await), Arc::<AtomicBool>::default());
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| tokio::spawn(write_until(world.clone(), writer, enough.clone()))).collect();
    let (mut readers, mut head) = (Vec::new(), 0);
    while readers.len() < 60 {
        // However busy the machine is, something was written since the one before began.
        while world.head().await == head {
            tokio::task::yield_now().await;
        }
        head = world.head().await;
        let mut watch = world.watch("configmaps?watch=1").await;
        readers.push(tokio::spawn(async move {
            let mut believed = BTreeMap::new();
            while !believed.contains_key("last") {
                believe(&mut believed, &watch.next().await.unwrap());
            }
            believed.into_keys().collect::<Vec<_>>()
        }));
    }
    enough.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    world.create("configmaps", &config_map("last")).await.expect(201);
    for reader in readers {
        assert_eq!(reader.await.unwrap(), ["last"]);
    }
}

/// EXT-19, REQ-KRK-20: after a restart on the same directory a watcher goes on where it was: nothing lost, nothing twice.
#[tokio::test]
async fn a_watch_goes_on_after_a_restart() {
    let mut world = World::embedded().await;
    let (mut seen, mut last) = (Vec::new(), 3);
    for round in 0..4 {
        for step in 0..5 {
            world.create("configmaps", &config_map(&format!("r{round}-{step}"))).await.expect(201);
        }
        let removed = format!("configmaps/r{round}-0");
        world.delete(&removed, &json!({"propagationPolicy": "Background"})).await.expect(200);
        // The watcher is slow: it sees only a part before the server goes down.
        let mut watch = world.watch(&format!("configmaps?watch=1&resourceVersion={last}")).await;
        for event in watch.shorts(4).await {
            last = event.rsplit('@').next().unwrap().parse().unwrap();
            seen.push(event);
        }
        drop(watch);
        world = world.restart().await;
    }
    let mut watch = world.watch(&format!("configmaps?watch=1&resourceVersion={last}")).await;
    seen.extend(watch.shorts(4 * 6 - seen.len()).await);
    let expected: Vec<String> = (0..4_u64)
        .flat_map(|round| {
            let first = 4 + round * 6;
            let added = (0..5).map(move |step| format!("ADDED r{round}-{step}@{}", first + step));
            added.chain([format!("DELETED r{round}-0@{}", first + 5)])
        })
        .collect();
    assert_eq!(seen, expected);
    assert_eq!(world.head().await, 27);
}

/// Versions and uids go on after a restart, also when the clock was set back.
#[tokio::test]
async fn versions_never_come_back() {
    let world = World::embedded().await;
    let first = world.create("configmaps", &config_map("a")).await.expect(201);
    world.delete("configmaps/a", &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.nature().pass(-10 * 365 * 86_400);
    let world = world.restart().await;
    let second = world.create("configmaps", &config_map("a")).await.expect(201);
    assert!(second.version() > first.version() + 1);
    assert_ne!(second.text_at("metadata.uid"), first.text_at("metadata.uid"));
    assert_eq!(second.text_at("metadata.creationTimestamp"), "2016-11-17T20:00:00Z");
}
