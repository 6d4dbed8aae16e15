//! What the kinds that Kubernetes has are made of, field by field: schemas as components that refer to one another.
//!
//! Made once, when it is first asked for. It must not know requests, nor whether anything is checked against them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use k8s_openapi::api::{apps, autoscaling, batch, coordination, core};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use k8s_openapi::apimachinery::pkg::apis::meta;
use k8s_openapi::schemars::SchemaGenerator;
use k8s_openapi::schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use sexton_model::fields::{Node, Schema, SmpList, SsaList};

/// Where components are in a document.
pub const COMPONENTS: &str = "#/components/schemas/";
/// Deeper schemas refer to themselves.
const DEEPEST: usize = 24;
/// The generated code keeps large literals on its stack.
const STACK: usize = 16 << 20;

/// Group, kind, and what its component is called.
const KINDS: &[(&str, &str, &str)] = &[
    ("", "ConfigMap", "io.k8s.api.core.v1.ConfigMap"),
    ("", "Event", "io.k8s.api.core.v1.Event"),
    ("", "Namespace", "io.k8s.api.core.v1.Namespace"),
    ("", "Pod", "io.k8s.api.core.v1.Pod"),
    ("", "ReplicationController", "io.k8s.api.core.v1.ReplicationController"),
    ("", "Secret", "io.k8s.api.core.v1.Secret"),
    ("", "Service", "io.k8s.api.core.v1.Service"),
    ("", "ServiceAccount", "io.k8s.api.core.v1.ServiceAccount"),
    ("apps", "DaemonSet", "io.k8s.api.apps.v1.DaemonSet"),
    ("apps", "Deployment", "io.k8s.api.apps.v1.Deployment"),
    ("apps", "ReplicaSet", "io.k8s.api.apps.v1.ReplicaSet"),
    ("apps", "StatefulSet", "io.k8s.api.apps.v1.StatefulSet"),
    ("batch", "CronJob", "io.k8s.api.batch.v1.CronJob"),
    ("batch", "Job", "io.k8s.api.batch.v1.Job"),
    ("coordination.k8s.io", "Lease", "io.k8s.api.coordination.v1.Lease"),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
    ),
];

/// Every component there is.
static ALL: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let made = std::thread::Builder::new().stack_size(STACK).spawn(make);
    made.ok().and_then(|thread| thread.join().ok()).unwrap_or_default()
});

fn make() -> Map<String, Value> {
    let mut maker = SchemaSettings::openapi3().into_generator();
    add_kinds(&mut maker);
    let mut all: Map<String, Value> =
        maker.definitions().iter().map(|(name, schema)| (name.clone(), schema.clone())).collect();
    all.values_mut().for_each(wrap_references);
    for (group, kind, name) in KINDS {
        if let Some(schema) = Schema::builtin(group, kind) {
            annotate(&mut all, name, schema.root(), 0);
        }
    }
    all
}

fn add_kinds(maker: &mut SchemaGenerator) {
    maker.subschema_for::<core::v1::ConfigMap>();
    maker.subschema_for::<core::v1::Event>();
    maker.subschema_for::<core::v1::Namespace>();
    maker.subschema_for::<core::v1::Pod>();
    maker.subschema_for::<core::v1::ReplicationController>();
    maker.subschema_for::<core::v1::Secret>();
    maker.subschema_for::<core::v1::Service>();
    maker.subschema_for::<core::v1::ServiceAccount>();
    maker.subschema_for::<apps::v1::DaemonSet>();
    maker.subschema_for::<apps::v1::Deployment>();
    maker.subschema_for::<apps::v1::ReplicaSet>();
    maker.subschema_for::<apps::v1::StatefulSet>();
    maker.subschema_for::<autoscaling::v1::Scale>();
    maker.subschema_for::<batch::v1::CronJob>();
    maker.subschema_for::<batch::v1::Job>();
    maker.subschema_for::<coordination::v1::Lease>();
    maker.subschema_for::<apiextensions::v1::CustomResourceDefinition>();
    maker.subschema_for::<meta::v1::ObjectMeta>();
    maker.subschema_for::<meta::v1::ListMeta>();
    maker.subschema_for::<meta::v1::DeleteOptions>();
    maker.subschema_for::<meta::v1::Patch>();
    maker.subschema_for::<meta::v1::Status>();
}

