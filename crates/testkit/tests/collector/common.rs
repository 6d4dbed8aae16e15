//! Short ways to make objects that own each other, and to see who is left.

use serde_json::{Value, json};
use sexton_testkit::{Watch, World};

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

/// Where classes are.
pub(crate) const CLASSES: &str = "/apis/sexton.dev/v1/classes";
/// The annotation with what an object wants to be told of.
pub(crate) const DEPENDENCIES: &str = "sexton.dev/destruction-dependencies";

/// An event as `TYPE name`, then `marked` and the finalizers if there are any.
pub(crate) fn told(event: &Value) -> String {
    let metadata = &event["object"]["metadata"];
    let words = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let mut text = format!("{} {}", words(&event["type"]), words(&metadata["name"]));
    if metadata["deletionTimestamp"].is_string() {
        text.push_str(" marked");
    }
    for finalizer in metadata["finalizers"].as_array().into_iter().flatten() {
        text.push(' ');
        text.push_str(finalizer.as_str().unwrap());
    }
    text
}

/// The next events, as [`told`].
pub(crate) async fn hear(watch: &mut Watch, count: usize) -> Vec<String> {
    let mut heard = Vec::new();
    for _ in 0..count {
        heard.push(told(&watch.next().await.expect("the watch ended early")));
    }
    heard
}

/// A watch on the ConfigMaps from now on.
pub(crate) async fn watch(world: &World) -> Watch {
    let head = world.head().await;
    world.watch(&format!("configmaps?watch=true&resourceVersion={head}")).await
}

/// Gives ConfigMaps a destroy method and a handler `gone`; what they do a test scripts.
pub(crate) async fn class(world: &World, more: Value) {
    let method = json!({"exec": {"argv": ["/bin/true"]}});
    let mut spec = json!({"for": {"kind": "ConfigMap"}, "destroy": method, "handlers": {"gone": method}});
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    world.create(CLASSES, &json!({"metadata": {"name": "cm"}, "spec": spec})).await.expect(201);
}

/// Metadata of somebody who hears of these ConfigMaps by the handler `gone`.
pub(crate) fn hears(targets: &[&str]) -> Value {
    let entry = |target: &&str| match *target {
        "self" => "- {target: self, handler: gone}\n".to_owned(),
        target => format!("- {{target: ConfigMap/{target}, handler: gone}}\n"),
    };
    json!({"annotations": {DEPENDENCIES: targets.iter().map(entry).collect::<String>()}})
}

/// Lets time pass and has the collector look at the clock: something happens that may matter and does not.
pub(crate) async fn pass(world: &World, seconds: i64) {
    world.nature().pass(seconds);
    let owner =
        json!([{"apiVersion": "nowhere.example.com/v1", "kind": "Unknown", "name": "x", "uid": "nobody"}]);
    let path = "/api/v1/namespaces/default/secrets";
    let document = json!({"metadata": {"name": "nudge", "ownerReferences": owner}});
    world.create(path, &document).await;
    let label = json!({"metadata": {"labels": {"n": world.head().await.to_string()}}});
    world.merge(&format!("{path}/nudge"), &label).await.expect(200);
}

/// Asks the collector for something about a life.
pub(crate) async fn ask(world: &World, name: &str, request: Value) {
    let mut request = request;
    request["id"] = json!(world.head().await.to_string());
    let patch = json!({"metadata": {"annotations": {"sexton.dev/request": request.to_string()}}});
    world.merge(&format!("configmaps/{name}"), &patch).await.expect(200);
}

/// The metadata of a ConfigMap.
pub(crate) async fn metadata(world: &World, name: &str) -> Value {
    world.get(&format!("configmaps/{name}")).await.document(200)["metadata"].clone()
}

/// All records of a kind of ours.
pub(crate) async fn records(world: &World, plural: &str) -> Vec<Value> {
    let listed = world.get(&format!("/apis/sexton.dev/v1/{plural}")).await.document(200);
    listed["items"].as_array().unwrap().clone()
}

/// Waits until there is a record of a collection that is as a test wants it: records are written beside the work.
pub(crate) async fn record(world: &World, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut watch = world.watch("/apis/sexton.dev/v1/collections?watch=true").await;
    loop {
        let event = watch.next().await.expect("the watch ended early");
        if is_so(&event["object"]) {
            return event["object"].clone();
        }
    }
}

/// A class with a destroy method, which scripted hooks answer.
pub(crate) fn class_of(name: &str, group: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "sexton.dev/v1", "kind": "Class", "metadata": {"name": name},
        "spec": {
            "for": {"group": group, "kind": kind},
            "destroy": {"exec": {"argv": ["/bin/true"]}},
            "retry": {"limit": 0},
        },
    })
}
