//! kube-rs's watchers and its finalizer helper on the routes of this process. EXT-19.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::runtime::controller::Action;
use kube::runtime::finalizer::{Event as Duty, finalizer};
use kube::runtime::watcher::{Config, Error, Event, watcher};
use kube::{Resource, ResourceExt};
use sexton_testkit::World;
use sexton_testkit::things::config_map;

/// The next event in short form.
async fn next<K: Resource>(events: &mut (impl Stream<Item = Result<Event<K>, Error>> + Unpin)) -> String {
    let event =
        tokio::time::timeout(Duration::from_secs(20), events.next()).await.expect("no event came in time");
    match event.expect("a watcher never ends") {
        Ok(Event::Init) => "init".into(),
        Ok(Event::InitApply(object)) => format!("has {}", object.name_any()),
        Ok(Event::InitDone) => "ready".into(),
        Ok(Event::Apply(object)) => format!("apply {}", object.name_any()),
        Ok(Event::Delete(object)) => format!("delete {}", object.name_any()),
        Err(error) => {
            format!("error {}", if error.to_string().contains("too old") { "410" } else { "other" })
        }
    }
}

async fn fill(world: &World, names: &[&str]) {
    for name in names {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
}

/// EXT-19: both ways of beginning (pages, or the initial state as events), with objects or with metadata only.
#[tokio::test]
async fn watchers_begin_and_follow() {
    let world = World::new().await;
    fill(&world, &["a", "b", "c"]).await;
    let api: Api<ConfigMap> = Api::default_namespaced(world.kube());
    let only_metadata: Api<PartialObjectMeta<ConfigMap>> = Api::default_namespaced(world.kube());
    let mut paged = Box::pin(watcher(api.clone(), Config::default().page_size(2)));
    let mut streamed = Box::pin(watcher(api.clone(), Config::default().streaming_lists()));
    let mut metadata = Box::pin(watcher(only_metadata, Config::default()));
    for expected in ["init", "has a", "has b", "has c", "ready"] {
        assert_eq!(next(&mut paged).await, expected);
        assert_eq!(next(&mut streamed).await, expected);
        assert_eq!(next(&mut metadata).await, expected);
    }
    api.delete("b", &DeleteParams::default()).await.unwrap();
    api.delete("a", &DeleteParams::background()).await.unwrap();
    for expected in ["apply b", "delete a"] {
        assert_eq!(next(&mut paged).await, expected);
        assert_eq!(next(&mut streamed).await, expected);
        assert_eq!(next(&mut metadata).await, expected);
    }
}

/// A watcher that is told 410 lists again by itself and knows the present afterwards.
#[tokio::test]
async fn a_watcher_recovers_from_410() {
    let world = World::new().await;
    fill(&world, &["a"]).await;
    let api: Api<ConfigMap> = Api::default_namespaced(world.kube());
    let mut events = Box::pin(watcher(api.clone(), Config::default()));
    for expected in ["init", "has a", "ready"] {
        assert_eq!(next(&mut events).await, expected);
    }
    fill(&world, &["b"]).await;
    assert_eq!(next(&mut events).await, "apply b");
    // While nobody looks, things happen and are forgotten.
    fill(&world, &["c"]).await;
    api.delete("a", &DeleteParams::background()).await.unwrap();
    world.compact().await;
    for expected in ["error 410", "init", "has b", "has c", "ready"] {
        assert_eq!(next(&mut events).await, expected);
    }
    fill(&world, &["d"]).await;
    assert_eq!(next(&mut events).await, "apply d");
}

/// REQ-KRK-19, EXT-18: the finalizer helper puts its finalizer on, holds the deletion, cleans up, and lets go.
#[tokio::test]
async fn the_finalizer_helper() {
    let world = World::new().await;
    let api: Api<ConfigMap> = Api::default_namespaced(world.kube());
    let document: ConfigMap = serde_json::from_value(config_map("a")).unwrap();
    api.create(&PostParams::default(), &document).await.unwrap();
    let name = "example.com/helper";
    let mut duties = Vec::new();
    for deletion in [false, false, true] {
        if deletion {
            api.delete("a", &DeleteParams::background()).await.unwrap();
            assert_eq!(api.get("a").await.unwrap().finalizers(), [name]);
        }
        let object = Arc::new(api.get("a").await.unwrap());
        let duty = |event| {
            duties.push(matches!(event, Duty::Cleanup(_)));
            async { Ok::<_, Infallible>(Action::await_change()) }
        };
        finalizer(&api, name, object, duty).await.unwrap();
    }
    assert_eq!(duties, [false, true], "nothing while the finalizer is put on, then apply, then cleanup");
    assert!(api.get_opt("a").await.unwrap().is_none());
}
