//! What somebody does between the judgement and the write that rests on it.

use serde_json::json;
use sexton_model::hook::Verdict;
use sexton_testkit::collecting::quick;
use sexton_testkit::things::owner;
use sexton_testkit::{Collecting, Gate, World};

use crate::common::{ask, delete, hears, left, make};
use crate::murano::stage;
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

/// An orphan that somebody deletes at the last moment goes as they want it: who was to be left behind is.
#[tokio::test]
async fn deleted_at_the_last_moment() {
    for (policy, expected) in [("Orphan", vec!["leaf"]), ("Background", vec![]), ("", vec![])] {
        let world = World::new().await;
        let (gate, mut collecting) = gated(&world);
        let options = if policy.is_empty() { json!({}) } else { json!({"propagationPolicy": policy}) };
        let orphan = make(&world, "orphan", &[]).await;
        make(&world, "leaf", &[("orphan", &orphan)]).await;
        collecting.settled(&world).await;
        let away = later(&world, "DELETE", "configmaps/orphan", &options);
        gate.before_a_write(async move { _ = away.send().await.expect(200) });
        let nobody = json!({"metadata": {"ownerReferences": [owner("ConfigMap", "nobody", "never-was")]}});
        world.merge("configmaps/orphan", &nobody).await.expect(200);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, expected, "{policy}");
    }
}

/// Two reasons to lose references, of which one is that another owner is an orphan: still it is one write.
#[tokio::test]
async fn left_behind_by_one_and_kept_by_an_orphan() {
    let world = World::new().await;
    let leaver = make(&world, "leaver", &[]).await;
    let keeper = make(&world, "orphan", &[("nobody", "never-was")]).await;
    make(&world, "child", &[("leaver", &leaver), ("orphan", &keeper)]).await;
    delete(&world, "configmaps/leaver", "Orphan").await;
    let (_, mut collecting) = gated(&world);
    let summary = collecting.settled(&world).await;
    assert_eq!((summary.doomed, summary.blockers.len()), (0, 0), "{summary:#?}");
    assert!(!left(&world).await.contains(&"leaver".to_owned()));
}

/// Who is to be left behind after all, because its owner was deleted once more, lives on.
#[tokio::test]
async fn left_behind_at_the_last_moment() {
    for policy in ["", "Foreground"] {
        let world = World::new().await;
        let root = make(&world, "root", &[]).await;
        make(&world, "leaf", &[("root", &root)]).await;
        let (gate, mut collecting) = gated(&world);
        collecting.settled(&world).await;
        let again = later(&world, "DELETE", "configmaps/root", &json!({"propagationPolicy": "Orphan"}));
        gate.before_a_write(async move { _ = again.send().await.expect(200) });
        delete(&world, "configmaps/root", policy).await;
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["leaf"], "{policy}");
    }
}

/// REQ-MUR-21: who comes to depend on somebody in the very moment in which its turn has come waits after all.
#[tokio::test]
async fn a_dependency_at_the_last_moment() {
    let (world, hooks) = stage().await;
    make(&world, "first", &[]).await;
    make(&world, "second", &[]).await;
    hooks.answer("destroying destroy first", Verdict::Blocked { by: None, reason: "busy".into() });
    let gate = Gate::to(&world);
    let mut collecting = Collecting::through(&world, quick("tests"), hooks.clone(), gate.clone());
    delete(&world, "configmaps/first", "").await;
    collecting.settled(&world).await;
    let depend = later(&world, "MERGE", "configmaps/second", &json!({"metadata": hears(&["first"])}));
    gate.before_a_write(async move { _ = depend.send().await.expect(200) });
    delete(&world, "configmaps/second", "").await;
    collecting.settled(&world).await;
    assert!(!hooks.heard().contains(&"destroying destroy second".to_owned()), "{:?}", hooks.heard());
    hooks.answer("destroying destroy first", Verdict::Gone);
    ask(&world, "first", json!({"want": "retry"})).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let heard = hooks.heard();
    assert_eq!(heard.last().map(String::as_str), Some("destroying destroy second"), "{heard:?}");
}
