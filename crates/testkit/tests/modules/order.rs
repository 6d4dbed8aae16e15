//! The order in which resources are put, and what it is written on.

use serde_json::{Value, json};
use sexton_collector::modules::{PlanError, PutAction};
use sexton_model::module::Dependency;
use sexton_testkit::World;
use sexton_testkit::things::{WIDGETS, widget, widgets};

use crate::common::*;

fn edge(first: &str, then: &str) -> Dependency {
    Dependency { first: first.into(), then: then.into() }
}

/// REQ-CLD-14, REQ-CLD-15, REQ-CLD-16, REQ-CLD-17: each resource has a place, which is the order in which it was put;
/// an explicit edge changes it, and nothing has to depend on what stands before it.
#[tokio::test]
async fn places_are_those_of_the_puts() {
    let world = World::new().await;
    let mut deployment = shop("d1", maps(&["a", "b", "c"]));
    deployment.dependencies = vec![edge("ConfigMap/c", "configmap/a")];
    let modules = modules(&world).await;
    let plan = modules.plan(&deployment).await.unwrap();
    let heard = Heard::default();
    modules.deploy(&plan, &|event| heard.hear(event)).await.unwrap();
    let expected = ["put ConfigMap/default/b", "put ConfigMap/default/c", "put ConfigMap/default/a"];
    assert_eq!(heard.words()[2..5], expected);
    for (name, place) in [("b", "1"), ("c", "2"), ("a", "3")] {
        assert_eq!(annotation(&world, name, ORDER).await, place);
    }
}

/// Edges that contradict each other are refused, and the circle is named.
#[tokio::test]
async fn a_circle_of_edges_is_refused() {
    let world = World::new().await;
    let mut deployment = shop("d1", maps(&["a", "b", "c"]));
    deployment.dependencies = vec![
        edge("ConfigMap/a", "ConfigMap/b"),
        edge("ConfigMap/b", "ConfigMap/a"),
        edge("ConfigMap/b", "ConfigMap/c"),
    ];
    let error = plan(&world, &deployment).await.unwrap_err();
    assert!(matches!(error, PlanError::Order(_)));
    let circle = "ConfigMap/default/a, ConfigMap/default/b, ConfigMap/default/a";
    assert!(error.to_string().ends_with(circle), "{error}");
    deployment.dependencies = vec![edge("ConfigMap/a", "ConfigMap/nowhere")];
    let error = plan(&world, &deployment).await.unwrap_err();
    assert!(error.to_string().contains("ConfigMap/nowhere, which is not in the module"), "{error}");
}

/// Definitions, classes and namespaces come before what needs them, wherever they are written, and go after it.
#[tokio::test]
async fn what_others_need_comes_first() {
    let world = World::new().await;
    let class = json!({
        "apiVersion": "sexton.dev/v1", "kind": "Class", "metadata": {"name": "widget"},
        "spec": {"for": {"group": "demo.example.com", "kind": "Widget"}},
    });
    let mut inside = map("inside");
    inside["metadata"]["namespace"] = json!("team");
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    let documents = || sources([widget("w", 1), inside.clone(), namespace.clone(), class.clone(), widgets()]);
    let planned = plan(&world, &shop("d1", documents())).await.unwrap();
    let kinds: Vec<&str> = planned.puts.iter().map(|put| put.kind.as_str()).collect();
    let expected = ["Namespace", "ConfigMap", "Class", "CustomResourceDefinition", "Widget"];
    assert_eq!(kinds, expected);
    assert!(planned.puts.iter().all(|put| put.action == PutAction::Create));
    let deployed = apply(&world, &shop("d1", documents())).await;
    assert_eq!(deployed.created, 5);
    world.get(&format!("{WIDGETS}/w")).await.expect(200);
    let again = apply(&world, &shop("d2", documents())).await;
    assert_eq!((again.unchanged, again.created, again.changed), (5, 0, 0));
}

/// Places with gaps are no obstacle: the renumbered still stand behind all that are marked.
#[tokio::test]
async fn gaps_are_no_obstacle() {
    let world = World::new().await;
    let marks =
        |order: &str| json!({"labels": {MANAGER: "shop"}, "annotations": {DEPLOYMENT: "d0", ORDER: order}});
    for (name, order) in [("low", "-5"), ("high", "1000"), ("same", "1000")] {
        stray(&world, name, marks(order)).await;
    }
    stray(&world, "none", json!({"labels": {MANAGER: "shop"}})).await;
    let mut deployment = shop("d1", maps(&["a", "b"]));
    deployment.dry_gc = true;
    assert_eq!(apply(&world, &deployment).await.swept.renumbered, 4);
    let places: Vec<i64> = {
        let mut places = Vec::new();
        for name in ["none", "low", "high", "same"] {
            places.push(annotation(&world, name, ORDER).await.parse().unwrap());
        }
        places
    };
    assert_eq!(places, [3, 4, 1009, 1009]);
    // What was renumbered can be put again: its place is ours to write.
    let again = apply_maps(&world, "d2", &["a", "b", "low"]).await;
    assert_eq!(again.changed + again.unchanged, 3);
    assert_eq!(annotation(&world, "low", ORDER).await, "3");
}

/// Many resources are put at once, and each is there and marked.
#[tokio::test]
async fn many_are_put_at_once() {
    let world = World::new().await;
    let names: Vec<String> = (0..300).map(|number| format!("m{number:03}")).collect();
    let documents = || sources(names.iter().map(|name| map(name)));
    assert_eq!(apply(&world, &shop("d1", documents())).await.created, 300);
    let line = Line::new(&world, |_, _| Fate::Passes);
    let unchanged =
        over(&world, line.client(), "tests-2").await.plan(&shop("d2", documents())).await.unwrap();
    assert!(unchanged.puts.iter().all(|put| put.action == PutAction::Unchanged));
    assert!(!line.seen().iter().any(|seen| seen.starts_with("PATCH")), "what is the same needs no dry run");
    assert_eq!(apply(&world, &shop("d2", documents())).await.unchanged, 300);
    let listed = world.get("configmaps").await.document(200);
    let marked = |item: &&Value| item["metadata"]["annotations"][DEPLOYMENT] == "d2";
    assert_eq!(listed["items"].as_array().unwrap().iter().filter(marked).count(), 300);
}
