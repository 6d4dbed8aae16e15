//! PUT and PATCH of living and of marked objects.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, held, widget, widgets};

/// The finalizer part of EXT-14: a marked object can only lose finalizers; their order does not matter.
#[tokio::test]
async fn no_new_finalizers_on_the_marked() {
    let world = World::new().await;
    let mut document = held("a", "example.com/x");
    document["metadata"]["finalizers"] = json!(["example.com/x", "example.com/y"]);
    world.create("configmaps", &document).await.expect(201);
    world.call("DELETE", "configmaps/a").send().await.expect(200);
    run(&world, r#"
        MERGE configmaps/a
        {"metadata": {"finalizers": ["example.com/x", "example.com/y", "cascade_deletion", "example.com/new"]}}
        -> 422 Invalid
           message ~ no new finalizers can be added if the object is being deleted
           details.causes.0.reason = "FieldValueForbidden"
           details.causes.0.field = "metadata.finalizers"

        APPLY configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": ["example.com/new"]}}
        -> 422 Invalid

        MERGE configmaps/a
        {"metadata": {"finalizers": ["cascade_deletion", "example.com/y", "example.com/x"]}}
        -> 200
           metadata.finalizers = ["cascade_deletion", "example.com/y", "example.com/x"]

        MERGE configmaps/a
        {"metadata": {"finalizers": ["example.com/y"], "labels": {"l": "1"}}}
        -> 200
           metadata.finalizers = ["example.com/y"]
           metadata.labels.l = "1"

        MERGE configmaps/a
        {"metadata": {"finalizers": []}}
        -> 200

        GET configmaps/a
        -> 404 NotFound
    "#).await;
}

/// REQ-KRK-18: what is held is still transferred, updated and listed like anything else.
#[tokio::test]
async fn the_marked_still_change() {
    let world = World::new().await;
    world.create("configmaps", &held("a", "example.com/x")).await.expect(201);
    world.call("DELETE", "configmaps/a").send().await.expect(200);
    let answer = world.merge("configmaps/a", &json!({"data": {"k": "2"}})).await.expect(200);
    assert_eq!(answer.text_at("data.k"), "2");
    assert_eq!(world.get("configmaps").await.at("items.0.data.k"), "2");
}

/// Identity and birth are the server's; a mark cannot be set by hand.
#[tokio::test]
async fn identity_is_immutable() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.nature().pass(100);
    run(
        &world,
        r#"
        PUT configmaps/a
        {"metadata": {"name": "a", "uid": "uid-9"}}
        -> 409 Conflict
           message ~ UID in precondition: uid-9, UID in object meta: uid-4

        MERGE configmaps/a
        {"metadata": {"uid": "uid-9"}}
        -> 422 Invalid
           details.causes.0.field = "metadata.uid"
           message ~ field is immutable

        MERGE configmaps/a
        {"metadata": {"deletionTimestamp": "2026-11-15T20:00:00Z"}}
        -> 422 Invalid
           details.causes.0.field = "metadata.deletionTimestamp"

        PUT configmaps/a
        {"metadata": {"name": "a", "deletionTimestamp": "2026-11-15T20:00:00Z"}}
        -> 422 Invalid

        # A birthday from elsewhere is not an error, it is replaced.
        PUT configmaps/a
        {"metadata": {"name": "a", "creationTimestamp": "1999-01-01T00:00:00Z"}, "data": {"k": "2"}}
        -> 200
           metadata.creationTimestamp = "2026-11-15T20:00:00Z"
           metadata.uid = "uid-4"

        PUT configmaps/a
        {"metadata": {"name": "b"}}
        -> 400 BadRequest
           message = "the name of the object (b) does not match the name on the URL (a)"

        PUT configmaps/a
        {"metadata": {"name": "a", "namespace": "elsewhere"}}
        -> 400 BadRequest
           message ~ does not match the namespace on the request

        MERGE configmaps/a
        {"metadata": {"name": "b"}}
        -> 422 Invalid
           details.causes.0.field = "metadata.name"

        MERGE configmaps/a
        {"metadata": {"namespace": "elsewhere"}}
        -> 422 Invalid
           details.causes.0.field = "metadata.namespace"

        MERGE configmaps/a
        {"kind": "Secret"}
        -> 400 BadRequest

        PUT configmaps/a
        {"kind": "Secret", "metadata": {"name": "a"}}
        -> 400 BadRequest

        PUT configmaps/a
        {"apiVersion": "v2", "metadata": {"name": "a"}}
        -> 400 BadRequest
    "#,
    )
    .await;
}

/// An empty document by mistake does not empty the object.
#[tokio::test]
async fn a_document_says_what_it_replaces() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    for document in [json!({}), json!({"metadata": {}}), json!({"metadata": {"name": ""}})] {
        let refused = world.put("configmaps/a", &document).await.expect(400);
        assert!(refused.text_at("message").ends_with("name must be provided"));
    }
    assert_eq!(world.get("configmaps/a").await.at("data.k"), "v");
}

