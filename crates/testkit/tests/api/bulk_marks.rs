//! Conditions of a bulk about marks: who is marked already, who is protected.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{config_map, owner};

use crate::bulk::{bulk, delete, item, made, told, with};

/// What follows from a mark rests on it, also if that is made by the same request.
#[tokio::test]
async fn a_mark_that_is_missing_takes_nobody_along() {
    let world = World::new().await;
    let parent = made(&world, "configmaps", &config_map("p")).await;
    let mut child = config_map("c");
    child["metadata"]["ownerReferences"] = json!([owner("ConfigMap", "p", &parent)]);
    let uid = made(&world, "configmaps", &child).await;
    let follows = || with(item("c", &uid, delete("Cascade")), json!({"marked": [parent]}));
    assert_eq!(told(&bulk(&world, vec![follows()]).await), ["409 NotMarked"]);
    let refused = with(item("p", &parent, delete("Cascade")), json!({"owners": ["u"]}));
    let results = bulk(&world, vec![refused, follows()]).await;
    assert_eq!(told(&results), ["409 OwnersChanged", "409 NotMarked"]);
    let both = vec![item("p", &parent, delete("Cascade")), follows()];
    assert_eq!(told(&bulk(&world, both).await), ["marked", "marked"]);
}

/// What follows from something else never changes what somebody asked for.
#[tokio::test]
async fn what_is_marked_stays_as_it_was_asked_for() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    world.delete("configmaps/a", &json!({"propagationPolicy": "Foreground"})).await.expect(200);
    let follows = with(item("a", &uid, delete("Background")), json!({"unmarked": true}));
    let head = world.head().await;
    assert_eq!(told(&bulk(&world, vec![follows]).await), ["unchanged"]);
    assert_eq!(world.head().await, head);
    let left = world.get("configmaps/a").await.document(200);
    assert_eq!(left["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let other = made(&world, "configmaps", &config_map("b")).await;
    let goes = with(item("b", &other, delete("Background")), json!({"unmarked": true}));
    assert_eq!(told(&bulk(&world, vec![goes]).await), ["removed"]);
}

#[tokio::test]
async fn what_is_protected_is_not_deleted_if_that_matters() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let gone = || with(item("a", &uid, delete("Background")), json!({"unprotected": true}));
    let protect = |value: Value| json!({"metadata": {"annotations": {"sexton.dev/protect": value}}});
    world.merge("configmaps/a", &protect(json!("it is mine"))).await.expect(200);
    assert_eq!(told(&bulk(&world, vec![gone()]).await), ["409 Protected"]);
    world.merge("configmaps/a", &protect(json!("false"))).await.expect(200);
    assert_eq!(told(&bulk(&world, vec![gone()]).await), ["removed"]);
}
