//! Events go by themselves after a while, counted from when they were repeated last.

use std::time::Duration;

use serde_json::{Value, json};
use sexton_model::time;
use sexton_server::api::EventExpiry;
use sexton_testkit::World;
use sexton_testkit::nature::START;

const HOUR: Duration = Duration::from_secs(3600);

async fn make(world: &World, name: &str, more: Value) {
    let mut event =
        json!({"metadata": {"name": name}, "involvedObject": {"namespace": "default"}, "reason": "R"});
    for (field, value) in more.as_object().unwrap() {
        event[field] = value.clone();
    }
    world.create("events", &event).await.expect(201);
}

async fn left(world: &World) -> Vec<String> {
    let listed = world.get("events").await.document(200);
    let items = listed["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// An event goes an hour after it was repeated last, whether it was there at the beginning or came later.
#[tokio::test]
async fn events_expire() {
    let world = World::embedded().await;
    make(&world, "before", json!({"lastTimestamp": time::format(START)})).await;
    let mut expiry = EventExpiry::begin(world.api().clone(), HOUR).await.unwrap();
    make(&world, "after", json!({})).await;
    make(&world, "repeated", json!({"lastTimestamp": time::format(START)})).await;
    make(&world, "future", json!({"lastTimestamp": "2999-01-01T00:00:00Z"})).await;
    make(
        &world,
        "series",
        json!({"series": {"count": 2, "lastObservedTime": "2026-11-15T20:30:00.123456Z"}}),
    )
    .await;
    make(&world, "strange", json!({"lastTimestamp": null, "eventTime": null})).await;
    world.nature().pass(3_599);
    assert_eq!(expiry.sweep().await.unwrap(), 0);
    let later = json!({"count": 2, "lastTimestamp": time::format(START + 3_599)});
    world.merge("events/repeated", &later).await.expect(200);
    world.nature().pass(1);
    assert_eq!(expiry.sweep().await.unwrap(), 4);
    assert_eq!(left(&world).await, ["repeated", "series"]);
    world.nature().pass(1_800);
    assert_eq!(expiry.sweep().await.unwrap(), 1);
    assert_eq!(left(&world).await, ["repeated"]);
    world.nature().pass(1_800);
    assert_eq!(expiry.sweep().await.unwrap(), 1);
    assert_eq!(expiry.sweep().await.unwrap(), 0);
    // Nothing else is touched, and what is made under the same name is another one.
    world.create("configmaps", &json!({"metadata": {"name": "c"}})).await.expect(201);
    make(&world, "before", json!({})).await;
    world.nature().pass(3_600);
    assert_eq!(expiry.sweep().await.unwrap(), 1);
    world.get("configmaps/c").await.expect(200);
}

/// What somebody else holds or has removed is no trouble, and neither are many.
#[tokio::test]
async fn some_are_gone_and_some_are_held() {
    let world = World::new().await;
    let mut expiry = EventExpiry::begin(world.api().clone(), HOUR).await.unwrap();
    make(&world, "held", json!({"metadata": {"name": "held", "finalizers": ["a.example.com/x"]}})).await;
    make(&world, "gone", json!({})).await;
    world.fill("events", 3_000).await;
    expiry.sweep().await.unwrap();
    world.delete("events/gone", &json!({})).await.expect(200);
    world.nature().pass(3_600);
    let removed = expiry.sweep().await.unwrap();
    assert_eq!(removed, 3_001);
    assert_eq!(left(&world).await, ["held"]);
    let held = world.get("events/held").await.document(200);
    assert!(held["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(expiry.sweep().await.unwrap(), 0);
}

/// Who did not look for too long begins anew.
#[tokio::test]
async fn a_gap_is_noticed() {
    let world = World::new().await;
    let mut expiry = EventExpiry::begin(world.api().clone(), HOUR).await.unwrap();
    make(&world, "missed", json!({})).await;
    make(&world, "missed-2", json!({})).await;
    world.compact().await;
    expiry.sweep().await.unwrap_err();
    let mut expiry = EventExpiry::begin(world.api().clone(), HOUR).await.unwrap();
    world.nature().pass(3_600);
    assert_eq!(expiry.sweep().await.unwrap(), 2);
}
