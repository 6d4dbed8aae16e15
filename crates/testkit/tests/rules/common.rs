//! Clusters as an operator makes them, rules about what they own, and waiting until a rule says something.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sexton_collector::Settings;
use sexton_collector::hooks::Hooks;
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, World};

pub(crate) const CLUSTERS: &str = "/apis/example.com/v1/namespaces/default/replicationclusters";
pub(crate) const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
pub(crate) const SERVICES: &str = "services";
pub(crate) const RULES: &str = "/apis/sexton.dev/v1/rules";
/// Nothing takes so long, unless it never comes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A world in which there can be clusters.
pub(crate) async fn world() -> World {
    let world = World::new().await;
    define(&world, true).await;
    world
}

/// The definition of clusters, with a status of their own or without.
pub(crate) async fn define(world: &World, status: bool) {
    let mut version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    if status {
        version["subresources"] = json!({"status": {}});
    }
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "replicationclusters.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "replicationclusters", "kind": "ReplicationCluster"}, "versions": [version]},
    });
    world.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await.expect(201);
}

/// Makes a cluster and gives back its uid.
pub(crate) async fn cluster(world: &World, name: &str) -> String {
    let document =
        json!({"apiVersion": "example.com/v1", "kind": "ReplicationCluster", "metadata": {"name": name}});
    let made = world.create(CLUSTERS, &document).await.document(201);
    made["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// What an operator makes for a cluster: a stateful set `rss-NAME-SUFFIX` and a service `NAME-svc-SUFFIX`, owned by it.
pub(crate) async fn equip(world: &World, name: &str, uid: &str, suffix: &str) {
    for (path, api_version, kind, of) in [
        (SETS, "apps/v1", "StatefulSet", format!("rss-{name}-{suffix}")),
        (SERVICES, "v1", "Service", format!("{name}-svc-{suffix}")),
    ] {
        let document = json!({"apiVersion": api_version, "kind": kind, "metadata": {
            "name": of, "labels": {"app": name, "rss-operator-managed": "true"},
            "ownerReferences": [reference(name, uid)]}});
        world.create(path, &document).await.expect(201);
    }
}

pub(crate) fn reference(name: &str, uid: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "ReplicationCluster", "name": name, "uid": uid})
}

/// A cluster that went, with what it left, long enough ago.
pub(crate) async fn gone(world: &World, name: &str) -> String {
    let uid = cluster(world, name).await;
    equip(world, name, &uid, "old").await;
    end(world, name).await;
    world.nature().pass(120);
    // Nobody remembers that it went: whoever did would not need a rule.
    world.compact().await;
    uid
}

/// The end of a cluster, and of nothing else.
pub(crate) async fn end(world: &World, name: &str) {
    let options = json!({"propagationPolicy": "Background"});
    world.delete(&format!("{CLUSTERS}/{name}"), &options).await.expect(200);
}

/// A rule for orphans among stateful sets and services.
pub(crate) fn orphaned(more: Value) -> Value {
    rule(json!({"detector": "orphaned", "selector": "rss-operator-managed=true", "mode": "collect"}), more)
}

/// A rule for leftovers of clusters.
pub(crate) fn leftover(more: Value) -> Value {
    let spec = json!({"detector": "leftover", "mode": "collect",
        "owner": {"group": "example.com", "kind": "ReplicationCluster"},
        "labels": {"app": "{name}", "rss-operator-managed": "true"}});
    rule(spec, more)
}

fn rule(mut spec: Value, more: Value) -> Value {
    spec["kinds"] = json!([{"group": "apps", "kind": "StatefulSet"}, {"kind": "Service"}]);
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    json!({"apiVersion": "sexton.dev/v1", "kind": "Rule", "metadata": {"name": "rss"}, "spec": spec})
}

/// A collector that leaves orphans to rules.
pub(crate) fn collect(world: &World) -> Collecting {
    Collecting::with(world, by_rules(), Arc::new(Hooks::new()))
}

pub(crate) fn by_rules() -> Settings {
    Settings { takes_orphans: false, ..quick("tests") }
}

/// The names of all objects at a path.
pub(crate) async fn names(world: &World, path: &str) -> Vec<String> {
    let listed = world.get(path).await.document(200);
    let items = listed["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Waits until an object at a path is as a test wants it; `None` stands for an object that is gone.
pub(crate) async fn until(world: &World, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    let mut watch = world.watch(&format!("{path}?watch=true")).await;
    loop {
        let event = tokio::time::timeout(PATIENCE, watch.next()).await;
        let Ok(Some(mut event)) = event else { panic!("{path} stays {last:#}") };
        last = event["object"].take();
        if is_so(&last) {
            return last;
        }
    }
}

/// Waits until the rule has looked and says something.
pub(crate) async fn says(world: &World, is_so: impl Fn(&Value) -> bool) -> Value {
    until(world, RULES, |rule| rule["status"]["lastScan"].is_string() && is_so(&rule["status"])).await["status"].take()
}

/// Waits until nobody is left at a path but these.
pub(crate) async fn left(world: &World, path: &str, wanted: &[&str]) {
    let separator = if path.contains('?') { '&' } else { '?' };
    let waited = tokio::time::timeout(PATIENCE, async {
        let mut watch = world.watch(&format!("{path}{separator}watch=true")).await;
        while names(world, path).await != wanted {
            watch.next().await.expect("the watch ended early");
        }
    });
    let waited = waited.await.is_ok();
    assert!(
        waited,
        "{path}: {:?} instead of {wanted:?}; {:#}",
        names(world, path).await,
        world.get(RULES).await.json
    );
}

/// The condition of a cluster.
pub(crate) fn condition(cluster: &Value) -> Option<&str> {
    let conditions = cluster["status"]["conditions"].as_array()?;
    conditions.iter().find(|one| one["type"] == "sexton.dev/LeftoversGone")?["status"].as_str()
}
