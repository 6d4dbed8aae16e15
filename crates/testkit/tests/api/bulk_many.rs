//! What a bulk says of many lives at once, and in many commits.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::config_map;

use crate::bulk::{BULK, as_collector, bulk, delete, item, made, release, told, with};
use crate::bulk_conditions::child;

/// What many have in common is said once; each of them still stands or falls alone.
#[tokio::test]
async fn what_is_said_of_many_holds_for_each() {
    let world = World::new().await;
    let owner_uid = made(&world, "configmaps", &config_map("p")).await;
    let mut uids = Vec::new();
    for name in ["a", "b", "c"] {
        uids.push(made(&world, "configmaps", &child(name, "p", &owner_uid)).await);
    }
    let also = json!([["b", "another"], ["c", uids[2]]]);
    let shared = |more: Value| with(item("a", &uids[0], delete("Background")), more);
    let kept = shared(json!({"also": also, "absent": [owner_uid]}));
    assert_eq!(
        told(&bulk(&world, vec![kept]).await),
        ["409 StillPresent", "404 NotFound", "409 StillPresent"]
    );
    let gone = shared(json!({"also": also, "owners": [owner_uid]}));
    let last = with(item("b", &uids[1], delete("Background")), json!({"owners": []}));
    let results = bulk(&world, vec![gone]).await;
    assert_eq!(told(&results), ["removed", "404 NotFound", "removed"]);
    assert_eq!(told(&bulk(&world, vec![last]).await), ["409 OwnersChanged"]);
    for (more, why) in [
        (json!({"also": [["a", "x"]]}), "occurs twice"),
        (json!({"also": [["b", ""]]}), "needs resource, name and uid"),
        (json!({"also": [["b", "x"]], "resourceVersion": "1"}), "about one life only"),
        (json!({"also": [["b", "x"]], "tombstone": {}}), "about one life only"),
    ] {
        let refused = world.create(BULK, &json!({"items": [shared(more)]})).await.document(400);
        assert!(refused["message"].as_str().unwrap().contains(why), "{refused}");
    }
}

/// A request of more than one commit: the owner, last, goes because all before it did.
#[tokio::test]
async fn the_order_holds_over_many_commits() {
    let world = World::new().await;
    let mut root = config_map("root");
    root["metadata"]["finalizers"] = json!(["example.com/mine"]);
    let root = made(&world, "configmaps", &root).await;
    let mut also = Vec::new();
    for number in 0..1_300 {
        let name = format!("c{number}");
        let uid = made(&world, "configmaps", &child(&name, "root", &root)).await;
        also.push(json!([name, uid]));
    }
    world.delete("configmaps/root", &json!({})).await.expect(200);
    let first = also.remove(0);
    let name = |life: &Value, at: usize| life[at].as_str().unwrap().to_owned();
    let children =
        with(item(&name(&first, 0), &name(&first, 1), delete("Background")), json!({"also": also}));
    let owner = with(
        item("root", &root, release(&["example.com/mine", "cascade_deletion"])),
        json!({"unreferenced": true}),
    );
    assert_eq!(told(&as_collector(&world, vec![owner.clone()]).await), ["409 StillReferenced"]);
    let results = told(&as_collector(&world, vec![children, owner]).await);
    assert_eq!(results.len(), 1_301);
    assert!(results.iter().all(|result| result == "removed"), "{results:?}");
}
