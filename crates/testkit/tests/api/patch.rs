//! PATCH in its three plain forms: what each can say, and what each refusal is.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, widget, widgets};

/// Patch types: JSON patch, its tests and its failures.
#[tokio::test]
async fn json_patch() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    run(
        &world,
        r#"
        JSON-PATCH configmaps/a
        [{"op": "test", "path": "/data/k", "value": "v"}, {"op": "add", "path": "/data/n", "value": "1"},
         {"op": "move", "from": "/data/k", "path": "/data/m"}]
        -> 200
           data = {"m": "v", "n": "1"}

        JSON-PATCH configmaps/a
        [{"op": "add", "path": "/data/x", "value": "1"}, {"op": "test", "path": "/data/n", "value": "2"}]
        -> 422 Invalid
           message ~ the server rejected our request due to an error in our request

        JSON-PATCH configmaps/a
        [{"op": "remove", "path": "/data/nothing"}]
        -> 422 Invalid

        # A missing field is null to a test, as in Kubernetes: "nobody has put a finalizer on yet".
        JSON-PATCH configmaps/a?dryRun=All
        [{"op": "test", "path": "/metadata/finalizers", "value": null},
         {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/x"]}]
        -> 200
           metadata.finalizers = ["example.com/x"]

        JSON-PATCH configmaps/a
        {"op": "remove", "path": "/data"}
        -> 400 BadRequest

        JSON-PATCH configmaps/a
        [{"op": "shuffle", "path": "/data"}]
        -> 400 BadRequest

        JSON-PATCH configmaps/a
        [{"op": "replace", "path": "", "value": 5}]
        -> 400 BadRequest

        JSON-PATCH configmaps/a
        [{"op": "replace", "path": "/metadata", "value": []}]
        -> 400 BadRequest

        JSON-PATCH configmaps/a
        [{"op": "remove", "path": "/metadata"}]
        -> 422 Invalid

        GET configmaps/a
        -> 200
           data = {"m": "v", "n": "1"}
           metadata.resourceVersion = "5"
    "#,
    )
    .await;
}

/// Merge patch, for every kind.
#[tokio::test]
async fn merge_patch() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    run(
        &world,
        r#"
        MERGE configmaps/a
        {"data": {"k": null, "n": "1"}, "metadata": {"labels": {"l": "1"}}}
        -> 200
           data = {"n": "1"}
           metadata.labels = {"l": "1"}

        MERGE configmaps/a
        {"metadata": {"labels": null}}
        -> 200
           metadata.labels absent

        MERGE configmaps/a
        [1, 2]
        -> 400 BadRequest

        MERGE configmaps/a
        {"data":
        -> 400 BadRequest

        MERGE configmaps/a
        {"metadata": {"labels": {"l": 5}}}
        -> 400 BadRequest
           message ~ metadata.labels

        MERGE configmaps/a
        {"metadata": {"labels": {"l": "not a value!"}}}
        -> 422 Invalid

        MERGE configmaps/a
        {"metadata": null}
        -> 422 Invalid

        PATCH configmaps/a
        Content-Type: application/json
        {"data": {"n": "2"}}
        -> 415 UnsupportedMediaType
           message ~ application/merge-patch+json
    "#,
    )
    .await;
}

/// Strategic merge patch for built-in kinds, 415 for custom ones.
#[tokio::test]
async fn strategic_merge_patch() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST pods
        {"metadata": {"name": "p", "finalizers": ["example.com/x", "example.com/y"]},
         "spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}}
        -> 201

        STRATEGIC pods/p
        {"spec": {"containers": [{"name": "b", "image": "2"}, {"name": "c", "image": "3"}]}}
        -> 200
           spec.containers.0 = {"name": "a", "image": "1"}
           spec.containers.1 = {"name": "b", "image": "2"}
           spec.containers.2 = {"name": "c", "image": "3"}

        STRATEGIC pods/p
        {"spec": {"containers": [{"name": "a", "$patch": "delete"}]},
         "metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/x"]}}
        -> 200
           spec.containers.0.name = "b"
           metadata.finalizers = ["example.com/y"]

        STRATEGIC pods/p
        {"metadata": {"finalizers": ["example.com/z"]}}
        -> 200
           metadata.finalizers = ["example.com/z", "example.com/y"]

        STRATEGIC pods/p
        {"spec": {"containers": [{"image": "no name"}]}}
        -> 400 BadRequest

        STRATEGIC pods/p
        {"spec": {"$patch": "explode"}}
        -> 400 BadRequest

        STRATEGIC pods/p
        []
        -> 400 BadRequest
    "#,
    )
    .await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    let path = format!("{WIDGETS}/w");
    let refused = world.call("STRATEGIC", &path).json(&json!({"spec": {"size": 2}})).send().await.expect(415);
    assert_eq!(refused.text_at("reason"), "UnsupportedMediaType");
    world.merge(&path, &json!({"spec": {"size": 2}})).await.expect(200);
}

/// REQ-KRK-31, REQ-KRK-32: a patch goes through the same rules as any write; one object stays one size.
#[tokio::test]
async fn patches_cannot_grow_an_object_without_end() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let half = "x".repeat(1 << 20);
    let mut codes = Vec::new();
    for at in 0..5 {
        let answer = world.merge("configmaps/a", &json!({"data": {format!("big{at}"): half}})).await;
        codes.push(answer.code);
    }
    assert_eq!(codes, [200, 200, 413, 413, 413]);
    world.get("configmaps/a").await.expect(200);
}
