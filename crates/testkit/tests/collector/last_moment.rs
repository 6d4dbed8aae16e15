//! What somebody does between the judgement and the write that rests on it.

use serde_json::json;
use sexton_testkit::World;
use sexton_testkit::things::owner;

use crate::common::{delete, left, make};
use crate::races::{gated, later};

/// Who is protected at the last moment lives on, and so does what it depends on.
#[tokio::test]
async fn protected_at_the_last_moment() {
    for policy in ["", "Foreground", "Background"] {
        let world = World::new().await;
        let root = make(&world, "root", &[]).await;
        make(&world, "leaf", &[("root", &root)]).await;
        let (gate, mut collecting) = gated(&world);
        collecting.settled(&world).await;
        let protect = json!({"metadata": {"annotations": {"sexton.dev/protect": "true"}}});
        let protect = later(&world, "MERGE", "configmaps/leaf", &protect);
        gate.before_a_write(async move { _ = protect.send().await.expect(200) });
        delete(&world, "configmaps/root", policy).await;
        collecting.settled(&world).await;
        let expected = if policy == "Background" { vec!["leaf"] } else { vec!["leaf", "root"] };
        assert_eq!(left(&world).await, expected, "{policy}");
    }
}

/// Who gets another owner at the last moment is not taken along, and neither is anybody below it.
#[tokio::test]
async fn adopted_with_everybody_below() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    let middle = make(&world, "middle", &[("root", &root)]).await;
    make(&world, "leaf", &[("middle", &middle)]).await;
    let keeper = make(&world, "keeper", &[]).await;
    let (gate, mut collecting) = gated(&world);
    collecting.settled(&world).await;
    let adopt = json!({"metadata": {"ownerReferences": [owner("ConfigMap", "keeper", &keeper)]}});
    let adopt = later(&world, "MERGE", "configmaps/middle", &adopt);
    gate.before_a_write(async move { _ = adopt.send().await.expect(200) });
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["keeper", "leaf", "middle"]);
}