/// EXT-16: a version in the body is a condition.
#[tokio::test]
async fn a_stale_version_conflicts() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    run(&world, r#"
        PUT configmaps/a
        {"metadata": {"name": "a", "resourceVersion": "3"}}
        -> 409 Conflict
           message = "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
           details = {"name": "a", "kind": "configmaps"}

        MERGE configmaps/a
        {"metadata": {"resourceVersion": "3"}, "data": {"k": "2"}}
        -> 409 Conflict

        MERGE configmaps/a
        {"metadata": {"resourceVersion": "4"}, "data": {"k": "2"}}
        -> 200
           metadata.resourceVersion = "5"

        PUT configmaps/a
        {"metadata": {"name": "a", "resourceVersion": "5"}, "data": {"k": "3"}}
        -> 200
           metadata.resourceVersion = "6"

        # ConfigMaps may be replaced unconditionally.
        PUT configmaps/a
        {"metadata": {"name": "a"}, "data": {"k": "4"}}
        -> 200
           metadata.resourceVersion = "7"

        PUT configmaps/a
        {"metadata": {"name": "a", "resourceVersion": "seven"}}
        -> 422 Invalid

        PUT configmaps/missing
        {"metadata": {"name": "missing"}}
        -> 404 NotFound

        MERGE configmaps/missing
        {}
        -> 404 NotFound
    "#).await;
}

/// Custom resources insist on a version.
#[tokio::test]
async fn custom_resources_need_a_version() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    let path = format!("{WIDGETS}/w");
    let refused = world.put(&path, &widget("w", 2)).await.expect(422);
    assert!(
        refused
            .text_at("message")
            .contains("metadata.resourceVersion: Invalid value: 0: must be specified for an update")
    );
    let mut next = widget("w", 2);
    next["metadata"]["resourceVersion"] = json!("5");
    assert_eq!(world.put(&path, &next).await.expect(200).at("metadata.generation"), 2);
}

/// A write that changes nothing keeps the version and tells no watcher.
#[tokio::test]
async fn nothing_changed_nothing_written() {
    let world = World::new().await;
    let stored = world.create("configmaps", &config_map("a")).await.document(201);
    world.nature().pass(60);
    for answer in [
        world.put("configmaps/a", &stored).await,
        world.put("configmaps/a", &config_map("a")).await,
        world.merge("configmaps/a", &json!({})).await,
        world.merge("configmaps/a", &json!({"data": {"k": "v"}})).await,
        world.call("JSON-PATCH", "configmaps/a").json(&json!([])).send().await,
        world.call("STRATEGIC", "configmaps/a").json(&json!({"data": {"k": "v"}})).send().await,
    ] {
        assert_eq!(answer.expect(200).json, stored);
    }
    assert_eq!(world.head().await, 4);
}

/// The generation is the server's and counts changes of the desired state only.
#[tokio::test]
async fn generations_count_desired_state() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST /apis/apps/v1/namespaces/default/deployments
        {"metadata": {"name": "d", "generation": 7}, "spec": {"replicas": 1}}
        -> 201
           metadata.generation = 1

        MERGE /apis/apps/v1/namespaces/default/deployments/d
        {"metadata": {"labels": {"l": "1"}, "generation": 9}}
        -> 200
           metadata.generation = 1

        MERGE /apis/apps/v1/namespaces/default/deployments/d
        {"spec": {"replicas": 2}}
        -> 200
           metadata.generation = 2

        MERGE /apis/apps/v1/namespaces/default/deployments/d/status
        {"status": {"replicas": 2}}
        -> 200
           metadata.generation = 2

        POST configmaps
        {"metadata": {"name": "a", "generation": 7}}
        -> 201
           metadata.generation absent
    "#,
    )
    .await;
}

/// Where a custom kind keeps no status apart, its status is part of the desired state.
#[tokio::test]
async fn a_status_that_is_not_apart_counts() {
    let world = World::new().await;
    let mut definition = widgets();
    definition["spec"]["versions"][0].as_object_mut().unwrap().remove("subresources");
    world.create(DEFINITIONS, &definition).await.expect(201);
    let mut document = widget("w", 1);
    document["status"] = json!({"ready": false});
    let made = world.create(WIDGETS, &document).await.expect(201);
    assert_eq!((made.at("status.ready"), made.at("metadata.generation")), (&json!(false), &json!(1)));
    let path = format!("{WIDGETS}/w");
    let changed = world.merge(&path, &json!({"status": {"ready": true}})).await.expect(200);
    assert_eq!(changed.at("metadata.generation"), 2);
    world.merge(&format!("{path}/status"), &json!({"status": {}})).await.expect(404);
}

/// `…/{name}/status`: each side writes its own part and nothing of the other.
#[tokio::test]
async fn status_is_written_apart() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST /apis/apps/v1/namespaces/default/deployments
        {"metadata": {"name": "d"}, "spec": {"replicas": 1}, "status": {"replicas": 99}}
        -> 201
           status absent

        PUT /apis/apps/v1/namespaces/default/deployments/d/status
        {"metadata": {"name": "d", "labels": {"l": "1"}}, "spec": {"replicas": 5}, "status": {"replicas": 1}}
        -> 200
           spec.replicas = 1
           status.replicas = 1
           metadata.labels absent

        PUT /apis/apps/v1/namespaces/default/deployments/d
        {"metadata": {"name": "d"}, "spec": {"replicas": 2}, "status": {"replicas": 77}}
        -> 200
           spec.replicas = 2
           status.replicas = 1

        GET /apis/apps/v1/namespaces/default/deployments/d/status
        -> 200
           status.replicas = 1

        PUT /apis/apps/v1/namespaces/default/deployments/d/status
        {"metadata": {"name": "d", "resourceVersion": "4"}, "status": {"replicas": 3}}
        -> 409 Conflict

        PUT configmaps/a/status
        {"metadata": {"name": "a"}}
        -> 404 NotFound

        DELETE /apis/apps/v1/namespaces/default/deployments/d/status
        -> 405 MethodNotAllowed
    "#,
    )
    .await;
}
