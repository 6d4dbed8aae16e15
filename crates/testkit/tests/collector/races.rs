//! The races that a garbage collector of Kubernetes has to stand, by the numbers of the known list.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sexton_collector::hooks::Hooks;

use sexton_testkit::collecting::quick;
use sexton_testkit::things::owner;
use sexton_testkit::{Call, Collecting, Gate, World};

use crate::common::{delete, left, make, make_with, metadata, pass};

/// A collector behind a gate.
pub(crate) fn gated(world: &World) -> (Arc<Gate>, Collecting) {
    let gate = Gate::to(world);
    let collecting = Collecting::through(world, quick("tests"), Arc::new(Hooks::new()), gate.clone());
    (gate, collecting)
}

pub(crate) fn none() -> Vec<String> {
    Vec::new()
}

/// A request that a test makes later.
pub(crate) fn later(world: &World, method: &str, path: &str, body: &Value) -> Call {
    Call::new(world.router(), method, path).json(body)
}

/// A gap: the collector hears nothing of what happens here, not even afterwards.
async fn gap(world: &World, gate: &Gate, collecting: &mut Collecting, happens: impl AsyncFnOnce(&World)) {
    gate.lines(false);
    happens(world).await;
    world.compact().await;
    gate.break_feed();
    gate.lines(true);
    collecting.settled(world).await;
}

/// A listing tells dependents before their owners.
#[tokio::test]
async fn race_01_a_dependent_is_seen_before_its_owner() {
    let world = World::new().await;
    let owner = make(&world, "z-owner", &[]).await;
    make(&world, "a-dependent", &[("z-owner", &owner)]).await;
    let mut collecting = Collecting::on(&world);
    let summary = collecting.settled(&world).await;
    assert_eq!((summary.doomed, left(&world).await.len()), (0, 2));
}

/// An owner comes and goes while nobody listens: its dependent is an orphan nevertheless.
#[tokio::test]
async fn race_02_an_owner_comes_and_goes_unheard() {
    let world = World::new().await;
    let (gate, mut collecting) = gated(&world);
    collecting.settled(&world).await;
    gap(&world, &gate, &mut collecting, async |world| {
        let owner = make(world, "owner", &[]).await;
        make(world, "dependent", &[("owner", &owner)]).await;
        delete(world, "configmaps/owner", "Background").await;
    })
    .await;
    assert_eq!(left(&world).await, none());
}

/// An owner that was missing appears before its dependent's time has come.
#[tokio::test]
async fn race_03_a_missing_owner_appears() {
    let world = World::new().await;
    let mut collecting = patient(&world);
    make(&world, "early", &[("owner", "u-owner")]).await;
    make(&world, "too-early", &[("nobody", "u-nobody")]).await;
    collecting.settled(&world).await;
    pass(&world, 4).await;
    appear(&world, "owner", "u-owner").await;
    pass(&world, 100).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["early", "owner"]);
}

/// Somebody with a uid that a test chose.
async fn appear(world: &World, name: &str, uid: &str) {
    let metadata = json!({"name": name, "uid": uid, "creationTimestamp": "2026-11-15T20:00:00Z"});
    let document = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    world.fill_documents("configmaps", [document]).await;
}

/// EXT-13: a successor of the same name is somebody else, also if nobody heard of the change.
#[tokio::test]
async fn race_04_an_owner_is_made_again_under_its_name() {
    let world = World::new().await;
    let first = make(&world, "owner", &[]).await;
    make(&world, "old", &[("owner", &first)]).await;
    let (gate, mut collecting) = gated(&world);
    collecting.settled(&world).await;
    gap(&world, &gate, &mut collecting, async |world| {
        delete(world, "configmaps/owner", "Background").await;
        let second = make(world, "owner", &[]).await;
        make(world, "new", &[("owner", &second)]).await;
    })
    .await;
    assert_eq!(left(&world).await, ["new", "owner"]);
}

async fn claim(world: &World, path: &str, name: &str, reference: Value) {
    let document = json!({"metadata": {"name": name, "ownerReferences": [reference]}});
    world.create(path, &document).await.expect(201);
}

