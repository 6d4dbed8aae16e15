//! Events about what the collector does: why something goes, what is in its way, and never one for each of many.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sexton_client::foreign::{BulkOptions, FeedOptions};
use sexton_client::{ForeignGateway, Resources};
use sexton_collector::hooks::Hooks;
use sexton_collector::{EventSettings, Means, Runner, Settings};
use sexton_model::hook::Verdict;
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, Scripted, World};

use crate::common::{ask, class, delete, left, make, make_with};

const FINALIZER: &str = "backup.example.com/copy";

/// Settings with which everything is told after a moment of this length.
fn telling(moment: Duration) -> Settings {
    Settings { events: Some(EventSettings { moment }), ..quick("tests") }
}

fn tells(world: &World, runner: Arc<dyn Runner>) -> Collecting {
    Collecting::with(world, telling(Duration::ZERO), runner)
}

/// All events of a namespace.
async fn events(world: &World, namespace: &str) -> Vec<Value> {
    let listed = world.get(&format!("/api/v1/namespaces/{namespace}/events")).await.document(200);
    listed["items"].as_array().unwrap().clone()
}

/// Waits for an event of a reason about an object.
async fn event(world: &World, reason: &str, name: &str) -> Value {
    let fields = format!("involvedObject.name={name},reason={reason}");
    let path =
        format!("/api/v1/namespaces/default/events?watch=true&resourceVersion=0&fieldSelector={fields}");
    let mut watch = world.watch(&path).await;
    watch.next().await.expect("the watch ended early")["object"].clone()
}

/// EXT-18: who held it is told on whoever is held, who waits is told on the root, and both say why.
#[tokio::test]
async fn what_is_in_the_way_is_told() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    let kept = make_with(&world, "kept", &[("root", &root)], json!({"finalizers": [FINALIZER]})).await;
    let collecting = tells(&world, Arc::new(Hooks::new()));
    delete(&world, "configmaps/root", "Foreground").await;
    let blocked = event(&world, "Blocked", "kept").await;
    assert_eq!(blocked["type"], "Warning");
    assert_eq!(blocked["involvedObject"]["uid"], kept.as_str());
    assert_eq!(blocked["involvedObject"]["apiVersion"], "v1");
    assert_eq!(blocked["involvedObject"]["kind"], "ConfigMap");
    assert_eq!(blocked["source"]["component"], "sexton-collector");
    assert_eq!(blocked["reportingComponent"], "sexton-collector");
    assert_eq!(blocked["firstTimestamp"], "2026-11-15T20:00:00Z");
    assert_eq!(blocked["count"], 1);
    let message = blocked["message"].as_str().unwrap();
    assert!(message.starts_with("held by the finalizer backup.example.com/copy"), "{message}");
    let waits = event(&world, "Blocked", "root").await;
    let message = waits["message"].as_str().unwrap();
    assert_eq!(message, "waits for ConfigMap/kept: held by the finalizer backup.example.com/copy");
    let began = event(&world, "Destroying", "root").await;
    assert_eq!(began["type"], "Normal");
    let message = began["message"].as_str().unwrap();
    assert!(message.starts_with("is being destroyed (deleted"), "{message}");
    assert!(message.ends_with("; 1 goes with it"), "{message}");
    drop(collecting);
}

