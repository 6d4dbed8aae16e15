//! What happens when a method does not do what it should: nothing is taken for destroyed, what must follow waits, the
//! rest goes on, and somebody is told what is in the way.

use std::time::Duration;

use serde_json::json;
use sexton_collector::Summary;
use sexton_model::hook::Verdict;
use sexton_testkit::collecting::quick;
use sexton_testkit::things::owner;
use sexton_testkit::{Call, Collecting, Gate, Scripted};

use crate::common::{
    CLASSES, ask, class, delete, hears, left, make, make_with, metadata, pass, record, records,
};
use crate::murano::stage;

fn failed(reason: &str) -> Verdict {
    Verdict::Failed { reason: reason.to_owned() }
}

fn reasons(summary: &Summary) -> Vec<&str> {
    summary.blockers.iter().map(|blocker| blocker.reason.as_str()).collect()
}

fn count(hooks: &Scripted, call: &str) -> usize {
    hooks.heard().iter().filter(|heard| *heard == call).count()
}

/// EXT-25, EXT-18: a destroy method that fails keeps its life and what must follow it; the rest goes on. After too many
/// failures it is blocked, until somebody retries.
#[tokio::test]
async fn what_fails_is_not_destroyed() {
    let world = sexton_testkit::World::new().await;
    class(&world, json!({"retry": {"limit": 2, "backoffSeconds": 3, "maxBackoffSeconds": 60}})).await;
    let hooks = std::sync::Arc::new(Scripted::default());
    let root = make(&world, "root", &[]).await;
    for name in ["bad", "good"] {
        make(&world, name, &[("root", &root)]).await;
    }
    (0..3).for_each(|_| hooks.answer("destroying destroy bad", failed("the disk is busy")));
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/root", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["bad", "root"]);
    assert_eq!(reasons(&summary), ["its destroy method failed: the disk is busy"]);
    assert!(metadata(&world, "bad").await["annotations"]["sexton.dev/destroyed"].is_null());
    // Not before its time, which is later each time.
    pass(&world, 2).await;
    collecting.settled(&world).await;
    assert_eq!(count(&hooks, "destroying destroy bad"), 1);
    pass(&world, 1).await;
    collecting.settled(&world).await;
    assert_eq!(count(&hooks, "destroying destroy bad"), 2);
    pass(&world, 6).await;
    let summary = collecting.settled(&world).await;
    assert_eq!(count(&hooks, "destroying destroy bad"), 3);
    assert_eq!(reasons(&summary), ["its destroy method failed too often: the disk is busy"]);
    // From here on only somebody can help.
    pass(&world, 10_000).await;
    collecting.settled(&world).await;
    assert_eq!(count(&hooks, "destroying destroy bad"), 3);
    assert_eq!(left(&world).await, ["bad", "root"]);
    let blocked = record(&world, |record| record["status"]["phase"] == "blocked").await;
    assert_eq!(blocked["status"]["blockers"][0]["object"]["name"], "bad");
    ask(&world, "bad", json!({"want": "retry"})).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let keys: std::collections::BTreeSet<String> = hooks
        .calls()
        .into_iter()
        .filter(|call| call.object["metadata"]["name"] == "bad")
        .map(|call| call.idempotency_key)
        .collect();
    assert_eq!(keys.len(), 1);
    let attempts: Vec<u32> = hooks
        .calls()
        .into_iter()
        .filter(|call| call.object["metadata"]["name"] == "bad")
        .map(|call| call.attempt)
        .collect();
    assert_eq!(attempts, [1, 2, 3, 1]);
}

/// EXT-25: what is given up leaves a tombstone that says so, and does not count as destroyed.
#[tokio::test]
async fn what_is_forced_leaves_a_tombstone() {
    let (world, hooks) = stage().await;
    let root = make(&world, "root", &[]).await;
    make(&world, "bad", &[("root", &root)]).await;
    hooks.answer(
        "destroying destroy bad",
        Verdict::Blocked { by: Some("ada".into()), reason: "in use".into() },
    );
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/root", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(reasons(&summary), ["its destroy method is blocked by ada: in use"]);
    // A force without a reason is none.
    ask(&world, "bad", json!({"want": "force", "blocker": "destroy"})).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["bad", "root"]);
    ask(&world, "bad", json!({"want": "force", "blocker": "destroy", "reason": "the rack burned down"}))
        .await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let tombstones = records(&world, "tombstones").await;
    let of = |name: &str| {
        let found = tombstones.iter().find(|one| one["spec"]["object"]["name"] == name);
        found.unwrap()["spec"].clone()
    };
    assert_eq!(of("bad")["outcome"], "abandoned");
    let cause = of("bad")["causes"][0].as_str().unwrap().to_owned();
    assert!(
        cause.contains("abandoned, may still exist") && cause.contains("the rack burned down"),
        "{cause}"
    );
    assert_eq!(of("root")["outcome"], "destroyed");
}

