//! A server that ends and starts again on the same directory: the same world.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, held, widget, widgets};

/// REQ-KRK-12, REQ-KRK-15, REQ-KRK-20: marks, removals, definitions and their objects outlive the process, byte for byte.
#[tokio::test]
async fn everything_acknowledged_is_there_again() {
    let world = World::embedded().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    world.create("configmaps", &held("marked", "example.com/x")).await.expect(201);
    world.call("DELETE", "configmaps/marked").send().await.expect(200);
    world.create("configmaps", &config_map("gone")).await.expect(201);
    world.delete("configmaps/gone", &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await.expect(201);
    world.create("/api/v1/namespaces/n/configmaps", &config_map("inside")).await.expect(201);
    world.call("DELETE", "/api/v1/namespaces/n").send().await.expect(200);
    let (dump, head) = (world.dump().await, world.head().await);
    world.nature().pass(3600);
    let world = world.restart().await;
    assert_eq!((world.dump().await, world.head().await), (dump, head));
    run(
        &world,
        r#"
        GET configmaps/marked
        -> 200
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"
           metadata.finalizers = ["example.com/x", "cascade_deletion"]

        MERGE configmaps/marked
        {"metadata": {"finalizers": ["example.com/x", "cascade_deletion", "example.com/new"]}}
        -> 422 Invalid

        GET configmaps/gone
        -> 404 NotFound

        POST /api/v1/namespaces/n/configmaps
        {"metadata": {"name": "late"}}
        -> 403 Forbidden

        MERGE /apis/demo.example.com/v1/namespaces/default/widgets/w
        {"spec": {"size": 2}}
        -> 200
           metadata.generation = 2
    "#,
    )
    .await;
}

/// A page begun before a restart is continued after it, in the same snapshot, as long as history reaches back.
#[tokio::test]
async fn pages_go_on_after_a_restart() {
    let world = World::embedded().await;
    for name in ["a", "b", "c", "d"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    let first = world.get("configmaps?limit=2").await.expect(200);
    world.delete("configmaps/c", &json!({"propagationPolicy": "Background"})).await.expect(200);
    let world = world.restart().await;
    let token = first.text_at("metadata.continue");
    let second = world.get(&format!("configmaps?limit=2&continue={token}")).await.expect(200);
    assert_eq!(second.version(), first.version());
    assert_eq!(
        (second.at("items.0.metadata.name"), second.at("items.1.metadata.name")),
        (&json!("c"), &json!("d"))
    );
}