/// Children that call the same owner different things: who is wrong neither harms nor is harmed; another version is not
/// wrong. Once there is nobody of that uid at all, they are orphans as others are, after their time.
#[tokio::test]
async fn race_05_the_same_uid_under_different_names() {
    let world = World::new().await;
    let uid = make(&world, "owner", &[]).await;
    claim(&world, "configmaps", "good", owner("ConfigMap", "owner", &uid)).await;
    claim(&world, "configmaps", "wrong-kind", owner("Secret", "owner", &uid)).await;
    claim(&world, "configmaps", "wrong-name", owner("ConfigMap", "other", &uid)).await;
    let mut newer = owner("ConfigMap", "owner", &uid);
    newer["apiVersion"] = json!("v9");
    claim(&world, "configmaps", "newer", newer).await;
    let mut collecting = patient(&world);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await.len(), 5);
    delete(&world, "configmaps/owner", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["wrong-kind", "wrong-name"], "{summary:#?}");
    pass(&world, 5).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, none());
}

/// A collector that gives orphans a time.
fn patient(world: &World) -> Collecting {
    let mut settings = quick("tests");
    settings.orphan_grace = Duration::from_secs(5);
    Collecting::with(world, settings, Arc::new(Hooks::new()))
}

/// Whether the wrong child or the right owner is first makes no difference.
#[tokio::test]
async fn race_06_in_either_order() {
    for bad_first in [true, false] {
        let world = World::new().await;
        let mut collecting = patient(&world);
        collecting.settled(&world).await;
        for bad in [bad_first, !bad_first] {
            match bad {
                true => claim(&world, "configmaps", "bad", owner("Secret", "owner", "u-owner")).await,
                false => appear(&world, "owner", "u-owner").await,
            }
            collecting.settled(&world).await;
        }
        claim(&world, "configmaps", "good", owner("ConfigMap", "owner", "u-owner")).await;
        pass(&world, 100).await;
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["bad", "good", "owner"], "{bad_first}");
    }
}

/// A reference from another namespace says nothing about the owner, and the owner does not wait for it.
#[tokio::test]
async fn race_07_a_reference_from_another_namespace() {
    for policy in ["", "Foreground", "Orphan", "Background"] {
        let world = World::new().await;
        world.create("/api/v1/namespaces", &json!({"metadata": {"name": "far"}})).await.expect(201);
        let uid = make(&world, "owner", &[]).await;
        make(&world, "near", &[("owner", &uid)]).await;
        let far = "/api/v1/namespaces/far/configmaps";
        claim(&world, far, "far", owner("ConfigMap", "owner", &uid)).await;
        let mut collecting = patient(&world);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["near", "owner"]);
        delete(&world, "configmaps/owner", policy).await;
        let summary = collecting.settled(&world).await;
        let expected = if policy == "Orphan" { vec!["near".to_owned()] } else { none() };
        assert_eq!(left(&world).await, expected, "{policy} {summary:#?}");
        world.get(&format!("{far}/far")).await.expect(200);
    }
}

/// Something without a namespace says that something in one owns it: that cannot be, so nothing follows from it.
#[tokio::test]
async fn race_08_a_cluster_wide_child_of_a_namespaced_owner() {
    let world = World::new().await;
    let uid = make(&world, "owner", &[]).await;
    claim(&world, "/api/v1/namespaces", "child", owner("ConfigMap", "owner", &uid)).await;
    let mut collecting = patient(&world);
    collecting.settled(&world).await;
    delete(&world, "configmaps/owner", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, none(), "{summary:#?}");
    let child = world.get("/api/v1/namespaces/child").await.document(200);
    assert!(child["metadata"]["deletionTimestamp"].is_null());
    // Nor is it looked at again and again.
    let rounds = collecting.now().rounds;
    pass(&world, 1).await;
    assert!(collecting.settled(&world).await.rounds <= rounds + 4);
}

