//! Server-side apply: who owns which field, and what that means.

use serde_json::{Value, json};
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, widgets};
use sexton_testkit::{Answer, World};

async fn apply(world: &World, manager: &str, data: Value, more: &str) -> Answer {
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data});
    let path = format!("configmaps/a?fieldManager={manager}{more}");
    world.call("APPLY", &path).json(&config).send().await
}

/// Who manages what, as `manager operation subresource: fields of data`.
fn managers(answer: &Answer) -> Vec<String> {
    let list = answer.at("metadata.managedFields").as_array().cloned().unwrap_or_default();
    let one = |entry: &Value| {
        let data = entry["fieldsV1"]["f:data"].as_object().cloned().unwrap_or_default();
        let fields: Vec<&str> = data.keys().filter_map(|key| key.strip_prefix("f:")).collect();
        let text = |field: &str| entry[field].as_str().unwrap_or("").to_owned();
        format!("{} {}{}: {}", text("manager"), text("operation"), text("subresource"), fields.join(","))
    };
    let mut managers: Vec<String> = list.iter().map(one).collect();
    managers.sort();
    managers
}

/// Applied first creates (201), then changes; fields that are no longer applied vanish.
#[tokio::test]
async fn applied_fields_come_and_go() {
    let world = World::new().await;
    let made = apply(&world, "one", json!({"x": "1", "y": "1"}), "").await.expect(201);
    assert_eq!(managers(&made), ["one Apply: x,y"]);
    assert_eq!(made.text_at("metadata.uid"), "uid-4");
    let less = apply(&world, "one", json!({"x": "2"}), "").await.expect(200);
    assert_eq!(less.at("data"), &json!({"x": "2"}));
    assert_eq!(managers(&less), ["one Apply: x"]);
    world.nature().pass(60);
    let same = apply(&world, "one", json!({"x": "2"}), "").await.expect(200);
    assert_eq!(same.json, less.json, "an apply that changes nothing writes nothing");
}

