//! WATCH: every change once and in order, from where the watcher left off. EXT-19.

use std::time::Duration;

use serde_json::{Value, json};
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, held, widget, widgets};
use sexton_testkit::watch::short;
use sexton_testkit::{Watch, World};

async fn label(world: &World, name: &str, value: Value) {
    let patch = json!({"metadata": {"labels": {"l": value}}});
    world.merge(&format!("configmaps/{name}"), &patch).await.expect(200);
}

async fn remove(world: &World, name: &str) {
    let options = json!({"propagationPolicy": "Background"});
    world.delete(&format!("configmaps/{name}"), &options).await.expect(200);
}

/// EXT-19: from a version on, all kinds of events; without one (or with 0) the state comes first as ADDED.
#[tokio::test]
async fn where_a_watch_begins() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create("configmaps", &config_map("b")).await.expect(201);
    label(&world, "a", json!("1")).await;
    let mut from_four = world.watch("configmaps?watch=true&resourceVersion=4").await;
    let mut from_now = world.watch("configmaps?watch=true").await;
    let mut from_any = world.watch("configmaps?watch=1&resourceVersion=0").await;
    remove(&world, "b").await;
    assert_eq!(from_four.shorts(3).await, ["ADDED b@5", "MODIFIED a@6", "DELETED b@7"]);
    for watch in [&mut from_now, &mut from_any] {
        assert_eq!(watch.shorts(3).await, ["ADDED a@6", "ADDED b@5", "DELETED b@7"]);
    }
}

/// What comes into view is ADDED, what leaves it is DELETED, as it last was in view.
#[tokio::test]
async fn selectors_turn_changes_into_comings_and_goings() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let mut watch = world.watch("configmaps?watch=1&resourceVersion=4&labelSelector=l%3Dyes").await;
    label(&world, "a", json!("no")).await;
    label(&world, "a", json!("yes")).await;
    world.merge("configmaps/a", &json!({"data": {"k": "2"}})).await.expect(200);
    label(&world, "a", json!("no")).await;
    label(&world, "a", json!("yes")).await;
    remove(&world, "a").await;
    assert_eq!(watch.shorts(2).await, ["ADDED a@6", "MODIFIED a@7"]);
    let left = watch.next().await.unwrap();
    assert_eq!(short(&left), "DELETED a@8");
    assert_eq!(left["object"]["metadata"]["labels"]["l"], "yes");
    assert_eq!(watch.shorts(2).await, ["ADDED a@9", "DELETED a@10"]);
}

/// One name is watched by field selector or by its own path; other namespaces are not seen.
#[tokio::test]
async fn a_watch_of_one_name() {
    let world = World::new().await;
    let mut watches = vec![
        world.watch("configmaps?watch=1&resourceVersion=3&fieldSelector=metadata.name%3Da").await,
        world.watch("configmaps/a?watch=1&resourceVersion=3").await,
        world.watch("/api/v1/configmaps?watch=1&resourceVersion=3&fieldSelector=metadata.name%3Da,metadata.namespace%3Ddefault").await,
    ];
    world.create("/api/v1/namespaces/kube-system/configmaps", &config_map("a")).await.expect(201);
    world.create("configmaps", &config_map("b")).await.expect(201);
    world.create("configmaps", &config_map("a")).await.expect(201);
    for watch in &mut watches {
        assert_eq!(watch.shorts(1).await, ["ADDED a@6"]);
    }
}

