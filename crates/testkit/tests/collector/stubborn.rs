//! One that cannot be deleted does not stop the others, and is named.

use serde_json::json;
use sexton_testkit::things::{DEFINITIONS, widget, widgets};
use sexton_testkit::{Collecting, World};

use crate::common::{delete, left, make};

const NAMESPACES: &str = "/api/v1/namespaces";

/// EXT-16: so it is if it would have to be marked first, before anything below it is touched.
#[tokio::test]
async fn a_mark_that_is_refused_stops_nobody_else() {
    let world = World::new().await;
    let mut definition = widgets();
    definition["spec"]["scope"] = json!("Cluster");
    world.create(DEFINITIONS, &definition).await.expect(201);
    let cluster_wide = "/apis/demo.example.com/v1/widgets";
    let made = world.create(cluster_wide, &widget("w", 1)).await.document(201);
    let owned = json!({"metadata": {"ownerReferences": [{"apiVersion": "demo.example.com/v1", "kind": "Widget",
        "name": "w", "uid": made["metadata"]["uid"]}]}});
    world.merge(&format!("{NAMESPACES}/kube-public"), &owned).await.expect(200);
    let root = make(&world, "root", &[]).await;
    make(&world, "a", &[("root", &root)]).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    world.call("DELETE", &format!("{cluster_wide}/w")).send().await.expect(200);
    collecting.until(|summary| summary.doomed > 0).await;
    delete(&world, "configmaps/root", "").await;
    let summary = collecting.until(|summary| summary.removed >= 2 && !summary.blockers.is_empty()).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let named = summary.blockers.iter().find(|one| one.object.name == "kube-public").unwrap();
    assert!(named.reason.starts_with("the server refuses its deletion: "), "{}", named.reason);
    // Whoever has to go after it is still there.
    world.get(&format!("{cluster_wide}/w")).await.expect(200);
}

/// EXT-16, EXT-22: a namespace that must not be deleted is owned by one that is. The rest of the world goes on.
#[tokio::test]
async fn what_the_server_refuses_stops_nobody_else() {
    let world = World::new().await;
    let uid =
        world.create(NAMESPACES, &json!({"metadata": {"name": "n"}})).await.document(201)["metadata"]["uid"]
            .as_str()
            .unwrap()
            .to_owned();
    let owned = json!({"metadata": {"ownerReferences":
        [{"apiVersion": "v1", "kind": "Namespace", "name": "n", "uid": uid}]}});
    world.merge(&format!("{NAMESPACES}/kube-public"), &owned).await.expect(200);
    let root = make(&world, "root", &[]).await;
    make(&world, "a", &[("root", &root)]).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    world.call("DELETE", &format!("{NAMESPACES}/n")).json(&json!({})).send().await.expect(200);
    collecting.until(|summary| summary.doomed > 0).await;
    delete(&world, "configmaps/root", "").await;
    collecting.until(|summary| summary.removed >= 2).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let public = world.get(&format!("{NAMESPACES}/kube-public")).await.document(200);
    assert!(public["metadata"]["deletionTimestamp"].is_null());
    let summary = collecting.until(|summary| !summary.blockers.is_empty()).await;
    assert!(summary.blockers.iter().any(|one| one.object.name == "kube-public"), "{summary:#?}");
}
