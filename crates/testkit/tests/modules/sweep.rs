//! Mark and sweep: what a deployment no longer has is accused, and nothing else.

use serde_json::json;
use sexton_collector::modules::{DeployError, Deployment, PlanError, PutAction, Sweep};
use sexton_testkit::World;

use crate::common::*;

/// REQ-CLD-1, REQ-CLD-4, REQ-CLD-6: what is put is marked, what is in scope and unmarked is swept.
#[tokio::test]
async fn what_is_no_longer_put_is_swept() {
    let world = World::new().await;
    let first = apply_maps(&world, "d1", &["a", "b", "c"]).await;
    assert_eq!((first.created, first.swept.accused.len()), (3, 0));
    for (name, order) in [("a", "1"), ("b", "2"), ("c", "3")] {
        assert_eq!(annotation(&world, name, DEPLOYMENT).await, "d1");
        assert_eq!(annotation(&world, name, ORDER).await, order);
        let object = world.get(&format!("configmaps/{name}")).await.document(200);
        assert_eq!(object["metadata"]["labels"][MANAGER], "shop");
    }
    let second = apply_maps(&world, "d2", &["a", "c"]).await;
    assert_eq!((second.unchanged, second.swept.accused.len()), (2, 1));
    assert_eq!(second.swept.collection.as_deref(), Some("sweep-shop-d2"));
    assert_eq!(accused(&world).await, ["b"]);
    let text = annotation(&world, "b", ACCUSED).await;
    assert!(text.contains("\"deployment\":\"d1\"") && text.contains("Module/shop"), "{text}");
    collect(&world).await;
    assert_eq!(left(&world).await, ["a", "c"]);
}

/// REQ-CLD-2, REQ-CLD-3: nothing but a put marks, and no two deployments have one id.
#[tokio::test]
async fn each_deployment_has_an_id_of_its_own() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a"]).await;
    let error = plan(&world, &shop("d1", maps(&["a"]))).await.unwrap_err();
    assert!(error.to_string().contains("was used before"), "{error}");
    // Also if nobody remembers it but the resources themselves.
    world
        .delete("/apis/sexton.dev/v1/modules/shop", &json!({"propagationPolicy": "Background"}))
        .await
        .expect(200);
    assert!(plan(&world, &shop("d1", maps(&["a"]))).await.is_err());
    let version = world.get("configmaps/a").await.version();
    let planned = plan(&world, &shop("d2", maps(&[]))).await;
    assert!(planned.is_err(), "an empty module is refused");
    assert_eq!(world.get("configmaps/a").await.version(), version, "looking marks nobody");
    assert!(plan(&world, &shop("not so", maps(&["a"]))).await.is_err());
}

/// REQ-CLD-5: the sweep starts when all puts are done and the deployment is sealed, not before.
#[tokio::test]
async fn everything_is_put_before_anything_is_swept() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "old"]).await;
    let modules = modules(&world).await;
    let plan = modules.plan(&shop("d2", maps(&["a", "b", "new"]))).await.unwrap();
    let heard = Heard::default();
    modules.deploy(&plan, &|event| heard.hear(event)).await.unwrap();
    let words = heard.words();
    assert_eq!(words[..2], ["locked", "intended"]);
    assert_eq!(words[5..], ["sealed", "accused 1"]);
    assert!(words[2..5].iter().all(|word| word.starts_with("put ")), "{words:?}");
}

/// REQ-CLD-7: those with higher places go first.
#[tokio::test]
async fn the_sweep_goes_in_reverse() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "c", "keep"]).await;
    let planned = plan(&world, &shop("d2", maps(&["keep"]))).await.unwrap();
    let names: Vec<&str> = planned.victims.iter().map(|victim| victim.member.name.as_str()).collect();
    assert_eq!(names, ["c", "b", "a"]);
    let doom = planned.destruction.as_ref().unwrap();
    let waves: Vec<String> = doom.plan.steps().map(|step| step.key.name.clone()).collect();
    assert_eq!(waves, ["c", "b", "a"], "and so does what the collector makes of it");
    let mut watch =
        world.watch(&format!("configmaps?watch=true&resourceVersion={}", world.head().await)).await;
    apply_maps(&world, "d2", &["keep"]).await;
    collect(&world).await;
    let mut gone = Vec::new();
    while gone.len() < 3 {
        let event = watch.next().await.unwrap();
        if event["type"] == "DELETED" {
            gone.push(event["object"]["metadata"]["name"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(gone, ["c", "b", "a"]);
}

/// Whoever is put again between the plan and the sweep lives; so does whoever is protected.
#[tokio::test]
async fn only_who_is_still_unmarked_is_accused() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "again", "safe", "keep"]).await;
    let modules = modules(&world).await;
    let plan = modules.plan(&shop("d2", maps(&["keep"]))).await.unwrap();
    assert_eq!(plan.victims.len(), 3);
    let marks = json!({"metadata": {"annotations": {DEPLOYMENT: "other"}}});
    world.merge("configmaps/again", &marks).await.expect(200);
    let protect = json!({"metadata": {"annotations": {"sexton.dev/protect": "true"}}});
    world.merge("configmaps/safe", &protect).await.expect(200);
    let deployed = modules.deploy(&plan, &|_| ()).await.unwrap();
    assert_eq!(accused(&world).await, ["a"]);
    let spared: Vec<String> =
        deployed.swept.spared.iter().map(|kept| format!("{} {}", kept.member.name, kept.why)).collect();
    assert_eq!(spared, ["safe it is protected", "again it was put again meanwhile"]);
}

