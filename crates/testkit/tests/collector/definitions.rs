//! A deleted definition takes its objects along, and a class stays until the last object of its kind is gone.

use std::sync::Arc;

use serde_json::json;
use sexton_model::hook::Verdict;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, owner, widget, widgets};
use sexton_testkit::{Collecting, Scripted, World};

use crate::common::class_of;

const CLASSES: &str = "/apis/sexton.dev/v1/classes";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example.com";

async fn with_widgets(world: &World, names: &[&str]) {
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    for name in names {
        world.create(WIDGETS, &widget(name, 1)).await.expect(201);
    }
}

/// A definition goes after the objects that it defines, in every namespace.
#[tokio::test]
async fn objects_go_and_then_the_definition() {
    let world = World::new().await;
    with_widgets(&world, &["a", "b"]).await;
    world.create(&WIDGETS.replace("default", "kube-system"), &widget("c", 1)).await.expect(201);
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    world.call("DELETE", DEFINITION).send().await.expect(200);
    let summary = collecting.settled(&world).await;
    assert_eq!(summary.doomed, 0, "{summary:#?}");
    world.get(DEFINITION).await.expect(404);
    // A definition of the same name finds nothing left of the old objects.
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    assert_eq!(world.get("/apis/demo.example.com/v1/widgets").await.at("items"), &json!([]));
}

/// What somebody else holds keeps the definition, and no new object comes in meanwhile.
#[tokio::test]
async fn foreign_finalizers_hold_the_definition() {
    let world = World::new().await;
    with_widgets(&world, &["free"]).await;
    let mut kept = widget("kept", 1);
    kept["metadata"]["finalizers"] = json!(["example.com/hold"]);
    world.create(WIDGETS, &kept).await.expect(201);
    let mut collecting = Collecting::on(&world);
    world.call("DELETE", DEFINITION).send().await.expect(200);
    let summary = collecting.settled(&world).await;
    assert_eq!(summary.blockers.len(), 1, "{summary:#?}");
    assert_eq!(summary.blockers[0].object.to_string(), "Widget.demo.example.com/default/kept");
    world.get(&format!("{WIDGETS}/free")).await.expect(404);
    let refused = world.create(WIDGETS, &widget("late", 1)).await;
    assert!(refused.code >= 400, "{refused:?}");
    let off = json!({"metadata": {"finalizers": null}});
    world.merge(&format!("{WIDGETS}/kept"), &off).await.expect(200);
    collecting.settled(&world).await;
    world.get(DEFINITION).await.expect(404);
}

/// The objects' hooks run before the definition goes; the class is nobody's content and stays.
#[tokio::test]
async fn hooks_of_the_objects_run_first() {
    let world = World::new().await;
    with_widgets(&world, &["a", "b"]).await;
    world.create(CLASSES, &class_of("widget", "demo.example.com", "Widget")).await.expect(201);
    let hooks = Arc::new(Scripted::default());
    hooks.answer("destroying destroy a", Verdict::Failed { reason: "no".into() });
    let mut collecting = Collecting::scripted(&world, &hooks);
    world.call("DELETE", DEFINITION).send().await.expect(200);
    let summary = collecting.until(|summary| summary.idle && !summary.blockers.is_empty()).await;
    assert_eq!(summary.blockers[0].object.name, "a", "{summary:#?}");
    world.get(DEFINITION).await.expect(200);
    world.get(&format!("{WIDGETS}/b")).await.expect(404);
    let retry = json!({"id": "1", "want": "retry"}).to_string();
    let annotation = json!({"metadata": {"annotations": {"sexton.dev/request": retry}}});
    world.merge(&format!("{WIDGETS}/a"), &annotation).await.expect(200);
    collecting.until(|summary| summary.idle && summary.doomed == 0).await;
    world.get(DEFINITION).await.expect(404);
    world.get(&format!("{CLASSES}/widget")).await.expect(200);
    let mut heard = hooks.heard();
    heard.sort();
    assert_eq!(heard, ["destroying destroy a", "destroying destroy a", "destroying destroy b"]);
}

/// Class and definition both deleted: every hook ran before either is gone.
#[tokio::test]
async fn a_class_goes_after_the_objects_of_its_kind() {
    let world = World::new().await;
    with_widgets(&world, &["a", "b", "c"]).await;
    world.create(CLASSES, &class_of("widget", "demo.example.com", "Widget")).await.expect(201);
    let hooks = Arc::new(Scripted::default());
    world.call("DELETE", &format!("{CLASSES}/widget")).send().await.expect(200);
    world.call("DELETE", DEFINITION).send().await.expect(200);
    let mut collecting = Collecting::scripted(&world, &hooks);
    collecting.until(|summary| summary.idle && summary.synced && summary.doomed == 0).await;
    world.get(DEFINITION).await.expect(404);
    world.get(&format!("{CLASSES}/widget")).await.expect(404);
    let mut heard = hooks.heard();
    heard.sort();
    assert_eq!(heard, ["destroying destroy a", "destroying destroy b", "destroying destroy c"]);
}

