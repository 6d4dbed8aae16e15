//! Fields that a kind of Kubernetes does not have, found by its own schemas. Nothing is taken away for it: the client
//! that wrote them is told.

use serde_json::Value;

use super::described::{COMPONENTS, component};

/// More are not told.
const MOST: usize = 64;

/// The fields of a document that are not in a component, as Kubernetes writes their places.
pub(crate) fn unknown_fields(name: &str, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(schema) = component(name) {
        walk(schema, document, "", &mut found);
    }
    found
}

/// As deep as documents may be.
fn walk(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let Some(schema) = resolved(schema) else { return };
    match value {
        Value::Object(fields) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let others = schema.get("additionalProperties");
            // Nothing is said about it: anything may be in it.
            if properties.is_none() && others.is_none()
                || schema["x-kubernetes-preserve-unknown-fields"] == true
            {
                return;
            }
            for (name, value) in fields {
                let place = || if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match (properties.and_then(|all| all.get(name)), others) {
                    (Some(inner), _) | (None, Some(inner)) => {
                        if value.is_object() || value.is_array() {
                            walk(inner, value, &place(), found);
                        }
                    }
                    (None, None) if found.len() < MOST => found.push(place()),
                    (None, None) => return,
                }
            }
        }
        Value::Array(items) => {
            let Some(inner) = schema.get("items") else { return };
            for (at, item) in items.iter().enumerate() {
                walk(inner, item, &format!("{path}[{at}]"), found);
            }
        }
        _ => {}
    }
}

/// The schema itself, or the one that it refers to.
pub(super) fn resolved(schema: &Value) -> Option<&Value> {
    let referred = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref")).and_then(Value::as_str);
    match referred {
        Some(name) => component(name.strip_prefix(COMPONENTS)?),
        None => Some(schema),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_nobody_knows_is_found_wherever_it_is() {
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "labels": {"any": "thing"}, "colour": "red"},
            "spec": {
                "replica": 3, "selector": {"matchLabels": {"a": "b"}},
                "template": {"spec": {"containers": [
                    {"name": "a", "image": "a", "resources": {"limits": {"cpu": 1, "gpu.example.com/x": "2"}}},
                    {"name": "b", "imagee": "b", "ports": [{"containerPort": 80, "nome": "x"}]},
                ]}},
            },
        });
        let found = unknown_fields("io.k8s.api.apps.v1.Deployment", &deployment);
        let expected = [
            "metadata.colour",
            "spec.replica",
            "spec.template.spec.containers[1].imagee",
            "spec.template.spec.containers[1].ports[0].nome",
        ];
        assert_eq!(found, expected);
        assert!(unknown_fields("nothing", &deployment).is_empty());
        let many: serde_json::Map<String, Value> = (0..100).map(|n| (format!("x{n}"), json!(1))).collect();
        assert_eq!(unknown_fields("io.k8s.api.core.v1.Pod", &json!({"spec": many})).len(), MOST);
    }

    #[test]
    fn schemas_in_definitions_are_known() {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": {"a": [1]},
            "properties": {"spec": {"type": "object", "additionalProperties": {"type": "string"}}}});
        let definition = json!({"spec": {"group": "a.b", "versions": [
            {"name": "v1", "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}, "servd": true}]}});
        let name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition";
        assert_eq!(unknown_fields(name, &definition), ["spec.versions[0].servd"]);
    }
}
