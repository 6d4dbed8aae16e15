//! DELETE: what is marked, what is removed, and what watchers and callers are told. See docs/decisions/0004.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{config_map, held};
use sexton_testkit::watch::short;

/// REQ-KRK-10, REQ-KRK-11, REQ-KRK-12, REQ-KRK-13, REQ-KRK-30: a delete that names no policy marks the object, with the
/// time and the `cascade_deletion` finalizer, and an update event tells so.
#[tokio::test]
async fn a_delete_without_policy_marks() {
    let world = World::new().await;
    let mut watch = world.watch("configmaps?watch=1&resourceVersion=3").await;
    run(
        &world,
        r#"
        POST configmaps
        {"metadata": {"name": "a"}}
        -> 201

        DELETE configmaps/a
        -> 200
           kind = "ConfigMap"
           metadata.uid = "uid-4"
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"
           metadata.deletionGracePeriodSeconds = 0
           metadata.finalizers = ["cascade_deletion"]
           metadata.resourceVersion = "5"

        GET configmaps/a
        -> 200
           metadata.finalizers = ["cascade_deletion"]
    "#,
    )
    .await;
    assert_eq!(watch.shorts(2).await, ["ADDED a@4", "MODIFIED a@5"]);
}

/// REQ-KRK-17, REQ-KRK-19, REQ-KRK-20, REQ-KRK-21, REQ-KRK-22, REQ-KRK-31: the update that removes the last finalizer of
/// a marked object removes the object. Its last event carries the object as it was before that update, with the
/// version of the removal; the writer gets what it sent.
#[tokio::test]
async fn the_update_without_finalizers_removes() {
    for update in ["PUT", "MERGE", "JSON-PATCH", "STRATEGIC"] {
        let world = World::new().await;
        world.create("configmaps", &config_map("a")).await.expect(201);
        let marked = world.call("DELETE", "configmaps/a").send().await.document(200);
        let mut watch = world.watch("configmaps?watch=1&resourceVersion=5").await;
        let body = match update {
            "PUT" => {
                let mut document = marked.clone();
                document["metadata"]["finalizers"] = json!([]);
                document["data"] = json!({"k": "last word"});
                document
            }
            "JSON-PATCH" => json!([{"op": "remove", "path": "/metadata/finalizers"}]),
            "STRATEGIC" => json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["cascade_deletion"]}}),
            _ => json!({"metadata": {"finalizers": null}}),
        };
        let answer = world.call(update, "configmaps/a").json(&body).send().await.expect(200);
        assert!(answer.at("metadata.finalizers").as_array().is_none_or(Vec::is_empty), "{update}");
        assert_eq!(answer.text_at("metadata.uid"), "uid-4");
        if update == "PUT" {
            assert_eq!(answer.text_at("data.k"), "last word");
        }
        let event = watch.next().await.unwrap();
        assert_eq!(short(&event), "DELETED a@6", "{update}");
        assert_eq!(event["object"]["metadata"]["finalizers"], json!(["cascade_deletion"]));
        assert_eq!(event["object"]["data"]["k"], "v");
        world.get("configmaps/a").await.expect(404);
        assert_eq!(world.get("configmaps").await.at("items"), &json!([]));
    }
}

