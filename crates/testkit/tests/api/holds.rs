//! What holds others is never removed from around them, and nothing is decided on a world that has moved on.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_model::{Document, Stored};
use sexton_store::{At, KeyRange};
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, config_map, widgets};

/// Taking its own finalizers off a living namespace does not let it go before its contents.
#[tokio::test]
async fn an_emptied_list_of_holds_is_filled_again() {
    let world = World::new().await;
    run(
        &world,
        r#"
        POST /api/v1/namespaces
        {"metadata": {"name": "n"}}
        -> 201

        POST /api/v1/namespaces/n/configmaps
        {"metadata": {"name": "a"}}
        -> 201

        PUT /api/v1/namespaces/n/finalize
        {"metadata": {"name": "n"}, "spec": {}}
        -> 200

        DELETE /api/v1/namespaces/n
        -> 200
           status.phase = "Terminating"
           spec.finalizers = ["kubernetes"]

        GET /api/v1/namespaces/n
        -> 200
    "#,
    )
    .await;
}

/// An empty namespace is gone at once, and the answer shows it as it was in between.
#[tokio::test]
async fn a_namespace_that_goes_at_once_is_shown_marked() {
    let world = World::new().await;
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await.expect(201);
    let shown = world.delete("/api/v1/namespaces/n", &json!({})).await.document(200);
    assert_eq!(shown["status"]["phase"], "Terminating");
    assert_eq!(shown["metadata"]["deletionTimestamp"], "2026-11-15T20:00:00Z");
    world.get("/api/v1/namespaces/n").await.expect(404);
}

/// A second delete without a policy keeps the policy that is recorded, for namespaces, too.
#[tokio::test]
async fn a_recorded_policy_stays() {
    let world = World::new().await;
    let held = json!({"metadata": {"name": "n", "finalizers": ["example.com/mine"]}});
    world.create("/api/v1/namespaces", &held).await.expect(201);
    world.delete("/api/v1/namespaces/n", &json!({"propagationPolicy": "Foreground"})).await.expect(200);
    let again = world.delete("/api/v1/namespaces/n", &json!({})).await.document(200);
    assert_eq!(again["metadata"]["finalizers"], json!(["example.com/mine", "foregroundDeletion"]));
}

/// A mark that rests on there being no contents is refused if there are some by then: a namespace whose own hold was
/// let go never holds anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn creators_against_a_held_namespace() {
    let world = Arc::new(World::new().await);
    for round in 0..40 {
        let name = format!("n{round}");
        let namespace = json!({"metadata": {"name": name, "finalizers": ["example.com/mine"]}});
        world.create("/api/v1/namespaces", &namespace).await.expect(201);
        let creators: Vec<_> = (0..8)
            .map(|number| {
                let (world, path) = (world.clone(), format!("/api/v1/namespaces/{name}/configmaps"));
                tokio::spawn(
                    async move { world.create(&path, &config_map(&format!("c{number}"))).await.code },
                )
            })
            .collect();
        let path = format!("/api/v1/namespaces/{name}");
        let marked = world.delete(&path, &json!({"propagationPolicy": "Foreground"})).await.document(200);
        for creator in creators {
            assert!(matches!(creator.await.unwrap(), 201 | 403));
        }
        let inside = world.get(&format!("{path}/configmaps")).await.document(200);
        let released = marked["spec"]["finalizers"].as_array().is_none_or(Vec::is_empty);
        assert!(!released || inside["items"] == json!([]), "round {round}: let go with contents: {marked}");
    }
}

/// A page of a version is a page of that very version.
#[tokio::test]
async fn a_page_of_a_version_is_exact() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let version = world.head().await;
    world.create("configmaps", &config_map("b")).await.expect(201);
    let path = format!("/api/v1/configmaps?limit=5&resourceVersion={version}");
    let page = world.get(&path).await.document(200);
    assert_eq!(page["metadata"]["resourceVersion"], version.to_string());
    assert_eq!(page["items"].as_array().map(Vec::len), Some(1));
}

/// A definition is served even if nobody waited for the answer that it is stored.
#[tokio::test]
async fn a_definition_is_followed_not_only_told() {
    let world = World::new().await;
    let seen = world.create(DEFINITIONS, &widgets()).await.document(201);
    let path = format!("{DEFINITIONS}/{}", seen["metadata"]["name"].as_str().unwrap());
    let store = world.api().store().clone();
    let range = KeyRange::prefix("apiextensions.k8s.io\0");
    let (key, entry) = store.engine().range(&range, At::Latest, None).await.unwrap().entries.remove(0);
    world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
    // Written behind the back of the API, as by a request whose client went away before the table was read again.
    let text: Value = Stored::from_bytes(entry.value).document(entry.revision).unwrap().into_value();
    let stored = Stored::encode(&Document::from_value(text).unwrap());
    store.put(key, stored, Vec::new()).await.unwrap();
    let served = async {
        while world.get("/apis/demo.example.com/v1/widgets").await.code != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(120), served).await.unwrap();
}

/// More of anything than fits is refused at once, whatever else is wrong with it, and in few words.
#[tokio::test]
async fn refusals_stay_small() {
    let world = World::new().await;
    let many: Vec<Value> = (0..50_000).map(|number| json!({"a": number})).collect();
    for (field, list) in [("ownerReferences", json!(many)), ("finalizers", json!(vec![""; 200_000]))] {
        let mut document = config_map("x");
        document["metadata"][field] = list;
        let refused = world.create("configmaps", &document).await;
        assert_eq!((refused.code, refused.text_at("reason")), (422, "Invalid"));
        assert!(refused.at("details.causes").as_array().unwrap().len() < 65);
    }
    let mut definition = widgets();
    let version = definition["spec"]["versions"][0].clone();
    definition["spec"]["versions"] = json!(vec![version; 10_000]);
    world.create(DEFINITIONS, &definition).await.expect(422);
    let mut quoted = widgets();
    quoted["spec"]["names"]["listKind"] = json!("a\"b");
    world.create(DEFINITIONS, &quoted).await.expect(422);
}
