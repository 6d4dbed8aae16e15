//! Documents that many tests need.

use serde_json::{Value, json};

/// A ConfigMap with one entry.
pub fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}})
}

/// A ConfigMap that is held by a finalizer.
pub fn held(name: &str, finalizer: &str) -> Value {
    let mut document = config_map(name);
    document["metadata"]["finalizers"] = json!([finalizer]);
    document
}

/// Any core object.
pub fn core(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})
}

/// A definition of Widgets in `demo.example.com/v1`, with a status of its own.
pub fn widgets() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.demo.example.com"},
        "spec": {
            "group": "demo.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

/// A Widget.
pub fn widget(name: &str, size: i64) -> Value {
    json!({
        "apiVersion": "demo.example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size},
    })
}

/// Where definitions are.
pub const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Where Widgets are.
pub const WIDGETS: &str = "/apis/demo.example.com/v1/namespaces/default/widgets";

/// A reference to an owner.
pub fn owner(kind: &str, name: &str, uid: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "name": name, "uid": uid})
}
