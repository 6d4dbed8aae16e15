//! Classes and subscriptions: refused when they make no sense, in force at once, and held while they are in use.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, widget, widgets};

const CLASSES: &str = "/apis/sexton.dev/v1/classes";
const DEPENDENCIES: &str = "sexton.dev/destruction-dependencies";

/// A class with one handler, `gone`.
fn class(name: &str, group: &str, kind: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {"for": {"group": group, "kind": kind}, "handlers": {"gone": {"exec": {"argv": ["/bin/true"]}}}},
    })
}

fn subscriber(name: &str, text: &str) -> Value {
    let mut document = config_map(name);
    document["metadata"]["annotations"] = json!({DEPENDENCIES: text});
    document
}

/// What makes no sense is refused with its place.
#[tokio::test]
async fn a_class_is_checked() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST /apis/sexton.dev/v1/classes
        {"metadata": {"name": "a"}, "spec": {"for": {"kind": ""}, "destroy": {"exec": {"argv": []}}}}
        -> 422 Invalid
           message ~ spec.for.kind
           message ~ spec.destroy.exec.argv

        POST /apis/sexton.dev/v1/classes
        {"metadata": {"name": "a"}}
        -> 422 Invalid
           details.causes.0.field = "spec"

        POST /apis/sexton.dev/v1/classes
        {"metadata": {"name": "a"}, "spec": {"for": {"group": "sexton.dev", "kind": "Class"}}}
        -> 422 Invalid
           details.causes.0.field = "spec.for.group"

        POST /apis/sexton.dev/v1/classes
        {"metadata": {"name": "a"}, "spec": {"for": {"kind": "ConfigMap"}}}
        -> 201
           metadata.generation = 1

        MERGE /apis/sexton.dev/v1/classes/a
        {"spec": {"for": {"kind": "Secret"}}}
        -> 422 Invalid
           details.causes.0.field = "spec.for"
           message ~ immutable

        MERGE /apis/sexton.dev/v1/classes/a
        {"spec": {"destroy": {"http": {"url": "http://127.0.0.1:1/x"}}}}
        -> 200
           metadata.generation = 2

        POST /apis/sexton.dev/v1/classes
        {"metadata": {"name": "b"}, "spec": {"for": {"kind": "ConfigMap"}}}
        -> 422 Invalid
           details.causes.0.field = "spec.for"
           message ~ the class "a" is for this kind already
    "#,
    )
    .await;
}

/// However many try at once, a kind has one class.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_class_for_each_kind() {
    let world = Arc::new(World::new().await);
    for round in 0..20 {
        let make = |number: usize| {
            let world = world.clone();
            let kind = format!("Kind{round}");
            async move {
                world.create(CLASSES, &class(&format!("c{round}-{number}"), "example.com", &kind)).await.code
            }
        };
        let makers: Vec<_> = (0..4).map(|number| tokio::spawn(make(number))).collect();
        let mut codes = Vec::new();
        for maker in makers {
            codes.push(maker.await.unwrap());
        }
        codes.sort_unstable();
        assert_eq!(codes, [201, 422, 422, 422]);
    }
}

/// Whoever has made, changed or removed a class can rest on it with the next request.
#[tokio::test]
async fn a_class_counts_at_once() {
    let world = World::new().await;
    let has = |group: &str, kind: &str| world.api().kinds().current().class_of(group, kind);
    assert!(has("", "ConfigMap").is_none());
    world.create(CLASSES, &class("cm", "", "ConfigMap")).await.expect(201);
    assert!(has("", "ConfigMap").unwrap().handlers.contains_key("gone"));
    let handlers = json!({"spec": {"handlers": {"other": {"exec": {"argv": ["/bin/true"]}}}}});
    world.merge(&format!("{CLASSES}/cm"), &handlers).await.expect(200);
    assert!(has("", "ConfigMap").unwrap().handlers.contains_key("other"));
    world.call("DELETE", &format!("{CLASSES}/cm")).send().await.expect(200);
    assert!(has("", "ConfigMap").is_none());
}

/// After a restart classes are what they were.
#[tokio::test]
async fn classes_outlive_the_process() {
    let world = World::embedded().await;
    world.create(CLASSES, &class("cm", "", "ConfigMap")).await.expect(201);
    let world = world.restart().await;
    world.create("configmaps", &subscriber("a", "- {target: Secret/s, handler: nobody}")).await.expect(422);
}

/// Subscriptions are read when they are written; nonsense is refused with what is wrong.
#[tokio::test]
async fn subscriptions_must_be_readable() {
    let world = World::new().await;
    for bad in ["[", "- {x: y}", "- a/b/c/d", "- {target: Vm/a, count: 0}"] {
        let refused = world.create("configmaps", &subscriber("bad", bad)).await.expect(422);
        assert_eq!(
            refused.at("details.causes.0.field"),
            &json!(format!("metadata.annotations[{DEPENDENCIES}]"))
        );
    }
    world.create("configmaps", &subscriber("a", "- Secret/s\n- self\n")).await.expect(201);
    let change = |text: &str| json!({"metadata": {"annotations": {DEPENDENCIES: text}}});
    world.merge("configmaps/a", &change("- {target: 7")).await.expect(422);
    world.merge("configmaps/a", &change("Secret/other/s")).await.expect(200);
    world.merge("configmaps/a", &json!({"metadata": {"annotations": null}})).await.expect(200);
}

