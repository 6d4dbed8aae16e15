//! The evidence of a write: what it must not be carried out without, and every answer that leaves it open.

use serde_json::json;
use sexton_model::bulk::{Item, Outcome};
use sexton_model::raw::Raw;
use sexton_testkit::World;
use sexton_testkit::things::{config_map, core, owner};

use crate::bulk::{delete, gateway, item, one, patch, reason};
use crate::faults::{Fault, Faults};

/// A dependent of a secret that may or may not exist.
async fn dependent(world: &World, uid: &str) -> Item {
    let mut document = config_map("child");
    document["metadata"]["ownerReferences"] = json!([owner("Secret", "parent", uid)]);
    world.create("configmaps", &document).await.expect(201);
    let mut child = item(world, "configmaps", "child", delete("Background")).await;
    child.absent = vec![uid.to_owned()];
    child
}

/// Race 1, race 4: the owner is asked for under the name that the object itself gives; a successor of the same name is
/// another life.
#[tokio::test]
async fn an_owner_that_lives_keeps_what_rests_on_its_absence() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let gateway = gateway(&client);
    let uid = world.create("secrets", &core("Secret", "parent")).await.expect(201);
    let child = dependent(&world, uid.text_at("metadata.uid")).await;
    let kept = one(&gateway, child.clone()).await;
    assert_eq!(reason(&kept), (409, "StillPresent".into()));
    assert_eq!(kept.status.unwrap().details.unwrap().causes[0].message, child.absent[0]);

    world.delete("secrets/parent", &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.create("secrets", &core("Secret", "parent")).await.expect(201);
    let done = one(&gateway, child).await;
    assert_eq!(done.outcome, Some(Outcome::Removed));
    assert!(done.weaker.unwrap().starts_with("absent: "));
}

/// Race 18, and false answers of servers that are starting: whatever is not a clear "there is no such object" keeps
/// the dependent.
#[tokio::test]
async fn unknown_never_deletes() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let gateway = gateway(&client);
    let child = dependent(&world, "uid-of-nobody").await;
    for (fault, code) in [(403, 403), (404, 503), (500, 500), (503, 503)] {
        faults.on(&["/secrets/parent"], Fault::Code(fault));
        assert_eq!(one(&gateway, child.clone()).await.code, code, "{fault}");
        faults.heal();
    }
    let mut document = config_map("strange");
    let foreign = json!({"apiVersion": "gone.example.com/v1", "kind": "Gone", "name": "x", "uid": "u"});
    document["metadata"]["ownerReferences"] = json!([foreign]);
    world.create("configmaps", &document).await.expect(201);
    let mut strange = item(&world, "configmaps", "strange", delete("Background")).await;
    strange.absent = vec!["u".into()];
    let refused = one(&gateway, strange.clone()).await;
    assert_eq!(refused.code, 503);
    assert!(refused.status.unwrap().message.contains("does not serve Gone of gone.example.com/v1"));
    let unserved = Item { group: "gone.example.com".into(), resource: "gones".into(), ..strange };
    assert_eq!(one(&gateway, unserved).await.code, 503, "a kind that is not served is not an absent object");
    for name in ["child", "strange"] {
        world.get(&format!("configmaps/{name}")).await.expect(200);
    }
    assert_eq!(one(&gateway, child).await.outcome, Some(Outcome::Removed));
}

/// Race 8: an owner in a namespace that cannot be known.
#[tokio::test]
async fn a_cluster_wide_object_cannot_rest_on_an_owner_in_a_namespace() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "n", "ownerReferences": [owner("Secret", "s", "u")]}});
    world.create("/api/v1/namespaces", &namespace).await.expect(201);
    let mut child = item(&world, "namespaces", "n", delete("Background")).await;
    child.absent = vec!["u".into()];
    assert_eq!(one(&gateway(&client), child).await.code, 422);
    world.get("/api/v1/namespaces/n").await.expect(200);
}

/// Race 11: references that changed since they were judged have to be judged again, even without a version.
#[tokio::test]
async fn references_that_changed_are_no_evidence() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let child = Item { resource_version: None, ..dependent(&world, "uid-of-nobody").await };
    let strip = item(&world, "configmaps", "child", patch(&[], &[], &["uid-of-nobody"])).await;
    assert_eq!(one(&gateway(&client), strip).await.outcome, Some(Outcome::Patched));
    assert_eq!(reason(&one(&gateway(&client), child).await), (409, "Conflict".into()));
}

#[tokio::test]
async fn what_cannot_be_checked_is_said_to_be_weaker() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    world.create("configmaps", &config_map("a")).await.expect(201);
    let mut last = item(&world, "configmaps", "a", delete("Background")).await;
    (last.unreferenced, last.tombstone) = (true, Raw::of(&json!({"reason": "why not"})).ok());
    let weaker = one(&gateway(&client), last).await.weaker.unwrap();
    assert!(weaker.starts_with("unreferenced: ") && weaker.contains("tombstone: "), "{weaker}");
}
