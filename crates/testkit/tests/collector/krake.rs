//! The deletion of something that others depend on, step by step as everybody sees it who watches.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_collector::hooks::Hooks;
use sexton_testkit::collecting::quick;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, owner, widget, widgets};
use sexton_testkit::{Collecting, Gate, World};

use crate::common::{delete, hear, left, make, make_with, metadata, told, watch};

/// What everybody sees of the deletion of a cluster `c` with an application `a`.
const SEEN: [&str; 4] = [
    "MODIFIED c marked cascade_deletion",
    "MODIFIED a marked cascade_deletion",
    "DELETED a marked cascade_deletion",
    "DELETED c marked cascade_deletion",
];

/// REQ-KRK-33, REQ-KRK-34, REQ-KRK-35, REQ-KRK-36, REQ-KRK-37, REQ-KRK-38, REQ-KRK-39, REQ-KRK-40, REQ-KRK-41,
/// REQ-KRK-42, REQ-KRK-43, REQ-KRK-44, REQ-KRK-45, REQ-KRK-46: the workflow in twelve steps.
#[tokio::test]
async fn the_workflow_in_twelve_steps() {
    let world = World::new().await;
    // 1: both exist, and the collector knows them.
    let c = make(&world, "c", &[]).await;
    make(&world, "a", &[("c", &c)]).await;
    let mut collecting = Collecting::on(&world);
    let known = collecting.settled(&world).await;
    assert_eq!(known.doomed, 0);
    let mut watch = watch(&world).await;
    // 2 and 3: a plain request marks it, and everybody hears of it.
    run(
        &world,
        r#"
        DELETE configmaps/c
        -> 200
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"
           metadata.finalizers = ["cascade_deletion"]
    "#,
    )
    .await;
    // 4 to 12: accepted, its dependent deleted, that one let go, then it is looked at again and let go, too.
    let (mut seen, mut versions) = (Vec::new(), Vec::new());
    for _ in SEEN {
        let event = watch.next().await.unwrap();
        versions
            .push(event["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap());
        seen.push(told(&event));
    }
    assert_eq!(seen, SEEN);
    assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    let over = collecting.settled(&world).await;
    assert_eq!((over.doomed, over.removed), (0, 2));
    // And nothing else happens.
    assert!(watch.ready().is_none());
    run(&world, "GET configmaps/c\n-> 404 NotFound\n\nGET configmaps/a\n-> 404 NotFound").await;
}

/// REQ-KRK-26, REQ-KRK-27, REQ-KRK-40, REQ-KRK-44: anybody can be the collector, with nothing but GET,
/// DELETE and PUT.
#[tokio::test]
async fn a_collector_of_another_make_gets_the_same_result() {
    let world = World::new().await;
    let c = make(&world, "c", &[]).await;
    make(&world, "a", &[("c", &c)]).await;
    let mut watch = watch(&world).await;
    assert_eq!(delete(&world, "configmaps/c", "").await, 200);
    let mut seen = Vec::new();
    while !left(&world).await.is_empty() {
        for document in world.get("configmaps").await.json["items"].as_array().unwrap() {
            play_the_collector(&world, document).await;
        }
        seen.extend(std::iter::from_fn(|| watch.ready()).map(|event| told(&event)));
    }
    seen.extend(std::iter::from_fn(|| watch.ready()).map(|event| told(&event)));
    assert_eq!(seen, SEEN);
}

/// What the collector does about one object: its dependents are deleted; without any it loses its finalizer.
async fn play_the_collector(world: &World, document: &Value) {
    let metadata = &document["metadata"];
    if metadata["deletionTimestamp"].is_null() {
        return;
    }
    let all = world.get("configmaps").await.json["items"].as_array().unwrap().clone();
    let owns = |other: &&Value| {
        let owners = other["metadata"]["ownerReferences"].as_array();
        owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == metadata["uid"]))
    };
    let dependents: Vec<&Value> = all.iter().filter(owns).collect();
    for dependent in &dependents {
        let name = dependent["metadata"]["name"].as_str().unwrap();
        world.call("DELETE", &format!("configmaps/{name}")).send().await.expect(200);
    }
    if dependents.is_empty() {
        let mut without = document.clone();
        without["metadata"]["finalizers"] = json!([]);
        let path = format!("configmaps/{}", metadata["name"].as_str().unwrap());
        world.put(&path, &without).await.expect(200);
    }
}

