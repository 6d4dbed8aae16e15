//! Lives that somebody accuses: they go in order, with all their steps, and whoever is put again in time is saved.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_model::accusation::{Accusation, Accuser};
use sexton_model::hook::Verdict;
use sexton_testkit::{Collecting, Gate, Scripted, World};

use crate::common::{delete, hears, left, make, make_with, metadata, records};
use crate::murano::stage;
use crate::races::later;

const ACCUSED: &str = "sexton.dev/accused";
const DEPLOYMENT: &str = "sexton.dev/deployment-id";

pub(crate) fn said(deployment: Option<&str>) -> Accusation {
    Accusation {
        accuser: Accuser::Unmarked,
        by: "Module/shop".into(),
        because: "not in the module since deployment d2".into(),
        collection: "sweep-shop-d2".into(),
        initiator: Some("ada".into()),
        deployment: deployment.map(str::to_owned),
        absent: Vec::new(),
        policy: None,
        parallel: None,
        uid: None,
    }
}

/// A member of the module shop, in the place `order` of the deployment d1.
pub(crate) async fn member(world: &World, name: &str, order: u32) -> String {
    member_with(world, name, order, json!({})).await
}

async fn member_with(world: &World, name: &str, order: u32, more: Value) -> String {
    let mut annotations = json!({DEPLOYMENT: "d1", "sexton.dev/dependency-order": order.to_string()});
    for (key, value) in more.get("annotations").and_then(Value::as_object).into_iter().flatten() {
        annotations[key] = value.clone();
    }
    let more = json!({"labels": {"sexton.dev/manager": "shop"}, "annotations": annotations});
    make_with(world, name, &[], more).await
}

/// Writes an accusation as those who look for garbage do.
pub(crate) async fn accuse(world: &World, lives: &[(&str, &str)], said: &Accusation) {
    let item = |(name, uid): &(&str, &str)| {
        json!({"resource": "configmaps", "namespace": "default", "name": name, "uid": uid,
            "annotated": {DEPLOYMENT: said.deployment},
            "action": {"patch": {"annotations": {ACCUSED: said.encode()}}}})
    };
    let items: Vec<Value> = lives.iter().map(item).collect();
    let answer = world.create("/apis/sexton.dev/v1/bulk", &json!({"items": items})).await.document(200);
    for one in answer["items"].as_array().unwrap() {
        assert_eq!(one["code"], 200, "{one}");
    }
}

fn put_again() -> Value {
    json!({"metadata": {"annotations": {DEPLOYMENT: "d3"}}})
}

/// REQ-CLD-7: higher places go first, and all of one sweep is one collection.
#[tokio::test]
async fn a_sweep_goes_in_the_reverse_order() {
    let (world, hooks) = stage().await;
    let mut lives = Vec::new();
    for (name, order) in [("net", 1), ("vm-1", 2), ("vm-2", 2), ("app", 3)] {
        lives.push((name, member(&world, name, order).await));
    }
    member(&world, "stays", 4).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    let lives: Vec<(&str, &str)> = lives.iter().map(|(name, uid)| (*name, uid.as_str())).collect();
    accuse(&world, &lives, &said(Some("d1"))).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["stays"]);
    let mut heard = hooks.heard();
    heard[1..3].sort();
    let order = ["app", "vm-1", "vm-2", "net"].map(|name| format!("destroying destroy {name}"));
    assert_eq!(heard, order);
    collecting.drain().await;
    let records = records(&world, "collections").await;
    assert_eq!(records.len(), 1, "{records:?}");
    let record = &records[0];
    assert_eq!(
        (&record["metadata"]["name"], &record["spec"]["trigger"]),
        (&json!("sweep-shop-d2"), &json!("sweep"))
    );
    assert_eq!((&record["spec"]["by"], &record["status"]["gone"]), (&json!("ada"), &json!(4)));
}

