//! Discovery in one answer: all groups, versions and resources at once. The same facts as the plain form, in another
//! shape; so it is made from that.

use serde_json::{Map, Value, json};

use super::discovery;
use super::negotiate::Aggregated;
use crate::kinds::Registry;

/// `/api`: the core group.
pub(super) fn core(registry: &Registry, form: Aggregated) -> Value {
    list(form, vec![group(registry, "", &["v1"])])
}

/// `/apis`: all other groups.
pub(super) fn groups(registry: &Registry, form: Aggregated) -> Value {
    let groups = discovery::ordered(registry);
    list(form, groups.iter().map(|(name, versions)| group(registry, name, versions)).collect())
}

fn list(form: Aggregated, items: Vec<Value>) -> Value {
    let api_version = format!("apidiscovery.k8s.io/{}", form.version());
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": api_version, "metadata": {}, "items": items})
}

fn group(registry: &Registry, name: &str, versions: &[&str]) -> Value {
    let version = |version: &&str| {
        // A group that is listed has resources.
        let plain = discovery::resources(registry, name, version).unwrap_or_default();
        let resources = resources(plain["resources"].as_array().map_or(&[], Vec::as_slice), name, version);
        json!({"version": version, "resources": resources, "freshness": "Current"})
    };
    let versions: Vec<Value> = versions.iter().map(version).collect();
    let mut metadata = json!({"creationTimestamp": null});
    if !name.is_empty() {
        metadata["name"] = name.into();
    }
    json!({"metadata": metadata, "versions": versions})
}

/// Parts of a resource follow it in the plain form, and are in it here.
fn resources(plain: &[Value], group: &str, version: &str) -> Vec<Value> {
    let mut resources: Vec<Value> = Vec::new();
    for entry in plain {
        let name = entry["name"].as_str().unwrap_or("");
        match (name.split_once('/'), resources.last_mut()) {
            (Some((_, part)), Some(Value::Object(of))) => {
                let parts = of.entry("subresources").or_insert_with(|| json!([]));
                if let Value::Array(parts) = parts {
                    let kind = response_kind(entry, group, version);
                    parts.push(json!({"subresource": part, "responseKind": kind, "verbs": entry["verbs"]}));
                }
            }
            _ => resources.push(resource(entry, group, version)),
        }
    }
    resources
}

fn resource(entry: &Value, group: &str, version: &str) -> Value {
    let scope = if entry["namespaced"] == true { "Namespaced" } else { "Cluster" };
    let mut resource = json!({
        "resource": entry["name"], "responseKind": response_kind(entry, group, version), "scope": scope,
        "singularResource": entry["singularName"], "verbs": entry["verbs"],
    });
    for list in ["shortNames", "categories"] {
        if let Some(names) = entry.get(list) {
            resource[list] = names.clone();
        }
    }
    resource
}

/// What is answered may be of another group than what is asked for.
fn response_kind(entry: &Value, group: &str, version: &str) -> Map<String, Value> {
    let or = |field: &str, own: &str| entry.get(field).cloned().unwrap_or_else(|| own.into());
    let fields =
        [("group", or("group", group)), ("version", or("version", version)), ("kind", or("kind", ""))];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_what_they_are_parts_of() {
        let plain = [
            json!({"name": "boxes", "singularName": "box", "namespaced": true, "kind": "Box", "verbs": ["get"],
                "shortNames": ["bx"]}),
            json!({"name": "boxes/scale", "singularName": "", "namespaced": true, "kind": "Scale", "verbs": ["get"],
                "group": "autoscaling", "version": "v1"}),
            json!({"name": "lids", "singularName": "lid", "namespaced": false, "kind": "Lid", "verbs": ["list"]}),
        ];
        let expected = json!([
            {"resource": "boxes", "responseKind": {"group": "x.io", "version": "v2", "kind": "Box"},
             "scope": "Namespaced", "singularResource": "box", "verbs": ["get"], "shortNames": ["bx"],
             "subresources": [{"subresource": "scale", "verbs": ["get"],
                "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}]},
            {"resource": "lids", "responseKind": {"group": "x.io", "version": "v2", "kind": "Lid"},
             "scope": "Cluster", "singularResource": "lid", "verbs": ["list"]},
        ]);
        assert_eq!(json!(resources(&plain, "x.io", "v2")), expected);
    }
}
