//! While something is being deleted: holds that only the destruction takes off, and owners that stay.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, owner, widget, widgets};

use crate::bulk::{as_collector, bulk, delete, item, made, release, told};

fn subscriber(name: &str, to: &str) -> Value {
    let mut document = config_map(name);
    document["metadata"]["annotations"] = json!({"sexton.dev/destruction-dependencies": to});
    document
}

async fn finalizers(world: &World, path: &str) -> Value {
    world.get(path).await.document(200)["metadata"]["finalizers"].clone()
}

/// However it is deleted: what somebody subscribes to is held until that has been told.
#[tokio::test]
async fn a_subscription_holds_its_target() {
    let world = World::new().await;
    for name in ["by-delete", "by-collection", "by-bulk", "free"] {
        let mut document = config_map(name);
        document["metadata"]["labels"] = json!({"name": name});
        world.create("configmaps", &document).await.expect(201);
    }
    let all =
        "- ConfigMap/by-delete\n- ConfigMap/default/by-collection\n- target: ConfigMap/by-bulk\n  count: 2\n";
    world.create("configmaps", &subscriber("s", all)).await.expect(201);
    let background = json!({"propagationPolicy": "Background"});
    world.delete("configmaps/by-delete", &background).await.expect(200);
    world.delete("configmaps?labelSelector=name%3Dby-collection", &background).await.expect(200);
    let uid =
        world.get("configmaps/by-bulk").await.document(200)["metadata"]["uid"].as_str().unwrap().to_owned();
    assert_eq!(told(&bulk(&world, vec![item("by-bulk", &uid, delete("Background"))]).await), ["marked"]);
    for name in ["by-delete", "by-collection", "by-bulk"] {
        assert_eq!(finalizers(&world, &format!("configmaps/{name}")).await, json!(["sexton.dev/destroy"]));
    }
    world.delete("configmaps/free", &background).await.expect(200);
    world.get("configmaps/free").await.expect(404);
    // The hold goes through the bulk verb, and comes back with no second deletion.
    assert_eq!(
        told(&as_collector(&world, vec![item("by-bulk", &uid, release(&["sexton.dev/destroy"]))]).await),
        ["removed"]
    );
}

/// By life, for itself, in another namespace, and to a kind without namespaces.
#[tokio::test]
async fn every_form_of_subscription_holds() {
    let world = World::new().await;
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "far"}})).await.expect(201);
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let uid = made(&world, "configmaps", &config_map("life")).await;
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    world.create("configmaps", &subscriber("own", "self")).await.expect(201);
    let all = format!(
        "- {{target: ConfigMap/any, uid: {uid}}}\n- Namespace/far\n- Widget.demo.example.com/default/w"
    );
    world
        .create("/api/v1/namespaces/default/secrets", &with_kind(subscriber("s", &all), "Secret"))
        .await
        .expect(201);
    let background = json!({"propagationPolicy": "Background"});
    for path in ["configmaps/life", "configmaps/own", "/api/v1/namespaces/far", &format!("{WIDGETS}/w")] {
        world.delete(path, &background).await.expect(200);
        assert_eq!(finalizers(&world, path).await, json!(["sexton.dev/destroy"]), "{path}");
    }
    // The subscription was to that life: its successor is free.
    assert_eq!(
        told(&as_collector(&world, vec![item("life", &uid, release(&["sexton.dev/destroy"]))]).await),
        ["removed"]
    );
    world.create("configmaps", &config_map("life")).await.expect(201);
    world.delete("configmaps/life", &background).await.expect(200);
    world.get("configmaps/life").await.expect(404);
}

fn with_kind(mut document: Value, kind: &str) -> Value {
    document["kind"] = kind.into();
    document.as_object_mut().unwrap().remove("data");
    document
}

/// Once the destruction is through, a second deletion does not begin it anew.
#[tokio::test]
async fn the_hold_is_put_on_once() {
    let world = World::new().await;
    let mut document = config_map("a");
    document["metadata"]["finalizers"] = json!(["example.com/mine"]);
    let uid = made(&world, "configmaps", &document).await;
    world.create("configmaps", &subscriber("s", "ConfigMap/a")).await.expect(201);
    world.delete("configmaps/a", &json!({})).await.expect(200);
    let holds = ["example.com/mine", "cascade_deletion", "sexton.dev/destroy"];
    assert_eq!(finalizers(&world, "configmaps/a").await, json!(holds));
    assert_eq!(
        told(&as_collector(&world, vec![item("a", &uid, release(&["sexton.dev/destroy"]))]).await),
        ["patched"]
    );
    world.delete("configmaps/a", &json!({})).await.expect(200);
    assert_eq!(finalizers(&world, "configmaps/a").await, json!(holds[..2]));
}

/// Subscriptions come while objects go: whoever subscribed before the removal is never missed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_subscription_is_missed() {
    let world = Arc::new(World::new().await);
    for round in 0..60 {
        let name = format!("t{round}");
        made(&world, "configmaps", &config_map(&name)).await;
        let subscribing = tokio::spawn({
            let (world, document) =
                (world.clone(), subscriber(&format!("s{round}"), &format!("ConfigMap/{name}")));
            async move { world.create("configmaps", &document).await.document(201) }
        });
        let mut watch =
            world.watch(&format!("configmaps?watch=true&fieldSelector=metadata.name%3D{name}")).await;
        let path = format!("configmaps/{name}");
        world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
        let version = |document: &Value| -> u64 {
            document["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
        };
        let born = version(&subscribing.await.unwrap());
        let after = world.get(&path).await;
        if after.code == 404 {
            let removal = loop {
                let event = watch.next().await.unwrap();
                if event["type"] == "DELETED" {
                    break version(&event["object"]);
                }
            };
            assert!(removal < born, "round {round}: removed at {removal}, subscribed at {born}");
        } else {
            assert_eq!(after.document(200)["metadata"]["finalizers"], json!(["sexton.dev/destroy"]));
        }
    }
}

