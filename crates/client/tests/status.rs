//! The status of an object is replaced as a whole, for the life that is meant.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

use serde_json::json;
use sexton_client::resources::{ListAsk, StatusError, text};
use sexton_client::{Kinds, Place, Resources};
use sexton_testkit::World;

async fn collections(world: &World) -> (Resources, Place) {
    let resources = Resources::new(world.kube());
    let kinds = Kinds::discover(resources.client()).await.unwrap();
    (resources, Place::new(kinds.resolve("collections").unwrap(), None))
}

#[tokio::test]
async fn a_status_is_replaced_as_a_whole() {
    let world = World::new().await.as_collector().await;
    let (resources, place) = collections(&world).await;
    let made = json!({"apiVersion": "sexton.dev/v1", "kind": "Collection", "metadata": {"name": "c"}, "spec": {"a": 1}});
    let uid = text(&resources.create(&place, &made).await.unwrap(), "/metadata/uid").to_owned();
    for status in [json!({"phase": "running", "more": {"x": 1}}), json!({"phase": "done"})] {
        let written = resources.patch_status(&place, "c", Some(&uid), &status).await.unwrap();
        assert_eq!((&written["status"], &written["spec"]), (&status, &json!({"a": 1})));
    }
    let other = resources.patch_status(&place, "c", Some("other"), &json!({})).await.unwrap_err();
    assert!(!matches!(other, StatusError::NotFound(_)), "{other}");
    let none = resources.patch_status(&place, "d", None, &json!({})).await.unwrap_err();
    assert!(matches!(none, StatusError::NotFound(_)), "{none}");
    let kept = resources.get(&place, "c").await.unwrap();
    assert_eq!(kept["status"], json!({"phase": "done"}));
}

#[tokio::test]
async fn metadata_comes_without_the_rest() {
    let world = World::new().await.as_collector().await;
    let (resources, place) = collections(&world).await;
    for name in ["a", "b"] {
        let made = json!({"apiVersion": "sexton.dev/v1", "kind": "Collection", "metadata": {"name": name}, "spec": {"a": 1}});
        resources.create(&place, &made).await.unwrap();
    }
    let listed = resources.list_metadata(&place, &ListAsk::default()).await.unwrap();
    assert_eq!(listed.found.iter().map(|item| text(item, "/metadata/name")).collect::<Vec<_>>(), ["a", "b"]);
    assert!(
        listed.found.iter().all(|item| item.get("spec").is_none() && item["metadata"]["uid"].is_string())
    );
}