/// Something is made and deleted unheard: it is seen for the first time with its mark.
#[tokio::test]
async fn race_09_made_and_deleted_unheard() {
    let world = World::new().await;
    let (gate, mut collecting) = gated(&world);
    collecting.settled(&world).await;
    gap(&world, &gate, &mut collecting, async |world| {
        let root = make(world, "root", &[]).await;
        make(world, "a", &[("root", &root)]).await;
        delete(world, "configmaps/root", "").await;
    })
    .await;
    assert_eq!(left(&world).await, none());
}

/// Deleted again with another policy while somebody's finalizer holds it: the dependents do not wait for that one.
#[tokio::test]
async fn race_10_deleted_again_while_it_is_held() {
    let world = World::new().await;
    let root = make_with(&world, "root", &[], json!({"finalizers": ["example.com/mine"]})).await;
    make(&world, "a", &[("root", &root)]).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/root", "Background").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a", "root"]);
    delete(&world, "configmaps/root", "Foreground").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["root"]);
    assert_eq!(metadata(&world, "root").await["finalizers"], json!(["example.com/mine"]));
}

/// EXT-16: somebody adopts an orphan after it was judged and before it is deleted.
#[tokio::test]
async fn race_11_adopted_at_the_last_moment() {
    let world = World::new().await;
    let (gate, mut collecting) = gated(&world);
    let keeper = make(&world, "keeper", &[]).await;
    let adopt = json!({"metadata": {"ownerReferences": [owner("ConfigMap", "keeper", &keeper)]}});
    let adopt = later(&world, "MERGE", "configmaps/orphan", &adopt);
    gate.before_a_write(async move { _ = adopt.send().await.expect(200) });
    make(&world, "orphan", &[("gone", "never-was")]).await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["keeper", "orphan"]);
    assert_eq!((summary.removed, summary.doomed), (0, 0));
}

/// Something that changes all the time is deleted nevertheless.
#[tokio::test]
async fn race_12_a_hot_object() {
    let world = World::new().await;
    let (gate, mut collecting) = gated(&world);
    for number in 0..5 {
        let change = json!({"metadata": {"labels": {"n": number.to_string()}}});
        let change = later(&world, "MERGE", "configmaps/orphan", &change);
        gate.before_a_write(async move { _ = change.send().await });
    }
    make(&world, "orphan", &[("gone", "never-was")]).await;
    let summary = collecting.settled(&world).await;
    assert_eq!((left(&world).await, summary.removed), (none(), 1));
    assert_eq!(gate.written().len(), 1);
}

/// EXT-9: somebody else was faster.
#[tokio::test]
async fn race_13_gone_already() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make(&world, "a", &[("root", &root)]).await;
    let (gate, mut collecting) = gated(&world);
    collecting.settled(&world).await;
    let away = later(&world, "DELETE", "configmaps/a", &json!({"propagationPolicy": "Background"}));
    gate.before_a_write(async move { _ = away.send().await.expect(200) });
    delete(&world, "configmaps/root", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, none());
    assert!(summary.trouble.is_none() && summary.rounds < 12, "{summary:#?}");
}

/// One owner waits for its dependents, another one stays: the dependent loses the first.
#[tokio::test]
async fn race_14_a_solid_owner_and_a_waiting_one() {
    let world = World::new().await;
    let waiting = make(&world, "waiting", &[]).await;
    let solid = make(&world, "solid", &[]).await;
    make(&world, "a", &[("waiting", &waiting), ("solid", &solid)]).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/waiting", "Foreground").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a", "solid"]);
    let owners = metadata(&world, "a").await["ownerReferences"].clone();
    assert_eq!((owners.as_array().unwrap().len(), &owners[0]["uid"]), (1, &json!(solid)));
}

/// EXT-11: a circle whose members all block each other.
#[tokio::test]
async fn race_15_a_circle_in_the_foreground() {
    let world = World::new().await;
    let a = make(&world, "a", &[]).await;
    let b = make(&world, "b", &[("a", &a)]).await;
    let back =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "b", "uid": b, "blockOwnerDeletion": true});
    let back = json!({"metadata": {"ownerReferences": [back]}});
    world.merge("configmaps/a", &back).await.expect(200);
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/a", "Foreground").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, none());
}