/// A reference stands alone in this version of OpenAPI: what is said beside it goes around it.
fn wrap_references(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(wrap_references);
            if map.len() > 1
                && map.get("$ref").is_some_and(Value::is_string)
                && let Some(reference) = map.remove("$ref")
            {
                map.insert("allOf".into(), json!([{"$ref": reference}]));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(wrap_references),
        _ => {}
    }
}

/// The component that a schema refers to.
fn referred(schema: &Value) -> Option<String> {
    let direct = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref"));
    direct.and_then(Value::as_str).and_then(|name| name.strip_prefix(COMPONENTS)).map(str::to_owned)
}

/// Writes into components how their lists and maps merge.
fn annotate(all: &mut Map<String, Value>, component: &str, node: &Node, depth: usize) {
    let Some(properties) = all.get(component).and_then(|schema| schema.get("properties")) else { return };
    let names: Vec<String> =
        properties.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default();
    for name in names {
        let Some(child) = node.child(&name).filter(|_| depth < DEEPEST) else { continue };
        let Some(property) = all.get_mut(component).and_then(|schema| schema["properties"].get_mut(&name))
        else {
            continue;
        };
        merging(property, child);
        let below = referred(property).or_else(|| referred(property.get("items")?));
        if let Some(below) = below {
            annotate(all, &below, child, depth + 1);
        }
    }
}

fn merging(property: &mut Value, node: &Node) {
    let is_list = property["type"] == "array";
    if !is_list {
        if node.atomic {
            property["x-kubernetes-map-type"] = "atomic".into();
        }
        return;
    }
    match &node.smp {
        SmpList::Atomic => {}
        SmpList::Set => property["x-kubernetes-patch-strategy"] = "merge".into(),
        SmpList::Map(key) => {
            property["x-kubernetes-patch-strategy"] = "merge".into();
            property["x-kubernetes-patch-merge-key"] = key.as_ref().into();
        }
    }
    match &node.ssa {
        SsaList::Atomic => property["x-kubernetes-list-type"] = "atomic".into(),
        SsaList::Set => property["x-kubernetes-list-type"] = "set".into(),
        SsaList::Map(keys) => {
            property["x-kubernetes-list-type"] = "map".into();
            let keys: Vec<&str> = keys.iter().map(|key| key.name.as_ref()).collect();
            property["x-kubernetes-list-map-keys"] = json!(keys);
        }
    }
}

/// What the component of a kind is called, of kinds that Kubernetes has.
pub fn component_of(group: &str, kind: &str) -> Option<&'static str> {
    KINDS.iter().find(|known| (known.0, known.1) == (group, kind)).map(|known| known.2)
}

/// One component, such as `io.k8s.api.core.v1.PodSpec`. References in it lead to others.
pub fn component(name: &str) -> Option<&'static Value> {
    ALL.get(name)
}

/// These components and all that they lead to.
pub fn with_all_below(names: &[&str]) -> Map<String, Value> {
    let mut open: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    let mut found = Map::new();
    while let Some(name) = open.pop() {
        let Some(schema) = component(&name) else { continue };
        let mut below = Vec::new();
        references(schema, &mut below);
        open.extend(below.into_iter().filter(|name| seen.insert(name.clone())));
        found.insert(name, schema.clone());
    }
    found
}

fn references(schema: &Value, out: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            let name = map.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix(COMPONENTS));
            out.extend(name.map(str::to_owned));
            map.values().for_each(|value| references(value, out));
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, out)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_fields() {
        for (_, kind, name) in KINDS {
            let schema = component(name).unwrap_or_else(|| panic!("{kind}"));
            assert!(schema["properties"]["metadata"].is_object(), "{kind}");
        }
        let pod = component("io.k8s.api.core.v1.PodSpec").unwrap();
        let containers = &pod["properties"]["containers"];
        assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
        assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
        let meta = component("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").unwrap();
        assert_eq!(meta["properties"]["finalizers"]["x-kubernetes-list-type"], "set");
    }

    #[test]
    fn nothing_leads_nowhere() {
        let names: Vec<&str> = KINDS.iter().map(|known| known.2).collect();
        let all = with_all_below(&names);
        let mut below = Vec::new();
        all.values().for_each(|schema| references(schema, &mut below));
        assert!(below.iter().all(|name| all.contains_key(name)));
        assert!(all.len() > 100);
    }
}
