//! Definitions and classes that change together with what only they allow.

use serde_json::{Value, json};
use sexton_collector::modules::{PlanError, PutAction};
use sexton_model::module::ModuleSpec;
use sexton_testkit::World;

use crate::common::*;

const WIDGET: &str = "/apis/acme.io/v1/namespaces/default/widgets/w";

fn definition(fields: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.acme.io"},
        "spec": {
            "group": "acme.io",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn widget(spec: &Value) -> Value {
    json!({"apiVersion": "acme.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec})
}

/// REQ-CLD-17: what comes first in the order may be what allows the rest. A field that only the new definition knows is
/// put after it; without a new definition it is refused before anything is written.
#[tokio::test]
async fn a_definition_changes_with_its_objects() {
    let world = World::new().await;
    let narrow = definition(&json!({"a": {"type": "integer", "maximum": 5}}));
    let wide = definition(&json!({"a": {"type": "integer"}, "b": {"type": "string"}}));
    apply(&world, &shop("d1", sources([narrow.clone(), widget(&json!({"a": 1}))]))).await;
    for spec in [json!({"a": 1, "b": "x"}), json!({"a": 9})] {
        let refused = plan(&world, &shop("d2", sources([narrow.clone(), widget(&spec)]))).await;
        assert!(matches!(refused, Err(PlanError::Refused(_))), "{spec}");
    }

    let modules = modules(&world).await;
    let documents = sources([wide, widget(&json!({"a": 9, "b": "x"}))]);
    let planned = modules.plan(&shop("d2", documents)).await.unwrap();
    let put = &planned.puts[1];
    let paths: Vec<&str> = put.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!((put.action, paths), (PutAction::Change, vec!["spec.a", "spec.b"]));
    assert!(put.warnings[0].contains("is known when it is put"), "{:?}", put.warnings);
    let deployed = modules.deploy(&planned, &|_| ()).await.unwrap();
    assert_eq!((deployed.created, deployed.changed), (0, 2));
    assert_eq!(world.get(WIDGET).await.json["spec"], json!({"a": 9, "b": "x"}));
}

/// EXT-1: an object that is there in another version is the same object: whose it is counts, and it is not created.
#[tokio::test]
async fn a_version_comes_with_its_objects() {
    let world = World::new().await;
    let old = definition(&json!({"a": {"type": "integer"}}));
    let mut both = old.clone();
    let mut second = both["spec"]["versions"][0].clone();
    (second["name"], second["storage"]) = (json!("v2"), json!(false));
    both["spec"]["versions"].as_array_mut().unwrap().push(second);
    let mut newer = widget(&json!({"a": 2}));
    newer["apiVersion"] = json!("acme.io/v2");
    apply(&world, &shop("d1", sources([old, widget(&json!({"a": 1}))]))).await;

    let modules = modules(&world).await;
    let documents = || sources([both.clone(), newer.clone()]);
    let mut other = shop("o1", documents());
    other.spec = ModuleSpec::new("other");
    let Err(PlanError::Refused(refusals)) = modules.plan(&other).await else { panic!("it is taken") };
    assert!(refusals.iter().any(|one| one.object.ends_with("/w") && one.why.contains("module shop")));

    let planned = modules.plan(&shop("d2", documents())).await.unwrap();
    let paths: Vec<&str> = planned.puts[1].changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!((planned.puts[1].action, paths), (PutAction::Change, vec!["apiVersion", "spec.a"]));
    let deployed = modules.deploy(&planned, &|_| ()).await.unwrap();
    assert_eq!((deployed.created, deployed.changed, deployed.swept.accused.len()), (0, 2, 0));
    assert_eq!(world.get(WIDGET).await.json["spec"], json!({"a": 2}));
}

/// EXT-28: the same for a handler that only the new class has.
#[tokio::test]
async fn a_class_changes_with_its_objects() {
    let world = World::new().await;
    let class = |handlers: Value| {
        json!({
            "apiVersion": "sexton.dev/v1", "kind": "Class", "metadata": {"name": "maps"},
            "spec": {"for": {"kind": "ConfigMap"}, "handlers": handlers},
        })
    };
    let exec = json!({"exec": {"argv": ["/bin/true"]}});
    let mut subscriber = map("a");
    subscriber["metadata"]["annotations"] =
        json!({"sexton.dev/destruction-dependencies": "- {target: Secret/s, handler: gone}"});
    apply(&world, &shop("d1", sources([class(json!({"other": exec})), map("a")]))).await;
    let refused =
        plan(&world, &shop("d2", sources([class(json!({"other": exec})), subscriber.clone()]))).await;
    assert!(matches!(refused, Err(PlanError::Refused(_))));
    let deployed = apply(&world, &shop("d2", sources([class(json!({"gone": exec})), subscriber]))).await;
    assert_eq!((deployed.created, deployed.changed), (0, 2));
}
