//! A small module on an embedded store.

use super::Play;

/// The settings of that module.
pub(crate) const SETTINGS: &str = "manager: shop\n";

/// A ConfigMap as a document.
pub(crate) fn map(name: &str, more: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n{more}")
}

/// The definition of a kind of example.com, and its class with these methods, as documents.
pub(crate) fn kind_with_class(kind: &str, methods: &str) -> String {
    let name = kind.to_lowercase();
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {name}s.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: {name}s, kind: {kind}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
apiVersion: sexton.dev/v1
kind: Class
metadata: {{name: {name}}}
spec:
  for: {{group: example.com, kind: {kind}}}
{methods}"
    )
}

/// A module `shop` in the directory shop: maps named m-1, m-2, …
pub(crate) fn shop(count: usize) -> Play {
    let play = Play::new();
    play.file("shop/sexton.yaml", SETTINGS);
    for number in 1..=count {
        play.file(&format!("shop/m-{number}.yaml"), &map(&format!("m-{number}"), "data: {a: one}\n"));
    }
    play
}

/// Everything that the store has of a module, as text.
pub(crate) fn state(play: &Play) -> String {
    let mut all = String::new();
    for kind in ["cm", "modules", "leases", "collections"] {
        all.push_str(&play.run(&format!("get {kind} -o yaml --show-managed-fields")).out);
    }
    all
}
