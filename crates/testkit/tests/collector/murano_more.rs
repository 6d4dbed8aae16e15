//! Who comes and goes while something is destroyed, and methods that make new things or go away themselves.

use std::sync::Arc;

use serde_json::json;
use sexton_model::feed::Line;
use sexton_model::hook::Verdict;
use sexton_testkit::collecting::quick;
use sexton_testkit::things::owner;
use sexton_testkit::{Call, Collecting, Gate, Scripted, World};

use crate::common::{CLASSES, ask, class, delete, hears, left, make, make_with, metadata, pass};
use crate::murano::stage;

/// EXT-30: what a destroy method leaves behind under the dying life goes with it, and nobody is destroyed twice.
#[tokio::test]
async fn garbage_of_a_destructor_goes_along() {
    for policy in ["", "Foreground", "Background"] {
        let (world, hooks) = stage().await;
        let b = make(&world, "b", &[]).await;
        let child = json!({"metadata": {"name": "child", "ownerReferences": [owner("ConfigMap", "b", &b)]}});
        let bear = Call::new(world.router(), "POST", "configmaps").json(&child);
        hooks.during("destroying destroy b", async move { _ = bear.send().await.expect(201) });
        let mut collecting = Collecting::scripted(&world, &hooks);
        delete(&world, "configmaps/b", policy).await;
        let summary = collecting.settled(&world).await;
        assert_eq!(left(&world).await, Vec::<String>::new(), "{policy} {summary:#?}");
        assert_eq!(hooks.heard(), ["destroying destroy b", "destroying destroy child"], "{policy}");
    }
}

/// EXT-29: a subscription keeps neither side: who subscribes goes when it is deleted, and so does its target.
#[tokio::test]
async fn a_subscription_keeps_nobody() {
    let (world, hooks) = stage().await;
    make_with(&world, "a", &[], hears(&["b", "not-there"])).await;
    make(&world, "b", &[]).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/a", "").await;
    collecting.settled(&world).await;
    assert_eq!(
        (left(&world).await, hooks.heard()),
        (vec!["b".to_owned()], vec!["destroying destroy a".to_owned()])
    );
}

/// Who said no and does not listen any more is in nobody's way.
#[tokio::test]
async fn a_subscriber_that_leaves_holds_nothing_up() {
    let (world, hooks) = stage().await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[]).await;
    hooks.answer("warning gone b", Verdict::Veto { reason: "no".into(), until: None });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
    let nothing = json!({"metadata": {"annotations": {"sexton.dev/destruction-dependencies": null}}});
    world.merge("configmaps/a", &nothing).await.expect(200);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a"]);
}

/// Who subscribes after the warning hears the rest.
#[tokio::test]
async fn a_late_subscriber_hears_the_rest() {
    let (world, hooks) = stage().await;
    make(&world, "b", &[]).await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    let mut late = hears(&["b"]);
    late["name"] = json!("late");
    let come = Call::new(world.router(), "POST", "configmaps").json(&json!({"metadata": late}));
    hooks.during("warning gone b", async move { _ = come.send().await.expect(201) });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    let by = |name: &str| -> Vec<String> {
        let calls = hooks.calls();
        let heard = calls.iter().filter(|call| {
            call.subscriber.as_ref().is_some_and(|subscriber| subscriber["metadata"]["name"] == name)
        });
        heard.map(|call| call.phase.to_string()).collect()
    };
    assert_eq!(by("a"), ["warning", "notifying", "destroyed"]);
    assert_eq!(by("late"), ["notifying", "destroyed"]);
}

/// A method that is taken from its class in the middle is missed by name, and goes on when it is back.
#[tokio::test]
async fn a_method_that_goes_away() {
    let (world, hooks) = stage().await;
    make(&world, "b", &[]).await;
    hooks.answer("destroying destroy b", Verdict::Failed { reason: "not yet".into() });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    world.merge(&format!("{CLASSES}/cm"), &json!({"spec": {"destroy": null}})).await.expect(200);
    pass(&world, 10).await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["b"]);
    let reason = &summary.blockers[0].reason;
    assert!(reason.contains("does not exist") && reason.contains("has no destroy"), "{reason}");
    let method = json!({"exec": {"argv": ["/bin/true"]}});
    world.merge(&format!("{CLASSES}/cm"), &json!({"spec": {"destroy": method}})).await.expect(200);
    ask(&world, "b", json!({"want": "retry"})).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// What somebody made of a journal is not guessed at: the life waits, and that is told.
