//! Fields that others wrote since: all of them are in the plan, and only those are taken over that were shown.

use serde_json::json;
use sexton_collector::modules::{DeployError, Deployment};
use sexton_testkit::World;

use crate::common::*;

async fn changed(world: &World, name: &str, key: &str) {
    world.merge(&format!("configmaps/{name}"), &json!({"data": {key: "theirs"}})).await.expect(200);
}

async fn value(world: &World, name: &str, key: &str) -> String {
    world.get(&format!("configmaps/{name}")).await.text_at(&format!("data.{key}")).to_owned()
}

/// Every conflict of every document is found at once, and nothing is written.
#[tokio::test]
async fn all_conflicts_are_planned() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "c"]).await;
    for name in ["a", "c"] {
        changed(&world, name, "k").await;
    }
    let before = world.dump().await;
    let planned = plan(&world, &shop("d2", maps(&["a", "b", "c"]))).await.unwrap();
    let found: Vec<String> = planned
        .conflicting()
        .flat_map(|put| put.conflicts.iter().map(|one| format!("{} {} {:?}", put.name, one.path, one.ours)))
        .collect();
    assert_eq!(found, ["a data.k Some(String(\"v\"))", "c data.k Some(String(\"v\"))"]);
    let error = modules(&world).await.deploy(&planned, &|_| ()).await.unwrap_err();
    assert!(matches!(error, DeployError::Conflicts { fields: 2, objects: 2 }), "{error}");
    assert!(world.dump().await == before, "something was written");
}

/// What others take after the plan was shown is not taken back by it.
#[tokio::test]
async fn only_what_was_shown_is_taken_over() {
    let world = World::new().await;
    let mut document = map("a");
    document["data"]["other"] = json!("v");
    let taking = |id: &str| Deployment { force: true, ..shop(id, sources([document.clone(), map("b")])) };
    apply(&world, &taking("d1")).await;
    changed(&world, "a", "k").await;
    let modules = modules(&world).await;
    let planned = modules.plan(&taking("d2")).await.unwrap();
    assert_eq!(planned.conflicting().count(), 0, "it is allowed to");
    assert_eq!(planned.puts[0].conflicts.len(), 1, "and says what it takes");
    changed(&world, "a", "other").await;
    let error = modules.deploy(&planned, &|_| ()).await.unwrap_err();
    assert!(
        matches!(&error, DeployError::Puts { failed, .. } if failed[0].why.contains(".data.other")),
        "{error}"
    );
    assert_eq!(value(&world, "a", "k").await, "theirs");
    let planned = modules.plan(&taking("d3")).await.unwrap();
    assert_eq!(planned.puts[0].conflicts.len(), 2);
    modules.deploy(&planned, &|_| ()).await.unwrap();
    assert_eq!((value(&world, "a", "k").await, value(&world, "a", "other").await), ("v".into(), "v".into()));
}
