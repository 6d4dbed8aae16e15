//! Foreground deletion as in Kubernetes: only dependents with `blockOwnerDeletion` hold their owner; the others are
//! deleted, too, and are not waited for.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_client::foreign::{BulkOptions, FeedOptions};
use sexton_client::{ForeignGateway, Resources};
use sexton_collector::Means;
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, Scripted, World};

use crate::common::{class, delete, hears, left, make, make_with, metadata};

const HOLD: &str = "example.com/hold";

/// A dependent of `owner` that has a finalizer of others; what it says of blocking is as given, or nothing.
async fn held(world: &World, name: &str, owner: &str, blocks: Value, more: Value) -> String {
    let mut reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner});
    if !blocks.is_null() {
        reference["blockOwnerDeletion"] = blocks;
    }
    let mut metadata = json!({"ownerReferences": [reference], "finalizers": [HOLD]});
    for (field, value) in more.as_object().unwrap() {
        metadata[field] = value.clone();
    }
    make_with(world, name, &[], metadata).await
}

async fn let_go(world: &World, name: &str) {
    let path = format!("configmaps/{name}");
    let mut document = world.get(&path).await.document(200);
    document["metadata"]["finalizers"].as_array_mut().unwrap().retain(|finalizer| finalizer != HOLD);
    world.put(&path, &document).await.expect(200);
}

/// The collector of our own server, and one that works on any Kubernetes.
fn collectors(world: &World) -> [Box<dyn Fn() -> Collecting + '_>; 2] {
    let elsewhere = || {
        let means = Means {
            gateway: Arc::new(ForeignGateway::new(
                world.kube(),
                FeedOptions::default(),
                BulkOptions::default(),
            )),
            resources: Resources::new(world.kube()),
            runner: Arc::new(Scripted::default()),
            clock: world.shared_nature(),
        };
        Collecting::of(means, quick("elsewhere"))
    };
    [Box::new(|| Collecting::on(world)), Box::new(elsewhere)]
}

/// Two dependents that do not block, by saying so and by saying nothing: the owner is gone while both are held by others.
#[tokio::test]
async fn the_owner_does_not_wait_for_who_does_not_block() {
    for number in 0..2 {
        let world = if number == 0 { World::new().await } else { World::plain().await };
        let owner = make(&world, "owner", &[]).await;
        held(&world, "silent", &owner, Value::Null, json!({})).await;
        held(&world, "free", &owner, json!(false), json!({})).await;
        let mut collecting = collectors(&world)[number]();
        assert_eq!(delete(&world, "configmaps/owner", "Foreground").await, 200);
        collecting.until(|summary| summary.removed > 0).await;
        assert_eq!(left(&world).await, ["free", "silent"], "collector {number}");
        for name in ["free", "silent"] {
            assert!(metadata(&world, name).await["deletionTimestamp"].is_string(), "{name} is deleted, too");
        }
    }
}

/// One that blocks holds the owner until it is gone.
#[tokio::test]
async fn the_owner_waits_for_who_blocks() {
    let world = World::new().await;
    let owner = make(&world, "owner", &[]).await;
    held(&world, "blocks", &owner, json!(true), json!({})).await;
    held(&world, "free", &owner, json!(false), json!({})).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/owner", "Foreground").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["blocks", "free", "owner"], "{summary:?}");
    let_go(&world, "blocks").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["free"]);
}

/// Without a policy the whole cascade goes before its owner, whatever the references say of blocking.
#[tokio::test]
async fn a_cascade_waits_for_everybody() {
    let world = World::new().await;
    let owner = make(&world, "owner", &[]).await;
    held(&world, "free", &owner, json!(false), json!({})).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/owner", "").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["free", "owner"]);
}

/// A dependent that does not block and has to outlive somebody else: it is set terminating at once, so the owner goes, and
/// takes its own steps when its turn comes.
#[tokio::test]
async fn who_does_not_block_and_has_to_wait_holds_nobody() {
    let world = World::new().await;
    class(&world, json!({})).await;
    let owner = make(&world, "owner", &[]).await;
    held(&world, "target", &owner, json!(false), json!({})).await;
    let hears = hears(&["target"]);
    held(&world, "hears", &owner, json!(false), hears).await;
    let hooks: Arc<Scripted> = Arc::default();
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/owner", "Foreground").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["hears", "target"], "{:?}", hooks.heard());
    let_go(&world, "target").await;
    let_go(&world, "hears").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let place = |call: &str| hooks.heard().iter().position(|heard| heard == call).unwrap();
    assert!(place("destroying destroy target") < place("destroying destroy hears"), "{:?}", hooks.heard());
}

/// A dependent that stays, such as a protected one, does not hold the owner either, unless it blocks.
#[tokio::test]
async fn who_stays_holds_the_owner_only_if_it_blocks() {
    for (blocks, expected) in [(false, vec!["stays"]), (true, vec!["owner", "stays"])] {
        let world = World::new().await;
        let owner = make(&world, "owner", &[]).await;
        let protected = json!({"annotations": {"sexton.dev/protect": "true"}});
        held(&world, "stays", &owner, json!(blocks), protected).await;
        let mut collecting = Collecting::on(&world);
        delete(&world, "configmaps/owner", "Foreground").await;
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, expected);
        assert!(metadata(&world, "stays").await["deletionTimestamp"].is_null());
    }
}
