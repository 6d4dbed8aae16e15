//! OpenAPI v3, as small as kubectl allows: enough for it to validate on the server and to explain what there is.

use serde_json::{Map, Value, json};
use sexton_model::Status;

use crate::api::Result;
use crate::kinds::{Kind, Registry};

/// `/openapi/v3`
pub(super) fn index(registry: &Registry) -> Value {
    let mut paths = Map::new();
    let mut add = |group: &str, version: &str| {
        let path =
            if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
        // Clients keep a document for as long as its address stays the same.
        let text = document(registry, group, version).map(|value| value.to_string()).unwrap_or_default();
        let address = format!("/openapi/v3/{path}?hash={:08X}", crc32fast::hash(text.as_bytes()));
        paths.insert(path, json!({"serverRelativeURL": address}));
    };
    add("", "v1");
    for (group, versions) in registry.groups() {
        versions.iter().for_each(|version| add(group, version));
    }
    json!({"paths": paths})
}

/// `/openapi/v3/api/v1`, `/openapi/v3/apis/{group}/{version}`
pub(super) fn document(registry: &Registry, group: &str, version: &str) -> Result<Value> {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for kind in registry.of(group, version) {
        paths.insert(path_of(kind), operations(kind));
        schemas.insert(schema_name(kind), schema(kind));
    }
    if paths.is_empty() {
        return Err(Status::no_such_path().into());
    }
    schemas.insert(
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta".into(),
        json!({
            "type": "object", "description": "Name, labels, owners and finalizers of an object.",
            "x-kubernetes-preserve-unknown-fields": true,
        }),
    );
    Ok(json!({
        "openapi": "3.0.0",
        "info": {"title": "Sexton", "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
        "components": {"schemas": schemas},
    }))
}

fn path_of(kind: &Kind) -> String {
    let resource = &kind.resource;
    let root =
        if resource.group.is_empty() { "/api/".to_owned() } else { format!("/apis/{}/", resource.group) };
    let namespace = if kind.namespaced { "/namespaces/{namespace}" } else { "" };
    format!("{root}{}{namespace}/{}/{{name}}", kind.version, resource.resource)
}

fn identity(kind: &Kind) -> Value {
    json!({"group": kind.resource.group, "version": kind.version, "kind": kind.kind})
}

/// kubectl validates on the server if the PATCH operation of the kind offers `fieldValidation`.
fn operations(kind: &Kind) -> Value {
    let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    json!({"patch": {
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": identity(kind),
        "parameters": [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation"), parameter("force")],
        "responses": {"200": {"description": "OK"}},
    }})
}

fn schema_name(kind: &Kind) -> String {
    let group = if kind.resource.group.is_empty() { "core" } else { kind.resource.group.as_str() };
    format!("{group}.{}.{}", kind.version, kind.kind)
}

fn schema(kind: &Kind) -> Value {
    json!({
        "type": "object",
        "description": format!("{}: any fields are accepted.", kind.kind),
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]},
        },
        "x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-group-version-kind": [identity(kind)],
    })
}
