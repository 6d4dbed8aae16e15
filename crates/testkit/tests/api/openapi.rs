//! OpenAPI v3: everything that can be asked for is described, and what is described leads somewhere.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, widgets};

fn described() -> Value {
    let mut definition = widgets();
    let version = &mut definition["spec"]["versions"][0];
    version["subresources"]["scale"] =
        json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    version["schema"]["openAPIV3Schema"] = json!({
        "type": "object", "description": "A widget.", "required": ["spec"],
        "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer", "description": "How large it is.", "minimum": 0},
            "parts": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
            },
        }}},
    });
    definition
}

async fn document(world: &World, place: &str) -> Value {
    let index = world.get("/openapi/v3").await.document(200);
    let address =
        index["paths"][place]["serverRelativeURL"].as_str().unwrap_or_else(|| panic!("{place}")).to_owned();
    world.get(&address).await.document(200)
}

fn references(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            out.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| references(value, out));
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, out)),
        _ => {}
    }
}

/// Every reference leads to a schema, every operation has a name of its own, in every document that there is.
#[tokio::test]
async fn every_document_is_whole() {
    let world = World::new().await;
    world.create(DEFINITIONS, &described()).await.expect(201);
    let index = world.get("/openapi/v3").await.document(200);
    let places: Vec<&String> = index["paths"].as_object().unwrap().keys().collect();
    assert!(places.len() >= 7, "{places:?}");
    for place in places {
        let document = document(&world, place).await;
        let mut wanted = BTreeSet::new();
        references(&document, &mut wanted);
        for reference in wanted {
            let name = reference.strip_prefix("#/components/schemas/").unwrap();
            assert!(document["components"]["schemas"][name].is_object(), "{place}: {reference}");
        }
        let mut ids = BTreeSet::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            assert!(path.starts_with(&format!("/{place}/")), "{path}");
            for (method, operation) in
                operations.as_object().unwrap().iter().filter(|(name, _)| *name != "parameters")
            {
                let id = operation["operationId"].as_str().unwrap();
                assert!(ids.insert(id.to_owned()), "{method} {path}: {id} comes twice");
                let identity = &operation["x-kubernetes-group-version-kind"];
                assert!(identity["kind"].is_string(), "{method} {path}");
                if method == "patch" {
                    let parameters = operation["parameters"].as_array().unwrap();
                    assert!(parameters.iter().any(|parameter| parameter["name"] == "fieldValidation"));
                }
            }
        }
    }
}

/// A definition's schema is what its readers see, with what every object has.
#[tokio::test]
async fn defined_kinds_are_described() {
    let world = World::new().await;
    world.create(DEFINITIONS, &described()).await.expect(201);
    let document = document(&world, "apis/demo.example.com/v1").await;
    let schemas = &document["components"]["schemas"];
    let widget = &schemas["com.example.demo.v1.Widget"];
    assert_eq!(widget["description"], "A widget.");
    assert_eq!(widget["properties"]["spec"]["properties"]["size"]["description"], "How large it is.");
    assert_eq!(widget["properties"]["spec"]["properties"]["parts"]["x-kubernetes-list-type"], "map");
    let meta = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    assert_eq!(widget["properties"]["metadata"]["allOf"][0]["$ref"], meta);
    let identity = json!({"group": "demo.example.com", "version": "v1", "kind": "Widget"});
    assert_eq!(widget["x-kubernetes-group-version-kind"], json!([identity]));
    let list = &schemas["com.example.demo.v1.WidgetList"];
    assert_eq!(
        list["properties"]["items"]["items"]["$ref"],
        "#/components/schemas/com.example.demo.v1.Widget"
    );
    let place = "/apis/demo.example.com/v1/namespaces/{namespace}/widgets";
    let paths = &document["paths"];
    for (path, methods) in [
        ("/apis/demo.example.com/v1/widgets".to_owned(), vec!["get"]),
        (place.to_owned(), vec!["get", "post", "delete"]),
        (format!("{place}/{{name}}"), vec!["get", "put", "patch", "delete"]),
        (format!("{place}/{{name}}/status"), vec!["get", "put", "patch"]),
        (format!("{place}/{{name}}/scale"), vec!["get", "put", "patch"]),
    ] {
        let there: BTreeSet<&str> = paths[&path].as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected: BTreeSet<&str> = methods.into_iter().collect();
        expected.insert("parameters");
        assert_eq!(there, expected, "{path}");
    }
    let patches = &paths[format!("{place}/{{name}}")]["patch"]["requestBody"]["content"];
    assert!(patches["application/merge-patch+json"].is_object());
    assert!(patches["application/strategic-merge-patch+json"].is_null());
}

