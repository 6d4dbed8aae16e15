//! A collector dies at every point of a destruction, and the next one goes on: nobody is called under another key,
//! and nobody who answered is asked again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use sexton_model::feed::Line;
use sexton_model::hook::{Call, Verdict};
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, Gate, Scripted, World};

use crate::common::{ask, delete, hears, left, make, make_with, metadata, records};
use crate::murano::stage;

/// The calls of the whole destruction, one after the other.
const ALL: [&str; 6] = [
    "warning gone b",
    "destroying destroy leaf",
    "notifying gone b",
    "destroying destroy b",
    "destroyed gone b",
    "destroying destroy root",
];

/// A root with a `b` that `a` hears of, and a leaf below that.
async fn family(world: &World) {
    let root = make(world, "root", &[]).await;
    let b = make(world, "b", &[("root", &root)]).await;
    make(world, "leaf", &[("b", &b)]).await;
    make_with(world, "a", &[], hears(&["b"])).await;
}

fn name(call: &Call) -> String {
    format!("{} {} {}", call.phase, call.method, call.object["metadata"]["name"].as_str().unwrap())
}

/// Each call as often as it was made; the same call always has the same key.
fn keys(calls: impl IntoIterator<Item = Call>) -> BTreeMap<String, usize> {
    let mut keys: BTreeMap<String, String> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for call in calls {
        let known = keys.entry(name(&call)).or_insert_with(|| call.idempotency_key.clone());
        assert_eq!(*known, call.idempotency_key, "{}", name(&call));
        *counts.entry(name(&call)).or_default() += 1;
    }
    counts
}

/// EXT-26: it dies in the middle of each call. Only that call is made again.
#[tokio::test]
async fn it_dies_in_each_call() {
    for (number, hanging) in ALL.iter().enumerate() {
        let (world, hooks) = stage().await;
        family(&world).await;
        hooks.during(hanging, std::future::pending());
        let mut collecting = Collecting::scripted(&world, &hooks);
        delete(&world, "configmaps/root", "").await;
        collecting
            .until(|summary| summary.calls == 1 && hooks.heard().contains(&(*hanging).to_owned()))
            .await;
        collecting.kill();
        let after: Arc<Scripted> = Arc::default();
        let mut collecting = Collecting::scripted(&world, &after);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["a"], "{hanging}");
        let counts = keys(hooks.calls().into_iter().chain(after.calls()));
        for call in ALL {
            // The first two are made side by side: either may be under way.
            let most = if call == *hanging || (number < 2 && ALL[..2].contains(&call)) { 2 } else { 1 };
            let made = counts.get(call).copied().unwrap_or(0);
            assert!((1..=most).contains(&made), "{hanging}: {call} {made} times, {counts:?}");
        }
        assert_eq!(counts.len(), ALL.len(), "{counts:?}");
    }
}

/// EXT-26: it dies before each of its writes. Everything comes to its end, and everybody is destroyed once or, if nobody
/// knows, asked again as the same call.
#[tokio::test]
async fn it_dies_before_each_write() {
    let mut all = None;
    for number in 1..60 {
        let (world, hooks) = stage().await;
        family(&world).await;
        let gate = Gate::to(&world);
        gate.pass_writes(number - 1);
        let mut before = Collecting::through(&world, quick("tests"), hooks.clone(), gate.clone());
        delete(&world, "configmaps/root", "").await;
        // Either the write comes before which it dies, or there are no more.
        let done = tokio::select! {
            () = gate.arrived(number) => false,
            _ = before.until(|summary| summary.idle && summary.removed == 3) => true,
        };
        assert!(gate.written().len() < number);
        before.kill();
        let after: Arc<Scripted> = Arc::default();
        let mut collecting = Collecting::scripted(&world, &after);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["a"], "{number}");
        let counts = keys(hooks.calls().into_iter().chain(after.calls()));
        assert!(counts.values().all(|made| *made <= 2), "{number}: {counts:?}");
        assert_eq!(counts.len(), ALL.len(), "{number}: {counts:?}");
        if done {
            all = Some(number - 1);
            break;
        }
    }
    // Each of them was the last one once.
    assert!(all.is_some_and(|writes| writes > 5), "{all:?}");
}

