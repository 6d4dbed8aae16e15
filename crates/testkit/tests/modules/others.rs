//! What is not the module's: copies of its label, and what others would lose with it.

use serde_json::{Value, json};
use sexton_collector::modules::{DeployError, Deployment, Event, LeaseError};
use sexton_model::module::ModuleSpec;
use sexton_testkit::World;

use crate::common::*;
use crate::transfer::give;

const NAMESPACES: &str = "/api/v1/namespaces";

fn service(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}})
}

/// REQ-CLD-6: others copy labels from what a module put, to what they make for it. That is in use, and theirs.
#[tokio::test]
async fn copies_of_the_label_are_not_swept() {
    let world = World::new().await;
    apply(&world, &shop("d1", sources([service("web")]))).await;
    let uid = world.get("services/web").await.text_at("metadata.uid").to_owned();
    let owner = json!([{"apiVersion": "v1", "kind": "Service", "name": "web", "uid": uid}]);
    stray(&world, "slice", json!({"labels": {MANAGER: "shop"}, "ownerReferences": owner})).await;
    stray(&world, "endpoints", json!({"labels": {MANAGER: "shop"}})).await;
    let copied = json!({DEPLOYMENT: "d1", ORDER: "1"});
    let route = json!({"labels": {MANAGER: "shop"}, "annotations": copied, "ownerReferences": owner});
    stray(&world, "route", route).await;

    let dry = Deployment { dry_gc: true, ..shop("d2", sources([service("web")])) };
    apply(&world, &dry).await;
    assert_eq!(annotation(&world, "endpoints", ORDER).await, "", "nothing is written on it either");
    let planned = plan(&world, &shop("d3", sources([service("web")]))).await.unwrap();
    assert_eq!((planned.victims.len(), planned.kept.len(), planned.in_scope), (0, 0, 1));
    let told = planned.warnings.join("; ");
    assert!(told.contains("ConfigMap/default/endpoints") && told.contains("never put by it"), "{told}");
    // The owner gets another place; what was copied once stays as it is.
    apply(&world, &shop("d3", sources([service("first"), service("web")]))).await;
    assert_eq!(annotation(&world, "route", ORDER).await, "1");
    let planned = plan(&world, &shop("d4", sources([service("first"), service("web")]))).await.unwrap();
    assert_eq!((planned.victims.len(), planned.kept.len()), (0, 0));
    // With the first document of that kind, somebody may have meant what carries the label.
    let documents = sources([service("first"), service("web"), map("a")]);
    let planned = plan(&world, &shop("d4", documents)).await.unwrap();
    let victims: Vec<&str> = planned.victims.iter().map(|victim| victim.member.name.as_str()).collect();
    assert_eq!(victims, ["endpoints"]);

    let modules = modules(&world).await;
    let end = modules.plan_destroy("shop").await.unwrap();
    assert_eq!((end.victims.len(), end.kept.len()), (2, 3));
}

/// REQ-CLD-6: who wrote an object tells whose it is where its marks do not: what a module put or was given is swept like
/// everything else of it, also if somebody owns it, or took its marks away.
#[tokio::test]
async fn what_a_module_put_is_no_copy() {
    let world = World::new().await;
    apply(&world, &shop("d1", sources([service("web")]))).await;
    let uid = world.get("services/web").await.text_at("metadata.uid").to_owned();
    let owner = json!([{"apiVersion": "v1", "kind": "Service", "name": "web", "uid": uid}]);
    let owned = |name: &str| {
        let mut map = map(name);
        map["metadata"]["ownerReferences"] = owner.clone();
        map
    };
    apply(&world, &shop("d2", sources([service("web"), owned("bare")]))).await;
    let unmark = json!({"metadata": {"annotations": {DEPLOYMENT: null, ORDER: null}}});
    world.merge("configmaps/bare", &unmark).await.expect(200);
    // In the place that its owner has in another module.
    apply(&world, &Deployment::new(ModuleSpec::new("other"), "o1", sources([owned("given")]))).await;
    let copied = json!({"labels": {MANAGER: "shop"}, "ownerReferences": owner});
    stray(&world, "copied", copied.clone()).await;
    stray(&world, "adopted", copied).await;
    let modules = modules(&world).await;
    for name in ["given", "adopted"] {
        modules.transfer(&give(name, "shop")).await.unwrap();
        assert_eq!(
            world.get(&format!("configmaps/{name}")).await.json["metadata"]["labels"][MANAGER],
            "shop"
        );
    }

    let planned = modules.plan(&shop("d3", sources([service("web")]))).await.unwrap();
    let mut victims: Vec<&str> = planned.victims.iter().map(|victim| victim.member.name.as_str()).collect();
    victims.sort_unstable();
    assert_eq!(victims, ["adopted", "bare", "given"]);
    modules.deploy(&planned, &|_| ()).await.unwrap();
    collect(&world).await;
    assert_eq!(left(&world).await, ["copied"]);
}