/// REQ-MUR-92, REQ-MUR-93: what somebody asked for is not cancelled by a veto, but blocked, and who said no is named.
/// Asked again or forced, it goes on.
#[tokio::test]
async fn a_veto_blocks_what_was_asked_for() {
    for phase in ["warning", "notifying"] {
        for force in [false, true] {
            let (world, hooks) = stage().await;
            let a = make_with(&world, "a", &[], hears(&["b"])).await;
            make(&world, "b", &[]).await;
            let call = format!("{phase} gone b");
            hooks.answer(&call, Verdict::Veto { reason: "I need it".into(), until: None });
            let mut collecting = Collecting::scripted(&world, &hooks);
            delete(&world, "configmaps/b", "").await;
            let summary = collecting.settled(&world).await;
            assert_eq!(reasons(&summary), [format!("{phase} ConfigMap/default/a said no: I need it")]);
            assert_eq!(summary.blockers[0].who.as_deref(), Some("ConfigMap/default/a"));
            pass(&world, 100_000).await;
            collecting.settled(&world).await;
            assert_eq!(left(&world).await, ["a", "b"]);
            match force {
                true => ask(&world, "b", json!({"want": "force", "blocker": a, "reason": "no"})).await,
                false => ask(&world, "b", json!({"want": "retry", "blocker": a})).await,
            }
            collecting.settled(&world).await;
            assert_eq!(left(&world).await, ["a"], "{phase} {force}");
            assert_eq!(count(&hooks, &call), if force { 1 } else { 2 });
        }
    }
}

/// A veto with a time is asked again then.
#[tokio::test]
async fn a_veto_can_have_an_end() {
    let (world, hooks) = stage().await;
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[]).await;
    let until = Some(sexton_testkit::nature::START + 100);
    hooks.answer("warning gone b", Verdict::Veto { reason: "a backup is running".into(), until });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    collecting.settled(&world).await;
    pass(&world, 99).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
    pass(&world, 1).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a"]);
}

/// A handler that does not exist is a blocker with a name; once it exists, it is called.
#[tokio::test]
async fn a_missing_handler_is_named() {
    let world = sexton_testkit::World::new().await;
    let hooks = std::sync::Arc::new(Scripted::default());
    make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[]).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    let summary = collecting.settled(&world).await;
    let expected = "warning ConfigMap/default/a does not exist: there is no class for ConfigMap, which would have \
                    the handler gone";
    assert_eq!(reasons(&summary), [expected]);
    let method = json!({"exec": {"argv": ["/bin/true"]}});
    let spec = json!({"for": {"kind": "ConfigMap"}, "handlers": {"gone": method}});
    world.create(CLASSES, &json!({"metadata": {"name": "cm"}, "spec": spec})).await.expect(201);
    pass(&world, 1).await;
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["warning gone b", "notifying gone b", "destroyed gone b"]);
    assert_eq!(left(&world).await, ["a"]);
}

/// A destruction that takes its time is asked for again, as the same call, and that is no failure.
#[tokio::test]
async fn what_is_in_progress_is_asked_again() {
    let (world, hooks) = stage().await;
    make(&world, "b", &[]).await;
    for _ in 0..20 {
        hooks.answer("destroying destroy b", Verdict::InProgress { after: Some(Duration::from_secs(30)) });
    }
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    for round in 1..=20 {
        let summary = collecting.settled(&world).await;
        assert_eq!(hooks.calls().len(), round);
        assert_eq!(summary.blockers, []);
        pass(&world, 30).await;
    }
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let calls = hooks.calls();
    assert!(calls.iter().all(|call| call.idempotency_key == calls[0].idempotency_key && call.attempt == 1));
}

