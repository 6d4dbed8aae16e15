//! The scale subresource, of kinds that Kubernetes has and of kinds that are defined.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widget, widgets};

fn scalable() -> Value {
    let mut definition = widgets();
    definition["spec"]["versions"][0]["subresources"]["scale"] = json!({
        "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.there", "labelSelectorPath": ".status.which",
    });
    definition
}

/// Reading and writing replicas, with conditions; the generation counts and managers are recorded.
#[tokio::test]
async fn defined_kinds_scale() {
    let world = World::new().await;
    world.create(DEFINITIONS, &scalable()).await.expect(201);
    world.create(WIDGETS, &widget("w", 2)).await.expect(201);
    run(
        &world,
        r#"
        GET /apis/demo.example.com/v1
        -> 200
           resources.1 = {"name": "widgets/scale", "singularName": "", "namespaced": true, "group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": ["get", "patch", "update"]}

        MERGE /apis/demo.example.com/v1/namespaces/default/widgets/w/status
        {"status": {"there": 1, "which": "a=b"}}
        -> 200

        GET /apis/demo.example.com/v1/namespaces/default/widgets/w/scale
        -> 200
           kind = "Scale"
           apiVersion = "autoscaling/v1"
           metadata.name = "w"
           metadata.namespace = "default"
           spec.replicas = 2
           status = {"replicas": 1, "selector": "a=b"}

        MERGE /apis/demo.example.com/v1/namespaces/default/widgets/w/scale
        {"spec": {"replicas": 5}}
        -> 200
           spec.replicas = 5

        GET /apis/demo.example.com/v1/namespaces/default/widgets/w
        -> 200
           spec.size = 5
           status.there = 1
           metadata.generation = 2

        JSON-PATCH /apis/demo.example.com/v1/namespaces/default/widgets/w/scale
        [{"op": "replace", "path": "/spec/replicas", "value": 0}]
        -> 200
           spec = {}

        PUT /apis/demo.example.com/v1/namespaces/default/widgets/w/scale
        {"metadata": {"name": "w"}, "spec": {"replicas": -1}}
        -> 422 Invalid
           details.causes.0.field = "spec.replicas"

        PUT /apis/demo.example.com/v1/namespaces/default/widgets/w/scale
        {"metadata": {"name": "other"}, "spec": {"replicas": 1}}
        -> 400 BadRequest

        PUT /apis/demo.example.com/v1/namespaces/default/widgets/w/scale
        {"kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 1}}
        -> 400 BadRequest

        APPLY /apis/demo.example.com/v1/namespaces/default/widgets/w/scale?fieldManager=m
        {"spec": {"replicas": 1}}
        -> 415 UnsupportedMediaType

        DELETE /apis/demo.example.com/v1/namespaces/default/widgets/w/scale
        -> 405 MethodNotAllowed

        GET /apis/demo.example.com/v1/namespaces/default/widgets/missing/scale
        -> 404 NotFound
    "#,
    )
    .await;
}

/// A version in a scale is a condition; who scaled is recorded.
#[tokio::test]
async fn scales_have_conditions() {
    let world = World::new().await;
    world.create(DEFINITIONS, &scalable()).await.expect(201);
    let version = world.create(WIDGETS, &widget("w", 2)).await.expect(201).version();
    world.merge(&format!("{WIDGETS}/w/scale"), &json!({"spec": {"replicas": 5}})).await.expect(200);
    let path = format!("{WIDGETS}/w/scale");
    let stale =
        json!({"metadata": {"name": "w", "resourceVersion": version.to_string()}, "spec": {"replicas": 3}});
    assert_eq!(world.put(&path, &stale).await.expect(409).text_at("reason"), "Conflict");
    let mut current = world.get(&path).await.document(200);
    current["spec"]["replicas"] = json!(3);
    world.put(&path, &current).await.expect(200);
    let object = world.get(&format!("{WIDGETS}/w")).await.document(200);
    assert_eq!((&object["spec"]["size"], &object["metadata"]["generation"]), (&json!(3), &json!(3)));
    let managed = object["metadata"]["managedFields"].as_array().unwrap();
    assert!(managed.iter().any(|entry| entry["subresource"] == "scale"), "{managed:?}");
}

/// Deployments and their like; what they do not say is one.
#[tokio::test]
async fn workloads_scale() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST /apis/apps/v1/namespaces/default/deployments
        {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["b", "a"]}]}}}
        -> 201

        GET /apis/apps/v1/namespaces/default/deployments/web/scale
        -> 200
           spec.replicas = 1
           status = {"replicas": 0, "selector": "app=web,tier in (a,b)"}

        STRATEGIC /apis/apps/v1/namespaces/default/deployments/web/scale
        {"spec": {"replicas": 5}}
        -> 200
           spec.replicas = 5

        GET /apis/apps/v1/namespaces/default/deployments/web
        -> 200
           spec.replicas = 5

        GET /api/v1/namespaces/default/configmaps/web/scale
        -> 404 NotFound

        GET /apis/apps/v1/namespaces/default/daemonsets/web/scale
        -> 404 NotFound
    "#,
    )
    .await;
    for (path, plural) in [
        ("/apis/apps/v1", "statefulsets"),
        ("/apis/apps/v1", "replicasets"),
        ("/api/v1", "replicationcontrollers"),
    ] {
        let place = format!("{path}/namespaces/default/{plural}");
        world
            .create(&place, &json!({"metadata": {"name": "x"}, "spec": {"selector": {"a": "b"}}}))
            .await
            .expect(201);
        let scaled =
            world.merge(&format!("{place}/x/scale"), &json!({"spec": {"replicas": 2}})).await.expect(200);
        assert_eq!(scaled.at("spec.replicas"), 2);
    }
}

