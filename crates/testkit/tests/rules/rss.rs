//! The story of a replication cluster "a" that is deleted and made again, lazily and periodically.

use serde_json::json;

use crate::common::*;

/// REQ-RSS-9, REQ-RSS-18, REQ-RSS-19, REQ-RSS-21, REQ-RSS-22, REQ-RSS-23, REQ-RSS-6: the periodic full scan lists stateful
/// sets and services, and finds those whose cluster does not exist; REQ-RSS-4, REQ-RSS-5, REQ-RSS-3: those of the new
/// cluster of the same name are another one's. REQ-RSS-7, REQ-RSS-1, REQ-RSS-2, REQ-RSS-8: whose they are their owner
/// references say.
#[tokio::test]
async fn periodically_what_the_old_cluster_left_goes_and_the_new_ones_stays() {
    let world = world().await;
    let old = gone(&world, "a").await;
    let new = cluster(&world, "a").await;
    equip(&world, "a", &new, "new").await;
    for (path, uid) in [("services/a-svc-old", &old), ("services/a-svc-new", &new)] {
        let service = world.get(path).await.document(200);
        assert_eq!(
            service["metadata"]["ownerReferences"],
            json!([reference("a", uid)]),
            "one owner, by its uid"
        );
    }
    world.create(RULES, &orphaned(json!({"minAge": "30s"}))).await.expect(201);
    let _collector = collect(&world);
    left(&world, SETS, &["rss-a-new"]).await;
    left(&world, SERVICES, &["a-svc-new"]).await;
    let status = says(&world, |status| status["counts"]["orphan"] == 2).await;
    assert_eq!((&status["counts"]["owned"], &status["scope"]), (&json!(2), &json!(4)));
    assert_eq!(status["nextScan"].as_str().unwrap(), "2026-11-15T20:12:00Z", "ten minutes later");
    let evidence = status["found"][0]["evidence"].as_str().unwrap();
    assert!(evidence.contains("does not exist, the name belongs to"), "{evidence}");
    assert_eq!(names(&world, CLUSTERS).await, ["a"]);
}

/// REQ-RSS-10: pods are left to whoever owns them, and follow; REQ-RSS-11: any kinds can be named.
#[tokio::test]
async fn pods_follow_their_stateful_set() {
    let world = world().await;
    gone(&world, "a").await;
    let set = world.get(&format!("{SETS}/rss-a-old")).await.document(200);
    let owner = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "rss-a-old",
        "uid": set["metadata"]["uid"]});
    let pod = json!({"metadata": {"name": "rss-a-old-0", "ownerReferences": [owner],
        "labels": {"app": "a", "rss-operator-managed": "true"}}});
    world.create("pods", &pod).await.expect(201);
    world.create(RULES, &orphaned(json!({}))).await.expect(201);
    let _collector = collect(&world);
    left(&world, "pods", &[]).await;
    let status = says(&world, |status| status["counts"]["orphan"] == 2).await;
    assert!(!status["found"].to_string().contains("rss-a-old-0"), "{status}");
}

/// REQ-RSS-13, REQ-RSS-14, REQ-RSS-15, REQ-RSS-16, REQ-RSS-17: when a cluster is made, what a former one of its name left is
/// found by its labels, and the new one is told when all of it is gone.
#[tokio::test]
async fn lazily_leftovers_go_before_the_new_cluster_is_started() {
    let world = world().await;
    world.create(RULES, &leftover(json!({"on": ["create"]}))).await.expect(201);
    gone(&world, "a").await;
    let mut collector = collect(&world);
    says(&world, |status| status["scope"] == 2).await;
    collector.settled(&world).await;
    assert_eq!(names(&world, SETS).await, ["rss-a-old"], "nobody wants the name yet");
    // Something holds one of them for a while.
    let hold = json!({"metadata": {"finalizers": ["example.com/slow"]}});
    world.merge(&format!("{SETS}/rss-a-old"), &hold).await.expect(200);

    let new = cluster(&world, "a").await;
    equip(&world, "a", &new, "new").await;
    until(&world, CLUSTERS, |cluster| condition(cluster) == Some("False")).await;
    left(&world, SERVICES, &["a-svc-new"]).await;
    let told = "replicationcluster.example.com/a waits for statefulset.apps/rss-a-old";
    says(&world, |status| status["waiting"][0] == told).await;
    let cluster = world.get(&format!("{CLUSTERS}/a")).await.document(200);
    assert_eq!(condition(&cluster), Some("False"), "{cluster:#}");

    let free = json!({"metadata": {"finalizers": null}});
    world.merge(&format!("{SETS}/rss-a-old"), &free).await.expect(200);
    until(&world, CLUSTERS, |cluster| condition(cluster) == Some("True")).await;
    assert_eq!(names(&world, SETS).await, ["rss-a-new"]);
    assert_eq!(names(&world, SERVICES).await, ["a-svc-new"]);
}

/// REQ-RSS-12: when a cluster is deleted, what it owned is removed; EXT-21: only what belongs to the life that went, even
/// if the deletion comes late and the name is another one's by then.
#[tokio::test]
async fn lazily_a_deleted_cluster_takes_its_own_along() {
    let world = world().await;
    world.create(RULES, &leftover(json!({"on": ["delete"], "minAge": "0s"}))).await.expect(201);
    let old = cluster(&world, "a").await;
    equip(&world, "a", &old, "old").await;
    let _collector = collect(&world);
    says(&world, |status| status["scope"] == 2).await;
    end(&world, "a").await;
    let new = cluster(&world, "a").await;
    equip(&world, "a", &new, "new").await;
    left(&world, SETS, &["rss-a-new"]).await;
    left(&world, SERVICES, &["a-svc-new"]).await;
}

/// REQ-RSS-20: tens of clusters with a hundred things are nothing to a full scan.
#[tokio::test]
async fn many_clusters_are_scanned_at_once() {
    let world = world().await;
    for number in 0..25 {
        let name = format!("c{number:02}");
        let uid = cluster(&world, &name).await;
        equip(&world, &name, &uid, "x").await;
        equip(&world, &name, &uid, "y").await;
    }
    end(&world, "c07").await;
    world.nature().pass(120);
    world.compact().await;
    world.create(RULES, &orphaned(json!({}))).await.expect(201);
    let _collector = collect(&world);
    let status = says(&world, |status| status["scope"] == 100).await;
    assert_eq!((&status["counts"]["orphan"], &status["counts"]["owned"]), (&json!(4), &json!(96)));
    left(&world, &format!("{SETS}?labelSelector=app%3Dc07"), &[]).await;
    assert_eq!(names(&world, SETS).await.len(), 48);
}
