//! Several versions of one kind that differ in nothing but their names, and the names of kinds themselves.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widget, widgets};

const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example.com";

fn version(name: &str, storage: bool) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    json!({"name": name, "served": true, "storage": storage, "schema": schema})
}

fn versions(list: Value) -> Value {
    let mut definition = widgets();
    definition["spec"]["versions"] = list;
    definition
}

/// The storage version can be switched; a version that may still be stored cannot go.
#[tokio::test]
async fn stored_versions_are_kept() {
    let world = World::new().await;
    let both = json!([version("v1alpha1", true), version("v1", false)]);
    world.create(DEFINITIONS, &versions(both)).await.expect(201);
    let alpha = WIDGETS.replace("/v1/", "/v1alpha1/");
    let mut old = widget("w", 1);
    old["apiVersion"] = json!("demo.example.com/v1alpha1");
    world.create(&alpha, &old).await.expect(201);
    let switched = json!({"spec": {"versions": [version("v1alpha1", false), version("v1", true)]}});
    let answer = world.merge(DEFINITION, &switched).await.expect(200);
    assert_eq!(answer.at("status.storedVersions"), &json!(["v1alpha1", "v1"]));
    for (path, name) in [(WIDGETS, "demo.example.com/v1"), (alpha.as_str(), "demo.example.com/v1alpha1")] {
        assert_eq!(world.get(&format!("{path}/w")).await.expect(200).text_at("apiVersion"), name);
    }
    let only = json!({"spec": {"versions": [version("v1", true)]}});
    let refused = world.merge(DEFINITION, &only).await.expect(422);
    assert_eq!(refused.text_at("details.causes.0.field"), "status.storedVersions[0]");
    let message = "Invalid value: \"v1alpha1\": must appear in spec.versions";
    assert_eq!(refused.text_at("details.causes.0.message"), message);
    // Whoever has rewritten all objects says so, and then the version can go.
    world.merge(&format!("{WIDGETS}/w"), &json!({"spec": {"size": 2}})).await.expect(200);
    let status = format!("{DEFINITION}/status");
    world.merge(&status, &json!({"status": {"storedVersions": []}})).await.expect(422);
    world.merge(&status, &json!({"status": {"storedVersions": ["v1alpha1"]}})).await.expect(422);
    world.merge(&status, &json!({"status": {"storedVersions": ["v1"]}})).await.expect(200);
    world.merge(DEFINITION, &only).await.expect(200);
    world.get(&alpha).await.expect(404);
    assert_eq!(world.get(&format!("{WIDGETS}/w")).await.expect(200).at("spec.size"), 2);
}

/// One manager who applies in one version and then in another is one manager; others keep what they own.
#[tokio::test]
async fn managers_apply_in_any_version() {
    let world = World::new().await;
    let both = json!([version("v1alpha1", false), version("v1", true)]);
    world.create(DEFINITIONS, &versions(both)).await.expect(201);
    let apply = async |version: &str, manager: &str, spec: Value| {
        let path = format!("{}/w?fieldManager={manager}", WIDGETS.replace("/v1/", &format!("/{version}/")));
        let api_version = format!("demo.example.com/{version}");
        let body =
            json!({"apiVersion": api_version, "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
        world.call("APPLY", &path).json(&body).send().await
    };
    apply("v1alpha1", "one", json!({"a": 1, "b": 1})).await.expect(201);
    apply("v1", "two", json!({"c": 1})).await.expect(200);
    let last = apply("v1", "one", json!({"a": 2})).await.expect(200);
    assert_eq!(last.at("spec"), &json!({"a": 2, "c": 1}));
    let managed = last.at("metadata.managedFields").as_array().unwrap().clone();
    assert_eq!(managed.iter().filter(|entry| entry["manager"] == "one").count(), 1);
    assert_eq!(apply("v1alpha1", "two", json!({"a": 3})).await.expect(409).text_at("reason"), "Conflict");
}

/// Two managers share a list that is a map by a key, one of them defaulted, in a nested place.
#[tokio::test]
async fn managers_share_a_list() {
    let world = World::new().await;
    let mut definition = widgets();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"net": {"type": "object", "properties": {
            "ports": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
                "items": {"type": "object", "required": ["port"], "properties": {
                    "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"},
                    "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                    "where": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
                }},
            },
        }}}},
    }});
    world.create(DEFINITIONS, &definition).await.expect(201);
    let apply = async |manager: &str, ports: Value| {
        let body = json!({
            "apiVersion": "demo.example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
            "spec": {"net": {"ports": ports}},
        });
        world.call("APPLY", &format!("{WIDGETS}/w?fieldManager={manager}")).json(&body).send().await
    };
    let tags = |ports: &[Value]| {
        let tcp = |port: &&Value| port["port"] == 80 && port["protocol"] != "UDP";
        ports.iter().find(tcp).unwrap()["tags"].clone()
    };
    apply("one", json!([{"port": 80, "tags": ["a"]}])).await.expect(201);
    apply("two", json!([{"port": 443}, {"port": 80, "protocol": "TCP", "tags": ["b"]}])).await.expect(200);
    let both =
        apply("three", json!([{"port": 80, "protocol": "UDP", "where": {"x": "1"}}])).await.expect(200);
    let ports = both.at("spec.net.ports").as_array().unwrap();
    assert_eq!(ports.len(), 3, "{ports:?}");
    assert_eq!(tags(ports), json!(["a", "b"]));
    apply("four", json!([{"port": 80, "protocol": "UDP", "where": {"y": "1"}}])).await.expect(409);
    let less = apply("two", json!([{"port": 443}])).await.expect(200);
    assert_eq!(tags(less.at("spec.net.ports").as_array().unwrap()), json!(["a"]));
    let least = apply("one", json!([])).await.expect(200);
    assert!(least.at("spec.net.ports").as_array().unwrap().iter().all(|port| port["tags"].is_null()));
}