#[tokio::test]
async fn a_journal_that_cannot_be_read() {
    let (world, hooks) = stage().await;
    make(&world, "b", &[]).await;
    hooks.answer("destroying destroy b", Verdict::Blocked { by: None, reason: "busy".into() });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    collecting.drain().await;
    world.annotate("configmaps", "b", &[("sexton.dev/destruction", "nonsense")]).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["b"]);
    assert_eq!(hooks.heard().len(), 1);
    let reasons: Vec<&str> = summary.blockers.iter().map(|one| one.reason.as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("journal")), "{reasons:?}");
    assert!(metadata(&world, "b").await["deletionTimestamp"].is_string());
    // Whoever knows what it is about has it begin anew.
    ask(&world, "b", json!({"want": "retry"})).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["b"]);
    ask(&world, "b", json!({"want": "force", "blocker": "journal", "reason": "I wrote it"})).await;
    hooks.answer("destroying destroy b", Verdict::Gone);
    collecting.settled(&world).await;
    assert_eq!((left(&world).await, hooks.heard().len()), (Vec::new(), 2));
}

/// More subscribers than can be called: nobody is left out silently.
#[tokio::test]
async fn too_many_subscribers_are_told() {
    let (world, hooks) = stage().await;
    let annotations = hears(&["b"])["annotations"].clone();
    let crowd = (0..1_001).map(|number| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("a-{number:04}"),
            "uid": format!("00000000-0000-4000-8000-{number:012x}"), "annotations": annotations}})
    });
    world.fill_documents("configmaps", crowd).await;
    make(&world, "b", &[]).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    let summary = collecting.settled(&world).await;
    world.get("configmaps/b").await.expect(200);
    assert_eq!(hooks.heard().len(), 0);
    let reasons: Vec<&str> = summary.blockers.iter().map(|one| one.reason.as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("subscribers")), "{reasons:?}");
}

/// REQ-MUR-24: a dependency on somebody who stays, and who depends on somebody who goes.
#[tokio::test]
async fn a_dependency_through_somebody_who_stays() {
    let (world, hooks) = stage().await;
    make_with(&world, "a", &[], hears(&["m"])).await;
    make_with(&world, "m", &[], hears(&["z"])).await;
    make(&world, "z", &[]).await;
    delete(&world, "configmaps/a", "").await;
    delete(&world, "configmaps/z", "").await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    collecting.settled(&world).await;
    let heard = hooks.heard();
    let at =
        |name: &str| heard.iter().position(|call| *call == format!("destroying destroy {name}")).unwrap();
    assert!(at("z") < at("a"), "{heard:?}");
}

/// An orphan `o`, `d` that follows it, and `a` that hears of the end of `d`. Gives the place of the orphan.
async fn orphan_with_follower(world: &World) -> String {
    let secrets = "/api/v1/namespaces/default/secrets";
    let orphan =
        json!({"metadata": {"name": "o", "ownerReferences": [owner("ConfigMap", "gone", "never-was")]}});
    let o =
        world.create(secrets, &orphan).await.document(201)["metadata"]["uid"].as_str().unwrap().to_owned();
    let d = json!({"metadata": {"name": "d", "ownerReferences": [owner("Secret", "o", &o)]}});
    world.create("configmaps", &d).await.expect(201);
    make_with(world, "a", &[], hears(&["d"])).await;
    format!("{secrets}/o")
}

/// REQ-MUR-92, REQ-MUR-93: who follows an orphan is warned of before the orphan goes, and a veto saves both. When it is
/// notified of, the orphan is gone already; then a veto saves the follower.
#[tokio::test]
async fn a_veto_for_a_follower_of_an_orphan() {
    for phase in ["warning", "notifying", ""] {
        let (world, hooks) = stage().await;
        let mut settings = sexton_testkit::collecting::quick("tests");
        settings.orphan_grace = std::time::Duration::from_secs(5);
        let mut collecting = Collecting::with(&world, settings, hooks.clone());
        let orphan = orphan_with_follower(&world).await;
        let veto = Verdict::Veto { reason: "I need it".into(), until: None };
        hooks.answer(&format!("{phase} gone d"), veto);
        // Seen first, taken then, and left alone after the veto.
        for _ in 0..3 {
            collecting.settled(&world).await;
            pass(&world, 10).await;
        }
        collecting.settled(&world).await;
        let there = world.get(&orphan).await.code == 200;
        assert_eq!(there, phase == "warning", "{phase} {:?}", hooks.heard());
        if phase.is_empty() {
            assert_eq!(left(&world).await, ["a"], "{:?}", hooks.heard());
        } else {
            let d = metadata(&world, "d").await;
            assert!(d["deletionTimestamp"].is_null() && d["annotations"].is_null(), "{phase} {d}");
        }
    }
}

