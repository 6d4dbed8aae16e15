//! The rest of the known list, and what it says that others do not handle.

use std::sync::Arc;

use serde_json::json;
use sexton_collector::hooks::Hooks;
use sexton_model::feed::Line;
use sexton_testkit::collecting::quick;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, owner, widget, widgets};
use sexton_testkit::{Collecting, Gate, World};

use crate::common::{delete, left, make, make_with, metadata, pass};
use crate::races::{gated, later, none};

/// What an owner waits for is taken from it by an edit: it does not wait any longer.
#[tokio::test]
async fn race_16_the_last_one_in_the_way_leaves_by_an_edit() {
    for policy in ["", "Foreground"] {
        let world = World::new().await;
        let root = make(&world, "root", &[]).await;
        let protect = json!({"annotations": {"sexton.dev/protect": "true"}});
        make_with(&world, "kept", &[("root", &root)], protect).await;
        let mut collecting = Collecting::on(&world);
        delete(&world, "configmaps/root", policy).await;
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["kept", "root"]);
        world.merge("configmaps/kept", &json!({"metadata": {"ownerReferences": null}})).await.expect(200);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["kept"], "{policy}");
    }
}

/// EXT-16: several change the finalizers of one object at the same time, and none of the changes is lost.
#[tokio::test]
async fn race_17_finalizers_are_changed_by_several() {
    let world = World::new().await;
    let both = json!({"finalizers": ["example.com/one", "example.com/two"]});
    make_with(&world, "a", &[], both).await;
    let (gate, mut collecting) = gated(&world);
    let one = json!({"metadata": {"finalizers": ["example.com/two", "cascade_deletion"]}});
    let one = later(&world, "MERGE", "configmaps/a", &one);
    gate.before_a_write(async move { _ = one.send().await.expect(200) });
    delete(&world, "configmaps/a", "").await;
    collecting.settled(&world).await;
    assert_eq!(metadata(&world, "a").await["finalizers"], json!(["example.com/two"]));
    world.merge("configmaps/a", &json!({"metadata": {"finalizers": []}})).await.expect(200);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, none());
}

/// The kind of an owner is gone: nothing is known of the owner, so nothing happens, once. When the kind is back and the
/// owner is not, it is an orphan.
#[tokio::test]
async fn race_18_a_kind_vanishes() {
    let world = World::new().await;
    let reference = json!({"apiVersion": "demo.example.com/v1", "kind": "Widget", "name": "w", "uid": "u-w"});
    let document = json!({"metadata": {"name": "a", "ownerReferences": [reference]}});
    world.create("configmaps", &document).await.expect(201);
    let mut collecting = Collecting::on(&world);
    let first = collecting.settled(&world).await.rounds;
    pass(&world, 1000).await;
    assert!(collecting.settled(&world).await.rounds <= first + 3);
    assert_eq!(left(&world).await, ["a"]);
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, none());
}

/// EXT-12: somebody went while nobody listened; the next listing does not have them, and their dependents follow.
#[tokio::test]
async fn race_19_gone_unheard() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make(&world, "a", &[("root", &root)]).await;
    let (gate, mut collecting) = gated(&world);
    let known = collecting.settled(&world).await.lives;
    gate.lines(false);
    delete(&world, "configmaps/root", "Background").await;
    world.compact().await;
    gate.break_feed();
    gate.lines(true);
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, none());
    assert!(summary.lives <= known, "{summary:#?}");
}

/// The server does not say which kinds it has: then nobody is known to be missing.
#[tokio::test]
async fn race_20_no_kinds_are_told() {
    let world = World::new().await;
    make(&world, "a", &[("gone", "never-was")]).await;
    let gate = Gate::to(&world);
    gate.only(|line| !matches!(line, Line::Kinds { .. }));
    let mut collecting = Collecting::through(&world, quick("tests"), Arc::new(Hooks::new()), gate.clone());
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a"]);
    gate.only(|_| true);
    gate.break_feed();
    collecting.until(|summary| summary.removed == 1).await;
    assert_eq!(left(&world).await, none());
}

/// Somebody is made as a dependent in the moment in which its owner is deleted and leaves its dependents: it lives, too.
#[tokio::test]
async fn orphaning_misses_nobody() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make(&world, "before", &[("root", &root)]).await;
    let (gate, mut collecting) = gated(&world);
    collecting.settled(&world).await;
    for number in 0..3 {
        let late = json!({"metadata": {"name": format!("late-{number}"),
            "ownerReferences": [owner("ConfigMap", "root", &root)]}});
        let late = later(&world, "POST", "configmaps", &late);
        gate.before_a_write(async move { _ = late.send().await.expect(201) });
    }
    delete(&world, "configmaps/root", "Orphan").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["before", "late-0", "late-1", "late-2"]);
    for name in ["before", "late-0", "late-1", "late-2"] {
        assert!(metadata(&world, name).await["ownerReferences"].is_null(), "{name}");
    }
}

