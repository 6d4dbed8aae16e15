//! kube-rs's watchers and its finalizer helper on the routes of this process. EXT-19.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{Event as Duty, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher::{Config, Error, Event, watcher};
use kube::{Resource, ResourceExt};
use sexton_testkit::World;
use sexton_testkit::things::config_map;

/// Nothing takes so long, unless it never comes.
const PATIENCE: Duration = Duration::from_secs(120);

/// The next event in short form.
async fn next<K: Resource>(events: &mut (impl Stream<Item = Result<Event<K>, Error>> + Unpin)) -> String {
    let event = tokio::time::timeout(PATIENCE, events.next()).await.expect("no event came in time");
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

/// A controller as people write them: it owns Secrets, reconciles on changes of both, and cleans up by a finalizer.
#[tokio::test]
async fn a_controller_with_what_it_owns() {
    let world = World::new().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(world.kube());
    let secrets: Api<Secret> = Api::default_namespaced(world.kube());
    let context = Arc::new((maps.clone(), secrets.clone()));
    let controller =
        Controller::new(maps.clone(), Config::default()).owns(secrets.clone(), Config::default());
    let running = controller.run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(50)), context);
    let running = tokio::spawn(running.for_each(|_| async {}));

    let document: ConfigMap = serde_json::from_value(config_map("a")).unwrap();
    let mut changes = Box::pin(watcher(secrets.clone(), Config::default()));
    assert_eq!([next(&mut changes).await, next(&mut changes).await], ["init", "ready"]);
    maps.create(&PostParams::default(), &document).await.unwrap();
    assert_eq!(next(&mut changes).await, "apply a-secret");
    // What is taken away comes again: the controller hears of those whom it owns.
    secrets.delete("a-secret", &DeleteParams::background()).await.unwrap();
    assert_eq!([next(&mut changes).await, next(&mut changes).await], ["delete a-secret", "apply a-secret"]);
    maps.delete("a", &DeleteParams::background()).await.unwrap();
    assert_eq!(next(&mut changes).await, "delete a-secret");
    let gone = await_condition(maps.clone(), "a", conditions::is_deleted(""));
    tokio::time::timeout(PATIENCE, gone).await.unwrap().unwrap();
    running.abort();
}

type Apis = (Api<ConfigMap>, Api<Secret>);

async fn reconcile(
    map: Arc<ConfigMap>,
    context: Arc<Apis>,
) -> Result<Action, kube::runtime::finalizer::Error<kube::Error>> {
    let (maps, secrets) = &*context;
    let duty = |duty: Duty<ConfigMap>| async move {
        match duty {
            Duty::Apply(map) => {
                let owner = map.controller_owner_ref(&()).unwrap();
                let name = format!("{}-secret", map.name_any());
                let secret = serde_json::json!({
                    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "ownerReferences": [owner]},
                });
                secrets
                    .patch(&name, &PatchParams::apply("controller").force(), &Patch::Apply(secret))
                    .await?;
            }
            Duty::Cleanup(map) => {
                secrets.delete(&format!("{}-secret", map.name_any()), &DeleteParams::background()).await?;
            }
        }
        Ok(Action::await_change())
    };
    finalizer(maps, "example.com/controller", map, duty).await
}

/// An election over a lease, as clients hold it: whoever writes the version that it read leads; the other is told.
#[tokio::test]
async fn one_of_two_leads() {
    let world = World::new().await;
    let leases: Api<Lease> = Api::default_namespaced(world.kube());
    let lease = |holder: &str, transitions: i32| {
        serde_json::from_value::<Lease>(serde_json::json!({
            "metadata": {"name": "leader"},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": transitions,
                "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.123456Z"},
        }))
        .unwrap()
    };
    let (first, second) = (lease("first", 0), lease("second", 0));
    let (options, other) = (PostParams::default(), PostParams::default());
    let (won, lost) = tokio::join!(leases.create(&options, &first), leases.create(&other, &second));
    let mut created = [won, lost].into_iter().filter_map(Result::ok);
    let leads = created.next().unwrap();
    assert!(created.next().is_none(), "both lead");
    assert_eq!(leads.spec.clone().unwrap().renew_time.unwrap().0.as_microsecond() % 1_000_000, 123_456);
    // Both saw it run out, and both reach for it.
    let mut claims = ["second", "third"].map(|holder| lease(holder, 1));
    for claim in &mut claims {
        claim.metadata.resource_version.clone_from(&leads.metadata.resource_version);
    }
    let taken = tokio::join!(
        leases.replace("leader", &options, &claims[0]),
        leases.replace("leader", &other, &claims[1])
    );
    let refused = [taken.0.err(), taken.1.err()];
    let codes: Vec<u16> = refused
        .iter()
        .flatten()
        .map(|error| match error {
            kube::Error::Api(status) => status.code,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(codes, [409], "exactly one leads");
}
