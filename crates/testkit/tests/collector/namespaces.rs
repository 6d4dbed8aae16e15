//! A deleted namespace takes its contents along, waits for what others hold, and goes last.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_model::hook::Verdict;
use sexton_testkit::script::run;
use sexton_testkit::things::{core, held, owner};
use sexton_testkit::{Collecting, Scripted, World};

use crate::common::class_of;

const SPACE: &str = "/api/v1/namespaces/n";

async fn space(world: &World) {
    world.create("/api/v1/namespaces", &core("Namespace", "n")).await.expect(201);
}

async fn put(world: &World, plural: &str, document: &Value) -> String {
    let made = world.create(&format!("{SPACE}/{plural}"), document).await.expect(201);
    made.text_at("metadata.uid").to_owned()
}

fn owned(kind: &str, name: &str, owner_kind: &str, owner_name: &str, uid: &str) -> Value {
    let mut document = core(kind, name);
    document["metadata"]["ownerReferences"] = json!([owner(owner_kind, owner_name, uid)]);
    document
}

/// Contents of several kinds, with owners among them, and outside of it nothing is touched.
#[tokio::test]
async fn contents_go_and_then_the_namespace() {
    let world = World::new().await;
    space(&world).await;
    let first = put(&world, "configmaps", &core("ConfigMap", "a")).await;
    let second = put(&world, "secrets", &owned("Secret", "b", "ConfigMap", "a", &first)).await;
    put(&world, "configmaps", &owned("ConfigMap", "c", "Secret", "b", &second)).await;
    put(&world, "services", &core("Service", "d")).await;
    world.create("configmaps", &core("ConfigMap", "elsewhere")).await.expect(201);
    let mut collecting = Collecting::on(&world);
    run(
        &world,
        r#"
        DELETE /api/v1/namespaces/n
        -> 200
           status.phase = "Terminating"
    "#,
    )
    .await;
    let summary = collecting.settled(&world).await;
    world.get(SPACE).await.expect(404);
    for plural in ["configmaps", "secrets", "services"] {
        let listed = world.get(&format!("{SPACE}/{plural}")).await;
        assert_eq!(listed.at("items"), &json!([]), "{plural} {summary:#?}");
    }
    world.get("configmaps/elsewhere").await.expect(200);
}

/// What somebody else holds is named as what the namespace waits for; meanwhile nothing new comes in.
#[tokio::test]
async fn foreign_finalizers_hold_the_namespace() {
    let world = World::new().await;
    space(&world).await;
    put(&world, "configmaps", &held("kept", "example.com/hold")).await;
    put(&world, "configmaps", &core("ConfigMap", "free")).await;
    let mut collecting = Collecting::on(&world);
    world.call("DELETE", SPACE).send().await.expect(200);
    let summary = collecting.settled(&world).await;
    assert_eq!(summary.blockers.len(), 1, "{summary:#?}");
    let blocker = &summary.blockers[0];
    assert_eq!(blocker.object.to_string(), "ConfigMap/n/kept");
    assert_eq!(blocker.reason, "held by the finalizer example.com/hold");
    run(
        &world,
        r#"
        GET /api/v1/namespaces/n/configmaps/free
        -> 404

        GET /api/v1/namespaces/n
        -> 200
           spec.finalizers = ["kubernetes"]

        POST /api/v1/namespaces/n/configmaps
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}}
        -> 403 Forbidden
           details.causes.0.reason = "NamespaceTerminating"

        MERGE /api/v1/namespaces/n/configmaps/kept
        {"metadata": {"finalizers": null}}
        -> 200
    "#,
    )
    .await;
    let summary = collecting.settled(&world).await;
    world.get(SPACE).await.expect(404);
    assert_eq!((summary.doomed, summary.blockers.len()), (0, 0), "{summary:#?}");
}

/// The hold in the namespace's own spec is the collector's to take off; a finalizer of somebody else on it is not.
#[tokio::test]
async fn a_namespace_with_a_finalizer_of_its_own() {
    let world = World::new().await;
    let mut document = core("Namespace", "n");
    document["metadata"]["finalizers"] = json!(["example.com/hold"]);
    world.create("/api/v1/namespaces", &document).await.expect(201);
    put(&world, "secrets", &core("Secret", "s")).await;
    let mut collecting = Collecting::on(&world);
    world.call("DELETE", SPACE).send().await.expect(200);
    let summary = collecting.settled(&world).await;
    assert_eq!(summary.blockers[0].object.to_string(), "Namespace/n", "{summary:#?}");
    world.get(&format!("{SPACE}/secrets/s")).await.expect(404);
    world.merge(SPACE, &json!({"metadata": {"finalizers": null}})).await.expect(200);
    collecting.settled(&world).await;
    world.get(SPACE).await.expect(404);
}

/// A protected object inside is not destroyed, and the namespace waits for it by name.
#[tokio::test]
async fn a_protected_object_keeps_its_namespace() {
    let world = World::new().await;
    space(&world).await;
    let mut document = core("ConfigMap", "kept");
    document["metadata"]["annotations"] = json!({"sexton.dev/protect": "invoices"});
    put(&world, "configmaps", &document).await;
    put(&world, "configmaps", &core("ConfigMap", "free")).await;
    let mut collecting = Collecting::on(&world);
    world.call("DELETE", SPACE).send().await.expect(200);
    let summary = collecting.settled(&world).await;
    let reasons: Vec<&str> = summary.blockers.iter().map(|one| one.reason.as_str()).collect();
    assert_eq!(reasons, ["ConfigMap/n/kept is protected: invoices"], "{summary:#?}");
    world.get(&format!("{SPACE}/configmaps/free")).await.expect(404);
    let off = json!({"metadata": {"annotations": {"sexton.dev/protect": null}}});
    world.merge(&format!("{SPACE}/configmaps/kept"), &off).await.expect(200);
    collecting.settled(&world).await;
    world.get(SPACE).await.expect(404);
}

/// A veto inside holds the namespace, whose mark cannot be taken back, until it is answered otherwise.
#[tokio::test]
async fn a_veto_inside_holds_the_namespace() {
    let world = World::new().await;
    space(&world).await;
    world.create("/apis/sexton.dev/v1/classes", &class_of("cm", "", "ConfigMap")).await.expect(201);
    put(&world, "configmaps", &core("ConfigMap", "careful")).await;
    put(&world, "secrets", &core("Secret", "free")).await;
    let hooks = Arc::new(Scripted::default());
    let veto = Verdict::Veto { reason: "a backup is running".into(), until: None };
    hooks.answer("destroying destroy careful", veto);
    let mut collecting = Collecting::scripted(&world, &hooks);
    world.call("DELETE", SPACE).send().await.expect(200);
    let summary = collecting.until(|summary| summary.idle && !summary.blockers.is_empty()).await;
    let reason = &summary.blockers[0].reason;
    assert!(reason.contains("said no: a backup is running"), "{reason}");
    world.get(&format!("{SPACE}/secrets/free")).await.expect(404);
    world.get(SPACE).await.expect(200);
    let retry = json!({"id": "1", "want": "retry"}).to_string();
    let annotation = json!({"metadata": {"annotations": {"sexton.dev/request": retry}}});
    world.merge(&format!("{SPACE}/configmaps/careful"), &annotation).await.expect(200);
    collecting.until(|summary| summary.idle && summary.doomed == 0).await;
    world.get(SPACE).await.expect(404);
    assert_eq!(hooks.heard(), ["destroying destroy careful"; 2]);
}
