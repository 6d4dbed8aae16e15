//! What holds others goes while others are being made in it: never is something made that nothing holds.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, widget, widgets};
use sexton_testkit::{Call, World};
use tokio::sync::Barrier;

const CREATORS: usize = 12;

/// Many creators in a place and one who deletes the place, all at once. Returns how many were made.
async fn contest(world: &World, holder: &str, place: &str, document: impl Fn(usize) -> Value) -> usize {
    let barrier = Arc::new(Barrier::new(CREATORS + 1));
    let start = |call: Call| {
        let barrier = barrier.clone();
        tokio::spawn(async move {
            barrier.wait().await;
            call.send().await
        })
    };
    let creator = |at: usize| start(world.call("POST", place).json(&document(at)));
    let tasks: Vec<_> = (0..CREATORS).map(creator).collect();
    start(world.call("DELETE", holder)).await.unwrap().expect(200);
    let mut made = 0;
    for task in tasks {
        let answer = task.await.unwrap();
        made += usize::from(answer.code == 201);
        // A namespace that goes forbids it, a definition that goes does not have the verb any more.
        assert!(matches!(answer.code, 201 | 403 | 404 | 405), "{}", answer.json);
    }
    let left = world.get(holder).await;
    assert_eq!(left.code, if made > 0 { 200 } else { 404 }, "{made} objects were made");
    made
}

/// Nothing is ever created in a namespace that is gone: the creators or the deleter come first.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_object_outside_a_living_namespace() {
    let world = World::new().await;
    for round in 0..100 {
        let namespace = format!("/api/v1/namespaces/n{round}");
        world
            .create("/api/v1/namespaces", &json!({"metadata": {"name": format!("n{round}")}}))
            .await
            .expect(201);
        let inside = format!("{namespace}/configmaps");
        let made = contest(&world, &namespace, &inside, |at| config_map(&format!("a{at}"))).await;
        assert_eq!(world.get(&inside).await.at("items").as_array().unwrap().len(), made);
    }
}

/// No object outlives its definition, and none is made after it: they would come back with the next
/// definition of that name.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_object_without_its_definition() {
    let world = World::new().await;
    let definition = format!("{DEFINITIONS}/widgets.demo.example.com");
    for _ in 0..60 {
        world.create(DEFINITIONS, &widgets()).await.expect(201);
        assert_eq!(world.get(WIDGETS).await.at("items"), &json!([]), "left over from an earlier definition");
        let made = contest(&world, &definition, WIDGETS, |at| widget(&format!("w{at}"), 1)).await;
        if made > 0 {
            let all = json!({"propagationPolicy": "Background"});
            let listed = world.delete(WIDGETS, &all).await.expect(200);
            assert_eq!(listed.at("items").as_array().unwrap().len(), made);
            world.call("DELETE", &definition).send().await.expect(200);
            world.get(&definition).await.expect(404);
        }
    }
}

/// Taking the last hold off by hand leaves nothing behind either, by no verb: objects of a class would have gone without their
/// hook. Nor does it when an object is made in that moment.
#[tokio::test]
async fn no_hand_leaves_objects_behind() {
    let world = World::new().await;
    let definition = format!("{DEFINITIONS}/widgets.demo.example.com");
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await.expect(201);
    world.create("/api/v1/namespaces/n/configmaps", &config_map("a")).await.expect(201);
    for holder in [definition.as_str(), "/api/v1/namespaces/n"] {
        world.delete(holder, &json!({})).await.expect(200);
    }
    let free = json!({"metadata": {"finalizers": null}});
    for query in ["", "?dryRun=All"] {
        let refused = world.merge(&format!("{definition}{query}"), &free).await.expect(409);
        assert!(refused.text_at("message").contains("it still has objects"), "{:?}", refused.json);
    }
    let mut whole = world.get(&definition).await.document(200);
    whole["metadata"]["finalizers"] = json!([]);
    world.put(&definition, &whole).await.expect(409);
    let empty = json!({"metadata": {"name": "n"}, "spec": {"finalizers": []}});
    let refused = world.put("/api/v1/namespaces/n/finalize", &empty).await.expect(409);
    assert!(refused.text_at("message").contains("sexton why namespace/n"), "{:?}", refused.json);
    world.get(&format!("{WIDGETS}/w")).await.expect(200);

    let background = json!({"propagationPolicy": "Background"});
    world.delete(&format!("{WIDGETS}/w"), &background).await.expect(200);
    world.delete("/api/v1/namespaces/n/configmaps/a", &background).await.expect(200);
    world.merge(&definition, &free).await.expect(200);
    world.put("/api/v1/namespaces/n/finalize", &empty).await.expect(200);
    for holder in [definition.as_str(), "/api/v1/namespaces/n"] {
        world.get(holder).await.expect(404);
    }
}
