//! Who hears of a destruction, in which order, and what can still be done about it.

use std::sync::Arc;

use serde_json::json;
use sexton_model::hook::{Phase, Verdict};
use sexton_model::subscription;
use sexton_testkit::things::owner;
use sexton_testkit::{Call, Collecting, Scripted, World};

use crate::common::{DEPENDENCIES, class, delete, hears, left, make, make_with, metadata, pass};

/// A world where ConfigMaps have methods, and the hooks that play them.
pub(crate) async fn stage() -> (World, Arc<Scripted>) {
    let world = World::new().await;
    class(&world, json!({})).await;
    (world, Arc::default())
}

fn veto(reason: &str) -> Verdict {
    Verdict::Veto { reason: reason.to_owned(), until: None }
}

/// REQ-MUR-9, REQ-MUR-14, REQ-MUR-27, REQ-MUR-28, REQ-MUR-29, REQ-MUR-90, REQ-MUR-99: warned, notified, destroyed, told;
/// and each call says in which phase it is.
#[tokio::test]
async fn warned_notified_destroyed_told() {
    for policy in ["", "Background", "Foreground", "Orphan"] {
        let (world, hooks) = stage().await;
        make_with(&world, "a", &[], hears(&["b"])).await;
        let b = make(&world, "b", &[]).await;
        let mut collecting = Collecting::scripted(&world, &hooks);
        delete(&world, "configmaps/b", policy).await;
        collecting.settled(&world).await;
        assert_eq!(
            hooks.heard(),
            ["warning gone b", "notifying gone b", "destroying destroy b", "destroyed gone b"],
            "{policy}"
        );
        let calls = hooks.calls();
        let phases: Vec<Phase> = calls.iter().map(|call| call.phase).collect();
        assert_eq!(phases, Phase::ALL);
        for call in &calls {
            assert_eq!(call.object["metadata"]["uid"], json!(b));
            let told = call.subscriber.as_ref().map(|subscriber| subscriber["metadata"]["name"].clone());
            assert_eq!(told, (call.method == "gone").then(|| json!("a")));
        }
        assert_eq!(left(&world).await, ["a"]);
    }
}

/// REQ-MUR-20, REQ-MUR-90: an orphan goes through the same steps.
#[tokio::test]
async fn an_orphan_takes_the_same_steps() {
    let (world, hooks) = stage().await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[("gone", "never-was")]).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    collecting.settled(&world).await;
    assert_eq!(
        hooks.heard(),
        ["warning gone b", "notifying gone b", "destroying destroy b", "destroyed gone b"]
    );
    assert_eq!(left(&world).await, ["a"]);
}

/// REQ-MUR-91: who makes a reference while it is warned saves the life, which is then as if nothing had happened.
#[tokio::test]
async fn a_reference_in_the_warning_saves() {
    let (world, hooks) = stage().await;
    let a = make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[("gone", "never-was")]).await;
    let saved = json!({"metadata": {"ownerReferences": [owner("ConfigMap", "a", &a)]}});
    let save = Call::new(world.router(), "MERGE", "configmaps/b").json(&saved);
    hooks.during("warning gone b", async move { _ = save.send().await.expect(200) });
    let mut collecting = Collecting::scripted(&world, &hooks);
    let summary = collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["warning gone b"]);
    let b = metadata(&world, "b").await;
    assert!(b["deletionTimestamp"].is_null() && b["annotations"].is_null(), "{b}");
    assert_eq!((summary.doomed, summary.blockers.len()), (0, 0));
}

/// REQ-MUR-92: a veto in the warning ends the collection for everybody who was only accused. After a while it is tried
/// again.
#[tokio::test]
async fn a_veto_in_the_warning_cancels() {
    let (world, hooks) = stage().await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    for name in ["b", "c"] {
        make(&world, name, &[("gone", "never-was")]).await;
    }
    hooks.answer("warning gone b", veto("not now"));
    let mut collecting = Collecting::scripted(&world, &hooks);
    collecting.settled(&world).await;
    assert!(left(&world).await.contains(&"b".to_owned()));
    let b = metadata(&world, "b").await;
    assert!(b["deletionTimestamp"].is_null() && b["annotations"].is_null(), "{b}");
    assert_eq!(hooks.heard().iter().filter(|call| call.ends_with(" b")).count(), 1, "{:?}", hooks.heard());
    pass(&world, 601).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a"], "{:?}", hooks.heard());
}

