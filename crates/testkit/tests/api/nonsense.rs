//! Nonsense, one piece at a time: the right refusal, and nothing stored.

use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::config_map;

/// A ConfigMap whose metadata has one field of the wrong sort.
fn with(field: &str, value: Value) -> Value {
    let mut document = config_map("a");
    document["metadata"][field] = value;
    document
}

/// Wrong types anywhere in the metadata are undecodable (400), for creates, updates and patches alike.
#[tokio::test]
async fn wrong_types_in_metadata() {
    let world = World::new().await;
    world.create("configmaps", &config_map("there")).await.expect(201);
    let dump = world.dump().await;
    let values = [
        json!(5),
        json!(1.5),
        json!(true),
        json!("text"),
        json!([1]),
        json!([[]]),
        json!({"a": 1}),
        json!([{"a": {}}]),
    ];
    for (field, fits) in [
        ("name", json!("text")),
        ("namespace", json!("text")),
        ("generateName", json!("text")),
        ("uid", json!("text")),
        ("resourceVersion", json!("text")),
        ("labels", Value::Null),
        ("annotations", Value::Null),
        ("finalizers", Value::Null),
        ("ownerReferences", json!([{"a": {}}])),
        ("managedFields", json!([{"a": {}}])),
        ("generation", json!(5)),
        ("creationTimestamp", json!("text")),
        ("deletionTimestamp", json!("text")),
    ] {
        for value in values.iter().filter(|value| **value != fits) {
            let created = world.create("configmaps", &with(field, value.clone())).await;
            assert_eq!(created.code, 400, "{field} {value}: {}", created.json);
            let patched = world.merge("configmaps/there", &json!({"metadata": {field: value}})).await;
            assert_eq!(patched.code, 400, "{field} {value}: {}", patched.json);
        }
    }
    assert_eq!(world.dump().await, dump);
}

