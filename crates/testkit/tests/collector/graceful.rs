//! A collector that is told to stop in the middle of a destruction: it finishes the calls under way, and the next one
//! does the rest without being woken by anything.

use std::sync::Arc;

use serde_json::json;
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, Scripted, World};

use crate::accused::{accuse, member, said};
use crate::common::{delete, hears, left, make, make_with};
use crate::murano::stage;

/// Stops a collector during the call `hanging`, which is answered afterwards, and starts the next one, which bears
/// this name. Gives back all calls, sorted.
async fn handed_over(
    world: &World,
    first: &Arc<Scripted>,
    hanging: &str,
    next: &str,
    begin: impl Future<Output = ()>,
) -> Vec<String> {
    let (answer, wait) = tokio::sync::oneshot::channel::<()>();
    first.during(hanging, async move { _ = wait.await });
    let mut one = Collecting::scripted(world, first);
    one.until(|summary| summary.acts && summary.synced).await;
    begin.await;
    one.until(|summary| summary.calls > 0 && first.heard().contains(&hanging.to_owned())).await;
    let draining = tokio::spawn(one.drain());
    answer.send(()).unwrap();
    draining.await.unwrap();
    let second: Arc<Scripted> = Arc::default();
    let mut two = Collecting::with(world, quick(next), second.clone());
    two.until(|summary| summary.acts).await;
    two.settled(world).await;
    let mut calls = [first.heard(), second.heard()].concat();
    calls.sort();
    calls
}

/// The calls of a destruction of `app`, `vm` and `net`, where `ear` hears of `vm`.
const ALL: [&str; 6] = [
    "destroyed gone vm",
    "destroying destroy app",
    "destroying destroy net",
    "destroying destroy vm",
    "notifying gone vm",
    "warning gone vm",
];

/// EXT-26: what a sweep has begun is finished by the next collector, whenever the one before it was told to stop, and no
/// call is made twice.
#[tokio::test]
async fn a_sweep_goes_on_after_a_graceful_stop() {
    for (hanging, next) in ALL.iter().flat_map(|call| [(*call, "tests"), (*call, "somebody else")]) {
        let (world, hooks) = stage().await;
        let mut lives = Vec::new();
        for (name, order) in [("net", 1), ("vm", 2), ("app", 3)] {
            lives.push((name, member(&world, name, order).await));
        }
        make_with(&world, "ear", &[], hears(&["vm"])).await;
        let begin = async {
            let lives: Vec<(&str, &str)> = lives.iter().map(|(name, uid)| (*name, uid.as_str())).collect();
            accuse(&world, &lives, &said(Some("d1"))).await;
        };
        let calls = handed_over(&world, &hooks, hanging, next, begin).await;
        assert_eq!(left(&world).await, ["ear"], "stopped during {hanging}, then {next}: {calls:?}");
        assert_eq!(calls, ALL, "stopped during {hanging}, then {next}");
    }
}

/// EXT-26: the same where a user asked for the deletion.
#[tokio::test]
async fn a_deletion_goes_on_after_a_graceful_stop() {
    for hanging in ALL {
        let (world, hooks) = stage().await;
        let net = make(&world, "net", &[]).await;
        let vm = make(&world, "vm", &[("net", &net)]).await;
        make(&world, "app", &[("vm", &vm)]).await;
        make_with(&world, "ear", &[], hears(&["vm"])).await;
        let begin = async { assert_eq!(delete(&world, "configmaps/net", "").await, 200) };
        let calls = handed_over(&world, &hooks, hanging, "tests", begin).await;
        assert_eq!(left(&world).await, ["ear"], "stopped during {hanging}: {calls:?}");
        assert_eq!(calls, ALL, "stopped during {hanging}");
    }
}

/// Orphans are accused by the collector itself: a family of them, and two that hear of each other.
#[tokio::test]
async fn orphans_go_on_after_a_graceful_stop() {
    for hanging in ["destroying destroy leaf", "notifying gone left", "destroying destroy right"] {
        let (world, hooks) = stage().await;
        let root = make(&world, "root", &[("never", "never-was")]).await;
        let orphaned = |hears: serde_json::Value| {
            let mut more = hears;
            more["ownerReferences"] = json!([
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "never", "uid": "never-was"}
            ]);
            more
        };
        let begin = async {
            make(&world, "leaf", &[("root", &root)]).await;
            make_with(&world, "left", &[], orphaned(hears(&["right"]))).await;
            make_with(&world, "right", &[], orphaned(hears(&["left"]))).await;
        };
        // The root waits: it is protected until its leaf is there.
        let protect = |value| json!({"metadata": {"annotations": {"sexton.dev/protect": value}}});
        world.merge("configmaps/root", &protect(json!("true"))).await.expect(200);
        let begin = async {
            begin.await;
            world.merge("configmaps/root", &protect(json!(null))).await.expect(200);
        };
        let calls = handed_over(&world, &hooks, hanging, "tests", begin).await;
        assert_eq!(left(&world).await, Vec::<String>::new(), "stopped during {hanging}: {calls:?}");
    }
}