/// Two managers: a conflict names the field and the owner; force takes it; what two own stays until both let go.
#[tokio::test]
async fn conflicts_and_shared_fields() {
    let world = World::new().await;
    apply(&world, "one", json!({"x": "1", "shared": "s"}), "").await.expect(201);
    apply(&world, "two", json!({"shared": "s"}), "").await.expect(200);
    let refused = apply(&world, "two", json!({"x": "2", "shared": "s"}), "").await.expect(409);
    assert_eq!(refused.text_at("reason"), "Conflict");
    assert_eq!(refused.text_at("message"), "Apply failed with 1 conflict: conflict with \"one\": .data.x");
    assert_eq!(
        refused.at("details.causes"),
        &json!([
            {"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".data.x"},
        ])
    );
    assert_eq!(world.get("configmaps/a").await.text_at("data.x"), "1");
    let forced = apply(&world, "two", json!({"x": "2", "shared": "s"}), "&force=true").await.expect(200);
    assert_eq!(managers(&forced), ["one Apply: shared", "two Apply: shared,x"]);
    let one_left = apply(&world, "one", json!({}), "").await.expect(200);
    assert_eq!(one_left.at("data"), &json!({"shared": "s", "x": "2"}));
    let none_left = apply(&world, "two", json!({"x": "2"}), "").await.expect(200);
    assert_eq!(none_left.at("data"), &json!({"x": "2"}));
}

/// Managed fields after each way of writing.
#[tokio::test]
async fn every_write_is_owned() {
    let world = World::new().await;
    let made = world.create("configmaps?fieldManager=maker", &config_map("a")).await.expect(201);
    assert_eq!(managers(&made), ["maker Update: k"]);
    let agent = world
        .call("MERGE", "configmaps/a")
        .header("user-agent", "kubectl/v1.32")
        .json(&json!({"data": {"n": "1"}}));
    let patched = agent.send().await.expect(200);
    assert_eq!(managers(&patched), ["kubectl Update: n", "maker Update: k"]);
    let mut document = patched.json.clone();
    document["data"]["k"] = json!("2");
    let replaced = world.put("configmaps/a?fieldManager=replacer", &document).await.expect(200);
    // The maker keeps the map itself, which nobody else made.
    assert_eq!(managers(&replaced), ["kubectl Update: n", "maker Update: ", "replacer Update: k"]);
    let applied = apply(&world, "applier", json!({"z": "1"}), "").await.expect(200);
    assert!(managers(&applied).contains(&"applier Apply: z".to_owned()), "{:?}", managers(&applied));
    let entry = applied.at("metadata.managedFields.0").clone();
    assert_eq!((&entry["apiVersion"], &entry["fieldsType"]), (&json!("v1"), &json!("FieldsV1")));
}

/// Applying to the status is a writer of its own, and touches nothing else.
#[tokio::test]
async fn status_is_applied_apart() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let one = format!("{WIDGETS}/w");
    let config = json!({
        "apiVersion": "demo.example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"size": 1}, "status": {"ready": true},
    });
    let status = format!("{one}/status?fieldManager=m");
    world.call("APPLY", &status).json(&config).send().await.expect(404);
    let made = world.call("APPLY", &format!("{one}?fieldManager=m")).json(&config).send().await.expect(201);
    assert!(made.at("status").is_null());
    let mut other = config.clone();
    other["spec"]["size"] = json!(9);
    let answer = world.call("APPLY", &status).json(&other).send().await.expect(200);
    assert_eq!((answer.at("spec.size"), answer.at("status.ready")), (&json!(1), &json!(true)));
    let parts: Vec<&str> = answer
        .at("metadata.managedFields")
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["subresource"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(parts, ["", "status"]);
}

/// What an apply must say, and what it may not.
#[tokio::test]
async fn refused_configurations() {
    let world = World::new().await;
    run(&world, r#"
        APPLY configmaps/a
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        -> 422 Invalid
           message ~ fieldManager

        APPLY configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}
        -> 400 BadRequest
           message = "metadata.managedFields must be nil"

        APPLY configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
        -> 400 BadRequest

        APPLY configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}
        -> 400 BadRequest

        APPLY configmaps/a?fieldManager=m
        [1]
        -> 400 BadRequest

        # Everything that the manager has would be gone.
        APPLY configmaps/a?fieldManager=m
        {}
        -> 400 BadRequest
           message ~ Object 'Kind' is missing

        APPLY configmaps/a?fieldManager=m
        {"kind": "ConfigMap", "metadata": {"name": "a"}}
        -> 400 BadRequest
           message ~ Object 'apiVersion' is missing

        APPLY configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "uid-9"}}
        -> 409 Conflict

        APPLY configmaps/a?fieldManager=m&dryRun=All
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "1"}}
        -> 201
           data.k = "1"

        GET configmaps/a
        -> 404 NotFound

        # YAML, as the media type says.
        APPLY configmaps/a?fieldManager=m
        {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "1"}}
        -> 201
           data.k = "1"

        APPLY configmaps/a?fieldManager=other
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "3"}, "data": {"n": "1"}}
        -> 409 Conflict

        APPLY configmaps/a?fieldManager=m&force=perhaps
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        -> 400 BadRequest
    "#).await;
}

/// A manager that stops applying a finalizer lets go of it: on a marked object that removes it. REQ-KRK-19
#[tokio::test]
async fn applying_without_the_last_finalizer_removes() {
    let world = World::new().await;
    run(
        &world,
        r#"
        APPLY configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": ["example.com/x"]}}
        -> 201
           metadata.finalizers = ["example.com/x"]

        DELETE configmaps/a
        {"propagationPolicy": "Background"}
        -> 200

        APPLY configmaps/a?fieldManager=m
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        -> 200

        GET configmaps/a
        -> 404 NotFound
    "#,
    )
    .await;
}
