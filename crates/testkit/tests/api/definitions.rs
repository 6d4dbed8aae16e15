//! Definitions: a kind that is defined is served at once, and goes with its objects.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widget, widgets};

/// Discovery, OpenAPI, CRUD and status are there with the answer to the create.
#[tokio::test]
async fn a_defined_kind_is_served_at_once() {
    let world = World::new().await;
    run(&world, "GET /apis/demo.example.com/v1\n-> 404 NotFound").await;
    let defined = world.create(DEFINITIONS, &widgets()).await.expect(201);
    assert_eq!(defined.at("status.conditions.1.type"), "Established");
    assert_eq!(defined.at("status.acceptedNames.listKind"), "WidgetList");
    assert_eq!(defined.at("status.storedVersions"), &json!(["v1"]));
    let resources = world.get("/apis/demo.example.com/v1").await.expect(200);
    assert_eq!(
        resources.at("resources.0"),
        &json!({
            "name": "widgets", "singularName": "widget", "namespaced": true, "kind": "Widget", "shortNames": ["wd"],
            "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        })
    );
    assert_eq!(resources.at("resources.1.name"), "widgets/status");
    assert!(world.get("/apis").await.json.to_string().contains("demo.example.com"));
    let index = world.get("/openapi/v3").await.expect(200);
    let address =
        index.at("/paths/apis~1demo.example.com~1v1/serverRelativeURL").as_str().unwrap().to_owned();
    assert!(world.get(&address).await.expect(200).json.to_string().contains("fieldValidation"));
    run(
        &world,
        r#"
        POST /apis/demo.example.com/v1/namespaces/default/widgets
        {"metadata": {"name": "w"}, "spec": {"size": 1}, "status": {"ready": true}}
        -> 201
           apiVersion = "demo.example.com/v1"
           kind = "Widget"
           metadata.generation = 1
           status absent

        MERGE /apis/demo.example.com/v1/namespaces/default/widgets/w/status
        {"status": {"ready": true}}
        -> 200
           status.ready = true

        GET /apis/demo.example.com/v1/widgets
        -> 200
           kind = "WidgetList"
           apiVersion = "demo.example.com/v1"
           items.0.metadata.name = "w"

        DELETE /apis/demo.example.com/v1/namespaces/default/widgets/w
        {"propagationPolicy": "Background"}
        -> 200
           details = {"name": "w", "group": "demo.example.com", "kind": "widgets", "uid": "uid-5"}
    "#,
    )
    .await;
}

/// A definition that cannot be served is refused, with the place that is wrong (422).
#[tokio::test]
async fn bad_definitions_are_refused() {
    let world = World::new().await;
    let change = |pointer: &str, value: Value| {
        let mut definition = widgets();
        *definition.pointer_mut(pointer).unwrap() = value;
        definition
    };
    let two_storage = json!([{"name": "v1", "served": true, "storage": true}, {"name": "v2", "served": true, "storage": true}]);
    let same_list = json!({"plural": "widgets", "kind": "Widget", "listKind": "Widget"});
    for (definition, field) in [
        (change("/spec", json!(null)), "spec"),
        (change("/spec", json!([])), "spec"),
        (change("/metadata/name", json!("gadgets.demo.example.com")), "metadata.name"),
        (change("/spec/group", json!("nodots")), "spec.group"),
        (change("/spec/group", json!("")), "spec.group"),
        (change("/spec/group", json!("coordination.k8s.io")), "spec.group"),
        (change("/spec/names/plural", json!("Widgets")), "spec.names.plural"),
        (change("/spec/names/kind", json!("")), "spec.names.kind"),
        (change("/spec/names", same_list), "spec.names.listKind"),
        (change("/spec/scope", json!("Galaxy")), "spec.scope"),
        (change("/spec/versions", json!([])), "spec.versions"),
        (change("/spec/versions", json!("v1")), "spec.versions"),
        (change("/spec/versions", two_storage), "spec.versions"),
        (change("/spec/versions/0/storage", json!(false)), "spec.versions"),
        (change("/spec/versions/0/name", json!("V 1")), "spec.versions[0].name"),
    ] {
        let answer = world.create(DEFINITIONS, &definition).await.expect(422);
        let causes = answer.at("details.causes").as_array().unwrap();
        assert!(causes.iter().any(|cause| cause["field"] == field), "{field}: {}", answer.json);
    }
    assert_eq!(world.head().await, 3);
}

/// What stored objects depend on cannot be changed under them.
#[tokio::test]
async fn scope_and_kind_are_fixed() {
    let world = World::new().await;
    let defined = world.create(DEFINITIONS, &widgets()).await.document(201);
    let path = format!("{DEFINITIONS}/widgets.demo.example.com");
    for (pointer, value, field) in
        [("/spec/scope", "Cluster", "spec.scope"), ("/spec/names/kind", "Gadget", "spec.names.kind")]
    {
        let mut changed = defined.clone();
        *changed.pointer_mut(pointer).unwrap() = json!(value);
        let answer = world.put(&path, &changed).await.expect(422);
        assert_eq!(answer.text_at("details.causes.0.field"), field);
    }
}

/// Without objects a definition goes at once and the kind is no longer served.
#[tokio::test]
async fn an_unused_definition_goes_at_once() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let path = format!("{DEFINITIONS}/widgets.demo.example.com");
    let answer = world.call("DELETE", &path).send().await.expect(200);
    assert_eq!(answer.text_at("details.uid"), "uid-4");
    world.get(&path).await.expect(404);
    world.get(WIDGETS).await.expect(404);
    world.get("/apis/demo.example.com/v1").await.expect(404);
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    assert_eq!(world.get(WIDGETS).await.expect(200).at("items"), &json!([]));
}

/// With objects it waits for them; nothing new is made meanwhile.
#[tokio::test]
async fn a_used_definition_waits() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    run(
        &world,
        r#"
        DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example.com
        -> 200
           metadata.finalizers = ["customresourcecleanup.apiextensions.k8s.io"]
           status.conditions.2.type = "Terminating"

        POST /apis/demo.example.com/v1/namespaces/default/widgets
        {"metadata": {"name": "late"}}
        -> 405 MethodNotAllowed
           message ~ create not allowed while custom resource definition is terminating

        MERGE /apis/demo.example.com/v1/namespaces/default/widgets/w
        {"spec": {"size": 2}}
        -> 200

        DELETE /apis/demo.example.com/v1/namespaces/default/widgets/w
        {"propagationPolicy": "Background"}
        -> 200

        MERGE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example.com
        {"metadata": {"finalizers": []}}
        -> 200

        GET /apis/demo.example.com/v1/widgets
        -> 404 NotFound
    "#,
    )
    .await;
}