/// The kinds of Kubernetes say how their lists merge, which kubectl computes patches from; ours say what they are.
#[tokio::test]
async fn built_in_kinds_are_described() {
    let world = World::new().await;
    let apps = document(&world, "apis/apps/v1").await;
    let pod = &apps["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"];
    assert_eq!(pod["properties"]["containers"]["x-kubernetes-patch-merge-key"], "name");
    let core = document(&world, "api/v1").await;
    assert!(core["components"]["schemas"]["io.k8s.api.core.v1.ConfigMap"]["properties"]["data"].is_object());
    let own = document(&world, "apis/sexton.dev/v1").await;
    for kind in ["Class", "Collection", "Environment", "Module", "Rule", "Tombstone"] {
        let schema = &own["components"]["schemas"][format!("dev.sexton.v1.{kind}")];
        assert!(schema["properties"]["spec"]["properties"].is_object(), "{kind}");
    }
    let plain = World::plain().await;
    assert!(plain.get("/openapi/v3").await.document(200)["paths"]["apis/sexton.dev/v1"].is_null());
    plain.get("/openapi/v3/apis/sexton.dev/v1").await.expect(404);
}

/// Version 2 is there for kubectl, which reads it as protobuf: without it, kinds that do not exist are told as bodies that
/// cannot be validated.
#[tokio::test]
async fn kubectl_finds_version_2() {
    let world = World::new().await;
    let media = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let ask = || world.call("GET", "/openapi/v2").header("accept", media).raw();
    let before = ask().await;
    assert_eq!(before.status(), 200);
    let said = &before.headers()["content-type"];
    assert_eq!(said, "application/com.github.proto-openapi.spec.v2.v1+protobuf");
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    assert_ne!(ask().await.headers()["etag"], before.headers()["etag"]);
}

/// Who reads version 2 as JSON finds the schemas of all kinds in it, each reference among them.
#[tokio::test]
async fn version_2_has_schemas_in_json() {
    let world = World::new().await;
    world.create(DEFINITIONS, &described()).await.expect(201);
    let document = world.get("/openapi/v2").await.document(200);
    assert_eq!(document["swagger"], "2.0");
    let definitions = document["definitions"].as_object().unwrap();
    let deployment = &definitions["io.k8s.api.apps.v1.Deployment"];
    let spec = "#/definitions/io.k8s.api.apps.v1.DeploymentSpec";
    assert_eq!(deployment["properties"]["spec"]["$ref"], spec, "{deployment}");
    assert_eq!(deployment["x-kubernetes-group-version-kind"][0]["kind"], "Deployment");
    let custom = definitions
        .values()
        .filter(|schema| schema["x-kubernetes-group-version-kind"][0]["group"] == "demo.example.com");
    assert_eq!(custom.count(), 2, "a kind and its list");
    let text = document.to_string();
    assert!(!text.contains("#/components/"));
    for place in text.split("\"#/definitions/").skip(1) {
        let name = place.split('"').next().unwrap();
        assert!(definitions.contains_key(name), "{name}");
    }
    world.call("GET", "/openapi/v2").header("accept", "text/html").send().await.expect(406);
}

/// An address stays the same for as long as what is there does; with many kinds the index is still small work.
#[tokio::test]
async fn addresses_change_with_definitions() {
    let world = World::new().await;
    world.create(DEFINITIONS, &described()).await.expect(201);
    let before = world.get("/openapi/v3").await.document(200)["paths"].clone();
    let mut other = widgets();
    other["metadata"]["name"] = json!("widgets.other.example.com");
    other["spec"]["group"] = json!("other.example.com");
    world.create(DEFINITIONS, &other).await.expect(201);
    let patch = json!([{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/description", "value": "Else."}]);
    let after = world.get("/openapi/v3").await.document(200)["paths"].clone();
    assert_eq!(before["apis/demo.example.com/v1"], after["apis/demo.example.com/v1"]);
    assert_eq!(before["api/v1"], after["api/v1"]);
    let path = format!("{DEFINITIONS}/widgets.demo.example.com");
    world.call("JSON-PATCH", &path).json(&patch).send().await.expect(200);
    let last = world.get("/openapi/v3").await.document(200)["paths"].clone();
    assert_ne!(last["apis/demo.example.com/v1"], after["apis/demo.example.com/v1"]);
    assert_eq!(last["apis/other.example.com/v1"], after["apis/other.example.com/v1"]);
    let document = document(&world, "apis/demo.example.com/v1").await;
    assert_eq!(document["components"]["schemas"]["com.example.demo.v1.Widget"]["description"], "Else.");
}