/// Members in one place go at the same time, as many as their module lets. One that is blocked takes no room.
#[tokio::test]
async fn a_module_bounds_how_many_go_at_the_same_time() {
    for (parallel, most) in [(None, 5), (Some(2), 2), (Some(1), 1)] {
        let (world, hooks) = stage().await;
        let mut lives = Vec::new();
        for name in ["a", "b", "c", "d", "e"] {
            lives.push((name, member(&world, name, 1).await));
        }
        let stone = Verdict::Blocked { by: Some("a stone".into()), reason: "it lies there".into() };
        hooks.answer("destroying destroy a", stone);
        // Each call waits until it is let go on, and counts who is there with it.
        let (go, wait) = tokio::sync::watch::channel(false);
        let at_once: Arc<std::sync::Mutex<(usize, usize)>> = Arc::default();
        for (name, _) in &lives {
            let (mut wait, at_once) = (wait.clone(), at_once.clone());
            hooks.during(&format!("destroying destroy {name}"), async move {
                {
                    let mut count = at_once.lock().unwrap();
                    count.0 += 1;
                    count.1 = count.1.max(count.0);
                }
                _ = wait.wait_for(|go| *go).await;
                tokio::task::yield_now().await;
                at_once.lock().unwrap().0 -= 1;
            });
        }
        let mut collecting = Collecting::scripted(&world, &hooks);
        let lives: Vec<(&str, &str)> = lives.iter().map(|(name, uid)| (*name, uid.as_str())).collect();
        accuse(&world, &lives, &Accusation { parallel, ..said(Some("d1")) }).await;
        hooks.called(most).await;
        collecting.settled_but_for_calls(&world).await;
        assert_eq!(hooks.heard().len(), most, "{parallel:?}");
        go.send_replace(true);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["a"], "{parallel:?}: {:?}", hooks.heard());
        assert_eq!(at_once.lock().unwrap().1, most, "{parallel:?}");
    }
}

/// REQ-CLD-2, REQ-CLD-6: a put marks, and what is marked is not swept, however late the put is.
#[tokio::test]
async fn who_is_put_again_is_saved() {
    let world = World::embedded().await;
    let early = member(&world, "early", 1).await;
    let late = member(&world, "late", 2).await;
    accuse(&world, &[("early", &early)], &said(Some("d1"))).await;
    world.merge("configmaps/early", &put_again()).await.expect(200);
    let gate = Gate::to(&world);
    let hooks = Arc::new(Scripted::default());
    let settings = sexton_testkit::collecting::quick("tests");
    let mut collecting = Collecting::through(&world, settings, hooks, gate.clone());
    collecting.settled(&world).await;
    // Between the judgement and the write that rests on it.
    let put = later(&world, "MERGE", "configmaps/late", &put_again());
    gate.before_a_write(async move { _ = put.send().await.expect(200) });
    accuse(&world, &[("late", &late)], &said(Some("d1"))).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["early", "late"]);
    for name in ["early", "late"] {
        assert!(metadata(&world, name).await["deletionTimestamp"].is_null(), "{name}");
    }
}

/// REQ-MUR-27: who is accused is warned of and notified of before it is marked; a veto saves it.
#[tokio::test]
async fn the_accused_go_through_all_steps() {
    for (veto, expected) in [(false, vec!["ear"]), (true, vec!["ear", "gone"])] {
        let (world, hooks) = stage().await;
        let gone = member(&world, "gone", 1).await;
        make_with(&world, "ear", &[], hears(&["gone"])).await;
        if veto {
            let no = Verdict::Veto { reason: "not now".into(), until: None };
            hooks.answer("warning gone gone", no);
        }
        let mut collecting = Collecting::scripted(&world, &hooks);
        accuse(&world, &[("gone", &gone)], &said(Some("d1"))).await;
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, expected, "{:?}", hooks.heard());
        let heard = hooks.heard();
        assert_eq!(heard.first().map(String::as_str), Some("warning gone gone"), "{heard:?}");
        assert_eq!(heard.len(), if veto { 1 } else { 4 }, "{heard:?}");
        collecting.drain().await;
        let outcome = if veto { "0 gone, 1 lives on" } else { "1 gone" };
        assert_eq!(records(&world, "collections").await[0]["status"]["outcome"], outcome);
    }
}

