//! Printer columns: what a definition names is what a table shows.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widget, widgets};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

fn with_columns(columns: Value) -> Value {
    let mut definition = widgets();
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = columns;
    definition
}

fn columns() -> Value {
    json!([
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How large."},
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
        {"name": "Weight", "type": "number", "format": "double", "jsonPath": ".spec.weight", "priority": 1},
        {"name": "On", "type": "boolean", "jsonPath": ".spec['is.on']"},
        {"name": "First", "type": "string", "jsonPath": ".spec.list[0]"},
        {"name": "Since", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ])
}

async fn table(world: &World, path: &str) -> Value {
    world.call("GET", path).header("Accept", TABLE).send().await.document(200)
}

/// Lists, single objects and watches show the columns of a definition, and no age that it does not name.
#[tokio::test]
async fn definitions_name_their_columns() {
    let world = World::new().await;
    world.create(DEFINITIONS, &with_columns(columns())).await.expect(201);
    let mut full = widget("w", 3);
    full["spec"]["weight"] = json!(0.5);
    full["spec"]["is.on"] = json!(true);
    full["spec"]["list"] = json!(["a", "b"]);
    world.create(WIDGETS, &full).await.expect(201);
    let ready = json!({"status": {"conditions": [{"type": "Other", "status": "x"}, {"type": "Ready", "status": "True"}]}});
    world.merge(&format!("{WIDGETS}/w/status"), &ready).await.expect(200);
    world.create(WIDGETS, &widget("bare", 1)).await.expect(201);
    let list = table(&world, WIDGETS).await;
    let names: Vec<&str> =
        list["columnDefinitions"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Name", "Size", "Ready", "Weight", "On", "First", "Since"]);
    assert_eq!(list["columnDefinitions"][1]["description"], "How large.");
    assert_eq!(list["columnDefinitions"][3]["priority"], 1);
    assert_eq!(list["columnDefinitions"][3]["format"], "double");
    assert_eq!(list["columnDefinitions"][6]["type"], "date");
    assert_eq!(list["rows"][0]["cells"], json!(["bare", 1, null, null, null, null, "0s"]));
    assert_eq!(list["rows"][1]["cells"], json!(["w", 3, "True", 0.5, true, "a", "0s"]));
    let one = table(&world, &format!("{WIDGETS}/w")).await;
    assert_eq!(one["rows"][0]["cells"], list["rows"][1]["cells"]);
}

/// Without columns there are a name and an age.
#[tokio::test]
async fn without_columns_there_are_name_and_age() {
    let world = World::new().await;
    for columns in [json!(null), json!([])] {
        world.create(DEFINITIONS, &with_columns(columns)).await.expect(201);
        let list = table(&world, WIDGETS).await;
        assert_eq!(list["columnDefinitions"][1]["name"], "Age");
        assert_eq!(list["columnDefinitions"].as_array().unwrap().len(), 2);
        world.call("DELETE", &format!("{DEFINITIONS}/widgets.demo.example.com")).send().await.expect(200);
    }
}

/// What cannot be shown is refused where it is defined, with its place.
#[tokio::test]
async fn bad_columns_are_refused() {
    let world = World::new().await;
    let good = json!({"name": "A", "type": "string", "jsonPath": ".a"});
    let many = vec![good.clone(); 65];
    for (field, value, place) in [
        ("name", json!(""), "name"),
        ("name", json!(7), "name"),
        ("type", json!(""), "type"),
        ("type", json!("text"), "type"),
        ("format", json!("fancy"), "format"),
        ("priority", json!("high"), "priority"),
        ("jsonPath", json!(""), "jsonPath"),
        ("jsonPath", json!("spec"), "jsonPath"),
        ("jsonPath", json!(".spec["), "jsonPath"),
        ("jsonPath", json!(".spec[?(@.a=)]"), "jsonPath"),
        ("jsonPath", json!(["x"]), "jsonPath"),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        let answer = world.create(DEFINITIONS, &with_columns(json!([good, bad]))).await.expect(422);
        let expected = format!("spec.versions[0].additionalPrinterColumns[1].{place}");
        let causes = answer.at("details.causes").as_array().unwrap();
        assert!(
            causes.iter().any(|cause| cause["field"] == expected.as_str()),
            "{expected}: {}",
            answer.json
        );
    }
    for columns in [json!("x"), json!([1]), json!([[]]), json!(many), json!({"a": 1})] {
        world.create(DEFINITIONS, &with_columns(columns)).await.expect(422);
    }
}

/// Where a workload does not say how many are wanted, it is one, as Kubernetes fills in.
#[tokio::test]
async fn workloads_want_one_unless_they_say_otherwise() {
    let world = World::new().await;
    for (path, kind, field, unsaid, none) in [
        (
            "/apis/apps/v1/namespaces/default/deployments",
            "Deployment",
            "replicas",
            json!("0/1"),
            json!("0/0"),
        ),
        (
            "/apis/apps/v1/namespaces/default/statefulsets",
            "StatefulSet",
            "replicas",
            json!("0/1"),
            json!("0/0"),
        ),
        ("/apis/apps/v1/namespaces/default/replicasets", "ReplicaSet", "replicas", json!(1), json!(0)),
        ("/apis/batch/v1/namespaces/default/jobs", "Job", "completions", json!("0/1"), json!("0/0")),
    ] {
        let version = path.trim_start_matches("/apis/").split("/namespaces").next().unwrap();
        let named = |name: &str, spec: Value| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec});
        world.create(path, &named("a", json!({}))).await.expect(201);
        world.create(path, &named("b", json!({field: 0}))).await.expect(201);
        let rows = table(&world, path).await["rows"].clone();
        assert_eq!(rows[0]["cells"][1], unsaid, "{kind}");
        assert_eq!(rows[1]["cells"][1], none, "{kind}");
    }
}