/// A subscription that is written after the deletion was decided, and before it is committed, holds the object.
#[tokio::test]
async fn a_subscription_of_the_last_moment_holds() {
    let world = World::new().await;
    let subscriber = made(&world, "configmaps", &config_map("s")).await;
    let target = made(&world, "configmaps", &config_map("t")).await;
    let subscribe = json!({"patch": {"annotations": {"sexton.dev/destruction-dependencies": "ConfigMap/t"}}});
    // Both are decided before the first is committed.
    let items = vec![item("s", &subscriber, subscribe), item("t", &target, delete("Background"))];
    assert_eq!(told(&bulk(&world, items).await), ["patched", "marked"]);
    assert_eq!(finalizers(&world, "configmaps/t").await, json!(["sexton.dev/destroy"]));
}

/// EXT-14: users cannot take off what the destruction or the cascade waits for; they are told what to type.
#[tokio::test]
async fn holds_of_the_destruction_stay() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create("configmaps", &subscriber("s", "ConfigMap/a")).await.expect(201);
    world.delete("configmaps/a", &json!({"propagationPolicy": "Background"})).await.expect(200);
    let refused = world.merge("configmaps/a", &json!({"metadata": {"finalizers": null}})).await.document(403);
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("sexton why configmap/a -n default"), "{message}");
    assert!(message.contains("sexton force configmap/a -n default"), "{message}");
    let mut document = world.get("configmaps/a").await.document(200);
    document["metadata"]["finalizers"] = json!([]);
    world.put("configmaps/a", &document).await.expect(403);
    // Before the deletion it is a finalizer like any other.
    let mut early = config_map("early");
    early["metadata"]["finalizers"] = json!(["sexton.dev/destroy", "sexton.dev/in-use"]);
    world.create("configmaps", &early).await.expect(201);
    world
        .merge("configmaps/early", &json!({"metadata": {"finalizers": ["sexton.dev/in-use"]}}))
        .await
        .expect(200);
    world.delete("configmaps/early", &json!({})).await.expect(200);
    world.merge("configmaps/early", &json!({"metadata": {"finalizers": null}})).await.expect(403);
}

/// EXT-14: `cascade_deletion` comes off when nothing names the object as its owner, and not before.
#[tokio::test]
async fn the_cascade_is_not_cut_short() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("p")).await;
    for name in ["a", "b", "c", "d"] {
        let mut document = config_map(name);
        document["metadata"]["ownerReferences"] = json!([owner("ConfigMap", "p", &uid)]);
        world.create("configmaps", &document).await.expect(201);
    }
    world.delete("configmaps/p", &json!({})).await.expect(200);
    let free = json!({"metadata": {"finalizers": null}});
    for path in ["configmaps/p", "configmaps/p?dryRun=All"] {
        let refused = world.merge(path, &free).await.document(409);
        assert_eq!(refused["reason"], "StillReferenced");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("configmaps/default/a") && !message.contains("default/d"), "{message}");
    }
    // Nor where something else still holds it.
    world.create("configmaps", &config_map("other")).await.expect(201);
    for name in ["a", "b", "c", "d"] {
        let path = format!("configmaps/{name}");
        world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
    }
    world.merge("configmaps/p?dryRun=All", &free).await.expect(200);
    world.merge("configmaps/p", &free).await.expect(200);
    world.get("configmaps/p").await.expect(404);
}

/// EXT-14: owners stay while an object is being deleted; they can only be let go of.
#[tokio::test]
async fn owners_only_leave_what_is_being_deleted() {
    let world = World::new().await;
    let (p, q) = (
        made(&world, "configmaps", &config_map("p")).await,
        made(&world, "configmaps", &config_map("q")).await,
    );
    let mut document = config_map("a");
    document["metadata"]["ownerReferences"] =
        json!([owner("ConfigMap", "p", &p), owner("ConfigMap", "q", &q)]);
    world.create("configmaps", &document).await.expect(201);
    world.delete("configmaps/a", &json!({})).await.expect(200);
    let owners = |list: Value| json!({"metadata": {"ownerReferences": list}});
    let mut changed = owner("ConfigMap", "p", &p);
    changed["blockOwnerDeletion"] = true.into();
    for refused in [
        json!([owner("ConfigMap", "p", &p), owner("ConfigMap", "q", &q), owner("ConfigMap", "r", "u")]),
        json!([changed]),
    ] {
        let answer = world.merge("configmaps/a", &owners(refused)).await.document(422);
        assert!(answer["message"].as_str().unwrap().contains("metadata.ownerReferences["));
    }
    world.merge("configmaps/a", &owners(json!([owner("ConfigMap", "q", &q)]))).await.expect(200);
    world.merge("configmaps/a", &owners(Value::Null)).await.expect(200);
    world.merge("configmaps/a", &owners(json!([owner("ConfigMap", "q", &q)]))).await.expect(422);
}
