//! What must not be destroyed: it lives, whoever waits for it is held up, and both are named. And how much the collector
//! takes by itself.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sexton_collector::hooks::Hooks;
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, Scripted, World};

use crate::common::{class, delete, left, make, make_with, metadata, pass, record, records};

/// EXT-18: a protected dependent holds its owner, and both are named. The rest goes; without the annotation all goes.
#[tokio::test]
async fn a_protected_dependent_holds_its_owner() {
    for policy in ["", "Foreground"] {
        let world = World::new().await;
        let root = make(&world, "root", &[]).await;
        let middle = make(&world, "middle", &[("root", &root)]).await;
        let protect = json!({"annotations": {"sexton.dev/protect": "the books of 2025"}});
        let kept = make_with(&world, "kept", &[("middle", &middle)], protect).await;
        make(&world, "below", &[("kept", &kept)]).await;
        make(&world, "free", &[("middle", &middle)]).await;
        let mut collecting = Collecting::on(&world);
        delete(&world, "configmaps/root", policy).await;
        let summary = collecting.settled(&world).await;
        assert_eq!(left(&world).await, ["below", "kept", "middle", "root"], "{policy}");
        let blocker = &summary.blockers[0];
        assert_eq!(summary.blockers.len(), 1, "{summary:#?}");
        assert_eq!(blocker.object.name, "middle");
        assert_eq!(blocker.waits_for.as_deref(), Some("ConfigMap/default/kept"));
        assert_eq!(blocker.reason, "ConfigMap/default/kept is protected: the books of 2025");
        assert!(metadata(&world, "kept").await["deletionTimestamp"].is_null());
        record(&world, |record| record["status"]["phase"] == "blocked").await;
        let free = json!({"metadata": {"annotations": {"sexton.dev/protect": null}}});
        world.merge("configmaps/kept", &free).await.expect(200);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, Vec::<String>::new(), "{policy}");
        record(&world, |record| record["status"]["phase"] == "done").await;
    }
}

/// Whoever waits for something protected is not destroyed in the meantime: none of its methods runs.
#[tokio::test]
async fn nobody_begins_who_has_to_wait() {
    let world = World::new().await;
    class(&world, json!({})).await;
    let hooks = Arc::new(Scripted::default());
    let root = make(&world, "root", &[]).await;
    let protect = json!({"annotations": {"sexton.dev/protect": "true"}});
    make_with(&world, "kept", &[("root", &root)], protect).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), Vec::<String>::new());
    let free = json!({"metadata": {"annotations": {"sexton.dev/protect": null}}});
    world.merge("configmaps/kept", &free).await.expect(200);
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["destroying destroy kept", "destroying destroy root"]);
}

/// In the background nobody waits: the owner is gone, and what is protected stays.
#[tokio::test]
async fn what_is_protected_outlives_an_owner_in_the_background() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    let protect = json!({"annotations": {"sexton.dev/protect": "true"}});
    make_with(&world, "kept", &[("root", &root)], protect.clone()).await;
    make_with(&world, "orphan", &[("gone", "never-was")], protect).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/root", "Background").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["kept", "orphan"], "{summary:#?}");
}

/// A protected kind is protected as if each of its objects said so.
#[tokio::test]
async fn a_protected_kind() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    let secret = json!({"metadata": {"name": "s", "ownerReferences":
        [sexton_testkit::things::owner("ConfigMap", "root", &root)]}});
    world.create("/api/v1/namespaces/default/secrets", &secret).await.expect(201);
    let mut settings = quick("tests");
    settings.rules.protection.kinds.insert((String::new(), "Secret".to_owned()));
    let mut collecting = Collecting::with(&world, settings, Arc::new(Hooks::new()));
    delete(&world, "configmaps/root", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["root"]);
    assert_eq!(summary.blockers[0].reason, "Secret/default/s is protected: the kind Secret is protected");
    world.get("/api/v1/namespaces/default/secrets/s").await.expect(200);
}

/// Orphans wait for their time, except those whose owner was seen to go.
#[tokio::test]
async fn orphans_have_a_grace() {
    let world = World::new().await;
    let mut settings = quick("tests");
    settings.orphan_grace = Duration::from_secs(5);
    let root = make(&world, "root", &[]).await;
    make(&world, "follows", &[("root", &root)]).await;
    make(&world, "orphan", &[("gone", "never-was")]).await;
    let mut collecting = Collecting::with(&world, settings, Arc::new(Hooks::new()));
    let summary = collecting.settled(&world).await;
    assert_eq!(summary.next, Some(sexton_testkit::nature::START + 5));
    delete(&world, "configmaps/root", "Background").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["orphan"]);
    pass(&world, 4).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["orphan"]);
    pass(&world, 1).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// The grace ends without anything else happening.
