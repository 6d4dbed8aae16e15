//! Leftovers: what else a new owner may have to wait for, and how it is told.

use serde_json::json;

use crate::common::*;

/// EXT-21: only gone is gone: what is protected keeps its successor waiting, and it is said why.
#[tokio::test]
async fn a_protected_leftover_keeps_the_successor_waiting() {
    let world = world().await;
    world.create(RULES, &leftover(json!({}))).await.expect(201);
    gone(&world, "a").await;
    let protect = json!({"metadata": {"annotations": {"sexton.dev/protect": "still needed"}}});
    world.merge("services/a-svc-old", &protect).await.expect(200);
    let new = cluster(&world, "a").await;
    equip(&world, "a", &new, "new").await;
    let _collector = collect(&world);
    left(&world, SETS, &["rss-a-new"]).await;
    let waits = until(&world, CLUSTERS, |cluster| {
        condition(cluster) == Some("False") && !cluster.to_string().contains("rss-a-old")
    });
    let message = waits.await["status"]["conditions"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("service/a-svc-old") && message.contains("still needed"), "{message}");
    assert_eq!(names(&world, SERVICES).await, ["a-svc-new", "a-svc-old"]);
}

/// A new owner of a name that nobody had before is told at once; and its status is otherwise left as it is.
#[tokio::test]
async fn a_new_name_waits_for_nothing() {
    let world = world().await;
    world.create(RULES, &leftover(json!({}))).await.expect(201);
    let _collector = collect(&world);
    says(&world, |status| status["scope"] == 0).await;
    cluster(&world, "b").await;
    until(&world, CLUSTERS, |cluster| condition(cluster) == Some("True")).await;
    let status = json!({"status": {"phase": "Creating"}});
    let path = format!("{CLUSTERS}/b/status");
    let told = world.merge(&path, &status).await.document(200);
    assert_eq!((condition(&told), &told["status"]["phase"]), (Some("True"), &json!("Creating")));
}

/// A kind without a status of its own is told by an annotation.
#[tokio::test]
async fn a_kind_without_status_is_told_by_an_annotation() {
    let world = sexton_testkit::World::new().await;
    define(&world, false).await;
    world.create(RULES, &leftover(json!({}))).await.expect(201);
    gone(&world, "a").await;
    cluster(&world, "a").await;
    let _collector = collect(&world);
    until(&world, CLUSTERS, |cluster| cluster["metadata"]["annotations"]["sexton.dev/leftovers"] == "gone")
        .await;
    assert!(names(&world, SETS).await.is_empty());
}

/// A rule is looked after by whoever acts as the collector, and found again by the next one after a crash (REQ-RSS-13).
#[tokio::test]
async fn the_next_collector_goes_on() {
    let world = world().await;
    world.create(RULES, &leftover(json!({"mode": "report"}))).await.expect(201);
    gone(&world, "a").await;
    cluster(&world, "a").await;
    let first = collect(&world);
    until(&world, CLUSTERS, |cluster| condition(cluster) == Some("False")).await;
    first.kill();
    world.merge(&format!("{RULES}/rss"), &json!({"spec": {"mode": "collect"}})).await.expect(200);
    let _second = collect(&world);
    until(&world, CLUSTERS, |cluster| condition(cluster) == Some("True")).await;
    assert!(names(&world, SETS).await.is_empty());
}