/// REQ-KRK-15, REQ-KRK-17, REQ-KRK-18, REQ-KRK-19, REQ-KRK-20, REQ-KRK-21, REQ-KRK-22: marked, then to delete, then
/// deleted; and the last event says so.
#[tokio::test]
async fn three_states() {
    let world = World::new().await;
    make_with(&world, "r", &[], json!({"finalizers": ["example.com/mine"]})).await;
    let mut watch = watch(&world).await;
    let mut collecting = Collecting::on(&world);
    assert_eq!(delete(&world, "configmaps/r", "").await, 200);
    // Marked: the collector has done its part, somebody else has not.
    assert_eq!(
        hear(&mut watch, 2).await,
        ["MODIFIED r marked example.com/mine cascade_deletion", "MODIFIED r marked example.com/mine"]
    );
    collecting.settled(&world).await;
    // There is no way back.
    let marked = metadata(&world, "r").await;
    let mut document = world.get("configmaps/r").await.document(200);
    document["metadata"].as_object_mut().unwrap().remove("deletionTimestamp");
    let answer = world.put("configmaps/r", &document).await.document(200);
    assert_eq!(answer["metadata"]["deletionTimestamp"], marked["deletionTimestamp"]);
    // To delete: the update that says so is answered with it, and removes it.
    document["metadata"]["finalizers"] = json!([]);
    document["metadata"]["resourceVersion"] = answer["metadata"]["resourceVersion"].clone();
    let answer = world.put("configmaps/r", &document).await.document(200);
    assert_eq!(answer["metadata"]["deletionTimestamp"], marked["deletionTimestamp"]);
    assert!(answer["metadata"].get("finalizers").is_none_or(|all| all == &json!([])), "{answer}");
    world.get("configmaps/r").await.expect(404);
    let last = watch.next().await.unwrap();
    assert_eq!((&last["type"], &last["object"]["metadata"]["name"]), (&json!("DELETED"), &json!("r")));
}