/// A deleted class does not take its objects along: it waits until the last of them is deleted.
#[tokio::test]
async fn a_class_in_use_waits() {
    let world = World::new().await;
    with_widgets(&world, &["a"]).await;
    world.create(CLASSES, &class_of("widget", "demo.example.com", "Widget")).await.expect(201);
    let hooks = Arc::new(Scripted::default());
    let mut collecting = Collecting::scripted(&world, &hooks);
    world.call("DELETE", &format!("{CLASSES}/widget")).send().await.expect(200);
    let summary = collecting.settled(&world).await;
    let reasons: Vec<&str> = summary.blockers.iter().map(|one| one.reason.as_str()).collect();
    assert_eq!(reasons, ["in use by Widget.demo.example.com/default/a"], "{summary:#?}");
    run(
        &world,
        r#"
        GET /apis/sexton.dev/v1/classes/widget
        -> 200
           metadata.finalizers = ["sexton.dev/in-use"]

        GET /apis/demo.example.com/v1/namespaces/default/widgets/a
        -> 200
           metadata.deletionTimestamp absent

        DELETE /apis/demo.example.com/v1/namespaces/default/widgets/a
        -> 200
    "#,
    )
    .await;
    collecting.until(|summary| summary.idle && summary.synced && summary.doomed == 0).await;
    assert_eq!(hooks.heard(), ["destroying destroy a"]);
    world.get(&format!("{CLASSES}/widget")).await.expect(404);
    world.get(DEFINITION).await.expect(200);
}

/// Nothing of an owner is destroyed while something that it owns is spared.
#[tokio::test]
async fn hooks_wait_for_whoever_is_spared() {
    let world = World::new().await;
    with_widgets(&world, &["a"]).await;
    world.create(CLASSES, &class_of("widget", "demo.example.com", "Widget")).await.expect(201);
    let uid = world.get(&format!("{WIDGETS}/a")).await.text_at("metadata.uid").to_owned();
    let mut below = widget("below", 1);
    below["metadata"]["annotations"] = json!({"sexton.dev/protect": "true"});
    below["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "demo.example.com/v1", "kind": "Widget", "name": "a", "uid": uid}]);
    world.create(WIDGETS, &below).await.expect(201);
    let hooks = Arc::new(Scripted::default());
    let mut collecting = Collecting::scripted(&world, &hooks);
    world.call("DELETE", &format!("{WIDGETS}/a")).send().await.expect(200);
    let summary = collecting.settled(&world).await;
    assert_eq!((summary.blockers.len(), hooks.heard().len()), (1, 0), "{summary:#?}");
    let off = json!({"metadata": {"annotations": {"sexton.dev/protect": null}}});
    world.merge(&format!("{WIDGETS}/below"), &off).await.expect(200);
    collecting.until(|summary| summary.idle && summary.doomed == 0).await;
    assert_eq!(hooks.heard(), ["destroying destroy below", "destroying destroy a"]);
}

/// Somebody is left behind by one owner and loses the other with its definition: neither waits for the other's end.
#[tokio::test]
async fn who_is_left_behind_holds_nobody_up() {
    let world = World::new().await;
    with_widgets(&world, &["above"]).await;
    let uid = |answer: sexton_testkit::Answer| answer.at("metadata.uid").as_str().unwrap().to_owned();
    let above = uid(world.get(&format!("{WIDGETS}/above")).await);
    let widget =
        json!({"apiVersion": "demo.example.com/v1", "kind": "Widget", "name": "above", "uid": above});
    let leaver = json!({"metadata": {"name": "leaver", "ownerReferences": [widget]}});
    let leaver = uid(world.create("configmaps", &leaver).await);
    let both = json!([widget, owner("ConfigMap", "leaver", &leaver)]);
    let child = json!({"metadata": {"name": "child", "ownerReferences": both}});
    world.create("configmaps", &child).await.expect(201);
    world.delete("configmaps/leaver", &json!({"propagationPolicy": "Orphan"})).await.expect(200);
    world.call("DELETE", DEFINITION).send().await.expect(200);
    let mut collecting = Collecting::on(&world);
    let summary = collecting.settled(&world).await;
    assert_eq!((summary.doomed, summary.blockers.len()), (0, 0), "{summary:#?}");
    world.get("configmaps/leaver").await.expect(404);
    world.get(DEFINITION).await.expect(404);
}