/// What somebody deleted by name and a finalizer of somebody else holds says why it goes, too; and that it was given up.
#[tokio::test]
async fn one_alone_that_waits_and_is_given_up() {
    let world = World::new().await;
    make_with(&world, "alone", &[], json!({"finalizers": [FINALIZER]})).await;
    let mut collecting = tells(&world, Arc::new(Hooks::new()));
    delete(&world, "configmaps/alone", "Background").await;
    event(&world, "Destroying", "alone").await;
    event(&world, "Blocked", "alone").await;
    let force = json!({"want": "force", "blocker": format!("finalizer:{FINALIZER}"), "reason": "no backups any more"});
    ask(&world, "alone", force).await;
    let forced = event(&world, "Forced", "alone").await;
    assert!(forced["message"].as_str().unwrap().ends_with("no backups any more"), "{forced}");
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// What is gone in a moment is not worth an event.
#[tokio::test]
async fn nothing_is_told_of_what_is_gone_in_a_moment() {
    let world = World::new().await;
    make_with(&world, "alone", &[], json!({"finalizers": [FINALIZER]})).await;
    let mut collecting = Collecting::with(&world, telling(Duration::from_secs(3600)), Arc::new(Hooks::new()));
    delete(&world, "configmaps/alone", "Background").await;
    collecting.until(|summary| !summary.blockers.is_empty()).await;
    world.merge("configmaps/alone", &json!({"metadata": {"finalizers": null}})).await.expect(200);
    collecting.settled(&world).await;
    collecting.drain().await;
    assert_eq!(events(&world, "default").await, Vec::<Value>::new());
}

/// EXT-25: every failure of a method is counted in one event.
#[tokio::test]
async fn a_method_that_fails_is_told_each_time() {
    let world = World::new().await;
    class(&world, json!({"retry": {"limit": 5, "backoffSeconds": 1, "maxBackoffSeconds": 1}})).await;
    let hooks = Arc::new(Scripted::default());
    make(&world, "bad", &[]).await;
    (0..2).for_each(|_| {
        hooks.answer("destroying destroy bad", Verdict::Failed { reason: "the disk is busy".to_owned() });
    });
    let mut collecting = tells(&world, hooks.clone());
    delete(&world, "configmaps/bad", "").await;
    let failed = event(&world, "HookFailed", "bad").await;
    assert!(failed["message"].as_str().unwrap().contains("the disk is busy"), "{failed}");
    let path =
        "/api/v1/namespaces/default/events?watch=true&fieldSelector=reason=HookFailed&resourceVersion=";
    let version = failed["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = world.watch(&format!("{path}{version}")).await;
    collecting.settled(&world).await;
    crate::common::pass(&world, 1).await;
    let again = watch.next().await.unwrap();
    assert_eq!((&again["type"], &again["object"]["count"]), (&json!("MODIFIED"), &json!(2)));
    assert_eq!(again["object"]["firstTimestamp"], failed["firstTimestamp"]);
    assert_ne!(again["object"]["lastTimestamp"], failed["lastTimestamp"]);
    collecting.settled(&world).await;
    crate::common::pass(&world, 1).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// What is protected, and what is too much at once, is held; the latter is told on its record.
#[tokio::test]
async fn what_is_held_is_told() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    let protect = json!({"annotations": {"sexton.dev/protect": "the books"}});
    make_with(&world, "kept", &[("root", &root)], protect).await;
    for number in 0..40 {
        make(&world, &format!("orphan-{number}"), &[("gone", "never-was")]).await;
    }
    let collecting = tells(&world, Arc::new(Hooks::new()));
    delete(&world, "configmaps/root", "").await;
    let held = event(&world, "Held", "root").await;
    let message = held["message"].as_str().unwrap();
    assert!(message.starts_with("ConfigMap/default/kept is protected: the books"), "{message}");
    let path = "/api/v1/namespaces/default/events?watch=true&resourceVersion=0&fieldSelector=involvedObject.kind=Collection";
    let mut watch = world.watch(path).await;
    let fuse = watch.next().await.unwrap()["object"].clone();
    assert_eq!((&fuse["reason"], &fuse["type"]), (&json!("Held"), &json!("Warning")));
    assert!(fuse["involvedObject"]["name"].as_str().unwrap().starts_with("held-"), "{fuse}");
    drop(collecting);
}

/// A cascade of many tells that it began and ended, and nothing else; and that the collector writes events
/// does not make it look at the world.
#[tokio::test]
async fn a_cascade_of_many_tells_little() {
    for policy in ["", "Background", "Foreground"] {
        let world = World::new().await;
        let root = make(&world, "root", &[]).await;
        let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "root", "uid": root}]);
        let many = (0..2_000).map(|number| {
            let (name, uid) = (format!("x-{number}"), format!("many-{number}"));
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "uid": uid, "ownerReferences": owner}})
        });
        world.fill_documents("configmaps", many).await;
        let mut collecting = tells(&world, Arc::new(Hooks::new()));
        collecting.settled(&world).await;
        delete(&world, "configmaps/root", policy).await;
        collecting.until(|summary| summary.removed >= 2_000).await;
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, Vec::<String>::new());
        let began = event(&world, "Destroying", "root").await;
        assert!(began["message"].as_str().unwrap().contains("2000"), "{began}");
        let rounds = collecting.settled(&world).await.rounds;
        let told = json!({"metadata": {"name": "x"}, "involvedObject": {"namespace": "default"}});
        world.create("/api/v1/namespaces/default/events", &told).await.expect(201);
        assert_eq!(collecting.settled(&world).await.rounds, rounds, "an event is nothing to look at");
        collecting.drain().await;
        let told = events(&world, "default").await;
        assert!((2..=4).contains(&told.len()), "{policy}: {told:#?}");
    }
}