/// A kind whose versions are all switched off still has its objects: neither its definition nor a namespace that
/// holds some may be removed as if they were empty.
#[tokio::test]
async fn unserved_objects_still_count() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await.expect(201);
    world.create("/apis/demo.example.com/v1/namespaces/n/widgets", &widget("w", 1)).await.expect(201);
    let path = format!("{DEFINITIONS}/widgets.demo.example.com");
    let off = json!([{"op": "replace", "path": "/spec/versions/0/served", "value": false}]);
    world.call("JSON-PATCH", &path).json(&off).send().await.expect(200);
    world.get(WIDGETS).await.expect(404);
    let namespace = world.call("DELETE", "/api/v1/namespaces/n").send().await.expect(200);
    assert_eq!(namespace.text_at("status.phase"), "Terminating");
    world.get("/api/v1/namespaces/n").await.expect(200);
    let definition = world.call("DELETE", &path).send().await.expect(200);
    assert_eq!(definition.text_at("kind"), "CustomResourceDefinition");
    world.get(&path).await.expect(200);
}

/// What a version does not say of being served and of keeping objects is no, and is said in the answer.
#[tokio::test]
async fn what_a_version_leaves_out_is_false() {
    let world = World::new().await;
    let mut definition = widgets();
    let any = definition["spec"]["versions"][0]["schema"].clone();
    definition["spec"]["versions"] = json!([
        {"name": "v1", "storage": true, "schema": any},
        {"name": "v2", "served": true, "storage": null, "schema": any},
    ]);
    let made =
        world.create(&format!("{DEFINITIONS}?fieldValidation=Strict"), &definition).await.document(201);
    let said = |at: usize| {
        let version = &made["spec"]["versions"][at];
        (version["served"].clone(), version["storage"].clone())
    };
    assert_eq!((said(0), said(1)), ((json!(false), json!(true)), (json!(true), json!(false))));
    world.get(WIDGETS).await.expect(404);
    world.get(&WIDGETS.replace("/v1/", "/v2/")).await.expect(200);
    let mut none = widgets();
    none["spec"]["versions"] = json!([{"name": "v1", "served": true, "schema": any}]);
    let refused = World::new().await.create(DEFINITIONS, &none).await.expect(422);
    assert!(refused.text_at("message").contains("exactly one version marked as storage version"));
}

/// Content: every object is answered in the version of its address.
#[tokio::test]
async fn objects_speak_the_version_asked_for() {
    let world = World::new().await;
    let mut definition = widgets();
    let any = definition["spec"]["versions"][0]["schema"].clone();
    definition["spec"]["versions"] = json!([
        {"name": "v1", "served": true, "storage": true, "schema": any},
        {"name": "v1beta1", "served": true, "storage": false, "schema": any},
    ]);
    world.create(DEFINITIONS, &definition).await.expect(201);
    let beta = WIDGETS.replace("/v1/", "/v1beta1/");
    let mut old = widget("w", 1);
    old["apiVersion"] = json!("demo.example.com/v1beta1");
    world.create(&beta, &old).await.expect(201);
    for (path, version) in [(WIDGETS.to_owned(), "demo.example.com/v1"), (beta, "demo.example.com/v1beta1")] {
        let one = format!("{path}/w");
        assert_eq!(world.get(&one).await.text_at("apiVersion"), version);
        assert_eq!(world.get(&path).await.text_at("items.0.apiVersion"), version);
        let patch = json!({"apiVersion": version, "spec": {"size": 2}});
        assert_eq!(world.merge(&one, &patch).await.expect(200).text_at("apiVersion"), version);
        let mut watch = world.watch(&format!("{path}?watch=1")).await;
        assert_eq!(watch.next().await.unwrap()["object"]["apiVersion"], version);
    }
}
