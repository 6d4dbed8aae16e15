//! Writers at the same object at the same time: every outcome is one that some order of the writers explains.

use std::sync::Arc;

use serde_json::json;
use sexton_testkit::things::{config_map, held};
use sexton_testkit::{Answer, World};
use tokio::sync::Barrier;

/// Each round is a race of its own.
const ROUNDS: usize = 400;

/// One request after the other: no race, but what a race can come to.
async fn one_by_one(
    world: &World,
    first: (&str, serde_json::Value),
    second: (&str, serde_json::Value),
    path: &str,
) -> (Answer, Answer) {
    let first = world.call(first.0, path).json(&first.1).send().await;
    (first, world.call(second.0, path).json(&second.1).send().await)
}

/// Two requests that begin at the same moment.
async fn together(
    world: &World,
    first: (&str, serde_json::Value),
    second: (&str, serde_json::Value),
    path: &str,
) -> (Answer, Answer) {
    let barrier = Arc::new(Barrier::new(2));
    let start = |(method, body): (&str, serde_json::Value)| {
        let (call, barrier) = (world.call(method, path).json(&body), barrier.clone());
        tokio::spawn(async move {
            barrier.wait().await;
            call.send().await
        })
    };
    let (first, second) = (start(first), start(second));
    (first.await.unwrap(), second.await.unwrap())
}

fn swapped((first, second): (Answer, Answer)) -> (Answer, Answer) {
    (second, first)
}

/// A deletion and a finalizer that is being added never both win. Either the finalizer came
/// first and holds the object, or the removal came first and the finalizer was refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_finalizer_is_never_lost_to_a_removal() {
    let world = World::new().await;
    let (mut held, mut removed) = (0, 0);
    for round in 0..ROUNDS {
        let name = format!("a{round}");
        world.create("configmaps", &config_map(&name)).await.expect(201);
        let path = format!("configmaps/{name}");
        let delete = ("DELETE", json!({"propagationPolicy": "Background"}));
        let add = ("MERGE", json!({"metadata": {"finalizers": ["example.com/x"]}}));
        // Both orders are there for sure, whatever the mood of the scheduler; then who is started first alternates.
        let (deleted, added) = match round {
            0 => one_by_one(&world, delete, add, &path).await,
            1 => swapped(one_by_one(&world, add, delete, &path).await),
            _ if round % 2 == 0 => together(&world, delete, add, &path).await,
            _ => swapped(together(&world, add, delete, &path).await),
        };
        let left = world.get(&path).await;
        assert_eq!(deleted.code, 200);
        match (added.code, left.code) {
            (200, 200) => {
                assert_eq!(deleted.text_at("kind"), "ConfigMap", "marked, not removed");
                assert_eq!(left.at("metadata.finalizers"), &json!(["example.com/x"]));
                assert!(left.at("metadata.deletionTimestamp").is_string());
                held += 1;
            }
            (404, 404) => {
                assert_eq!(deleted.text_at("status"), "Success");
                removed += 1;
            }
            other => panic!("round {round}: finalizer and object: {other:?}"),
        }
    }
    assert!(held > 0 && removed > 0, "each order was there: {held} held, {removed} removed");
}

/// From the other side: adding a finalizer to an object that is just being marked is refused once it is marked.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_finalizer_joins_before_the_mark_or_not_at_all() {
    let world = World::new().await;
    for round in 0..ROUNDS {
        let name = format!("a{round}");
        world.create("configmaps", &held(&name, "example.com/x")).await.expect(201);
        let path = format!("configmaps/{name}");
        let add = json!([{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/y"}]);
        let (deleted, added) = together(&world, ("DELETE", json!({})), ("JSON-PATCH", add), &path).await;
        deleted.expect(200);
        let left = world.get(&path).await.expect(200);
        let finalizers = left.at("metadata.finalizers").clone();
        match added.code {
            200 => assert_eq!(finalizers, json!(["example.com/x", "example.com/y", "cascade_deletion"])),
            422 => assert_eq!(finalizers, json!(["example.com/x", "cascade_deletion"])),
            other => panic!("{other}"),
        }
    }
}

/// REQ-KRK-31: the update that removes a marked object is bound to its version like any other: if something else
/// changed the object first, it is refused; if not, whoever comes later finds nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_update_is_bound_to_its_version() {
    let world = World::new().await;
    for round in 0..ROUNDS {
        let name = format!("a{round}");
        world.create("configmaps", &held(&name, "example.com/x")).await.expect(201);
        let path = format!("configmaps/{name}");
        let mut last = world.delete(&path, &json!({"propagationPolicy": "Background"})).await.document(200);
        last["metadata"]["finalizers"] = json!([]);
        let change = json!({"data": {"k": "changed"}});
        let (removed, changed) = together(&world, ("PUT", last), ("MERGE", change), &path).await;
        let left = world.get(&path).await.code;
        let outcome = (removed.code, changed.code, left);
        assert!(matches!(outcome, (200, 404, 404) | (409, 200, 200)), "round {round}: {outcome:?}");
    }
}

/// EXT-16: of many writers with the same version exactly one wins; the others are told that they lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_winner_per_version() {
    const WRITERS: usize = 8;
    let world = World::new().await;
    let mut current = world.create("configmaps", &config_map("a")).await.document(201);
    for round in 0..60 {
        let barrier = Arc::new(Barrier::new(WRITERS));
        let tasks: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let mut body = current.clone();
                body["data"] = json!({"round": round.to_string(), "writer": writer.to_string()});
                let (call, barrier) = (world.call("PUT", "configmaps/a").json(&body), barrier.clone());
                tokio::spawn(async move {
                    barrier.wait().await;
                    call.send().await
                })
            })
            .collect();
        let mut winners = Vec::new();
        for task in tasks {
            let answer = task.await.unwrap();
            match answer.code {
                200 => winners.push(answer.json),
                code => assert_eq!(code, 409),
            }
        }
        assert_eq!(winners.len(), 1);
        assert_eq!(world.get("configmaps/a").await.json, winners[0]);
        current = winners.remove(0);
    }
    assert_eq!(world.head().await, 4 + 60);
}

/// EXT-16: writers that name no version never lose each other's changes: all of them are in the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn patches_do_not_lose_each_other() {
    const WRITERS: usize = 16;
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let tasks: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let patch = json!({"data": {format!("w{writer}"): "here"}});
            let call = world.call("MERGE", "configmaps/a").json(&patch);
            tokio::spawn(call.send())
        })
        .collect();
    for task in tasks {
        task.await.unwrap().expect(200);
    }
    let data = world.get("configmaps/a").await.at("data").as_object().unwrap().clone();
    assert_eq!(data.len(), WRITERS + 1);
}

/// Of many creators of one name exactly one wins, and the uid is the winner's.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_creator_per_name() {
    let world = World::new().await;
    for round in 0..40 {
        let name = format!("a{round}");
        let tasks: Vec<_> = (0..6)
            .map(|_| tokio::spawn(world.call("POST", "configmaps").json(&config_map(&name)).send()))
            .collect();
        let mut winners = Vec::new();
        for task in tasks {
            let answer = task.await.unwrap();
            match answer.code {
                201 => winners.push(answer.text_at("metadata.uid").to_owned()),
                code => assert_eq!((code, answer.text_at("reason")), (409, "AlreadyExists")),
            }
        }
        assert_eq!(winners, [world.get(&format!("configmaps/{name}")).await.text_at("metadata.uid")]);
    }
}