/// Whoever uses a version that is on its way out is told, whatever the answer is.
#[tokio::test]
async fn deprecated_versions_warn() {
    let world = World::new().await;
    let mut first = version("v1beta1", false);
    first["deprecated"] = json!(true);
    let mut second = version("v1beta2", false);
    second["deprecated"] = json!(true);
    second["deprecationWarning"] = json!("use v1");
    world.create(DEFINITIONS, &versions(json!([first, second, version("v1", true)]))).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    let told = async |path: &str| world.get(path).await.warnings().join("\n");
    assert_eq!(told(WIDGETS).await, "");
    for path in ["widgets", "widgets/w", "widgets/missing"] {
        let place = format!("/apis/demo.example.com/v1beta1/namespaces/default/{path}");
        assert!(told(&place).await.contains("demo.example.com/v1beta1 Widget is deprecated"), "{path}");
    }
    assert!(told(&WIDGETS.replace("/v1/", "/v1beta2/")).await.contains("use v1"));
    let mut bad = version("v1", true);
    bad["deprecationWarning"] = json!("not yet");
    let refused = world.merge(DEFINITION, &json!({"spec": {"versions": [bad]}})).await.expect(422);
    assert!(refused.json.to_string().contains("can only be set for deprecated versions"));
}

/// Conversion webhooks are not called, so they cannot be asked for.
#[tokio::test]
async fn conversion_is_none() {
    let world = World::new().await;
    for (conversion, code) in [
        (json!({"strategy": "None"}), 201),
        (json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}), 422),
        (json!({"strategy": "Magic"}), 422),
        (json!({}), 422),
        (json!("None"), 422),
    ] {
        let mut definition = widgets();
        definition["spec"]["conversion"] = conversion.clone();
        let answer = world.call("POST", &format!("{DEFINITIONS}?dryRun=All")).json(&definition).send().await;
        assert_eq!(answer.code, code, "{conversion}: {}", answer.json);
        if code == 422 {
            assert_eq!(answer.text_at("details.causes.0.field"), "spec.conversion.strategy");
        }
    }
}

fn named(plural: &str, names: Value) -> Value {
    let mut definition = widgets();
    definition["metadata"]["name"] = json!(format!("{plural}.demo.example.com"));
    definition["spec"]["names"] = names;
    definition["spec"]["names"]["plural"] = json!(plural);
    definition
}

/// A name belongs to the definition that had it first; whoever else asks for it is served when it is free.
#[tokio::test]
async fn names_belong_to_one_definition() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let taken = named("gadgets", json!({"kind": "Gadget", "shortNames": ["wd"], "categories": ["mine"]}));
    let refused = world.create(DEFINITIONS, &taken).await.expect(201);
    assert_eq!(refused.at("status.conditions.0.reason"), "ShortNamesConflict");
    assert_eq!(refused.at("status.conditions.0.status"), "False");
    assert_eq!(refused.at("status.conditions.0.message"), "\"wd\" is already in use");
    assert_eq!(refused.at("status.conditions.1.reason"), "NotAccepted");
    assert_eq!(refused.at("status.acceptedNames.shortNames"), &Value::Null);
    world.get("/apis/demo.example.com/v1/gadgets").await.expect(404);
    let kind = world.create(DEFINITIONS, &named("things", json!({"kind": "Widget"}))).await.expect(201);
    assert_eq!(kind.at("status.conditions.0.reason"), "ListKindConflict");
    // Another group is another world.
    let mut other = widgets();
    other["metadata"]["name"] = json!("widgets.other.example.com");
    other["spec"]["group"] = json!("other.example.com");
    assert_eq!(world.create(DEFINITIONS, &other).await.expect(201).at("status.conditions.1.status"), "True");
    // Once it is free, it is theirs.
    world.call("DELETE", DEFINITION).send().await.expect(200);
    for name in ["gadgets", "things"] {
        let given = world.get(&format!("{DEFINITIONS}/{name}.demo.example.com")).await.expect(200);
        assert_eq!(given.at("status.conditions.0.status"), "True", "{name}");
        assert_eq!(given.at("status.conditions.1.status"), "True", "{name}");
        world.get(&format!("/apis/demo.example.com/v1/{name}")).await.expect(200);
    }
    let resources = world.get("/apis/demo.example.com/v1").await.expect(200);
    assert_eq!(resources.at("resources.0.shortNames"), &json!(["wd"]));
    assert_eq!(resources.at("resources.0.categories"), &json!(["mine"]));
}

/// What is served stays served under the names that it has.
#[tokio::test]
async fn a_served_definition_keeps_its_names() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world
        .create(DEFINITIONS, &named("gadgets", json!({"kind": "Gadget", "shortNames": ["gd"]})))
        .await
        .expect(201);
    let path = format!("{DEFINITIONS}/gadgets.demo.example.com");
    let greedy =
        world.merge(&path, &json!({"spec": {"names": {"shortNames": ["gd", "wd"]}}})).await.expect(200);
    assert_eq!(greedy.at("status.conditions.0.status"), "False");
    assert_eq!(greedy.at("status.conditions.1.status"), "True");
    let resources = world.get("/apis/demo.example.com/v1").await.expect(200);
    assert_eq!(resources.at("resources.0.shortNames"), &json!(["gd"]));
    let modest = world.merge(&path, &json!({"spec": {"names": {"shortNames": ["gg"]}}})).await.expect(200);
    assert_eq!(modest.at("status.conditions.0.status"), "True");
    assert_eq!(modest.at("status.acceptedNames.shortNames"), &json!(["gg"]));
}