/// A dependent that is made in the moment in which its owner would go holds it up.
#[tokio::test]
async fn a_dependent_of_the_last_moment_blocks() {
    for policy in ["", "Foreground"] {
        let world = World::new().await;
        let root = make(&world, "root", &[]).await;
        let (gate, mut collecting) = gated(&world);
        collecting.settled(&world).await;
        let mut late = json!({"metadata": {"name": "late", "finalizers": ["example.com/mine"]}});
        late["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "root",
            "uid": root, "blockOwnerDeletion": true}]);
        let late = later(&world, "POST", "configmaps", &late);
        gate.before_a_write(async move { _ = late.send().await.expect(201) });
        delete(&world, "configmaps/root", policy).await;
        let summary = collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["late", "root"], "{policy}");
        assert_eq!(summary.blockers.len(), 1, "{summary:#?}");
        world.merge("configmaps/late", &json!({"metadata": {"finalizers": []}})).await.expect(200);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, none(), "{policy}");
    }
}

/// A kind that the server does not know yet is no proof that its objects are missing, neither for one dependent nor for
/// its siblings.
#[tokio::test]
async fn a_kind_that_is_not_there_yet_condemns_nobody() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let widget = world.create(WIDGETS, &widget("w", 1)).await.document(201)["metadata"]["uid"].clone();
    let reference =
        json!({"apiVersion": "demo.example.com/v1", "kind": "Widget", "name": "w", "uid": widget});
    for name in ["a", "b"] {
        let document = json!({"metadata": {"name": name, "ownerReferences": [reference]}});
        world.create("configmaps", &document).await.expect(201);
    }
    let gate = Gate::to(&world);
    // Neither the kind nor its objects are told.
    gate.only(|line| match line {
        Line::Kinds { .. } => false,
        Line::Added(seen) => seen.resource != "widgets" && seen.resource != "customresourcedefinitions",
        _ => true,
    });
    let mut collecting = Collecting::through(&world, quick("tests"), Arc::new(Hooks::new()), gate.clone());
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
    gate.only(|_| true);
    gate.break_feed();
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
}

/// Evidence travels with the write: even if the collector is told that an owner is gone, who is there is there.
#[tokio::test]
async fn a_false_absence_deletes_nobody() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make(&world, "a", &[("root", &root)]).await;
    let gate = Gate::to(&world);
    gate.only(|line| !matches!(line, Line::Added(seen) if seen.object.metadata.name == "root"));
    let mut collecting = Collecting::through(&world, quick("tests"), Arc::new(Hooks::new()), gate.clone());
    gate.arrived(3).await;
    assert_eq!(left(&world).await, ["a", "root"]);
    // Only a new listing helps.
    gate.only(|_| true);
    gate.lines(false);
    make(&world, "other", &[]).await;
    world.compact().await;
    gate.break_feed();
    gate.lines(true);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a", "other", "root"]);
}

/// A version that is no longer served is still the same kind: whoever refers to it follows its owner.
#[tokio::test]
async fn another_version_of_a_kind_is_the_same_kind() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let uid = world.create(WIDGETS, &widget("w", 1)).await.document(201)["metadata"]["uid"].clone();
    let reference = json!({"apiVersion": "demo.example.com/v0", "kind": "Widget", "name": "w", "uid": uid});
    let document = json!({"metadata": {"name": "a", "ownerReferences": [reference]}});
    world.create("configmaps", &document).await.expect(201);
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["a"]);
    world.call("DELETE", &format!("{WIDGETS}/w")).send().await.expect(200);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, none());
    world.get(&format!("{WIDGETS}/w")).await.expect(404);
}

/// EXT-18: a finalizer that somebody adds in the moment of the deletion is never lost.
#[tokio::test]
async fn a_finalizer_of_the_last_moment_holds() {
    let world = World::new().await;
    let (gate, mut collecting) = gated(&world);
    let hold = json!({"metadata": {"finalizers": ["example.com/mine"]}});
    let hold = later(&world, "MERGE", "configmaps/orphan", &hold);
    gate.before_a_write(async move { _ = hold.send().await.expect(200) });
    make(&world, "orphan", &[("gone", "never-was")]).await;
    collecting.settled(&world).await;
    let held = metadata(&world, "orphan").await;
    assert_eq!(held["finalizers"], json!(["example.com/mine"]));
    assert!(held["deletionTimestamp"].is_string());
    world.merge("configmaps/orphan", &json!({"metadata": {"finalizers": []}})).await.expect(200);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, none());
}

/// Who waited for its dependents and is told to leave them instead does so.
#[tokio::test]
async fn a_deletion_can_become_an_orphaning() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    let protect = json!({"annotations": {"sexton.dev/protect": "true"}});
    make_with(&world, "kept", &[("root", &root)], protect).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/root", "Foreground").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["kept", "root"]);
    delete(&world, "configmaps/root", "Orphan").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["kept"]);
    assert!(metadata(&world, "kept").await["ownerReferences"].is_null());
}
