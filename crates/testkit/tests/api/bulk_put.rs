//! Whole objects in one commit, under uids that their writer chose.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{config_map, held};

use crate::bulk::{bulk, item, made, told, with};

const A: &str = "0aaed359-35af-4a6f-9bc0-d466a9f44ed9";
const B: &str = "a2a8ccbd-9b23-4c3e-b85b-be0d4efa9074";
const TAKEN: &str = "c7254681-331e-4ac9-a8dd-1030586846d4";

fn put(object: Value) -> Value {
    json!({"put": {"object": object, "fieldManager": "tests"}})
}

fn owned(name: &str, owner: &str, uid: &str) -> Value {
    let mut map = config_map(name);
    map["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uid}]);
    map
}

/// Objects may refer to each other before any of them is stored; the second put of the same is nothing, another one is a
/// new version of the same life.
#[tokio::test]
async fn new_lives_and_new_versions() {
    let world = World::new().await;
    let items = vec![item("b", B, put(owned("b", "a", A))), item("a", A, put(config_map("a")))];
    let results = bulk(&world, items.clone()).await;
    assert_eq!(told(&results), ["created", "created"]);
    let b = world.get("configmaps/b").await.document(200);
    assert_eq!(
        (&b["metadata"]["uid"], &b["metadata"]["resourceVersion"]),
        (&json!(B), &results[0]["resourceVersion"])
    );
    assert_eq!(b["metadata"]["ownerReferences"][0]["uid"], A);
    assert_eq!(b["metadata"]["creationTimestamp"], "2026-11-15T20:00:00Z");
    assert_eq!(b["metadata"]["managedFields"][0]["manager"], "tests");
    assert_eq!(told(&bulk(&world, items).await), ["unchanged", "unchanged"]);

    let mut other = config_map("a");
    other["data"] = json!({"k": "other"});
    let version = results[1]["resourceVersion"].clone();
    let again = with(item("a", A, put(other.clone())), json!({"resourceVersion": version}));
    assert_eq!(told(&bulk(&world, vec![again.clone()]).await), ["patched"]);
    assert_eq!(world.get("configmaps/a").await.document(200)["data"]["k"], "other");
    // Whoever saw the version before does not overwrite this one.
    other["data"]["k"] = json!("late");
    let late = with(again, json!({"action": put(other)}));
    assert_eq!(told(&bulk(&world, vec![late]).await), ["409 Conflict"]);
}

/// Nothing is written over another life, nor under a uid that somebody has, nor where a put does not belong.
#[tokio::test]
async fn what_is_refused() {
    let world = World::new().await;
    let first = item("taken", TAKEN, put(config_map("taken")));
    assert_eq!(told(&bulk(&world, vec![first]).await), ["created"]);
    let free = |name: &str, uid: &str| item(name, uid, put(config_map(name)));
    let results = bulk(
        &world,
        vec![
            free("taken", A),
            free("other", TAKEN),
            free("odd", "not-a-uid"),
            item("a", A, put(config_map("b"))),
            with(free("gone", B), json!({"resourceVersion": "7"})),
            with(free("far", B), json!({"namespace": "nowhere"})),
            item("text", B, put(json!("no object"))),
            json!({"resource": "namespaces", "name": "n", "uid": B, "action": put(json!({"metadata": {"name": "n"}}))}),
        ],
    )
    .await;
    assert_eq!(
        told(&results),
        [
            "409 AlreadyExists",
            "409 Conflict",
            "400 BadRequest",
            "400 BadRequest",
            "404 NotFound",
            "404 NotFound",
            "400 BadRequest",
            "403 Forbidden",
        ]
    );
    let left = world.get("configmaps").await.json;
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
    let several = with(free("x", A), json!({"also": [["y", B]]}));
    world.create(crate::bulk::BULK, &json!({"items": [several]})).await.expect(400);
}

/// A put is no way to let go of what is being deleted, nor to write what only the collector writes.
#[tokio::test]
async fn what_is_marked_stays_marked() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &held("a", "example.com/mine")).await;
    world.delete("configmaps/a", &json!({"propagationPolicy": "Background"})).await.expect(200);
    assert_eq!(told(&bulk(&world, vec![item("a", &uid, put(config_map("a")))]).await), ["409 Conflict"]);
    let mut journal = config_map("b");
    journal["metadata"]["annotations"] = json!({"sexton.dev/destruction": "{}"});
    assert_eq!(told(&bulk(&world, vec![item("b", B, put(journal))]).await), ["422 Invalid"]);
    world.get("configmaps/b").await.expect(404);
}
