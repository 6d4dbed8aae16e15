//! The schemas of a document: those of its kinds, of lists of them, and everything that they refer to.

use serde_json::{Map, Value, json};
use sexton_model::described;

use crate::kinds::{COMPONENTS, Kind, KindRef, component_of, with_all_below};

/// What the scale of any kind is.
pub(super) const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Group, version and kind, by which tools find schemas and operations.
pub(super) fn identity(kind: &Kind) -> Value {
    json!({"group": kind.resource.group, "version": kind.version, "kind": kind.kind})
}

/// Whether Kubernetes has this kind, too.
pub(super) fn is_of_kubernetes(kind: &Kind) -> bool {
    !kind.is_custom() && component_of(&kind.resource.group, &kind.kind).is_some()
}

/// What the schema of a kind is called.
pub(super) fn name(kind: &Kind) -> String {
    match component_of(&kind.resource.group, &kind.kind).filter(|_| !kind.is_custom()) {
        Some(name) => name.to_owned(),
        None => format!("{}.{}.{}", reversed(&kind.resource.group), kind.version, kind.kind),
    }
}

/// What the schema of a list is called.
pub(super) fn list_name(kind: &Kind) -> String {
    let name = name(kind);
    let stem = name.strip_suffix(&kind.kind).unwrap_or(&name);
    format!("{stem}{}", kind.list_kind)
}

fn reversed(group: &str) -> String {
    group.rsplit('.').collect::<Vec<&str>>().join(".")
}

/// A reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("{COMPONENTS}{name}")})
}

/// All schemas that a document about these kinds needs.
pub(super) fn of(kinds: &[&KindRef]) -> Map<String, Value> {
    let meta = ["ObjectMeta", "ListMeta", "DeleteOptions", "Patch", "Status"];
    let mut wanted: Vec<String> = meta.iter().map(|name| format!("{META}.{name}")).collect();
    wanted.extend(kinds.iter().filter(|kind| is_of_kubernetes(kind)).map(|kind| name(kind)));
    if kinds.iter().any(|kind| kind.offer.scale.is_some()) {
        wanted.push(SCALE.to_owned());
    }
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let mut schemas = with_all_below(&wanted);
    for kind in kinds {
        let name = name(kind);
        let mut schema = schemas.remove(&name).unwrap_or_else(|| schema_of(kind));
        schema["x-kubernetes-group-version-kind"] = json!([identity(kind)]);
        schemas.insert(list_name(kind), list(kind, &name));
        schemas.insert(name, schema);
    }
    schemas
}

/// The schema of a kind that is ours or has a definition.
fn schema_of(kind: &Kind) -> Value {
    let own = described::schema(&kind.resource.group, &kind.kind).filter(|_| !kind.is_custom());
    let given = kind.offer.openapi.as_deref().cloned().or(own).filter(Value::is_object);
    let mut schema = given.unwrap_or_else(|| json!({"x-kubernetes-preserve-unknown-fields": true}));
    schema["type"] = "object".into();
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    // What every object has is not for a definition to say.
    schema["properties"]["apiVersion"] = json!({
        "type": "string",
        "description": "The group and version in which this is written. A server may refuse what it does not know.",
    });
    schema["properties"]["kind"] = json!({
        "type": "string", "description": "The kind of this object. It never changes.",
    });
    schema["properties"]["metadata"] = json!({
        "description": "Name, labels, owners, finalizers and whatever else every object has.",
        "allOf": [reference(&format!("{META}.ObjectMeta"))],
    });
    schema
}

fn list(kind: &Kind, name: &str) -> Value {
    let mut identity = identity(kind);
    identity["kind"] = kind.list_kind.as_str().into();
    json!({
        "type": "object",
        "description": format!("{} is a list of {}", kind.list_kind, kind.kind),
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string", "description": "The group and version in which this is written."},
            "kind": {"type": "string", "description": "The kind of this list."},
            "metadata": {
                "description": "The version of the list, and where the next page begins.",
                "allOf": [reference(&format!("{META}.ListMeta"))],
            },
            "items": {"type": "array", "description": "The objects.", "items": reference(name)},
        },
        "x-kubernetes-group-version-kind": [identity],
    })
}
