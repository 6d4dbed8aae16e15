//! `dryRun=All` on every verb: the same answer, nothing written.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, config_map, held, owner, widgets};

/// Every way of writing, each with what it would need to write something.
fn writes() -> Vec<(&'static str, String, Value, u16)> {
    let definition = widgets();
    let new = json!({"metadata": {"generateName": "g-"}});
    let mut terminating = held("going", "example.com/x");
    terminating["metadata"]["finalizers"] = json!([]);
    vec![
        ("POST", "configmaps?dryRun=All".into(), config_map("new"), 201),
        ("POST", "configmaps?dryRun=All".into(), new, 201),
        ("POST", "configmaps?dryRun=All".into(), config_map("a"), 409),
        ("POST", format!("{DEFINITIONS}?dryRun=All"), definition, 201),
        (
            "PUT",
            "configmaps/a?dryRun=All".into(),
            json!({"metadata": {"name": "a"}, "data": {"k": "2"}}),
            200,
        ),
        ("PUT", "configmaps/going?dryRun=All".into(), terminating, 200),
        ("MERGE", "configmaps/a?dryRun=All".into(), json!({"data": {"k": "2"}}), 200),
        ("MERGE", "configmaps/going?dryRun=All".into(), json!({"metadata": {"finalizers": null}}), 200),
        ("JSON-PATCH", "configmaps/a?dryRun=All".into(), json!([{"op": "remove", "path": "/data"}]), 200),
        ("STRATEGIC", "configmaps/a?dryRun=All".into(), json!({"data": {"k": "2"}}), 200),
        (
            "APPLY",
            "configmaps/new?dryRun=All&fieldManager=m".into(),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}),
            201,
        ),
        (
            "APPLY",
            "configmaps/a?dryRun=All&fieldManager=m&force=true".into(),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "2"}}),
            200,
        ),
        (
            "PUT",
            "/api/v1/namespaces/default/finalize?dryRun=All".into(),
            json!({"metadata": {"name": "default"}, "spec": {"finalizers": []}}),
            200,
        ),
        (
            "MERGE",
            "/api/v1/namespaces/default/status?dryRun=All".into(),
            json!({"status": {"phase": "Odd"}}),
            200,
        ),
        ("DELETE", "configmaps/a?dryRun=All".into(), Value::Null, 200),
        ("DELETE", "configmaps/a".into(), json!({"dryRun": ["All"], "propagationPolicy": "Background"}), 200),
        ("DELETE", "configmaps/going?dryRun=All&propagationPolicy=Orphan".into(), Value::Null, 200),
        ("DELETE", "configmaps?dryRun=All".into(), Value::Null, 200),
        ("DELETE", "/api/v1/namespaces/empty?dryRun=All".into(), Value::Null, 200),
    ]
}

/// No verb writes anything in a dry run, byte for byte, and watchers hear nothing.
#[tokio::test]
async fn nothing_is_written() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create("configmaps", &held("going", "example.com/x")).await.expect(201);
    world.delete("configmaps/going", &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "empty"}})).await.expect(201);
    let (dump, head) = (world.dump().await, world.head().await);
    for (method, path, body, code) in writes() {
        let call = world.call(method, &path);
        let call = if body.is_null() { call } else { call.json(&body) };
        call.send().await.expect(code);
        assert_eq!(world.head().await, head, "{method} {path}");
    }
    assert_eq!(world.dump().await, dump);
    world.get("/apis/demo.example.com/v1/widgets").await.expect(404);
}

/// The same answers as the real thing: fields, refusals, warnings.
#[tokio::test]
async fn the_answer_is_the_real_one() {
    let world = World::new().await;
    let mut document = config_map("a");
    document["metadata"]["ownerReferences"] = json!([owner("ConfigMap", "nobody", "uid-99")]);
    let dry = world.create("configmaps?dryRun=All", &document).await.expect(201);
    assert_eq!(dry.warnings().len(), 1);
    assert_eq!(dry.text_at("metadata.creationTimestamp"), "2026-11-15T20:00:00Z");
    let real = world.create("configmaps", &document).await.expect(201);
    let fields = |answer: &sexton_testkit::Answer| {
        let mut json = answer.json.clone();
        for field in ["uid", "resourceVersion"] {
            json["metadata"].as_object_mut().unwrap().remove(field);
        }
        json
    };
    assert_eq!(fields(&dry), fields(&real));
    world.create("configmaps?dryRun=All", &json!({"metadata": {"name": "Bad"}})).await.expect(422);
    world.create("configmaps?dryRun=Some", &config_map("b")).await.expect(422);
    world.create("configmaps?dryRun=", &config_map("b")).await.expect(422);
}
