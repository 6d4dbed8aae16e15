//! What a module may sweep, and what it may not.

use serde_json::json;
use sexton_testkit::World;

use crate::common::*;

/// REQ-CLD-8, REQ-CLD-9, REQ-CLD-10, REQ-CLD-11: only what has all attributes of the scope is swept.
#[tokio::test]
async fn who_lacks_one_attribute_is_never_swept() {
    let world = World::new().await;
    let label = |tier: &str| json!({"labels": {MANAGER: "shop", "tier": tier}});
    stray(&world, "web", label("web")).await;
    stray(&world, "db", label("db")).await;
    stray(&world, "other", json!({"labels": {MANAGER: "other", "tier": "web"}})).await;
    stray(&world, "nobody", json!({"labels": {"tier": "web"}})).await;
    let mut deployment = shop("d1", maps(&["a"]));
    deployment.spec.scope.insert("tier".into(), "web".into());
    deployment.spec.scope.insert("namespace".into(), "default".into());
    let planned = plan(&world, &deployment).await.unwrap();
    assert!(
        planned.warnings.iter().any(|warning| warning.contains("not in its scope")),
        "{:?}",
        planned.warnings
    );
    apply(&world, &deployment).await;
    assert_eq!(accused(&world).await, ["web"]);
    collect(&world).await;
    assert_eq!(left(&world).await, ["a", "db", "nobody", "other"]);
}

/// A changed scope is shown: who comes into it, who leaves it.
#[tokio::test]
async fn a_changed_scope_is_shown() {
    let world = World::new().await;
    let labelled = |name: &str, tier: &str| {
        let mut document = map(name);
        document["metadata"]["labels"] = json!({"tier": tier});
        document
    };
    let documents = || sources([labelled("web", "web"), labelled("db", "db")]);
    let mut first = shop("d1", documents());
    first.spec.scope.insert("tier".into(), "web".into());
    apply(&world, &first).await;
    let mut second = shop("d2", sources([labelled("web", "web")]));
    second.spec.scope.insert("tier".into(), "db".into());
    let planned = plan(&world, &second).await.unwrap();
    let shift = planned.scope_shift.as_ref().unwrap();
    let names = |members: &[sexton_collector::modules::Member]| -> Vec<String> {
        members.iter().map(|member| member.name.clone()).collect()
    };
    assert_eq!((names(&shift.enter), names(&shift.leave)), (vec!["db".to_owned()], vec!["web".to_owned()]));
    assert_eq!(shift.old.get("tier").map(String::as_str), Some("web"));
    apply(&world, &second).await;
    assert_eq!(accused(&world).await, ["db"]);
    let spec = record(&world, "shop").await["spec"].clone();
    assert_eq!(spec["scope"], json!({"manager": "shop", "tier": "db"}));
    let mut third = shop("d3", documents());
    third.spec = second.spec.clone();
    assert!(plan(&world, &third).await.unwrap().scope_shift.is_none(), "it is the same now");
}

/// REQ-CLD-12, REQ-CLD-13: two modules do not see each other's resources.
#[tokio::test]
async fn modules_do_not_see_each_other() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a"]).await;
    let mut other = shop("d1", maps(&["b"]));
    other.spec = sexton_model::module::ModuleSpec::new("other");
    let deployed = apply(&world, &other).await;
    assert_eq!((deployed.created, deployed.swept.accused.len()), (1, 0));
    assert_eq!(apply_maps(&world, "d2", &["a"]).await.swept.accused.len(), 0);
    let names: Vec<String> = modules(&world)
        .await
        .list()
        .await
        .unwrap()
        .into_iter()
        .map(|view| view.record.spec.manager)
        .collect();
    assert_eq!(names, ["other", "shop"]);
}
