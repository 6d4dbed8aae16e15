//! Deployments that do not sweep: dry ones, previews, parts, and modules that do not want it.

use std::collections::BTreeSet;

use serde_json::json;
use sexton_collector::modules::{Deployment, PlanError, PutAction, Sweep};
use sexton_testkit::World;

use crate::common::*;

async fn order(world: &World, name: &str) -> i64 {
    annotation(world, name, ORDER).await.parse().unwrap()
}

/// REQ-CLD-18, REQ-CLD-19, REQ-CLD-20, REQ-CLD-21, REQ-CLD-22, REQ-CLD-23: nothing is deleted, and the unmarked get
/// places behind all that are marked, in their old order.
#[tokio::test]
async fn a_dry_deployment_renumbers() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "c", "d"]).await;
    let dry = Deployment { dry_gc: true, ..shop("d2", maps(&["d", "x", "y"])) };
    let planned = plan(&world, &dry).await.unwrap();
    assert_eq!((&planned.sweep, planned.victims.len()), (&Sweep::Renumber, 3));
    let deployed = apply(&world, &dry).await;
    assert_eq!((deployed.swept.accused.len(), deployed.swept.renumbered), (0, 3));
    assert_eq!((accused(&world).await.len(), left(&world).await.len()), (0, 6));
    let marked = [order(&world, "d").await, order(&world, "x").await, order(&world, "y").await];
    assert_eq!(marked, [1, 2, 3]);
    let unmarked = [order(&world, "a").await, order(&world, "b").await, order(&world, "c").await];
    assert_eq!(unmarked, [4, 5, 6]);
    assert_eq!(record(&world, "shop").await["status"]["sealed"]["deploymentId"], "d2", "and it is sealed");
}

/// REQ-CLD-24: after any number of dry deployments the next sweep has an order, and takes all of them.
#[tokio::test]
async fn after_many_dry_deployments_there_is_an_order() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "c"]).await;
    for (id, names) in [("d2", vec!["c", "d", "e"]), ("d3", vec!["e"]), ("d4", vec!["e", "f"])] {
        apply(&world, &Deployment { dry_gc: true, ..shop(id, maps(&names)) }).await;
    }
    // Those that left later stand, as always, where they stood relative to those that left before.
    let planned = plan(&world, &shop("d5", maps(&["f"]))).await.unwrap();
    let names: Vec<&str> = planned.victims.iter().map(|victim| victim.member.name.as_str()).collect();
    assert_eq!(names, ["b", "a", "d", "c", "e"]);
    apply_maps(&world, "d5", &["f"]).await;
    collect(&world).await;
    assert_eq!(left(&world).await, ["f"]);
}

/// REQ-CLD-19: what a dry deployment leaves alone, an earlier sweep that was not carried through leaves alone as well; and
/// with it what was put there.
#[tokio::test]
async fn a_dry_deployment_ends_an_earlier_sweep() {
    let world = World::new().await;
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}});
    apply(&world, &shop("d1", sources([space, map("a"), map("b")]))).await;
    assert_eq!(apply_maps(&world, "d2", &["a"]).await.swept.accused.len(), 2);
    let mut inside = map("inside");
    inside["metadata"]["namespace"] = json!("web");
    let documents = || sources([map("a"), inside.clone()]);
    // The sweep goes on, so that whatever is put there would go with it.
    for refused in
        [shop("d3", documents()), Deployment { only: Some(BTreeSet::from([1])), ..shop("d3", documents()) }]
    {
        let error = plan(&world, &refused).await.unwrap_err();
        assert!(matches!(error, PlanError::Refused(_)), "{error}");
    }
    apply(&world, &Deployment { dry_gc: true, ..shop("d3", documents()) }).await;
    assert_eq!(accused(&world).await.len(), 0);
    collect(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
    world.get("/api/v1/namespaces/web/configmaps/inside").await.expect(200);
}

/// A preview writes nothing at all: the store is the same, byte for byte.
#[tokio::test]
async fn a_preview_leaves_every_byte_alone() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "old"]).await;
    world.merge("configmaps/b", &json!({"metadata": {"labels": {"x": "y"}}})).await.expect(200);
    stray(&world, "foreign", json!({})).await;
    let (before, head) = (world.dump().await, world.head().await);
    let line = Line::new(&world, |_, _| Fate::Passes);
    let modules = over(&world, line.client(), "tests-2").await;
    let mut changed = map("a");
    changed["data"] = json!({"k": "other", "new": "1"});
    let documents = sources([changed, map("b"), map("foreign"), map("new")]);
    for dry_gc in [false, true] {
        let deployment = Deployment { dry_gc, ..shop("d2", documents.clone()) };
        let plan = modules.plan(&deployment).await.unwrap();
        let actions: Vec<PutAction> = plan.puts.iter().map(|put| put.action).collect();
        assert_eq!(actions, [PutAction::Change, PutAction::Unchanged, PutAction::Adopt, PutAction::Create]);
        let changes: Vec<&str> = plan.puts[0].changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(changes, ["data.k", "data.new"]);
        assert_eq!(plan.victims.len(), 1);
    }
    modules.plan_destroy("shop").await.unwrap();
    assert_eq!(world.head().await, head);
    assert!(world.dump().await == before, "something was written");
    assert_eq!(line.writes(), 0, "{:?}", line.seen());
}