/// Without anything happening at all, what waits for a time goes on when that has come.
#[tokio::test]
async fn time_alone_wakes_the_collector() {
    let (world, hooks) = stage().await;
    make(&world, "b", &[]).await;
    hooks.answer("destroying destroy b", Verdict::InProgress { after: Some(Duration::from_secs(1)) });
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(summary.next, Some(sexton_testkit::nature::START + 1));
    world.nature().pass(1);
    hooks.called(2).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// REQ-MUR-30, REQ-MUR-32, REQ-MUR-33, REQ-MUR-34: what is destroyed and held by somebody can be read, says that it is
/// destroyed, and none of its methods runs any more.
#[tokio::test]
async fn what_is_destroyed_stays_readable() {
    let (world, hooks) = stage().await;
    let mut b = hears(&["c"]);
    b["finalizers"] = json!(["example.com/mine"]);
    make_with(&world, "b", &[], b).await;
    make(&world, "c", &[]).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/b", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["destroying destroy b"]);
    let b = metadata(&world, "b").await;
    assert_eq!(b["annotations"]["sexton.dev/destroyed"], "true");
    assert_eq!(b["finalizers"], json!(["example.com/mine"]));
    // Who holds it is named.
    assert_eq!(reasons(&summary), ["held by the finalizer example.com/mine"]);
    delete(&world, "configmaps/c", "").await;
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["destroying destroy b", "destroying destroy c"]);
    // Another collector does not begin again either.
    collecting.drain().await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    let summary = collecting.settled(&world).await;
    assert_eq!(reasons(&summary), ["held by the finalizer example.com/mine"]);
    world.merge("configmaps/b", &json!({"metadata": {"finalizers": []}})).await.expect(200);
    let summary = collecting.settled(&world).await;
    assert_eq!((left(&world).await, summary.blockers), (Vec::new(), Vec::new()));
    assert_eq!(hooks.heard().len(), 2);
}

/// REQ-MUR-30, REQ-MUR-31, REQ-MUR-59: a reference that is made in the notification comes too late: it is destroyed
/// nevertheless, and nobody takes the reference away.
#[tokio::test]
async fn a_reference_in_the_notification_comes_too_late() {
    let (world, hooks) = stage().await;
    let a = make_with(&world, "a", &[], hears(&["b"])).await;
    let held = json!({"finalizers": ["example.com/mine"]});
    make_with(&world, "b", &[("gone", "never-was")], held).await;
    let late = json!({"metadata": {"ownerReferences": [owner("ConfigMap", "a", &a)]}});
    let save = Call::new(world.router(), "MERGE", "configmaps/b").json(&late);
    hooks.during("notifying gone b", async move { _ = save.send().await.expect(200) });
    let mut collecting = Collecting::scripted(&world, &hooks);
    let summary = collecting.settled(&world).await;
    assert_eq!(
        hooks.heard(),
        ["warning gone b", "notifying gone b", "destroying destroy b", "destroyed gone b"],
        "{summary:#?}"
    );
    let b = metadata(&world, "b").await;
    assert_eq!(b["annotations"]["sexton.dev/destroyed"], "true");
    assert_eq!(b["ownerReferences"][0]["uid"], json!(a));
}

/// REQ-MUR-93: a reference that is made after the warning was answered, and before the journal says so, saves the object: the
/// journal is not written over a version that it was not decided on.
#[tokio::test]
async fn a_reference_before_the_journal_saves() {
    let (world, hooks) = stage().await;
    let a = make_with(&world, "a", &[], hears(&["b"])).await;
    make(&world, "b", &[("gone", "never-was")]).await;
    let saves = json!({"metadata": {"ownerReferences": [owner("ConfigMap", "a", &a)]}});
    let save = Call::new(world.router(), "MERGE", "configmaps/b").json(&saves);
    let gate = Gate::to(&world);
    let before = gate.clone();
    hooks.during("warning gone b", async move {
        before.before_a_write(async move { _ = save.send().await.expect(200) });
    });
    let mut collecting = Collecting::through(&world, quick("tests"), hooks.clone(), gate);
    let summary = collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["warning gone b"], "{summary:#?}");
    assert_eq!(left(&world).await, ["a", "b"]);
}