/// REQ-CLD-27: before a module sweeps for the first time, all that carries its label is shown, of whatever kind.
#[tokio::test]
async fn before_the_first_sweep_the_label_counts() {
    let world = World::new().await;
    let mut deployment = shop("d1", sources([service("web")]));
    deployment.spec.support_gc = false;
    apply(&world, &deployment).await;
    stray(&world, "meant", json!({"labels": {MANAGER: "shop"}})).await;
    let planned = plan(&world, &shop("d2", sources([service("web")]))).await.unwrap();
    let victims: Vec<&str> = planned.victims.iter().map(|victim| victim.member.name.as_str()).collect();
    assert_eq!((victims, planned.first_gc), (vec!["meant"], true));
}

/// EXT-1: a namespace, a definition or an owner takes along what belongs to it, but not what another module put there.
#[tokio::test]
async fn what_belongs_to_another_module_is_not_taken_along() {
    let world = World::new().await;
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}});
    apply(&world, &shop("d1", sources([space, map("a")]))).await;
    let mut theirs = map("theirs");
    theirs["metadata"]["namespace"] = json!("web");
    let other = Deployment::new(ModuleSpec::new("other"), "o1", sources([theirs]));
    apply(&world, &other).await;

    let planned = plan(&world, &shop("d2", maps(&["a"]))).await.unwrap();
    assert!(planned.victims.is_empty() && planned.destruction.is_none());
    assert_eq!(planned.kept[0].why, "it would take along ConfigMap/theirs of the module other");
    apply_maps(&world, "d2", &["a"]).await;
    let modules = modules(&world).await;
    let end = modules.plan_destroy("shop").await.unwrap();
    assert_eq!((end.victims.len(), end.kept.len()), (1, 1));
    modules.destroy(&end, &|_| ()).await.unwrap();
    collect(&world).await;
    world.get(&format!("{NAMESPACES}/web/configmaps/theirs")).await.expect(200);

    // Once the other module is gone, so can the namespace be.
    let end = modules.plan_destroy("other").await.unwrap();
    modules.destroy(&end, &|_| ()).await.unwrap();
    collect(&world).await;
    let end = modules.plan_destroy("shop").await.unwrap();
    assert_eq!((end.victims.len(), end.kept.len()), (1, 0));
}

/// EXT-1: what another module puts into a namespace while that is swept keeps it, until the other module is gone.
#[tokio::test]
async fn what_another_module_puts_meanwhile_is_not_taken_along() {
    let world = World::new().await;
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}});
    apply(&world, &shop("d1", sources([space, map("a")]))).await;
    // Accused now, but nobody has collected yet.
    assert_eq!(apply_maps(&world, "d2", &["a"]).await.swept.accused.len(), 1);
    let mut theirs = map("theirs");
    theirs["metadata"]["namespace"] = json!("web");
    let other = Deployment::new(ModuleSpec::new("other"), "o1", sources([theirs]));
    apply(&world, &other).await;
    collect(&world).await;
    world.get(&format!("{NAMESPACES}/web/configmaps/theirs")).await.expect(200);
    let space = world.get(&format!("{NAMESPACES}/web")).await.document(200);
    assert!(space["metadata"]["deletionTimestamp"].is_null(), "others can still put something there");

    let modules = modules(&world).await;
    let end = modules.plan_destroy("other").await.unwrap();
    modules.destroy(&end, &|_| ()).await.unwrap();
    collect(&world).await;
    world.get(&format!("{NAMESPACES}/web")).await.expect(404);
}

/// EXT-4: who was paused for so long that somebody else has the lease now puts nothing more over what that one put.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lost_the_lease_puts_nothing_more() {
    let world = World::new().await;
    let late = over(&world, world.kube(), "late").await;
    let plan = late.plan(&shop("d1", sources([map("a"), service("web")]))).await.unwrap();
    let handle = tokio::runtime::Handle::current();
    let overtake = async || {
        modules(&world).await.unlock("shop").await.unwrap();
        let begun = std::time::Instant::now();
        // Somebody else is at work for a while.
        for round in 0..10_000 {
            apply_maps(&world, &format!("e{round}"), &["a"]).await;
            if begun.elapsed() > std::time::Duration::from_millis(600) {
                return;
            }
        }
    };
    let pause = |event: Event| {
        if matches!(event, Event::Put { .. }) {
            tokio::task::block_in_place(|| handle.block_on(overtake()));
        }
    };
    let error = late.deploy(&plan, &pause).await.unwrap_err();
    assert!(matches!(error, DeployError::Lease(LeaseError::Lost { .. })), "{error}");
    world.get("services/web").await.expect(404);
}