/// What an accused life owns follows it, unless somebody else owns it as well; who is protected stays.
#[tokio::test]
async fn what_the_accused_own_follows() {
    let world = World::embedded().await;
    let owner = member(&world, "owner", 1).await;
    let other = make(&world, "other", &[]).await;
    make(&world, "only", &[("owner", &owner)]).await;
    make(&world, "shared", &[("owner", &owner), ("other", &other)]).await;
    let protect = json!({"annotations": {"sexton.dev/protect": "true"}});
    let kept = member_with(&world, "kept", 2, protect).await;
    let mut collecting = Collecting::scripted(&world, &Arc::new(Scripted::default()));
    accuse(&world, &[("owner", &owner), ("kept", &kept)], &said(Some("d1"))).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["kept", "other", "shared"]);
}

/// EXT-20: the owners that are said to be gone are proved to be gone with the deletion, and a new owner saves.
#[tokio::test]
async fn owners_that_are_said_to_be_absent() {
    let world = World::embedded().await;
    let alive = make(&world, "alive", &[]).await;
    let wrong = make(&world, "wrong", &[("alive", &alive)]).await;
    let right = make(&world, "right", &[("never", "never-was")]).await;
    let adopted = make(&world, "adopted", &[("never", "never-was")]).await;
    let orphan = |uid: &str| Accusation {
        accuser: Accuser::Orphaned,
        absent: vec![uid.to_owned()],
        collection: "rule-1".into(),
        ..said(None)
    };
    accuse(&world, &[("wrong", &wrong)], &orphan(&alive)).await;
    accuse(&world, &[("right", &right), ("adopted", &adopted)], &orphan("never-was")).await;
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "alive", "uid": alive}]);
    world.merge("configmaps/adopted", &json!({"metadata": {"ownerReferences": owner}})).await.expect(200);
    let mut collecting = Collecting::scripted(&world, &Arc::new(Scripted::default()));
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["adopted", "alive", "wrong"]);
}

/// An accusation is not copied with a document, and anybody may take it off.
#[tokio::test]
async fn accusations_cannot_be_copied() {
    let world = World::embedded().await;
    let one = member(&world, "one", 1).await;
    accuse(&world, &[("one", &one)], &said(Some("d1"))).await;
    let mut copy = world.get("configmaps/one").await.document(200);
    copy["metadata"] = json!({"name": "copy", "annotations": copy["metadata"]["annotations"]});
    let refused = world.create("configmaps", &copy).await;
    assert!(
        refused.code == 422 && refused.text_at("message").contains("sexton.dev/accused"),
        "{:?}",
        refused.json
    );
    world.merge("configmaps/one", &json!({"metadata": {"annotations": {ACCUSED: null}}})).await.expect(200);
    let mut collecting = Collecting::scripted(&world, &Arc::new(Scripted::default()));
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["one"]);
    assert_eq!(delete(&world, "configmaps/one", "").await, 200);
}

/// A thousand of them: they share their writes, and leave one record.
#[tokio::test]
async fn a_large_sweep() {
    let world = World::embedded().await;
    let mut lives = Vec::new();
    for number in 0..1000 {
        let name = format!("m-{number:04}");
        let uid = member(&world, &name, number / 100).await;
        lives.push((name, uid));
    }
    let lives: Vec<(&str, &str)> = lives.iter().map(|(name, uid)| (name.as_str(), uid.as_str())).collect();
    accuse(&world, &lives, &said(Some("d1"))).await;
    let gate = Gate::to(&world);
    let hooks = Arc::new(Scripted::default());
    let settings = sexton_testkit::collecting::quick("tests");
    let mut collecting = Collecting::through(&world, settings, hooks, gate.clone());
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let items: usize = gate.written().iter().map(|bulk| bulk.items.len()).sum();
    assert!(items < 300, "{items}");
    collecting.drain().await;
    assert_eq!(records(&world, "collections").await[0]["status"]["gone"], 1000);
}