/// EXT-28: a handler that the subscriber's class does not have is refused; what was there before the class stays.
#[tokio::test]
async fn an_unknown_handler_is_refused() {
    let world = World::new().await;
    // Without a class nobody can say which handlers there are.
    world
        .create("configmaps", &subscriber("early", "- {target: Secret/s, handler: anything}"))
        .await
        .expect(201);
    world.create(CLASSES, &class("cm", "", "ConfigMap")).await.expect(201);
    let refused = world.create("configmaps", &subscriber("a", "- {target: Secret/s, handler: goon}")).await;
    let message = refused.expect(422).text_at("message").to_owned();
    assert!(message.contains("no handler \"goon\"; it has: gone"), "{message}");
    world.create("configmaps", &subscriber("a", "- {target: Secret/s, handler: gone}")).await.expect(201);
    // Only what is new or changed is looked at: the early one can still be changed otherwise.
    world.merge("configmaps/early", &json!({"data": {"k": "2"}})).await.expect(200);
    let change =
        json!({"metadata": {"annotations": {DEPENDENCIES: "- {target: Secret/t, handler: anything}"}}});
    world.merge("configmaps/early", &change).await.expect(422);
    // Handlers of another kind's class are none of ours.
    let mut secret = subscriber("s", "- {target: ConfigMap/a, handler: whatever}");
    secret["kind"] = json!("Secret");
    secret.as_object_mut().unwrap().remove("data");
    world.create("secrets", &secret).await.expect(201);
}

/// Deletes an object in `default` and lets go of it, as whoever destroyed it does.
async fn end(world: &World, group: &str, resource: &str, path: &str) {
    let object = world.call("GET", path).send().await.expect(200);
    let (name, uid) = (object.text_at("metadata.name"), object.text_at("metadata.uid"));
    let item = |action: Value| {
        let place =
            json!({"group": group, "resource": resource, "namespace": "default", "name": name, "uid": uid});
        let mut item = place;
        item["action"] = action;
        json!({"items": [item]})
    };
    let delete = item(json!({"delete": {"policy": "Background"}}));
    let outcome = world.create("/apis/sexton.dev/v1/bulk", &delete).await.document(200);
    if outcome["items"][0]["outcome"] == "marked" {
        let mut release = item(json!({"patch": {"removeFinalizers": ["sexton.dev/destroy"]}}));
        release["epoch"] = world.collector_epoch().await;
        let outcome = world.create("/apis/sexton.dev/v1/bulk", &release).await.document(200);
        assert_eq!(outcome["items"][0]["outcome"], "removed", "{outcome}");
    }
}

/// A class stays while there are objects of its kind, served or not; nobody has to wait for one that nobody needs.
#[tokio::test]
async fn a_class_in_use_is_held() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    world.create(CLASSES, &class("widget", "demo.example.com", "Widget")).await.expect(201);
    world.create(CLASSES, &class("unused", "demo.example.com", "Gadget")).await.expect(201);
    run(
        &world,
        r#"
        DELETE /apis/sexton.dev/v1/classes/unused
        -> 200
           status = "Success"

        GET /apis/sexton.dev/v1/classes/unused
        -> 404

        DELETE /apis/sexton.dev/v1/classes/widget
        -> 200
           metadata.finalizers = ["sexton.dev/in-use"]
           metadata.deletionTimestamp = "2026-11-15T20:00:00Z"

        DELETE /apis/sexton.dev/v1/classes/widget
        -> 200
           metadata.finalizers = ["sexton.dev/in-use"]
    "#,
    )
    .await;
    assert!(world.api().kinds().current().class_of("demo.example.com", "Widget").is_some());
    let any = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let off =
        json!({"spec": {"versions": [{"name": "v1", "served": false, "storage": true, "schema": any}]}});
    world.merge(&format!("{DEFINITIONS}/widgets.demo.example.com"), &off).await.expect(200);
    world.call("DELETE", &format!("{CLASSES}/widget")).send().await.expect(200);
    world.get(&format!("{CLASSES}/widget")).await.expect(200);
    let on = json!({"spec": {"versions": [{"name": "v1", "served": true, "storage": true, "schema": any}]}});
    world.merge(&format!("{DEFINITIONS}/widgets.demo.example.com"), &on).await.expect(200);
    end(&world, "demo.example.com", "widgets", &format!("{WIDGETS}/w")).await;
    world.call("DELETE", &format!("{CLASSES}/widget")).send().await.expect(200);
    world.get(&format!("{CLASSES}/widget")).await.expect(404);
}

/// Creators against the removal of a class: it never goes while an object of its kind is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn creators_against_a_class() {
    let world = Arc::new(World::new().await);
    for round in 0..40 {
        world.create(CLASSES, &class("cm", "", "ConfigMap")).await.expect(201);
        let (one, other) = (world.clone(), world.clone());
        let name = format!("a{round}");
        let create = tokio::spawn({
            let name = name.clone();
            async move { one.create("configmaps", &config_map(&name)).await.expect(201) }
        });
        let delete =
            tokio::spawn(
                async move { other.call("DELETE", &format!("{CLASSES}/cm")).send().await.expect(200) },
            );
        let (made, deleted) = (create.await.unwrap(), delete.await.unwrap());
        let class_left = world.get(&format!("{CLASSES}/cm")).await.code == 200;
        // It went before the object came, or it is there and held.
        assert!(class_left || deleted.at("kind") == "Status", "{made:?}");
        if class_left {
            assert_eq!(deleted.at("metadata.finalizers"), &json!(["sexton.dev/in-use"]));
        }
        end(&world, "", "configmaps", &format!("configmaps/{name}")).await;
        world.call("DELETE", &format!("{CLASSES}/cm")).send().await;
        world.get(&format!("{CLASSES}/cm")).await.expect(404);
    }
}
