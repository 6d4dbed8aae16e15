//! Where a rule asks for it, a name is held until its leftovers are gone.

use serde_json::json;

use crate::common::*;

/// REQ-RSS-17, EXT-21: all related garbage is gone before the new cluster is there at all.
#[tokio::test]
async fn a_name_with_leftovers_cannot_be_taken() {
    let world = world().await;
    world.create(RULES, &leftover(json!({"hold": true}))).await.expect(201);
    gone(&world, "a").await;
    let new =
        json!({"apiVersion": "example.com/v1", "kind": "ReplicationCluster", "metadata": {"name": "a"}});
    let refused = world.create(CLUSTERS, &new).await;
    assert_eq!(refused.code, 409, "{:?}", refused.json);
    let message = refused.json["message"].as_str().unwrap();
    assert!(
        message.contains("leftovers of \"a\" are still there: statefulset/rss-a-old, service/a-svc-old"),
        "{message}"
    );
    assert!(message.contains("sexton why statefulset/rss-a-old"), "{message}");
    assert_eq!(refused.json["details"]["retryAfterSeconds"], 1);
    // Others are free, and so is what exists already.
    cluster(&world, "b").await;
    world.merge(&format!("{CLUSTERS}/b"), &json!({"metadata": {"labels": {"x": "y"}}})).await.expect(200);

    let _collector = collect(&world);
    left(&world, SETS, &[]).await;
    left(&world, SERVICES, &[]).await;
    world.create(CLUSTERS, &new).await.expect(201);
}

/// What somebody labelled likewise, or what belongs to somebody who lives, holds nothing.
#[tokio::test]
async fn only_what_is_left_over_holds_a_name() {
    let world = world().await;
    world.create(RULES, &leftover(json!({"hold": true}))).await.expect(201);
    let other = cluster(&world, "other").await;
    let labels = json!({"app": "a", "rss-operator-managed": "true"});
    for (name, owners) in [("mine", json!([])), ("others", json!([reference("other", &other)]))] {
        let document = json!({"metadata": {"name": name, "labels": labels, "ownerReferences": owners}});
        world.create(SERVICES, &document).await.expect(201);
    }
    cluster(&world, "a").await;
    // With the rule goes the hold.
    gone(&world, "c").await;
    let new = json!({"metadata": {"name": "c"}});
    assert_eq!(world.create(CLUSTERS, &new).await.code, 409);
    world.delete(&format!("{RULES}/rss"), &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.create(CLUSTERS, &new).await.expect(201);
}