/// REQ-MUR-93: so does one in the notification.
#[tokio::test]
async fn a_veto_in_the_notification_cancels() {
    let (world, hooks) = stage().await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[("gone", "never-was")]).await;
    hooks.answer("notifying gone b", veto("not now"));
    let mut collecting = Collecting::scripted(&world, &hooks);
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["warning gone b", "notifying gone b"]);
    let b = metadata(&world, "b").await;
    assert!(b["deletionTimestamp"].is_null() && b["annotations"].is_null(), "{b}");
    pass(&world, 601).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a"]);
}

/// REQ-MUR-94, REQ-MUR-95, REQ-MUR-96, REQ-MUR-97: however often one subscribes, it hears once; and it hears as long as it
/// subscribed more often than it unsubscribed.
#[tokio::test]
async fn subscriptions_are_counted() {
    for (times, undone, hears_of_it) in
        [(1, 0, true), (3, 0, true), (1, 1, false), (3, 2, true), (3, 3, false), (2, 5, false)]
    {
        let (world, hooks) = stage().await;
        make(&world, "a", &[]).await;
        make(&world, "b", &[]).await;
        let target: subscription::Target = subscription::Target::Named {
            group: String::new(),
            kind: "ConfigMap".into(),
            namespace: None,
            name: "b".into(),
        };
        let mut all = Vec::new();
        (0..times).for_each(|_| subscription::subscribe(&mut all, target.clone(), None, Some("gone".into())));
        (0..undone).for_each(|_| _ = subscription::unsubscribe(&mut all, &target, None));
        let text = subscription::format(&all);
        let patch = json!({"metadata": {"annotations": {DEPENDENCIES: text}}});
        world.merge("configmaps/a", &patch).await.expect(200);
        let mut collecting = Collecting::scripted(&world, &hooks);
        delete(&world, "configmaps/b", "").await;
        collecting.settled(&world).await;
        let expected: &[&str] = match hears_of_it {
            true => &["warning gone b", "notifying gone b", "destroying destroy b", "destroyed gone b"],
            false => &["destroying destroy b"],
        };
        assert_eq!(hooks.heard(), expected, "{times} {undone}");
        assert_eq!(left(&world).await, ["a"]);
    }
}

/// REQ-MUR-95: who unsubscribes in the warning is not notified.
#[tokio::test]
async fn who_unsubscribes_in_between_hears_no_more() {
    let (world, hooks) = stage().await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[]).await;
    let nothing = json!({"metadata": {"annotations": {DEPENDENCIES: null}}});
    let leave = Call::new(world.router(), "MERGE", "configmaps/a").json(&nothing);
    hooks.during("warning gone b", async move { _ = leave.send().await.expect(200) });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["warning gone b", "destroying destroy b"]);
    assert_eq!(left(&world).await, ["a"]);
}

/// REQ-MUR-98: one can subscribe to oneself. What is destroyed runs no method, so of that it does not hear.
#[tokio::test]
async fn one_can_hear_of_oneself() {
    let (world, hooks) = stage().await;
    make_with(&world, "b", &[], hears(&["self"])).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["warning gone b", "notifying gone b", "destroying destroy b"]);
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-MUR-11, REQ-MUR-53, REQ-MUR-63, REQ-MUR-100: in each phase the call says who is doomed and who is destroyed.
#[tokio::test]
async fn each_call_tells_everybodys_fate() {
    let (world, hooks) = stage().await;
    let root = make(&world, "root", &[]).await;
    let a = make_with(&world, "a", &[("root", &root)], hears(&["b", "c"])).await;
    let b = make(&world, "b", &[("root", &root)]).await;
    let c = make(&world, "c", &[]).await;
    // Another collection at the same time, which has nothing to do with it.
    make(&world, "other", &[]).await;
    hooks.during("destroying destroy other", std::future::pending());
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/other", "").await;
    hooks.called(1).await;
    delete(&world, "configmaps/root", "").await;
    collecting.until(|summary| summary.removed == 3).await;
    let mut seen = Vec::new();
    for call in hooks.calls().iter().filter(|call| call.method == "gone") {
        let doomed = |uid: &String| call.is_doomed.get(uid).copied();
        let destroyed = |uid: &String| call.is_destroyed.get(uid).copied();
        assert_eq!([doomed(&b), doomed(&a), doomed(&root)], [Some(true); 3], "{call:?}");
        assert_eq!(doomed(&c), Some(false), "{call:?}");
        seen.push((call.phase, destroyed(&b)));
        assert_eq!([destroyed(&a), destroyed(&c)], [Some(false); 2]);
        assert_eq!(call.doomed_count, 3);
    }
    let expected =
        [(Phase::Warning, Some(false)), (Phase::Notifying, Some(false)), (Phase::Destroyed, Some(true))];
    assert_eq!(seen, expected);
    assert_eq!(left(&world).await, ["c", "other"]);
}
