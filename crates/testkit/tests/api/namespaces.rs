//! Namespaces: objects live only in living ones, and they go with what they hold.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::config_map;

/// Objects in missing and in terminating namespaces are refused.
#[tokio::test]
async fn only_in_living_namespaces() {
    let world = World::new().await;
    run(&world, r#"
        POST /api/v1/namespaces/missing/configmaps
        {"metadata": {"name": "a"}}
        -> 404 NotFound
           message = "namespaces \"missing\" not found"
           details = {"name": "missing", "kind": "namespaces"}

        APPLY /api/v1/namespaces/missing/configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        -> 404 NotFound
           details.kind = "namespaces"

        POST /api/v1/namespaces/missing/configmaps?dryRun=All
        {"metadata": {"name": "a"}}
        -> 404 NotFound

        POST /api/v1/namespaces
        {"metadata": {"name": "n"}}
        -> 201
           spec.finalizers = ["kubernetes"]
           status.phase = "Active"
           /metadata/labels/kubernetes.io~1metadata.name = "n"

        POST /api/v1/namespaces/n/configmaps
        {"metadata": {"name": "a"}}
        -> 201

        DELETE /api/v1/namespaces/n
        -> 200
           kind = "Namespace"
           status.phase = "Terminating"
           spec.finalizers = ["kubernetes"]
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"

        POST /api/v1/namespaces/n/configmaps
        {"metadata": {"name": "b"}}
        -> 403 Forbidden
           message = "configmaps \"b\" is forbidden: unable to create new content in namespace n because it is being terminated"
           details.name = "b"
           details.kind = "configmaps"
           details.causes.0.reason = "NamespaceTerminating"
           details.causes.0.message = "namespace n is being terminated"
           details.causes.0.field = "metadata.namespace"

        APPLY /api/v1/namespaces/n/configmaps/b?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}
        -> 403 Forbidden

        # What is there can still be changed.
        MERGE /api/v1/namespaces/n/configmaps/a
        {"data": {"k": "2"}}
        -> 200
    "#).await;
}

/// The first namespaces are always there.
#[tokio::test]
async fn permanent_namespaces_stay() {
    let world = World::embedded().await;
    for name in ["default", "kube-system", "kube-public"] {
        let path = format!("/api/v1/namespaces/{name}");
        for options in [json!({}), json!({"propagationPolicy": "Background"}), json!({"dryRun": ["All"]})] {
            let answer = world.delete(&path, &options).await.expect(403);
            assert_eq!(
                answer.text_at("message"),
                format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted")
            );
        }
    }
    let world = world.restart().await;
    assert_eq!(world.head().await, 3, "a restart makes nothing twice");
}

/// An empty namespace goes at once, whatever is asked.
#[tokio::test]
async fn an_empty_namespace_goes_at_once() {
    let world = World::new().await;
    let mut watch = world.watch("/api/v1/namespaces?watch=1&resourceVersion=3").await;
    run(
        &world,
        r#"
        POST /api/v1/namespaces
        {"metadata": {"name": "n"}}
        -> 201

        DELETE /api/v1/namespaces/n
        -> 200
           kind = "Namespace"
           metadata.uid = "uid-4"

        GET /api/v1/namespaces/n
        -> 404 NotFound

        POST /api/v1/namespaces
        {"metadata": {"name": "n"}}
        -> 201
           metadata.uid = "uid-5"
    "#,
    )
    .await;
    assert_eq!(watch.shorts(3).await, ["ADDED n@4", "DELETED n@5", "ADDED n@6"]);
}

/// A namespace with contents waits, until they are gone and its own finalizers are taken off.
#[tokio::test]
async fn a_full_namespace_waits() {
    let world = World::new().await;
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await.expect(201);
    world.create("/api/v1/namespaces/n/configmaps", &config_map("a")).await.expect(201);
    let marked = world.call("DELETE", "/api/v1/namespaces/n").send().await.document(200);
    run(
        &world,
        r#"
        # Its own finalizers are not touched by an ordinary update.
        MERGE /api/v1/namespaces/n
        {"spec": {"finalizers": []}, "metadata": {"labels": {"l": "1"}}}
        -> 200
           spec.finalizers = ["kubernetes"]
           metadata.labels.l = "1"

        DELETE /api/v1/namespaces/n
        -> 200
           status.phase = "Terminating"

        DELETE /api/v1/namespaces/n/configmaps/a
        {"propagationPolicy": "Background"}
        -> 200

        GET /api/v1/namespaces/n
        -> 200
    "#,
    )
    .await;
    let mut empty = marked.clone();
    empty["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    empty["spec"]["finalizers"] = json!([]);
    world.put("/api/v1/namespaces/n/finalize", &empty).await.expect(200);
    world.get("/api/v1/namespaces/n").await.expect(404);
}

/// Ordinary finalizers hold a namespace beside its own, and a second delete finds it empty.
#[tokio::test]
async fn both_lists_of_finalizers_hold() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST /api/v1/namespaces
        {"metadata": {"name": "n", "finalizers": ["example.com/x"]}}
        -> 201

        DELETE /api/v1/namespaces/n
        -> 200
           metadata.finalizers = ["example.com/x"]
           status.phase = "Terminating"

        # Not marked namespaces lose their own finalizers through /finalize and stay.
        PUT /api/v1/namespaces/default/finalize
        {"metadata": {"name": "default"}, "spec": {"finalizers": ["example.com/own"]}}
        -> 200
           spec.finalizers = ["example.com/own"]

        MERGE /api/v1/namespaces/n
        {"metadata": {"finalizers": null}}
        -> 200

        GET /api/v1/namespaces/n
        -> 404 NotFound

        PUT configmaps/a/finalize
        {"metadata": {"name": "a"}}
        -> 404 NotFound

        MERGE /api/v1/namespaces/default/finalize
        {"spec": {"finalizers": []}}
        -> 405 MethodNotAllowed
    "#,
    )
    .await;
}