#[tokio::test]
async fn a_grace_ends_by_itself() {
    let world = World::new().await;
    let mut settings = quick("tests");
    settings.orphan_grace = Duration::from_secs(1);
    make(&world, "orphan", &[("gone", "never-was")]).await;
    let mut collecting = Collecting::with(&world, settings, Arc::new(Hooks::new()));
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["orphan"]);
    world.nature().pass(1);
    collecting.until(|summary| summary.removed == 1).await;
}

/// Without orphans nothing is taken that nobody asked for.
#[tokio::test]
async fn orphans_can_be_left_alone() {
    let world = World::new().await;
    let mut settings = quick("tests");
    settings.takes_orphans = false;
    make(&world, "orphan", &[("gone", "never-was")]).await;
    let mut collecting = Collecting::with(&world, settings, Arc::new(Hooks::new()));
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["orphan"]);
}

/// More orphans than the fuse lets through.
async fn many_orphans() -> World {
    let world = World::new().await;
    for number in 0..30 {
        make(&world, &format!("orphan-{number:02}"), &[("gone", "never-was")]).await;
    }
    world
}

/// Too many orphans at once are held, and it is said why; the collector does not spin meanwhile, and what somebody asks
/// for by name is done. With fewer it goes on.
#[tokio::test]
async fn too_many_orphans_blow_the_fuse() {
    let world = many_orphans().await;
    let root = make(&world, "root", &[]).await;
    make(&world, "follows", &[("root", &root)]).await;
    let mut collecting = Collecting::on(&world);
    let summary = collecting.settled(&world).await;
    let held = summary.held.clone().unwrap_or_default();
    assert!(held.contains("30 of") && held.contains("ConfigMap/gone (never-was) does not exist"), "{held}");
    assert!(summary.rounds < 5, "{summary:#?}");
    delete(&world, "configmaps/root", "").await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await.len(), 30, "{summary:#?}");
    for number in 0..20 {
        delete(&world, &format!("configmaps/orphan-{number:02}"), "Background").await;
    }
    collecting.settled(&world).await;
    pass(&world, 1).await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new(), "{summary:#?}");
    assert_eq!((summary.held, summary.trouble), (None, None));
}

/// What is held has one record, whatever happens meanwhile, which says how many, why, and what to type. It is over when
/// nothing is held any more.
#[tokio::test]
async fn what_is_held_has_a_record() {
    let world = many_orphans().await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    let held = record(&world, |record| record["status"]["phase"] == "held").await;
    let (name, status) = (held["metadata"]["name"].as_str().unwrap(), &held["status"]);
    assert_eq!((&status["doomed"], &status["gone"], &status["held"]), (&json!(30), &json!(0), &json!(30)));
    assert!(status["message"].as_str().unwrap().contains("30 because ConfigMap/gone (never-was) does not"));
    let clears = format!("sexton force Collection.sexton.dev/{name} --blocker fuse:30 --reason \"…\"");
    assert_eq!(status["blockers"][0]["clears"], clears.as_str());
    make(&world, "one-more", &[("gone", "never-was")]).await;
    collecting.settled(&world).await;
    record(&world, |record| record["status"]["held"] == 31).await;
    collecting.kill();
    let mut collecting = Collecting::on(&world);
    pass(&world, 1).await;
    collecting.settled(&world).await;
    for number in 0..25 {
        delete(&world, &format!("configmaps/orphan-{number:02}"), "Background").await;
    }
    collecting.settled(&world).await;
    pass(&world, 1).await;
    collecting.settled(&world).await;
    let over = record(&world, |record| record["status"]["outcome"] == "no longer held").await;
    assert_eq!((&over["metadata"]["name"], &over["status"]["phase"]), (&json!(name), &json!("done")));
    let all = records(&world, "collections").await;
    assert_eq!(all.iter().filter(|one| one["spec"]["roots"].is_null()).count(), 1, "{all:#?}");
}

/// Somebody who saw the record lets it go on, as many as it was then.
#[tokio::test]
async fn what_is_held_goes_on_when_somebody_says_so() {
    let world = many_orphans().await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    let held = record(&world, |record| record["status"]["phase"] == "held").await;
    let path = format!("/apis/sexton.dev/v1/collections/{}", held["metadata"]["name"].as_str().unwrap());
    for (blocker, left_over) in [("fuse:29", 30), ("fuse:30", 0)] {
        let request = json!({"id": blocker, "want": "force", "blocker": blocker, "reason": "they are old"});
        let note = json!({"metadata": {"annotations": {"sexton.dev/request": request.to_string()}}});
        world.merge(&path, &note).await.expect(200);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await.len(), left_over, "{blocker}");
    }
    record(&world, |record| record["status"]["outcome"] == "no longer held").await;
}
