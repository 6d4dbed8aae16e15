//! A feed that goes on where another ended: after a restart, after the history was forgotten, from the future.

use serde_json::json;
use sexton_server::api::OwnerChecks;
use sexton_server::http::RequestLimits;
use sexton_testkit::World;
use sexton_testkit::script::run;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, widget, widgets};

use crate::feed::{FEED, next, told};

/// EXT-19: whoever has a version goes on from it, also on a server that was started anew, and is told the
/// kinds as they were then.
#[tokio::test]
async fn a_feed_goes_on_after_a_restart() {
    let world = World::embedded().await;
    let mut feed = world.watch(FEED).await;
    let kinds = next(&mut feed, 1).await;
    assert_eq!(next(&mut feed, 4).await[3], "SYNCED 3");
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    world.create("configmaps", &config_map("a")).await.expect(201);
    let before = next(&mut feed, 4).await;
    drop(feed);
    let world = world.restart().await;
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=3")).await;
    assert_eq!(next(&mut feed, 1).await, kinds);
    assert_eq!(next(&mut feed, 4).await, before);
    world.create("configmaps", &config_map("b")).await.expect(201);
    assert_eq!(next(&mut feed, 1).await, ["ADDED configmaps/b@7"]);
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=5")).await;
    assert_eq!(next(&mut feed, 3).await[1..], ["ADDED configmaps/a@6", "ADDED configmaps/b@7"]);
}

/// What is forgotten is said to be; what has not happened yet, too.
#[tokio::test]
async fn forgotten_and_future_versions() {
    let world = World::new().await;
    for name in ["a", "b"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    world.compact().await;
    world.create("configmaps", &config_map("c")).await.expect(201);
    run(
        &world,
        r#"
        GET /apis/sexton.dev/v1/changes?resourceVersion=4
        -> 410 Expired

        GET /apis/sexton.dev/v1/changes?resourceVersion=99
        -> 504 Timeout
           message ~ Too large resource version

        GET /apis/sexton.dev/v1/changes?resourceVersion=x
        -> 400 BadRequest

        GET /apis/sexton.dev/v1/changes?timeoutSeconds=x
        -> 400 BadRequest

        POST /apis/sexton.dev/v1/changes
        {}
        -> 405 MethodNotAllowed

        GET /apis/sexton.dev/v1/changes/x
        -> 404 NotFound

        GET /apis/sexton.dev/v1/changes
        Accept: application/vnd.kubernetes.protobuf
        -> 406 NotAcceptable
    "#,
    )
    .await;
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=5")).await;
    assert_eq!(next(&mut feed, 2).await[1], "ADDED configmaps/c@6");
}

/// A reader that fell behind what is kept is told so, and that is the end.
#[tokio::test]
async fn whoever_falls_behind_is_told() {
    let world = World::new().await;
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=3")).await;
    next(&mut feed, 1).await;
    for name in ["a", "b"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    world.compact().await;
    assert_eq!(told(&feed.next().await.unwrap()), "ERROR 410");
    assert_eq!(feed.next().await, None);
}

/// A beginning whose snapshot is forgotten while it is told ends the same way.
#[tokio::test]
async fn a_beginning_that_is_forgotten_is_no_beginning() {
    let world = World::new().await;
    world.fill("configmaps", 3000).await;
    let mut feed = world.watch(FEED).await;
    next(&mut feed, 1).await;
    world.create("configmaps", &config_map("last")).await.expect(201);
    world.compact().await;
    let mut last = String::new();
    while let Some(line) = feed.next().await {
        last = told(&line);
        assert!(!last.starts_with("SYNCED"), "{last}");
    }
    assert_eq!(last, "ERROR 410");
}

/// A feed counts as a watch.
#[tokio::test]
async fn feeds_are_limited_like_watches() {
    let limits = RequestLimits { watches: 1, ..RequestLimits::default() };
    let world = World::with(OwnerChecks::Warn, limits).await;
    let feed = world.watch(FEED).await;
    world.get(FEED).await.expect(429);
    drop(feed);
    let mut feed = world.watch(FEED).await;
    next(&mut feed, 1).await;
    world.create("configmaps", &json!({"metadata": {"name": "a"}})).await.expect(201);
}
