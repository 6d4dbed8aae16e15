//! Modules on a server of another make: nothing but the public API of any Kubernetes.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_client::foreign::{BulkOptions, FeedOptions};
use sexton_client::{ForeignGateway, Resources};
use sexton_collector::Means;
use sexton_collector::hooks::Hooks;
use sexton_collector::modules::{Buried, Deployment, Home, Modules, Tools};
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, World};

use crate::common::*;

fn gateway(world: &World) -> Arc<ForeignGateway> {
    Arc::new(ForeignGateway::new(world.kube(), FeedOptions::default(), BulkOptions::default()))
}

async fn modules(world: &World) -> Modules {
    let (resources, gateway) = (Resources::new(world.kube()), gateway(world));
    let clock = world.shared_nature();
    let tools = Tools {
        resources,
        gateway,
        clock,
        by: "ada".into(),
        holder: "tests-1".into(),
        alone: false,
        allowance: None,
    };
    Modules::open(tools).await.unwrap()
}

/// A collector at work.
fn collecting(world: &World) -> Collecting {
    let means = Means {
        gateway: gateway(world),
        resources: Resources::new(world.kube()),
        runner: Arc::new(Hooks::new()),
        clock: world.shared_nature(),
    };
    let mut settings = quick("tests");
    settings.takes_orphans = false;
    Collecting::of(means, settings)
}

/// Waits until a collector has done away with everything that is not among these.
async fn until_left(world: &World, names: &[&str]) {
    let mut watch = world.watch("configmaps?watch=true").await;
    let _collecting = collecting(world);
    while left(world).await != names {
        watch.next().await.expect("the watch ended early");
    }
}

/// REQ-CLD-1, REQ-CLD-6: apply, sweep and destroy, with a record in a ConfigMap and accusations that name their life.
#[tokio::test]
async fn mark_and_sweep_need_nothing_of_ours() {
    let world = World::plain().await;
    let modules = modules(&world).await;
    assert_eq!(modules.home(), Home::ConfigMap);
    let deploy = async |id: &str, names: &[&str]| {
        let plan = modules.plan(&shop(id, maps(names))).await.unwrap();
        modules.deploy(&plan, &|_| ()).await.unwrap()
    };
    deploy("d1", &["a", "b", "c"]).await;
    let swept = deploy("d2", &["a"]).await.swept;
    assert_eq!(swept.accused.len(), 2);
    let uid = world.get("configmaps/b").await.text_at("metadata.uid").to_owned();
    let said: Value = serde_json::from_str(&annotation(&world, "b", ACCUSED).await).unwrap();
    assert_eq!((&said["uid"], &said["deployment"]), (&json!(uid), &json!("d1")));
    until_left(&world, &["a", "sexton-module-shop"]).await;

    let views = modules.list().await.unwrap();
    assert_eq!(views[0].record.status.sealed.as_ref().unwrap().deployment_id, "d2");
    let plan = modules.plan_destroy("shop").await.unwrap();
    modules.destroy(&plan, &|_| ()).await.unwrap();
    until_left(&world, &["sexton-module-shop"]).await;
    assert_eq!(modules.bury("shop", None).await.unwrap(), Buried::Gone);
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-CLD-20: renumbered ones can be put again, though somebody else wrote their places.
#[tokio::test]
async fn the_unmarked_are_renumbered_there_as_well() {
    let world = World::plain().await;
    let modules = modules(&world).await;
    let mut id = 0;
    let mut deploy = async |names: &[&str], dry_gc: bool| {
        id += 1;
        let deployment = Deployment { dry_gc, ..shop(&format!("d{id}"), maps(names)) };
        let plan = modules.plan(&deployment).await.unwrap();
        modules.deploy(&plan, &|_| ()).await.unwrap()
    };
    deploy(&["a", "b"], false).await;
    assert_eq!(deploy(&["b"], true).await.swept.renumbered, 1);
    assert_eq!(annotation(&world, "a", ORDER).await, "2");
    assert_eq!(deploy(&["b", "c", "a"], false).await.created, 1);
    assert_eq!(annotation(&world, "a", ORDER).await, "3");
}

/// Our kinds are installed later: the record moves to where records are then, with all that it says, and is nowhere twice.
#[tokio::test]
async fn a_record_moves_when_our_kinds_come() {
    let world = World::plain().await;
    let before = modules(&world).await;
    let plan = before.plan(&shop("d1", maps(&["a"]))).await.unwrap();
    before.deploy(&plan, &|_| ()).await.unwrap();
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "modules.sexton.dev"},
        "spec": {
            "group": "sexton.dev", "scope": "Cluster", "names": {"plural": "modules", "kind": "Module"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema}}],
        },
    });
    world.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await.expect(201);
    let after = modules(&world).await;
    assert_eq!(after.home(), Home::Kind);
    assert_eq!(after.list().await.unwrap().len(), 1);
    // What was deployed before is known: the same round again is refused.
    let again = after.plan(&shop("d1", maps(&["a"]))).await.unwrap_err();
    assert!(again.to_string().contains("was used before"), "{again}");
    let plan = after.plan(&shop("d2", maps(&["a"]))).await.unwrap();
    after.deploy(&plan, &|_| ()).await.unwrap();
    assert_eq!(left(&world).await, ["a"], "the old record is gone");
    let history = &after.find("shop").await.unwrap().unwrap().record.status.history;
    let rounds: Vec<&str> = history.iter().map(|past| past.deployment_id.as_str()).collect();
    assert_eq!(rounds, ["d2", "d1"]);
}

/// REQ-CLD-2: Kubernetes counts a changed annotation of a Deployment as a change of it, and copies annotations to its
/// ReplicaSets. An unchanged apply changes none, and what a controller makes of a Deployment is not taken for a member.
#[tokio::test]
async fn an_unchanged_apply_leaves_the_annotations_of_a_deployment_alone() {
    let world = World::plain().await;
    let modules = modules(&world).await;
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {}});
    let deploy = async |id: &str, documents: Vec<Value>| {
        let plan = modules.plan(&shop(id, sources(documents))).await.unwrap();
        modules.deploy(&plan, &|_| ()).await.unwrap()
    };
    const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";
    let before = {
        deploy("d1", vec![map("a"), web.clone()]).await;
        world.get(WEB).await.document(200)
    };
    // As the controllers of Kubernetes do: annotations are copied to what a Deployment owns, and labels to what others make.
    let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": before["metadata"]["uid"]}]);
    let annotations = before["metadata"]["annotations"].clone();
    stray(&world, "replica", json!({"annotations": annotations, "ownerReferences": owner})).await;
    let labels = before["metadata"]["labels"].clone();
    stray(&world, "copy", json!({"labels": labels, "annotations": annotations, "ownerReferences": owner}))
        .await;

    assert_eq!(deploy("d2", vec![map("a"), web.clone()]).await.unchanged, 2);
    let after = world.get(WEB).await.document(200);
    assert_eq!(after["metadata"]["annotations"], annotations);
    assert_eq!(after["metadata"]["generation"], before["metadata"]["generation"]);
    assert_eq!(after["metadata"]["labels"][DEPLOYMENT], "d2");
    assert_eq!(annotation(&world, "a", DEPLOYMENT).await, "d2", "others keep the annotation");

    let accused = deploy("d3", vec![map("a")]).await.swept.accused;
    assert_eq!(accused.len(), 1, "only the Deployment itself: {accused:?}");
    let mut watch = world.watch("/apis/apps/v1/namespaces/default/deployments?watch=true").await;
    let _collecting = collecting(&world);
    while watch.next().await.expect("the watch ended early")["type"] != "DELETED" {}
}