/// Paths that lead nowhere are refused; an object without the field has no scale to read, but can be given one.
#[tokio::test]
async fn bad_scales_are_refused() {
    let world = World::new().await;
    for (field, value) in [
        ("specReplicasPath", json!("")),
        ("specReplicasPath", json!("spec.size")),
        ("specReplicasPath", json!(".status.size")),
        ("specReplicasPath", json!(".spec")),
        ("specReplicasPath", json!(".spec.list[0]")),
        ("specReplicasPath", json!(3)),
        ("statusReplicasPath", json!(".spec.size")),
        ("statusReplicasPath", json!(null)),
        ("labelSelectorPath", json!(".metadata.labels")),
    ] {
        let mut definition = scalable();
        definition["spec"]["versions"][0]["subresources"]["scale"][field] = value.clone();
        let answer = world.create(DEFINITIONS, &definition).await.expect(422);
        let expected = format!("spec.versions[0].subresources.scale.{field}");
        let causes = answer.at("details.causes").as_array().unwrap();
        assert!(causes.iter().any(|cause| cause["field"] == expected.as_str()), "{value}: {}", answer.json);
    }
    world.create(DEFINITIONS, &scalable()).await.expect(201);
    let mut bare = widget("w", 1);
    bare["spec"] = json!({});
    world.create(WIDGETS, &bare).await.expect(201);
    let path = format!("{WIDGETS}/w/scale");
    assert!(world.get(&path).await.expect(500).text_at("message").contains("does not exist"));
    world.merge(&path, &json!({"spec": {"replicas": 4}})).await.expect(200);
    assert_eq!(world.get(&path).await.expect(200).at("spec.replicas"), 4);
    for nonsense in [
        json!([]),
        json!("x"),
        json!({"spec": 7}),
        json!({"spec": {"replicas": "many"}}),
        json!({"spec": {"replicas": 1e12}}),
    ] {
        let code = world.merge(&path, &nonsense).await.code;
        assert!((400..500).contains(&code), "{nonsense}: {code}");
    }
}