/// The digest says whether the same would be done, whatever the deployment is called.
#[tokio::test]
async fn the_digest_stands_for_what_would_be_done() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "c"]).await;
    let digest = async |id: &str, names: &[&str]| plan(&world, &shop(id, maps(names))).await.unwrap().digest;
    let seen = digest("d2", &["a", "b"]).await;
    assert_eq!(seen, digest("other", &["a", "b"]).await);
    assert_ne!(seen, digest("d2", &["a"]).await, "another victim");
    assert_ne!(seen, digest("d2", &["b", "a"]).await, "another order");
    world.merge("configmaps/a", &json!({"metadata": {"labels": {"x": "y"}}})).await.expect(200);
    assert_eq!(seen, digest("d2", &["a", "b"]).await, "what others manage is not ours");
}

/// EXT-5: a part of the documents is put; nothing is sealed, swept or renumbered, and it says so.
#[tokio::test]
async fn a_part_sweeps_nothing() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "old"]).await;
    let part = Deployment { only: Some(BTreeSet::from([1])), ..shop("d2", maps(&["a", "b", "new"])) };
    let planned = plan(&world, &part).await.unwrap();
    assert_eq!((planned.puts.len(), planned.puts[0].order), (1, 2));
    assert!(matches!(&planned.sweep, Sweep::None { why } if why.contains("only a part")));
    let heard = Heard::default();
    let deployed = modules(&world).await.deploy(&planned, &|event| heard.hear(event)).await.unwrap();
    assert!(deployed.swept.why_not.unwrap().contains("only a part"));
    assert_eq!(heard.words(), ["locked", "intended", "put ConfigMap/default/b", "not swept"]);
    assert_eq!(annotation(&world, "b", DEPLOYMENT).await, "d2");
    assert_eq!((order(&world, "old").await, accused(&world).await.len()), (3, 0));
    let status = record(&world, "shop").await["status"].clone();
    assert_eq!((&status["sealed"]["deploymentId"], &status["phase"]), (&json!("d1"), &json!("Sealed")));
    assert_eq!(status["intent"], json!(null));
}

/// REQ-CLD-25, REQ-CLD-26, REQ-CLD-27: a module without support for it never sweeps; turned on for the first time, all
/// that is unmarked is listed before, and swept after.
#[tokio::test]
async fn support_can_be_turned_on_later() {
    let world = World::new().await;
    let without = |id: &str, names: &[&str]| {
        let mut deployment = shop(id, maps(names));
        deployment.spec.support_gc = false;
        deployment
    };
    apply(&world, &without("d1", &["a", "b", "c"])).await;
    let off = apply(&world, &without("d2", &["a"])).await;
    assert!(off.swept.why_not.unwrap().contains("supportGc"));
    assert_eq!((accused(&world).await.len(), left(&world).await.len()), (0, 3));
    let planned = plan(&world, &shop("d3", maps(&["a"]))).await.unwrap();
    assert!(planned.first_gc, "somebody has to be asked");
    let names: Vec<&str> = planned.victims.iter().map(|victim| victim.member.name.as_str()).collect();
    assert_eq!(names, ["c", "b"]);
    apply_maps(&world, "d3", &["a"]).await;
    assert_eq!(accused(&world).await, ["b", "c"]);
    assert!(
        !plan(&world, &shop("d4", maps(&["a"]))).await.unwrap().first_gc,
        "not for the first time any more"
    );
}

/// REQ-CLD-27: with nothing unmarked, there is nothing to ask about.
#[tokio::test]
async fn without_unmarked_resources_nobody_is_asked() {
    let world = World::new().await;
    let mut deployment = shop("d1", maps(&["a"]));
    deployment.spec.support_gc = false;
    apply(&world, &deployment).await;
    let planned = plan(&world, &shop("d2", maps(&["a"]))).await.unwrap();
    assert!(!planned.first_gc && planned.victims.is_empty());
}
