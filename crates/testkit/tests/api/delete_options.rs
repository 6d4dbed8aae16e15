//! What can be asked of a DELETE, and what comes back.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{config_map, core, held};

/// The body counts if there is one, else the query; they are never merged.
#[tokio::test]
async fn body_or_query_never_both() {
    let world = World::new().await;
    for name in ["a", "b", "c", "d"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    run(
        &world,
        r#"
        DELETE configmaps/a?propagationPolicy=Foreground
        -> 200
           metadata.finalizers = ["foregroundDeletion"]

        # An empty object is a body: the query does not count.
        DELETE configmaps/b?propagationPolicy=Foreground
        {}
        -> 200
           metadata.finalizers = ["cascade_deletion"]

        # Except that whoever only wants to try must not lose the object by that.
        DELETE configmaps/c?propagationPolicy=Foreground&dryRun=All
        {"propagationPolicy": "Background"}
        -> 400 BadRequest
           message ~ say it in the body

        DELETE configmaps?dryRun=All
        {}
        -> 400 BadRequest

        DELETE configmaps/c?propagationPolicy=Foreground&dryRun=All
        {"propagationPolicy": "Background", "dryRun": ["All"]}
        -> 200

        DELETE configmaps/c?propagationPolicy=Foreground
        {"propagationPolicy": "Background"}
        -> 200
           status = "Success"

        GET configmaps/c
        -> 404 NotFound

        DELETE configmaps/d?orphanDependents=true
        -> 200
           metadata.finalizers = ["orphan"]
    "#,
    )
    .await;
}

/// Kind and apiVersion of the options may be left out; YAML is read too.
#[tokio::test]
async fn options_come_in_several_forms() {
    let world = World::new().await;
    for name in ["a", "b", "c"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    run(&world, r#"
        DELETE configmaps/a
        {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        -> 200
           status = "Success"

        DELETE configmaps/b
        {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", "propagationPolicy": "Orphan", "gracePeriodSeconds": -5}
        -> 200
           metadata.finalizers = ["orphan"]

        DELETE configmaps/c
        Content-Type: application/yaml
        propagationPolicy: Background
        -> 200
           status = "Success"
    "#).await;
}

/// What cannot be read is 400, what contradicts itself is 422, and neither deletes anything.
#[tokio::test]
async fn bad_options_delete_nothing() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    run(
        &world,
        r#"
        DELETE configmaps/a
        {"propagationPolicy": "Background", "orphanDependents": true}
        -> 422 Invalid
           details.kind = "DeleteOptions"
           details.causes.0.field = "propagationPolicy"

        DELETE configmaps/a
        {"propagationPolicy": "Sideways"}
        -> 422 Invalid
           details.kind = "DeleteOptions"
           details.causes.0.reason = "FieldValueNotSupported"

        DELETE configmaps/a?propagationPolicy=
        -> 422 Invalid

        DELETE configmaps/a
        {"dryRun": ["Some"]}
        -> 422 Invalid
           details.causes.0.field = "dryRun"

        DELETE configmaps/a?dryRun=Some
        -> 422 Invalid

        DELETE configmaps/a
        {"propagationPolicy":
        -> 400 BadRequest

        DELETE configmaps/a
        {"propagationPolicy": 5}
        -> 400 BadRequest

        DELETE configmaps/a
        []
        -> 400 BadRequest

        DELETE configmaps/a
        {"kind": "ConfigMap"}
        -> 400 BadRequest

        DELETE configmaps/a?gracePeriodSeconds=soon
        -> 400 BadRequest

        DELETE configmaps/a
        Content-Type: text/html
        <html>
        -> 415 UnsupportedMediaType

        GET configmaps/a
        -> 200
           metadata.resourceVersion = "4"

        DELETE configmaps?propagationPolicy=Sideways
        -> 422 Invalid

        DELETE secrets?propagationPolicy=Sideways
        -> 422 Invalid
    "#,
    )
    .await;
}

/// A stale uid or version is a conflict without effect.
#[tokio::test]
async fn preconditions_are_conditions() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    run(&world, r#"
        DELETE configmaps/a
        {"preconditions": {"uid": "uid-9"}}
        -> 409 Conflict
           message = "Operation cannot be fulfilled on configmaps \"a\": Precondition failed: UID in precondition: uid-9, UID in object meta: uid-4"
           details.name = "a"
           details.kind = "configmaps"

        DELETE configmaps/a
        {"preconditions": {"resourceVersion": "3"}}
        -> 409 Conflict
           message ~ ResourceVersion in precondition: 3, ResourceVersion in object meta: 4

        DELETE configmaps/a
        {"preconditions": {"uid": "uid-4", "resourceVersion": "3"}}
        -> 409 Conflict

        GET configmaps/a
        -> 200
           metadata.resourceVersion = "4"

        DELETE configmaps/a
        {"preconditions": {"uid": "uid-4", "resourceVersion": "4"}, "propagationPolicy": "Background"}
        -> 200
           details.uid = "uid-4"
    "#).await;
}

/// EXT-9: a second delete succeeds; it may switch the policy, never the time, and writes nothing
/// when nothing changes.
#[tokio::test]
async fn a_second_delete() {
    let world = World::new().await;
    world.create("configmaps", &held("a", "example.com/x")).await.expect(201);
    world.nature().pass(5);
    run(
        &world,
        r#"
        DELETE configmaps/a
        -> 200
           metadata.finalizers = ["example.com/x", "cascade_deletion"]
           metadata.resourceVersion = "5"
    "#,
    )
    .await;
    world.nature().pass(3600);
    run(
        &world,
        r#"
        # No policy: the recorded one stays, nothing is written.
        DELETE configmaps/a
        -> 200
           metadata.resourceVersion = "5"
           metadata.deletionTimestamp = "2026-11-15T20:00:05Z"

        DELETE configmaps/a
        {"propagationPolicy": "Foreground"}
        -> 200
           metadata.finalizers = ["example.com/x", "foregroundDeletion"]
           metadata.deletionTimestamp = "2026-11-15T20:00:05Z"
           metadata.resourceVersion = "6"

        DELETE configmaps/a
        {"propagationPolicy": "Foreground"}
        -> 200
           metadata.resourceVersion = "6"

        DELETE configmaps/a
        -> 200
           metadata.finalizers = ["example.com/x", "foregroundDeletion"]
           metadata.resourceVersion = "6"

        DELETE configmaps/a
        {"propagationPolicy": "Orphan"}
        -> 200
           metadata.finalizers = ["example.com/x", "orphan"]

        DELETE configmaps/a
        {"propagationPolicy": "Background"}
        -> 200
           metadata.finalizers = ["example.com/x"]
           metadata.resourceVersion = "8"

        DELETE configmaps/nothing
        -> 404 NotFound
    "#,
    )
    .await;
    assert_eq!(world.head().await, 8);
    // Background leaves nothing of the policies: without others' finalizers the second delete removes.
    world.create("configmaps", &config_map("b")).await.expect(201);
    world.call("DELETE", "configmaps/b").send().await.expect(200);
    let gone = world.delete("configmaps/b", &json!({"propagationPolicy": "Background"})).await.expect(200);
    assert_eq!(gone.text_at("status"), "Success");
}

/// Which kinds answer with the object, and which with a Status that names the life.
#[tokio::test]
async fn answers_name_the_life() {
    for (plural, kind, returns_object) in [
        ("configmaps", "ConfigMap", false),
        ("secrets", "Secret", false),
        ("events", "Event", false),
        ("pods", "Pod", true),
        ("services", "Service", true),
        ("serviceaccounts", "ServiceAccount", true),
    ] {
        let world = World::new().await;
        world.create(plural, &core(kind, "a")).await.expect(201);
        let path = format!("{plural}/a");
        let answer = world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
        if returns_object {
            assert_eq!(answer.text_at("kind"), kind);
            assert_eq!(answer.text_at("metadata.uid"), "uid-4");
        } else {
            assert_eq!(
                answer.json,
                json!({
                    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 200,
                    "details": {"name": "a", "kind": plural, "uid": "uid-4"},
                })
            );
        }
        world.get(&path).await.expect(404);
    }
    let world = World::new().await;
    let namespace = json!({"metadata": {"name": "n"}});
    world.create("/api/v1/namespaces", &namespace).await.expect(201);
    let answer =
        world.delete("/api/v1/namespaces/n", &json!({"propagationPolicy": "Background"})).await.expect(200);
    assert_eq!((answer.text_at("kind"), answer.text_at("metadata.uid")), ("Namespace", "uid-4"));
}

/// A dry run answers what would be and writes nothing.
#[tokio::test]
async fn a_dry_run_only_tells() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create("configmaps", &held("b", "example.com/x")).await.expect(201);
    let before = world.dump().await;
    run(
        &world,
        r#"
        DELETE configmaps/a
        {"dryRun": ["All"], "propagationPolicy": "Background"}
        -> 200
           status = "Success"
           details.uid = "uid-4"

        DELETE configmaps/a?dryRun=All
        -> 200
           metadata.finalizers = ["cascade_deletion"]
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"

        DELETE configmaps/b
        {"dryRun": ["All"], "propagationPolicy": "Orphan"}
        -> 200
           metadata.finalizers = ["example.com/x", "orphan"]

        DELETE configmaps
        {"dryRun": ["All"]}
        -> 200
           kind = "ConfigMapList"
    "#,
    )
    .await;
    assert_eq!(world.dump().await, before);
}

/// Events never get a collector's finalizer.
#[tokio::test]
async fn events_go_at_once() {
    for options in
        [json!({}), json!({"propagationPolicy": "Foreground"}), json!({"propagationPolicy": "Orphan"})]
    {
        let world = World::new().await;
        world.create("events", &core("Event", "e")).await.expect(201);
        let answer = world.delete("events/e", &options).await.expect(200);
        assert_eq!(answer.text_at("status"), "Success", "{options}");
        world.get("events/e").await.expect(404);
    }
}

/// A collection is deleted one by one with the same options, by selector, and told as a list.
#[tokio::test]
async fn collections_are_deleted_one_by_one() {
    let world = World::new().await;
    for (name, label) in [("a", "x"), ("b", "y"), ("c", "x")] {
        let mut document = config_map(name);
        document["metadata"]["labels"] = json!({"l": label});
        world.create("configmaps", &document).await.expect(201);
    }
    run(
        &world,
        r#"
        DELETE configmaps?labelSelector=l%3Dx
        {"preconditions": {"uid": "uid-99"}}
        -> 409 Conflict

        DELETE configmaps?labelSelector=l%3Dx
        {"propagationPolicy": "Background"}
        -> 200
           kind = "ConfigMapList"
           items.0.metadata.name = "a"
           items.1.metadata.name = "c"
           items.2 absent

        GET configmaps
        -> 200
           items.0.metadata.name = "b"
           items.1 absent

        DELETE configmaps
        -> 200

        GET configmaps
        -> 200
           items.0.metadata.finalizers = ["cascade_deletion"]

        DELETE /api/v1/namespaces
        -> 405 MethodNotAllowed

        DELETE /api/v1/configmaps
        -> 405 MethodNotAllowed
    "#,
    )
    .await;
}