/// A victim that is deleted and made again under its name is another life, and not touched.
#[tokio::test]
async fn a_successor_of_a_victim_is_left_alone() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b"]).await;
    let modules = modules(&world).await;
    let plan = modules.plan(&shop("d2", maps(&["a"]))).await.unwrap();
    world.delete("configmaps/b", &json!({"propagationPolicy": "Background"})).await.expect(200);
    // It even carries the same marks.
    let marks = json!({"labels": {MANAGER: "shop"}, "annotations": {DEPLOYMENT: "d1", ORDER: "2"}});
    stray(&world, "b", marks).await;
    let deployed = modules.deploy(&plan, &|_| ()).await.unwrap();
    assert_eq!((deployed.swept.accused.len(), deployed.swept.spared.len()), (0, 1));
    collect(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
}

/// What is accused and then put again lives, and is not accused any more.
#[tokio::test]
async fn an_accused_that_is_put_again_lives() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b"]).await;
    apply_maps(&world, "d2", &["a"]).await;
    assert_eq!(accused(&world).await, ["b"]);
    apply_maps(&world, "d3", &["a", "b"]).await;
    collect(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
}

/// What is on its way out cannot be put any more: it would be gone with the next deployment sealed.
#[tokio::test]
async fn what_is_being_deleted_is_not_put() {
    let world = World::new().await;
    let mut held = map("a");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    apply(&world, &shop("d1", sources([held]))).await;
    let modules = modules(&world).await;
    let planned = modules.plan(&shop("d2", maps(&["a"]))).await.unwrap();
    world.delete("configmaps/a", &json!({})).await.expect(200);
    let error = modules.deploy(&planned, &|_| ()).await.unwrap_err();
    let DeployError::Puts { failed, .. } = &error else { panic!("{error}") };
    assert!(failed[0].why.contains("it is being deleted"), "{failed:?}");
    let error = plan(&world, &shop("d3", maps(&["a"]))).await.unwrap_err();
    let PlanError::Refused(refusals) = error else { panic!("{error}") };
    assert!(refusals[0].why.contains("it is being deleted"), "{refusals:?}");
}

/// EXT-7: records without an order or a mark are listed, and go last.
#[tokio::test]
async fn records_without_marks_have_a_place() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b"]).await;
    stray(&world, "no-order", json!({"labels": {MANAGER: "shop"}, "annotations": {DEPLOYMENT: "d0"}})).await;
    stray(&world, "no-mark", json!({"labels": {MANAGER: "shop"}})).await;
    let odd = json!({"labels": {MANAGER: "shop"}, "annotations": {DEPLOYMENT: "d0", ORDER: "first"}});
    stray(&world, "odd", odd).await;
    let deployment = shop("d2", maps(&["a"]));
    let planned = plan(&world, &deployment).await.unwrap();
    let names: Vec<&str> = planned.victims.iter().map(|victim| victim.member.name.as_str()).collect();
    assert_eq!(names, ["b", "no-mark", "no-order", "odd"]);
    assert!(planned.victims[1].reason.contains("never marked"), "{}", planned.victims[1].reason);
    apply(&world, &deployment).await;
    assert_eq!(annotation(&world, "no-mark", ORDER).await, "0", "below all others");
    collect(&world).await;
    assert_eq!(left(&world).await, ["a"]);
}

/// Foreign fields survive a put, and what another manager holds is not taken away without being told.
#[tokio::test]
async fn foreign_fields_survive() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a"]).await;
    world.merge("configmaps/a", &json!({"data": {"theirs": "1"}})).await.expect(200);
    let planned = plan(&world, &shop("d2", maps(&["a"]))).await.unwrap();
    assert_eq!(planned.puts[0].action, PutAction::Unchanged);
    apply_maps(&world, "d2", &["a"]).await;
    assert_eq!(world.get("configmaps/a").await.text_at("data.theirs"), "1");
    world.merge("configmaps/a", &json!({"data": {"k": "theirs"}})).await.expect(200);
    let planned = plan(&world, &shop("d3", maps(&["a"]))).await.unwrap();
    assert_eq!(planned.conflicting().count(), 1, "it cannot be deployed so");
    let forced = Deployment { force: true, ..shop("d3", maps(&["a"])) };
    let planned = plan(&world, &forced).await.unwrap();
    assert_eq!(
        (planned.puts[0].action, planned.puts[0].changes[0].path.as_str()),
        (PutAction::Change, "data.k")
    );
    assert_eq!(planned.sweep, Sweep::Accuse);
}