/// A watch lasts as long as asked for; its last word to those who understand it is a bookmark, and
/// everything up to that was told.
#[tokio::test(start_paused = true)]
async fn bookmarks_and_the_end() {
    let world = World::new().await;
    let begin = tokio::time::Instant::now();
    let mut plain = world.watch("configmaps?watch=1&resourceVersion=3&timeoutSeconds=100").await;
    let mut marked =
        world.watch("configmaps?watch=1&resourceVersion=3&timeoutSeconds=100&allowWatchBookmarks=true").await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create("secrets", &json!({"metadata": {"name": "unrelated"}})).await.expect(201);
    assert_eq!(marked.shorts(1).await, ["ADDED a@4"]);
    assert_eq!(plain.shorts(1).await, ["ADDED a@4"]);
    // The clock is paused and jumps to the next thing to wait for: a minute to the bookmark, then the end.
    let bookmark = within(&mut marked).await;
    assert_eq!(short(&bookmark), "BOOKMARK @5");
    assert_eq!(bookmark["object"]["kind"], "ConfigMap");
    assert!(begin.elapsed() >= Duration::from_secs(60));
    assert_eq!(short(&within(&mut marked).await), "BOOKMARK @5");
    assert!(marked.next().await.is_none());
    assert!(begin.elapsed() >= Duration::from_secs(100));
    assert!(plain.rest().await.is_empty());
}

/// With a paused clock the patience of `next` would be the first thing to run out.
async fn within(watch: &mut Watch) -> Value {
    loop {
        tokio::time::advance(Duration::from_secs(15)).await;
        if let Some(event) = watch.ready() {
            return event;
        }
    }
}

/// What is forgotten is 410 before any event; what has not happened yet is 504 with its cause.
#[tokio::test]
async fn too_old_and_too_new() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create("configmaps", &config_map("b")).await.expect(201);
    world.compact().await;
    run(
        &world,
        r#"
        GET configmaps?watch=1&resourceVersion=4
        -> 410 Expired
           message = "too old resource version: 4 (5)"
           code = 410

        GET configmaps?watch=1&resourceVersion=99
        -> 504 Timeout
           message = "Too large resource version: 99, current: 5"
           details.causes.0.reason = "ResourceVersionTooLarge"
           details.retryAfterSeconds = 1

        GET configmaps?watch=1&resourceVersion=x
        -> 400 BadRequest

        GET configmaps?watch=maybe
        -> 400 BadRequest

        GET configmaps?watch=1&fieldSelector=data.k%3Dv
        -> 400 BadRequest

        GET configmaps?watch=1&timeoutSeconds=long
        -> 400 BadRequest
    "#,
    )
    .await;
    let mut watch = world.watch("configmaps?watch=1&resourceVersion=5").await;
    remove(&world, "a").await;
    assert_eq!(watch.shorts(1).await, ["DELETED a@6"]);
}

/// A watcher that fell behind what is kept is told so in the stream, with the code that makes it list again.
#[tokio::test]
async fn falling_behind_is_told() {
    let world = World::new().await;
    let mut watch = world.watch("configmaps?watch=1&resourceVersion=3").await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create("configmaps", &config_map("b")).await.expect(201);
    world.compact().await;
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "ERROR");
    assert_eq!((&event["object"]["code"], &event["object"]["reason"]), (&json!(410), &json!("Expired")));
    assert_eq!(event["object"]["kind"], "Status");
    assert!(watch.next().await.is_none());
}

/// `sendInitialEvents` is done or refused, never ignored.
#[tokio::test]
async fn the_initial_state_as_events() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    world.create("configmaps", &config_map("b")).await.expect(201);
    world.create("secrets", &json!({"metadata": {"name": "s"}})).await.expect(201);
    let query = "configmaps?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    for version in ["", "&resourceVersion=0", "&resourceVersion=4"] {
        let mut watch = world.watch(&format!("{query}{version}")).await;
        assert_eq!(watch.shorts(2).await, ["ADDED a@4", "ADDED b@5"]);
        let end = watch.next().await.unwrap();
        assert_eq!(short(&end), "BOOKMARK @6");
        assert_eq!(end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    }
    let mut off = world
        .watch(
            "configmaps?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=4",
        )
        .await;
    assert_eq!(off.shorts(1).await, ["ADDED b@5"]);
    run(
        &world,
        r#"
        GET configmaps?watch=1&sendInitialEvents=true
        -> 422 Invalid
           message ~ sendInitialEvents requires setting resourceVersionMatch to NotOlderThan

        GET configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=4
        -> 422 Invalid

        GET configmaps?watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=4
        -> 422 Invalid
           message ~ resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided

        GET configmaps?sendInitialEvents=true&resourceVersionMatch=NotOlderThan
        -> 422 Invalid
           message ~ sendInitialEvents is forbidden for list

        GET configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99
        -> 504 Timeout
    "#,
    )
    .await;
}