/// EXT-16: of each write the answer is lost. It is looked at again, and nothing is done twice.
#[tokio::test]
async fn it_does_not_hear_the_answer_of_any_write() {
    let (world, hooks) = stage().await;
    family(&world).await;
    let gate = Gate::to(&world);
    (0..30).for_each(|_| gate.lose_an_answer());
    let mut collecting = Collecting::through(&world, quick("tests"), hooks.clone(), gate.clone());
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a"]);
    let counts = keys(hooks.calls());
    assert_eq!(counts.len(), ALL.len(), "{counts:?}");
    // Whoever ended left one tombstone.
    assert_eq!(records(&world, "tombstones").await.len(), 3);
}

/// Of whose end was told that nothing can be done about it goes, even if it is protected at the last moment: its mark
/// rests on nothing that is judged in that round, and it is released when the mark is seen.
#[tokio::test]
async fn protected_when_it_is_too_late() {
    let world = World::embedded().await;
    let late = make_with(&world, "late", &[("gone", "never-was")], json!({})).await;
    // Somebody depends on it and wants to hear nothing.
    let depends = json!([{"target": "ConfigMap/late"}]).to_string();
    make_with(&world, "ear", &[], json!({"annotations": {"sexton.dev/destruction-dependencies": depends}}))
        .await;
    let told = json!({"uid": late, "origin": "accused", "stage": "marking"});
    let journal = json!({"v": 1, "state": told}).to_string();
    world.annotate("configmaps", "late", &[("sexton.dev/destruction", &journal)]).await;
    world
        .merge("configmaps/late", &json!({"metadata": {"annotations": {"sexton.dev/protect": "true"}}}))
        .await
        .expect(200);
    let mut collecting = Collecting::scripted(&world, &Arc::new(Scripted::default()));
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["ear"]);
}

/// Who is no garbage any more when it is too late goes on with its steps: what is asked for about them is heard.
#[tokio::test]
async fn adopted_when_it_is_too_late() {
    let (world, hooks) = stage().await;
    let late = make(&world, "late", &[("gone", "never-was")]).await;
    make_with(&world, "ear", &[], hears(&["late"])).await;
    hooks.answer("notifying gone late", Verdict::Blocked { by: None, reason: "busy".into() });
    let mut settings = quick("tests");
    settings.orphan_grace = std::time::Duration::ZERO;
    let mut collecting = Collecting::with(&world, settings, hooks.clone());
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["warning gone late", "notifying gone late"]);
    world.merge("configmaps/late", &json!({"metadata": {"ownerReferences": []}})).await.expect(200);
    collecting.settled(&world).await;
    let ear = metadata(&world, "ear").await["uid"].as_str().unwrap().to_owned();
    ask(&world, "late", json!({"want": "force", "blocker": ear, "reason": "enough"})).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["ear"], "{late} {:?}", hooks.heard());
}

/// Whose owner was made without the collector hearing of it is not condemned: the evidence goes with the step after
/// which there is no way back.
#[tokio::test]
async fn an_owner_that_was_not_heard_of() {
    let (world, hooks) = stage().await;
    let gate = Gate::to(&world);
    gate.only(|line| !matches!(line, Line::Added(seen) if seen.object.metadata.name == "unheard"));
    let mut settings = quick("tests");
    settings.orphan_grace = std::time::Duration::ZERO;
    let mut collecting = Collecting::through(&world, settings, hooks.clone(), gate.clone());
    collecting.settled(&world).await;
    let unheard = make(&world, "unheard", &[]).await;
    make(&world, "child", &[("unheard", &unheard)]).await;
    collecting.until(|summary| summary.doomed == 1 && summary.rounds > 2).await;
    world.merge("configmaps/unheard", &json!({"data": {"now": "heard of"}})).await.expect(200);
    collecting.until(|summary| summary.doomed == 0).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["child", "unheard"]);
    let child = metadata(&world, "child").await;
    assert!(child["annotations"].is_null() && child["deletionTimestamp"].is_null(), "{child}");
}