/// REQ-KRK-1, REQ-KRK-2, REQ-KRK-3, REQ-KRK-4, REQ-KRK-7, REQ-KRK-14, REQ-KRK-16: a chain of kinds with several owners
/// goes from the bottom to the top, and the feed of all kinds tells it in that order.
#[tokio::test]
async fn any_kind_depends_on_any_other_over_several_levels() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let secrets = "/api/v1/namespaces/default/secrets";
    let made =
        |answer: sexton_testkit::Answer| answer.document(201)["metadata"]["uid"].as_str().unwrap().to_owned();
    let project = made(world.create(secrets, &json!({"metadata": {"name": "project"}})).await);
    let other = made(world.create(secrets, &json!({"metadata": {"name": "other"}})).await);
    let mut magnum = widget("magnum", 1);
    magnum["metadata"]["ownerReferences"] = json!([owner("Secret", "project", &project)]);
    let magnum = made(world.create(WIDGETS, &magnum).await);
    let above =
        json!({"apiVersion": "demo.example.com/v1", "kind": "Widget", "name": "magnum", "uid": magnum});
    let cluster = json!({"metadata": {"name": "cluster", "ownerReferences": [above]}});
    let cluster = made(world.create("configmaps", &cluster).await);
    let owners = json!([owner("ConfigMap", "cluster", &cluster), owner("Secret", "other", &other)]);
    let application = json!({"metadata": {"name": "application", "ownerReferences": owners}});
    world.create(secrets, &application).await.expect(201);
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    let feed = format!("/apis/sexton.dev/v1/changes?resourceVersion={}", world.head().await);
    let mut feed = world.watch(&feed).await;
    world.call("DELETE", &format!("{secrets}/project")).send().await.expect(200);
    collecting.settled(&world).await;
    let mut gone = Vec::new();
    while gone.len() < 4 {
        let line = feed.next().await.unwrap();
        if line["type"] == "DELETED" {
            gone.push(line["object"]["metadata"]["name"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(gone, ["application", "cluster", "magnum", "project"]);
    // One of its owners was deleted: that is enough. The other one is untouched.
    let other = world.get(&format!("{secrets}/other")).await.document(200);
    assert!(other["metadata"]["deletionTimestamp"].is_null());
}

/// EXT-17, REQ-KRK-43: when a dependent is gone, only owners that are being deleted are looked at again; and the others
/// are not written.
#[tokio::test]
async fn living_owners_are_left_alone() {
    let world = World::new().await;
    let dying = make(&world, "dying", &[]).await;
    let living = make(&world, "living", &[]).await;
    make(&world, "a", &[("dying", &dying), ("living", &living)]).await;
    let before = metadata(&world, "living").await;
    let gate = Gate::to(&world);
    let mut collecting = Collecting::through(&world, quick("tests"), Arc::new(Hooks::new()), gate.clone());
    delete(&world, "configmaps/dying", "").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["living"]);
    assert_eq!(metadata(&world, "living").await, before);
    let written = gate.written();
    let items = written.iter().flat_map(|bulk| &bulk.items);
    let names: Vec<&str> = items.flat_map(|item| item.lives().map(|(name, _)| name)).collect();
    assert!(!names.contains(&"living"), "{names:?}");
}

/// EXT-12, REQ-KRK-50, REQ-KRK-51: nothing is concluded from half a listing, at the start and after a break.
#[tokio::test]
async fn nothing_is_done_before_everything_is_known() {
    let world = World::new().await;
    let c = make(&world, "c", &[]).await;
    make(&world, "z", &[("c", &c)]).await;
    delete(&world, "configmaps/c", "").await;
    let gate = Gate::to(&world);
    // Everything is told, except that this is everything.
    gate.only(|line| !matches!(line, sexton_model::feed::Line::Synced { .. }));
    let mut collecting = Collecting::through(&world, quick("tests"), Arc::new(Hooks::new()), gate.clone());
    let halfway = collecting.until(|summary| summary.acts && summary.lives >= 5).await;
    assert!(!halfway.synced && !halfway.idle);
    assert_eq!((halfway.rounds, gate.written().len()), (0, 0));
    assert_eq!(left(&world).await, ["c", "z"]);
    gate.only(|_| true);
    gate.break_feed();
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-KRK-48, REQ-KRK-49, REQ-KRK-57, REQ-KRK-58, REQ-KRK-59: what the collector knows follows what happens: objects
/// come, change their owners, and go.
#[tokio::test]
async fn the_graph_follows_the_events() {
    let world = World::new().await;
    let mut collecting = Collecting::on(&world);
    let first = collecting.settled(&world).await.lives;
    let one = make(&world, "one", &[]).await;
    let two = make(&world, "two", &[]).await;
    make(&world, "a", &[("one", &one)]).await;
    assert_eq!(collecting.settled(&world).await.lives, first + 3);
    let moved = json!({"metadata": {"ownerReferences": [owner("ConfigMap", "two", &two)]}});
    world.merge("configmaps/a", &moved).await.expect(200);
    delete(&world, "configmaps/one", "").await;
    assert_eq!(collecting.settled(&world).await.lives, first + 2);
    assert_eq!(left(&world).await, ["a", "two"]);
    delete(&world, "configmaps/two", "").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-KRK-8, REQ-KRK-23, REQ-KRK-29: the collector is started by itself, whenever; what was marked before waits for it.
#[tokio::test]
async fn the_collector_comes_later() {
    let world = World::new().await;
    let c = make(&world, "c", &[]).await;
    make(&world, "a", &[("c", &c)]).await;
    let mut watch = watch(&world).await;
    delete(&world, "configmaps/c", "").await;
    assert_eq!(hear(&mut watch, 1).await, SEEN[..1]);
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    assert_eq!(hear(&mut watch, 3).await, SEEN[1..]);
}

/// EXT-9, EXT-14, REQ-KRK-30, REQ-KRK-31, REQ-KRK-32: deleting twice changes nothing, and while something depends on it,
/// nobody takes the finalizer off past the collector.
#[tokio::test]
async fn the_mark_is_the_servers() {
    let world = World::new().await;
    let c = make(&world, "c", &[]).await;
    make(&world, "a", &[("c", &c)]).await;
    delete(&world, "configmaps/c", "").await;
    let marked = metadata(&world, "c").await;
    assert_eq!(delete(&world, "configmaps/c", "").await, 200);
    assert_eq!(metadata(&world, "c").await, marked);
    run(
        &world,
        r#"
        MERGE configmaps/c
        {"metadata": {"finalizers": []}}
        -> 409 StillReferenced

        MERGE configmaps/c
        {"metadata": {"finalizers": ["cascade_deletion", "example.com/more"]}}
        -> 422 Invalid

        DELETE configmaps/nobody
        -> 404 NotFound
    "#,
    )
    .await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}