/// Content: metadata and rows are watched, too; columns are told once.
#[tokio::test]
async fn forms_of_a_watch() {
    let world = World::new().await;
    world.create("configmaps", &held("a", "example.com/x")).await.expect(201);
    world.create("configmaps", &config_map("b")).await.expect(201);
    let path =
        "configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1";
    let accept = |form: &str| {
        world.call("GET", path).header("accept", &format!("application/json;as={form};v=v1;g=meta.k8s.io"))
    };
    let mut metadata = Watch::begin(accept("PartialObjectMetadata")).await;
    let event = metadata.next().await.unwrap();
    assert_eq!(event["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(event["object"]["metadata"]["finalizers"], json!(["example.com/x"]));
    assert_eq!(event["object"].get("data"), None);
    metadata.next().await.unwrap();
    assert_eq!(metadata.next().await.unwrap()["object"]["kind"], "PartialObjectMetadata");
    let mut table = Watch::begin(accept("Table")).await;
    let (first, second) = (table.next().await.unwrap(), table.next().await.unwrap());
    assert_eq!(first["object"]["rows"][0]["cells"][0], "a");
    assert!(
        first["object"]["columnDefinitions"].is_array() && second["object"]["columnDefinitions"].is_null()
    );
    let end = &table.next().await.unwrap()["object"];
    assert_eq!((&end["kind"], &end["metadata"]["resourceVersion"]), (&json!("Table"), &json!("5")));
    let metadata = &end["rows"][0]["object"]["metadata"];
    assert_eq!(metadata["annotations"], json!({"k8s.io/initial-events-end": "true"}));
}

/// A bookmark among rows is a row that can be read, also if it says nothing but a version.
#[tokio::test(start_paused = true)]
async fn bookmarks_of_tables() {
    let world = World::new().await;
    let path = "configmaps?watch=1&resourceVersion=3&timeoutSeconds=100&allowWatchBookmarks=true";
    let call = world.call("GET", path).header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let mut table = Watch::begin(call).await;
    let bookmark = within(&mut table).await;
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["rows"][0]["object"]["metadata"]["resourceVersion"], "3");
}

/// A watch tells what happened to the last object and ends with the definition of its kind.
#[tokio::test]
async fn a_watch_ends_with_its_definition() {
    let world = World::new().await;
    let definition = format!("{DEFINITIONS}/widgets.demo.example.com");
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let begun = format!("{WIDGETS}?watch=1");
    let mut watch = world.watch(&begun).await;
    world.create(WIDGETS, &widget("a", 1)).await.expect(201);
    // What a definition does not say of its objects is of no concern.
    world.merge(&definition, &json!({"metadata": {"labels": {"l": "1"}}})).await.expect(200);
    let options = json!({"propagationPolicy": "Background"});
    world.delete(&format!("{WIDGETS}/a"), &options).await.expect(200);
    world.delete(&definition, &options).await.expect(200);
    let told = watch.rest().await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("ADDED a@") && told[1].starts_with("DELETED a@"), "{told:?}");

    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let mut watch = world.watch(&begun).await;
    let patch = json!([{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/description", "value": "Else."}]);
    world.call("JSON-PATCH", &definition).json(&patch).send().await.expect(200);
    assert_eq!(watch.rest().await, Vec::<String>::new());
    // Who comes back sees objects as they are now.
    world.create(WIDGETS, &widget("b", 1)).await.expect(201);
    assert_eq!(world.watch(&begun).await.shorts(1).await.len(), 1);
}