/// Events of a namespace go with it; what the server does not take there any more is forgotten, and nothing waits.
#[tokio::test]
async fn a_namespace_goes_with_its_events() {
    let world = World::new().await;
    let namespaces = "/api/v1/namespaces";
    world.create(namespaces, &json!({"metadata": {"name": "shop"}})).await.expect(201);
    let maps = "/api/v1/namespaces/shop/configmaps";
    let held = json!({"metadata": {"name": "held", "finalizers": [FINALIZER]}});
    world.create(maps, &held).await.expect(201);
    let event_there = json!({"metadata": {"name": "x"}, "involvedObject": {"namespace": "shop"}});
    world.create("/api/v1/namespaces/shop/events", &event_there).await.expect(201);
    let mut collecting = tells(&world, Arc::new(Hooks::new()));
    delete(&world, &format!("{namespaces}/shop"), "").await;
    // The namespace is in none itself, so there its events can still be read.
    let blocked = event(&world, "Blocked", "shop").await;
    assert!(blocked["message"].as_str().unwrap().contains("waits for ConfigMap/shop/held"), "{blocked}");
    assert_eq!(blocked["metadata"]["namespace"], "default");
    world.merge(&format!("{maps}/held"), &json!({"metadata": {"finalizers": null}})).await.expect(200);
    event(&world, "Destroyed", "shop").await;
    collecting.settled(&world).await;
    world.get(&format!("{namespaces}/shop")).await.expect(404);
    assert_eq!(events(&world, "shop").await, Vec::<Value>::new());
}

/// On a server of another make it is the same, through the same API.
#[tokio::test]
async fn a_foreign_server_hears_it_as_well() {
    let world = World::plain().await;
    let root = make(&world, "root", &[]).await;
    make_with(&world, "kept", &[("root", &root)], json!({"finalizers": [FINALIZER]})).await;
    let means = Means {
        gateway: Arc::new(ForeignGateway::new(world.kube(), FeedOptions::default(), BulkOptions::default())),
        resources: Resources::new(world.kube()),
        runner: Arc::new(Hooks::new()),
        clock: world.shared_nature(),
    };
    let collecting = Collecting::of(means, Settings { takes_orphans: false, ..telling(Duration::ZERO) });
    delete(&world, "configmaps/root", "Foreground").await;
    let blocked = event(&world, "Blocked", "kept").await;
    assert!(blocked["message"].as_str().unwrap().starts_with("held by the finalizer"), "{blocked}");
    drop(collecting);
}

/// Whoever is not to tell writes nothing.
#[tokio::test]
async fn it_can_be_switched_off() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make(&world, "a", &[("root", &root)]).await;
    let mut collecting = Collecting::with(&world, quick("tests"), Arc::new(Hooks::new()));
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    collecting.drain().await;
    assert_eq!(events(&world, "default").await, Vec::<Value>::new());
}
