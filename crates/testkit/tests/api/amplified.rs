//! Short requests that would become very much: refused before they do.

use serde_json::{Map, Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widget, widgets};

use crate::bulk::{BULK, delete, item, with};

fn with_spec(spec: Value) -> Value {
    let mut definition = widgets();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] =
        json!({"type": "object", "properties": {"spec": spec}});
    definition
}

fn with_items(items: usize) -> Value {
    let mut widget = widget("w", 1);
    widget["spec"] = json!({"list": vec![json!({}); items]});
    widget
}

/// Four kilobytes of empty items with a default of two megabytes each: refused by every verb that writes; what is stored
/// can still be read, and be made shorter.
#[tokio::test]
async fn defaults_of_items_are_counted() {
    let world = World::new().await;
    let list = |default: Option<String>| {
        let mut text = json!({"type": "string"});
        if let Some(default) = default {
            text["default"] = default.into();
        }
        let items = json!({"type": "object", "properties": {"text": text, "other": {"type": "string"}}});
        with_spec(json!({"type": "object", "properties": {"list": {"type": "array", "items": items}}}))
    };
    world.create(DEFINITIONS, &list(None)).await.expect(201);
    world.create(WIDGETS, &with_items(1_300)).await.expect(201);
    let schema = list(Some("x".repeat(2 << 20)))["spec"]["versions"].clone();
    world
        .merge(&format!("{DEFINITIONS}/widgets.demo.example.com"), &json!({"spec": {"versions": schema}}))
        .await
        .expect(200);
    let mut other = with_items(1_300);
    other["metadata"]["name"] = "other".into();
    let refused = world.create(WIDGETS, &other).await.expect(413);
    assert!(
        refused.text_at("message").contains("take more than 16777216 bytes"),
        "{}",
        refused.text_at("message")
    );
    let one = format!("{WIDGETS}/w");
    world.merge(&one, &json!({"spec": {"list": vec![json!({"other": "y"}); 1_300]}})).await.expect(413);
    world.get(&one).await.expect(200);
    world.merge(&one, &json!({"spec": {"list": []}})).await.expect(200);
}

/// A rule that makes gigabytes of a hundred kilobytes is neither true nor false.
#[tokio::test]
async fn what_rules_make_is_counted() {
    let world = World::new().await;
    let spec = json!({
        "type": "object", "properties": {"text": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "self.text.replace('a', self.text).size() > 0"}],
    });
    world.create(DEFINITIONS, &with_spec(spec)).await.expect(201);
    let mut large = widget("w", 1);
    large["spec"] = json!({"text": "a".repeat(100_000)});
    let refused = world.create(WIDGETS, &large).await.expect(422);
    assert!(refused.text_at("message").contains("cost limit exceeded"), "{}", refused.text_at("message"));
    large["spec"] = json!({"text": "a"});
    world.create(WIDGETS, &large).await.expect(201);
}

/// Small maps take eighty times their text in memory, and aliases of YAML as much as they like.
#[tokio::test]
async fn what_bodies_become_is_counted() {
    let world = World::new().await;
    let maps = format!(r#"{{"data":[{}{{}}]}}"#, r#"{"":0},"#.repeat(400_000));
    let refused = world.call("POST", "configmaps").bytes(maps).send().await.expect(413);
    assert!(
        refused.text_at("message").contains("of memory once it is read"),
        "{}",
        refused.text_at("message")
    );
    let alias = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 90].join(", "));
    let call = world.call("POST", "configmaps").header("Content-Type", "application/yaml");
    let refused = call.bytes(alias).send().await;
    assert!(matches!(refused.code, 400 | 413), "{}", refused.code);
    let packed = world.call("POST", "configmaps").header("Content-Encoding", "gzip").bytes(b"{}".to_vec());
    let refused = packed.send().await.expect(415);
    assert!(refused.text_at("message").contains("Content-Encoding"), "{}", refused.text_at("message"));
}

/// What is said once for thousands of lives is checked thousands of times.
#[tokio::test]
async fn conditions_of_many_are_counted() {
    let world = World::new().await;
    let also: Vec<Value> = (0..4_000).map(|n| json!([format!("n{n}"), format!("u{n}")])).collect();
    let absent: Vec<String> = (0..1_000).map(|n| format!("a{n}")).collect();
    let many = with(item("a", "u", delete("Background")), json!({"also": also, "absent": absent}));
    let refused = world.create(BULK, &json!({"items": [many]})).await.expect(400);
    assert!(refused.text_at("message").contains("conditions are too many"), "{}", refused.text_at("message"));
}

/// So are exceptions, which became gigabytes, and all that is to be taken off or written.
#[tokio::test]
async fn all_that_is_said_of_many_is_counted() {
    let world = World::new().await;
    let also: Vec<Value> = (0..4_000).map(|n| json!([format!("n{n}"), format!("u{n}")])).collect();
    let list: Vec<String> = (0..1_000).map(|n| format!("example.com/{n}")).collect();
    let words: Value = list.iter().map(|name| (name.clone(), json!("x"))).collect::<Map<_, _>>().into();
    let long = json!({"example.com/long": "x".repeat(200 << 10)});
    let patch = |what: Value| json!({"action": {"patch": what}});
    for said in [
        json!({"unreferenced": true, "except": list}),
        json!({"owners": list}),
        json!({"annotated": words}),
        json!({"labelled": words}),
        json!({"action": {"delete": {"annotations": words}}}),
        patch(json!({"removeFinalizers": list})),
        patch(json!({"addFinalizers": list})),
        patch(json!({"removeOwners": list})),
        patch(json!({"annotations": words})),
        patch(json!({"annotations": long})),
    ] {
        let one = with(item("a", "u", delete("Background")), json!({"also": also}));
        let refused = world.create(BULK, &json!({"items": [with(one, said.clone())]})).await;
        let said: String = said.to_string().chars().take(60).collect();
        assert_eq!(refused.code, 400, "{said}");
        assert!(refused.text_at("message").contains("conditions are too many"), "{said}");
    }
}

/// Every column of a definition may name the whole object; a row stays a row.
#[tokio::test]
async fn rows_of_tables_are_bounded() {
    let world = World::new().await;
    let mut definition = widgets();
    let column = |n: usize| json!({"name": format!("C{n}"), "type": "string", "jsonPath": ".spec"});
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = (0..30).map(column).collect();
    world.create(DEFINITIONS, &definition).await.expect(201);
    let mut large = widget("w", 1);
    large["spec"] = json!({"text": "a".repeat(100_000)});
    world.create(WIDGETS, &large).await.expect(201);
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    let table = world.call("GET", WIDGETS).header("Accept", accept).send().await.expect(200);
    assert!(table.text.len() < 400 << 10, "{} bytes", table.text.len());
    let cells = table.at("rows")[0]["cells"].clone();
    assert!(cells[1].as_str().is_some_and(|text| text.len() > 100_000) && cells[30].is_null());
}