/// Numbers beyond reason, depth beyond reason, text that is none.
#[tokio::test]
async fn bodies_beyond_reason() {
    let world = World::new().await;
    let wrap = |value: &str| format!(r#"{{"metadata": {{"name": "a"}}, "data": {value}}}"#);
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let deep_map = format!("{}1{}", r#"{"a":"#.repeat(70), "}".repeat(70));
    let mut bad = vec![
        wrap("1e400"),
        wrap("-1e400"),
        wrap(&deep(70)),
        wrap(&deep(100_000)),
        wrap(&deep_map),
        wrap("\"\u{1}\""),
        wrap("tru"),
        wrap("\"\\ud800\""),
        wrap("1]"),
        r#"{"metadata": {"name": "a", "generation": 99999999999999999999}}"#.to_owned(),
        r#"{"metadata": {"name": "a"}} trailing"#.to_owned(),
        r#""text""#.to_owned(),
        "5".to_owned(),
        "\u{feff}{}".to_owned(),
    ];
    let whole = config_map("a").to_string();
    bad.extend((0..whole.len()).map(|cut| whole[..cut].to_owned()));
    for body in &bad {
        let answer = world.call("POST", "configmaps").bytes(body.as_str()).send().await;
        assert_eq!(answer.code, 400, "{}: {}", &body[..body.len().min(80)], answer.json);
    }
    world.call("POST", "configmaps").bytes(vec![0xff, 0xfe, 0x00]).send().await.expect(400);
    assert_eq!(world.head().await, 3);
    // Large whole numbers are numbers; what is stored can be read back.
    let body =
        r#"{"metadata": {"name": "n"}, "spec": {"big": 99999999999999999999, "most": 18446744073709551615}}"#;
    world.call("POST", "configmaps").bytes(body).send().await.expect(201);
    let back = world.get("configmaps/n").await.expect(200);
    assert_eq!(back.at("spec.most"), &json!(u64::MAX));
    assert_eq!(back.at("spec.big").as_f64(), Some(1e20));
}

/// Thousands of labels, finalizers and owners, and very long values, are too many (422).
#[tokio::test]
async fn too_many_of_everything() {
    let world = World::new().await;
    let labels: serde_json::Map<String, Value> = (0..5000).map(|at| (format!("l{at}"), json!("x"))).collect();
    let finalizers: Vec<String> = (0..2000).map(|at| format!("example.com/f{at}")).collect();
    let owners: Vec<Value> = (0..2000)
        .map(|at| json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": format!("u{at}")}))
        .collect();
    for (field, value) in [
        ("labels", Value::Object(labels)),
        ("labels", json!({"l": "x".repeat(64)})),
        ("labels", json!({"x".repeat(64): "x"})),
        ("labels", json!({"l": "ä"})),
        ("labels", json!({"": "x"})),
        ("annotations", json!({"a": "x".repeat(300 << 10)})),
        ("annotations", json!({"a b": "x"})),
        ("finalizers", json!(finalizers)),
        ("finalizers", json!(["not a name"])),
        ("finalizers", json!([""])),
        ("ownerReferences", json!(owners)),
    ] {
        let answer = world.create("configmaps", &with(field, value)).await.expect(422);
        assert!(answer.text_at("details.causes.0.field").starts_with("metadata."), "{field}");
        assert!(
            answer.text.len() < 2 << 20,
            "a refusal is not a mirror: {} bytes for {field}",
            answer.text.len()
        );
    }
    assert_eq!(world.head().await, 3);
}

/// Paths that try to be clever reach nothing and nobody.
#[tokio::test]
async fn clever_paths() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    for path in [
        "/api/v1/namespaces/default/configmaps/..",
        "/api/v1/namespaces/default/configmaps/../configmaps/a",
        "/api/v1/namespaces/default/configmaps/%2e%2e",
        "/api/v1/namespaces/default/configmaps/%2e%2e/configmaps/a",
        "/api/v1/namespaces/default/configmaps/a%00",
        "/api/v1/namespaces/default/configmaps/%00",
        "/api/v1/namespaces/default%00configmaps/a",
        "/api/v1/namespaces/default/configmaps/a%2fstatus",
        "/api/v1/namespaces/default/configmaps/..%2fconfigmaps%2fa",
        "/api/v1/namespaces/default/configmaps/a%5c",
        "/api/v1//namespaces/default/configmaps/a",
        "//api/v1/namespaces/default/configmaps/a",
        "/api/v1/namespaces//configmaps/a",
        "/api/v1/namespaces/default/configmaps/a/b/c",
        "/api/v1/namespaces/default/configmaps/%C3%A4",
        "/api/v1/namespaces/default/configmaps/A",
        "/api/v1/namespaces/default/namespaces/default",
        "/api/v1/configmaps/a",
        "/api/v2/namespaces/default/configmaps/a",
        "/apis//v1/namespaces/default/configmaps/a",
        "/api/v1/watch/namespaces/default/configmaps/a",
        "//",
    ] {
        for method in ["GET", "DELETE", "PUT", "MERGE"] {
            let answer = world.call(method, path).json(&config_map("a")).send().await;
            let expected: &[u16] = if method == "GET" { &[404] } else { &[404, 400, 405] };
            assert!(expected.contains(&answer.code), "{method} {path}: {} {}", answer.code, answer.json);
        }
    }
    world.get("configmaps/%ff").await.expect(400);
    assert_eq!(world.head().await, 4);
    world.get("/api/v1/namespaces/default/configmaps/a/").await.expect(200);
}

/// Parameters nobody knows are passed over; too many of them, or bad values of known ones, are refused.
#[tokio::test]
async fn odd_queries() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.get("configmaps/a?pretty=true&timeout=32s&x=y&=&&").await.expect(200);
    let many: String = (0..100).map(|at| format!("p{at}=1&")).collect();
    world.get(&format!("configmaps?{many}")).await.expect(400);
    let terms: Vec<String> = (0..2000).map(|at| format!("l{at}%3Dx")).collect();
    world.get(&format!("configmaps?labelSelector={}", terms.join(","))).await.expect(400);
    for bad in
        ["limit=-x", "limit=1e3", "limit=99999999999999999999", "labelSelector=(((", "fieldSelector=%3Dx"]
    {
        world.get(&format!("configmaps?{bad}")).await.expect(400);
    }
    for bad in ["fieldManager=", "fieldValidation=Sometimes"] {
        let code = if bad.ends_with('=') { 200 } else { 422 };
        world.call("MERGE", &format!("configmaps/a?{bad}")).json(&json!({})).send().await.expect(code);
    }
    let long = "m".repeat(129);
    world
        .call("MERGE", &format!("configmaps/a?fieldManager={long}"))
        .json(&json!({}))
        .send()
        .await
        .expect(422);
    assert_eq!(world.get("configmaps?limit=18446744073709551615").await.expect(200).version(), 4);
    // A limit below zero is none.
    assert_eq!(world.get("configmaps?limit=-1").await.document(200)["items"].as_array().unwrap().len(), 1);
}

/// Numbers come back as they are, so that sending back what was read changes nothing.
#[test]
fn numbers_come_back() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = runtime.block_on(World::new());
    let numbers =
        proptest::collection::vec(proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL, 1..40);
    let config = Config { failure_persistence: None, ..Config::default() };
    let run = TestRunner::new(config).run(&numbers, |numbers| {
        runtime.block_on(async {
            let document = json!({"metadata": {"generateName": "n-"}, "spec": {"numbers": numbers}});
            let made = world.create("configmaps", &document).await.expect(201);
            let path = format!("configmaps/{}", made.text_at("metadata.name"));
            let read = world.get(&path).await.expect(200);
            let back = world.call("PUT", &path).bytes(read.text.clone()).send().await.expect(200);
            assert_eq!(back.version(), made.version(), "{numbers:?}");
        });
        Ok(())
    });
    run.unwrap();
}
