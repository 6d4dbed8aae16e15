//! Kinds with schemas: objects are pruned, filled in and validated by every verb, definitions are checked, and what
//! nobody knows is refused, told or passed over, as the writer wishes.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::call::Answer;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widgets};

/// Where Widgets are.
const W: &str = "/apis/demo.example.com/v1/namespaces/default/widgets/w";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example.com";

fn rich() -> Value {
    json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object",
                "required": ["size"],
                "properties": {
                    "size": {"type": "integer", "minimum": 0, "maximum": 10},
                    "mode": {"type": "string", "enum": ["fast", "slow"], "default": "slow"},
                    "host": {"type": "string", "pattern": "^[a-z.]+$", "maxLength": 20},
                    "port": {"x-kubernetes-int-or-string": true},
                    "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                    "parts": {
                        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                        "items": {"type": "object", "required": ["name"], "properties": {
                            "name": {"type": "string"}, "weight": {"type": "integer", "default": 1},
                        }},
                    },
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                },
            },
            "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
        },
    })
}

fn defined(schema: &Value) -> Value {
    let mut definition = widgets();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema.clone();
    definition
}

async fn world() -> World {
    let world = World::new().await;
    world.create(DEFINITIONS, &defined(&rich())).await.expect(201);
    world
}

fn widget(spec: &Value) -> Value {
    json!({"apiVersion": "demo.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec})
}

fn causes(answer: &Answer) -> Vec<String> {
    let causes = answer.at("details.causes").as_array().cloned().unwrap_or_default();
    causes
        .iter()
        .map(|cause| format!("{} {}", cause["field"].as_str().unwrap(), cause["reason"].as_str().unwrap()))
        .collect()
}

/// A create is pruned, filled in and stored so; the writer hears of what went.
#[tokio::test]
async fn a_new_object_is_made_to_fit() {
    let world = world().await;
    let spec = json!({"size": 3, "color": "red", "port": "http", "parts": [{"name": "a", "x": 1}], "free": {"any": [1]}});
    let made = world.create(WIDGETS, &widget(&spec)).await.expect(201);
    assert_eq!(made.warnings(), [r#"unknown field "spec.color""#, r#"unknown field "spec.parts[0].x""#]);
    let fits = json!({"size": 3, "mode": "slow", "port": "http", "parts": [{"name": "a", "weight": 1}], "free": {"any": [1]}});
    assert_eq!(made.at("spec"), &fits);
    assert_eq!(world.get(W).await.expect(200).at("spec"), &fits);
}

/// What does not fit is refused with 422, the texts and the places that clients know; nothing is stored.
#[tokio::test]
async fn what_does_not_fit_is_refused() {
    let world = world().await;
    let bad = json!({"size": "big", "mode": "odd", "tags": ["a", "a"], "host": "A", "port": true});
    let refused = world.create(WIDGETS, &widget(&bad)).await.expect(422);
    assert_eq!(refused.at("reason"), "Invalid");
    assert_eq!(
        causes(&refused),
        [
            "spec.host FieldValueInvalid",
            "spec.mode FieldValueNotSupported",
            "spec.port FieldValueTypeInvalid",
            "spec.size FieldValueTypeInvalid",
            "spec.tags[1] FieldValueDuplicate",
        ]
    );
    let text = refused.text_at("message");
    for part in [
        r#"Widget.demo.example.com "w" is invalid: ["#,
        r#"spec.size: Invalid value: "string": spec.size in body must be of type integer: "string""#,
        r#"spec.mode: Unsupported value: "odd": supported values: "fast", "slow""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let refused = world.create(WIDGETS, &widget(&json!({}))).await.expect(422);
    assert_eq!(
        refused.text_at("message"),
        r#"Widget.demo.example.com "w" is invalid: spec.size: Required value"#
    );
    world.get(W).await.expect(404);
}

/// Updates, patches of each form, apply and the status part go the same way.
#[tokio::test]
async fn every_verb_looks_at_the_schema() {
    let world = world().await;
    world.create(WIDGETS, &widget(&json!({"size": 1}))).await.expect(201);
    let mut put = world.get(W).await.json;
    put["spec"]["size"] = json!(11);
    let answer = world.call("PUT", W).json(&put).send().await.expect(422);
    assert!(
        answer
            .text_at("message")
            .contains("spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10")
    );
    put["spec"] = json!({"size": 2, "mode": null, "gone": 1});
    let answer = world.call("PUT", W).json(&put).send().await.expect(200);
    assert_eq!(
        (answer.at("spec"), answer.at("metadata.generation")),
        (&json!({"size": 2, "mode": "slow"}), &json!(2))
    );
    world.merge(W, &json!({"spec": {"size": -1}})).await.expect(422);
    let answer = world.merge(W, &json!({"spec": {"other": 1}})).await.expect(200);
    assert_eq!(answer.warnings(), [r#"unknown field "spec.other""#]);
    assert_eq!(answer.at("metadata.generation"), 2, "nothing changed");
    let patch = json!([{"op": "add", "path": "/spec/tags", "value": ["a", "a"]}]);
    world.call("JSON-PATCH", W).json(&patch).send().await.expect(422);
    let config = widget(&json!({"size": 5, "parts": [{"name": "p"}], "unheard": 1}));
    let path = format!("{W}?fieldManager=me&force=true");
    let answer = world.call("APPLY", &path).json(&config).send().await.expect(200);
    assert_eq!(answer.at("spec"), &json!({"size": 5, "mode": "slow", "parts": [{"name": "p", "weight": 1}]}));
    let config = widget(&json!({"size": 50}));
    world.call("APPLY", &path).json(&config).send().await.expect(422);
    let status = format!("{W}/status");
    let answer = world.merge(&status, &json!({"status": {"ready": "no"}})).await.expect(422);
    assert_eq!(causes(&answer), ["status.ready FieldValueTypeInvalid"]);
    let answer = world.merge(&status, &json!({"status": {"ready": true, "x": 1}})).await.expect(200);
    assert_eq!(answer.at("status"), &json!({"ready": true}));
}

/// `fieldValidation`: refused, told or passed over; for kinds that are always there, too.
#[tokio::test]
async fn unknown_and_repeated_fields_as_the_writer_wishes() {
    let world = world().await;
    let text = r#"{"apiVersion":"demo.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1,"foo":2,"size":3}}"#;
    let post = |how: &str| world.call("POST", &format!("{WIDGETS}?dryRun=All{how}")).bytes(text).send();
    let refused = post("&fieldValidation=Strict").await.expect(400);
    assert_eq!(
        refused.text_at("message"),
        "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: duplicate field \"spec.size\", \
         unknown field \"spec.foo\""
    );
    for how in ["", "&fieldValidation=Warn"] {
        let told = [r#"duplicate field "spec.size""#, r#"unknown field "spec.foo""#];
        assert_eq!(post(how).await.expect(201).warnings(), told);
    }
    assert!(post("&fieldValidation=Ignore").await.expect(201).warnings().is_empty());
    world.create(WIDGETS, &widget(&json!({"size": 1}))).await.expect(201);
    let path = format!("{W}?fieldValidation=Strict");
    let refused = world.merge(&path, &json!({"spec": {"foo": 1}})).await.expect(422);
    assert!(refused.text_at("message").ends_with("strict decoding error: unknown field \"spec.foo\""));
    world.merge(&path, &json!({"spec": {"size": 2}})).await.expect(200);
    let map = json!({"metadata": {"name": "c", "colour": "red"}, "dota": {}});
    let refused = world.create("configmaps?fieldValidation=Strict", &map).await.expect(400);
    assert!(
        refused.text_at("message").ends_with("unknown field \"metadata.colour\", unknown field \"dota\"")
    );
    assert_eq!(world.create("configmaps", &map).await.expect(201).warnings().len(), 2);
    let typo = json!({"metadata": {"name": "web"}, "spec": {"replica": 3}});
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let refused = world.create(&format!("{deployments}?fieldValidation=Strict"), &typo).await.expect(400);
    assert!(refused.text_at("message").ends_with("unknown field \"spec.replica\""));
    assert_eq!(world.create(deployments, &typo).await.expect(201).warnings().len(), 1);
}

/// Definitions whose schema is missing or not structural are refused; a schema that stands is not looked at again.
#[tokio::test]
async fn definitions_are_checked() {
    let world = World::new().await;
    let at = "spec.versions[0].schema.openAPIV3Schema";
    for (schema, expected) in [
        (Value::Null, format!("{at}: Required value: schemas are required")),
        (json!({}), format!("{at}.type: Required value: must not be empty at the root")),
        (
            json!({"type": "object", "properties": {"spec": {"properties": {}}}}),
            format!(
                "{at}.properties[spec].type: Required value: must not be empty for specified object fields"
            ),
        ),
        (
            json!({"type": "object", "properties": {"spec": {"type": "string", "pattern": "["}}}),
            format!("{at}.properties[spec].pattern: "),
        ),
    ] {
        let answer = world.create(DEFINITIONS, &defined(&schema)).await.expect(422);
        assert!(answer.text_at("message").contains(&expected), "{}", answer.text_at("message"));
    }
    let mut all = defined(&rich());
    all["spec"]["preserveUnknownFields"] = json!(true);
    let answer = world.create(DEFINITIONS, &all).await.expect(422);
    assert_eq!(causes(&answer), ["spec.preserveUnknownFields FieldValueInvalid"]);
}

/// A definition changes while there are objects: they are shown with its defaults, may stay as they are, and fit once
/// they are written again. Each version has its own schema.
#[tokio::test]
async fn definitions_change_under_their_objects() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let mut old = widget(&json!({"size": 99, "left": "over"}));
    old["metadata"]["finalizers"] = json!(["example.com/f"]);
    world.create(WIDGETS, &old).await.expect(201);
    let mut beta = defined(&rich())["spec"]["versions"][0].clone();
    beta["name"] = json!("v2");
    beta["storage"] = json!(false);
    beta["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["mode"]["default"] = json!("fast");
    let versions = json!([defined(&rich())["spec"]["versions"][0], beta]);
    world.merge(DEFINITION, &json!({"spec": {"versions": versions}})).await.expect(200);
    assert_eq!(world.get(W).await.expect(200).at("spec.mode"), "slow");
    assert_eq!(world.get(&W.replace("/v1/", "/v2/")).await.expect(200).at("spec.mode"), "fast");
    assert_eq!(world.get(WIDGETS).await.expect(200).at("items.0.spec.mode"), "slow");
    let answer = world.merge(W, &json!({"metadata": {"labels": {"a": "b"}}})).await.expect(200);
    assert_eq!(answer.at("spec"), &json!({"size": 99, "mode": "slow"}));
    assert_eq!(answer.at("metadata.generation"), 1);
    assert!(answer.warnings().is_empty());
    let answer = world.merge(W, &json!({"spec": {"host": "a.b"}})).await.expect(200);
    assert_eq!(answer.at("spec.size"), 99);
    world.merge(W, &json!({"spec": {"size": 98}})).await.expect(422);
    world.call("DELETE", W).send().await.expect(200);
    world.merge(W, &json!({"metadata": {"finalizers": null}})).await.expect(200);
    world.get(W).await.expect(404);
}

/// Rules in CEL are run on every write; rules that cannot be run are refused with the definition.
#[tokio::test]
async fn rules_of_definitions_are_run() {
    let world = World::new().await;
    let mut schema = rich();
    schema["properties"]["spec"]["x-kubernetes-validations"] = json!([
        {"rule": "!has(self.host) || self.size > 1", "message": "a host needs size"},
        {"rule": "self.size >= oldSelf.size", "message": "it never shrinks"},
    ]);
    world.create(DEFINITIONS, &defined(&schema)).await.expect(201);
    let refused = world.create(WIDGETS, &widget(&json!({"size": 1, "host": "a.b"}))).await.expect(422);
    assert_eq!(
        refused.text_at("message"),
        r#"Widget.demo.example.com "w" is invalid: spec: Invalid value: "object": a host needs size"#
    );
    world.create(WIDGETS, &widget(&json!({"size": 3}))).await.expect(201);
    let refused = world.merge(W, &json!({"spec": {"size": 2}})).await.expect(422);
    assert!(refused.text_at("message").ends_with("it never shrinks"));
    world.merge(W, &json!({"spec": {"size": 4}})).await.expect(200);
    schema["properties"]["spec"]["x-kubernetes-validations"] = json!([{"rule": "amount(self.host)"}]);
    let answer = world
        .merge(DEFINITION, &json!({"spec": {"versions": defined(&schema)["spec"]["versions"]}}))
        .await
        .expect(422);
    assert!(answer.text_at("message").contains("undeclared reference to the function 'amount'"));
}