/// Who rests on an owner that may still be saved waits until that is settled, and nobody waits for it meanwhile.
#[tokio::test]
async fn an_accused_owner_with_steps_beside_a_waiting_one() {
    let (world, hooks) = stage().await;
    let mut settings = quick("tests");
    settings.orphan_grace = std::time::Duration::from_secs(5);
    let mut collecting = Collecting::with(&world, settings, hooks.clone());
    let root = make(&world, "root", &[]).await;
    let orphan = make(&world, "orphan", &[("gone", "never-was")]).await;
    make(&world, "both", &[("root", &root), ("orphan", &orphan)]).await;
    collecting.settled(&world).await;
    pass(&world, 10).await;
    delete(&world, "configmaps/root", "Foreground").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new(), "{:?}", hooks.heard());
    let heard = hooks.heard();
    let at = |name: &str| heard.iter().position(|call| *call == format!("destroying destroy {name}"));
    assert!(heard.len() == 3 && at("root").is_some() && at("orphan") < at("both"), "{heard:?}");
}

/// REQ-MUR-35, REQ-MUR-37, REQ-MUR-38, REQ-MUR-72: what is destroyed is destroyed after a restart of everything, too.
#[tokio::test]
async fn destroyed_for_good() {
    let world = World::embedded().await;
    class(&world, json!({})).await;
    let hooks = Arc::new(Scripted::default());
    make_with(&world, "b", &[], json!({"finalizers": ["example.com/mine"]})).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    collecting.drain().await;
    let world = world.restart().await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    collecting.settled(&world).await;
    assert_eq!(metadata(&world, "b").await["annotations"]["sexton.dev/destroyed"], "true");
    world.merge("configmaps/b", &json!({"metadata": {"finalizers": []}})).await.expect(200);
    collecting.settled(&world).await;
    assert_eq!((left(&world).await, hooks.heard()), (Vec::new(), vec!["destroying destroy b".to_owned()]));
}

/// EXT-25: a call that waits for its turn is not made any more when it was given up meanwhile.
#[tokio::test]
async fn what_is_given_up_is_not_called_for_later() {
    let (world, hooks) = stage().await;
    make(&world, "first", &[]).await;
    // Somebody else holds it, so that it is still there when the turn of the call comes.
    make_with(&world, "second", &[], json!({"finalizers": ["example.com/hold"]})).await;
    let (finish, finished) = tokio::sync::oneshot::channel::<()>();
    hooks.during("destroying destroy first", async move { _ = finished.await });
    let mut settings = quick("tests");
    settings.hooks_at_once = 1;
    let mut collecting = Collecting::with(&world, settings, hooks.clone());
    delete(&world, "configmaps/first", "").await;
    hooks.called(1).await;
    delete(&world, "configmaps/second", "").await;
    collecting.until(|summary| summary.calls == 2).await;
    ask(&world, "second", json!({"want": "force", "blocker": "destroy", "reason": "enough"})).await;
    collecting.until(|summary| summary.blockers.iter().any(|one| one.object.name == "second")).await;
    finish.send(()).unwrap();
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["destroying destroy first"]);
}

/// What is destroyed runs no method any more, also if the collector has not heard of it yet.
#[tokio::test]
async fn who_was_destroyed_a_moment_ago_hears_nothing() {
    let (world, hooks) = stage().await;
    make(&world, "a", &[]).await;
    make_with(&world, "b", &[], hears(&["a"])).await;
    let gate = Gate::to(&world);
    gate.only(|line| !matches!(line, Line::Modified(seen) if seen.object.metadata.name == "b"));
    let mut collecting = Collecting::through(&world, quick("tests"), hooks.clone(), gate);
    collecting.settled(&world).await;
    // As the collector writes it.
    world.annotate("configmaps", "b", &[("sexton.dev/destroyed", "true")]).await;
    delete(&world, "configmaps/a", "").await;
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["destroying destroy a"]);
    assert_eq!(left(&world).await, ["b"]);
}
