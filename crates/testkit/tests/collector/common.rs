//! Short ways to make objects that own each other, and to see who is left.

use serde_json::{Value, json};
use sexton_testkit::World;

/// Makes a ConfigMap with owners, which are ConfigMaps, too. Gives back its uid.
pub(crate) async fn make(world: &World, name: &str, owners: &[(&str, &str)]) -> String {
    make_with(world, name, owners, json!({})).await
}

/// The same with more metadata.
pub(crate) async fn make_with(world: &World, name: &str, owners: &[(&str, &str)], more: Value) -> String {
    let references: Vec<Value> = owners
        .iter()
        .map(|(name, uid)| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": true})
        })
        .collect();
    let mut metadata = json!({"name": name, "ownerReferences": references});
    for (field, value) in more.as_object().unwrap() {
        metadata[field] = value.clone();
    }
    let document = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    let made = world.create("configmaps", &document).await;
    assert_eq!(made.code, 201, "{:?}", made.json);
    made.json["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// The names of all ConfigMaps.
pub(crate) async fn left(world: &World) -> Vec<String> {
    let listed = world.get("configmaps").await;
    let items = listed.json["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// DELETE with a policy; an empty one means none.
pub(crate) async fn delete(world: &World, path: &str, policy: &str) -> u16 {
    let options = if policy.is_empty() { json!({}) } else { json!({"propagationPolicy": policy}) };
    world.delete(path, &options).await.code
}

/// A class with a destroy method, which scripted hooks answer.
pub(crate) fn class(name: &str, group: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "sexton.dev/v1", "kind": "Class", "metadata": {"name": name},
        "spec": {
            "for": {"group": group, "kind": kind},
            "destroy": {"exec": {"argv": ["/bin/true"]}},
            "retry": {"limit": 0},
        },
    })
}