/// REQ-KRK-9, REQ-KRK-15, EXT-14: the mark cannot be taken back, by any way of writing; the time stays.
#[tokio::test]
async fn the_mark_is_irreversible() {
    let world = World::new().await;
    world.create("configmaps", &held("a", "example.com/x")).await.expect(201);
    world.call("DELETE", "configmaps/a").send().await.expect(200);
    world.nature().pass(60);
    run(&world, r#"
        PUT configmaps/a
        {"metadata": {"name": "a", "finalizers": ["example.com/x", "cascade_deletion"]}, "data": {"k": "put"}}
        -> 200
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"
           data.k = "put"

        MERGE configmaps/a
        {"metadata": {"deletionTimestamp": null, "deletionGracePeriodSeconds": null}, "data": {"k": "patched"}}
        -> 200
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"
           metadata.deletionGracePeriodSeconds = 0
           data.k = "patched"

        JSON-PATCH configmaps/a
        [{"op": "remove", "path": "/metadata/deletionTimestamp"}]
        -> 200
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"

        MERGE configmaps/a
        {"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}}
        -> 200
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"

        DELETE configmaps/a
        {"propagationPolicy": "Foreground"}
        -> 200
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"
           metadata.finalizers = ["example.com/x", "foregroundDeletion"]
    "#).await;
}

/// EXT-18: other people's finalizers are kept by every policy and hold the object until the last of them is gone.
#[tokio::test]
async fn other_finalizers_hold() {
    for policy in ["Background", "Foreground", "Orphan"] {
        let world = World::new().await;
        world.create("configmaps", &held("a", "example.com/x")).await.expect(201);
        let marked = world.delete("configmaps/a", &json!({"propagationPolicy": policy})).await.document(200);
        assert_eq!(marked["metadata"]["finalizers"][0], "example.com/x");
        let own: Vec<&str> = match policy {
            "Foreground" => vec!["foregroundDeletion"],
            "Orphan" => vec!["orphan"],
            _ => vec![],
        };
        let left = world.merge("configmaps/a", &json!({"metadata": {"finalizers": own}})).await.expect(200);
        let gone = world.get("configmaps/a").await.code == 404;
        assert_eq!(gone, own.is_empty(), "{policy}");
        assert_eq!(left.text_at("metadata.uid"), "uid-4");
    }
}

/// Which finalizer each choice leaves on a plain object, and what the answer is.
#[tokio::test]
async fn each_policy_leaves_its_finalizer() {
    for (options, code, finalizers) in [
        (json!({"propagationPolicy": "Background"}), 200, None),
        (json!({"orphanDependents": false}), 200, None),
        (json!({"propagationPolicy": "Foreground"}), 200, Some(json!(["foregroundDeletion"]))),
        (json!({"propagationPolicy": "Orphan"}), 200, Some(json!(["orphan"]))),
        (json!({"orphanDependents": true}), 200, Some(json!(["orphan"]))),
        (json!({}), 200, Some(json!(["cascade_deletion"]))),
    ] {
        let world = World::new().await;
        world.create("configmaps", &config_map("a")).await.expect(201);
        let answer = world.delete("configmaps/a", &options).await.expect(code);
        match finalizers {
            Some(finalizers) => {
                assert_eq!(answer.at("metadata.finalizers"), &finalizers, "{options}");
                world.get("configmaps/a").await.expect(200);
            }
            None => {
                assert_eq!(answer.text_at("kind"), "Status", "{options}");
                world.get("configmaps/a").await.expect(404);
            }
        }
    }
}

/// 202 only for an explicit `orphanDependents: false` that did not remove at once.
#[tokio::test]
async fn accepted_is_said_in_one_case_only() {
    for (options, code) in [
        (json!({"orphanDependents": false}), 202),
        (json!({"propagationPolicy": "Background"}), 200),
        (json!({}), 200),
    ] {
        let world = World::new().await;
        world.create("configmaps", &held("a", "example.com/x")).await.expect(201);
        world.delete("configmaps/a", &options).await.expect(code);
    }
}

/// The last event of what is removed at once carries the last body and the version of the removal.
#[tokio::test]
async fn a_removal_is_told_with_its_version() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let mut watch = world.watch("configmaps?watch=1&resourceVersion=4").await;
    world.delete("configmaps/a", &json!({"propagationPolicy": "Background"})).await.expect(200);
    let event = watch.next().await.unwrap();
    assert_eq!(short(&event), "DELETED a@5");
    assert_eq!(event["object"]["data"]["k"], "v");
    assert_eq!(event["object"]["metadata"].get("deletionTimestamp"), None);
}

/// REQ-KRK-22: what was removed is erased; the same name begins another life.
#[tokio::test]
async fn a_successor_is_another_life() {
    let world = World::new().await;
    let background = json!({"propagationPolicy": "Background"});
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.delete("configmaps/a", &background).await.expect(200);
    world.delete("configmaps/a", &background).await.expect(404);
    let next = world.create("configmaps", &config_map("a")).await.expect(201);
    assert_eq!((next.text_at("metadata.uid"), next.version()), ("uid-5", 6));
}

/// The first mark counts as a change of the desired state, where that is counted.
#[tokio::test]
async fn the_mark_counts_a_generation_once() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST /apis/apps/v1/namespaces/default/deployments
        {"metadata": {"name": "d"}, "spec": {"replicas": 1}}
        -> 201
           metadata.generation = 1

        DELETE /apis/apps/v1/namespaces/default/deployments/d
        -> 200
           metadata.generation = 2

        DELETE /apis/apps/v1/namespaces/default/deployments/d
        {"propagationPolicy": "Foreground"}
        -> 200
           metadata.generation = 2
           metadata.finalizers = ["foregroundDeletion"]
    "#,
    )
    .await;
}
