//! The kinds of a simulated world: their words, paths, definitions and classes.

use serde_json::{Value, json};

use super::chance::Chance;
use super::life::Life;

/// A kind that people make objects of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// In namespaces.
    ConfigMap,
    /// In namespaces.
    Secret,
    /// In namespaces, by a definition.
    Widget,
    /// In none, by a definition.
    Planet,
}

impl Sort {
    /// All of them.
    pub const ALL: [Sort; 4] = [Sort::ConfigMap, Sort::Secret, Sort::Widget, Sort::Planet];

    /// Group, kind and plural.
    pub fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Sort::ConfigMap => ("", "ConfigMap", "configmaps"),
            Sort::Secret => ("", "Secret", "secrets"),
            Sort::Widget => ("demo.example.com", "Widget", "widgets"),
            Sort::Planet => ("demo.example.com", "Planet", "planets"),
        }
    }

    /// Where objects of it are.
    pub fn path(self, namespace: &str) -> String {
        let (group, _, plural) = self.words();
        match (group, self) {
            ("", _) => format!("/api/v1/namespaces/{namespace}/{plural}"),
            (group, Sort::Planet) => format!("/apis/{group}/v1/{plural}"),
            (group, _) => format!("/apis/{group}/v1/namespaces/{namespace}/{plural}"),
        }
    }
}

/// The path of an object.
pub fn path_of(life: &Life) -> String {
    let (group, resource, name) = (life.group(), life.resource(), &life.key.name);
    let version = life.api_version.rsplit('/').next().unwrap_or("v1");
    let root = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    match life.namespace() {
        "" => format!("{root}/{resource}/{name}"),
        namespace => format!("{root}/namespaces/{namespace}/{resource}/{name}"),
    }
}

/// A definition of it.
pub fn definition(sort: Sort) -> Value {
    let (group, kind, plural) = sort.words();
    let scope = if sort == Sort::Planet { "Cluster" } else { "Namespaced" };
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": scope, "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

/// A class for it.
pub fn class(sort: Sort, chance: &mut Chance) -> Value {
    let (group, kind, _) = sort.words();
    let method = json!({"exec": {"argv": ["/bin/true"]}, "deadlineSeconds": 1 + chance.below(20)});
    let mut spec = json!({
        "for": {"group": group, "kind": kind}, "handlers": {"heard": method},
        "retry": {"limit": chance.below(4), "backoffSeconds": 1, "maxBackoffSeconds": 30},
    });
    if chance.percent(70) {
        spec["destroy"] = method.clone();
    }
    json!({
        "apiVersion": "sexton.dev/v1", "kind": "Class",
        "metadata": {"name": kind.to_lowercase()}, "spec": spec,
    })
}
