//! Groups that do not answer, what is asked to know the kinds, and one feed for all readers of a process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use http::{Request, StatusCode};
use kube::client::Body;
use serde_json::json;
use sexton_client::connect::in_process;
use sexton_client::foreign::FeedOptions;
use sexton_client::{ForeignGateway, Gateway, Kinds, Lines, Resources};
use sexton_model::feed::{Line, WHOLE_GROUP};
use sexton_testkit::World;
use sexton_testkit::things::config_map;
use tower::ServiceExt;

use crate::faults::{Fault, Faults};
use crate::reader::{Reader, options};

/// A way to a world that writes down every request.
fn counted(world: &World) -> (Arc<Mutex<Vec<String>>>, kube::Client) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let (router, log) = (world.router(), asked.clone());
    let client = in_process(tower::service_fn(move |request: Request<Body>| {
        log.lock().unwrap().push(request.uri().to_string());
        router.clone().oneshot(request)
    }));
    (asked, client)
}

/// `/apis` in the older form, which names groups and not their kinds.
async fn older_form(world: &World, faults: &Faults) {
    let groups = world.get("/apis").await.json;
    assert_eq!(groups["kind"], "APIGroupList");
    faults.on(&["=/apis"], Fault::Json(groups));
}

#[tokio::test]
async fn two_requests_tell_all_kinds_and_are_made_once() {
    let world = World::new().await;
    let (asked, client) = counted(&world);
    let resources = Resources::new(client);
    let kinds = resources.kinds().await.unwrap();
    assert!(kinds.resolve("cm").is_ok() && kinds.resolve("deploy").is_ok() && kinds.bulk);
    for clone in [resources.clone(), resources.clone()] {
        clone.kinds().await.unwrap();
    }
    assert_eq!(*asked.lock().unwrap(), ["/api", "/apis"]);
    resources.kinds_anew().await.unwrap();
    assert_eq!(asked.lock().unwrap().len(), 4);
}

/// The older form says the same, in more requests.
#[tokio::test]
async fn a_server_without_aggregated_discovery_is_asked_group_by_group() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let before = Kinds::discover(&client).await.unwrap();
    older_form(&world, &faults).await;
    let after = Kinds::discover(&client).await.unwrap();
    assert_eq!((before.all, before.bulk), (after.all, after.bulk));
}

/// A group whose server is down is named at once, and one that is silent after a short deadline; all others are known.
#[tokio::test]
async fn a_group_that_does_not_answer_holds_up_nothing() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    older_form(&world, &faults).await;
    faults.on(&["=/apis/apps/v1"], Fault::Code(503));
    faults.on(&["=/apis/batch/v1"], Fault::Silence);
    tokio::time::pause();
    let since = tokio::time::Instant::now();
    let kinds = Kinds::discover(&client).await.unwrap();
    assert!(since.elapsed() < Duration::from_secs(6), "{:?}", since.elapsed());
    let unread: Vec<String> =
        kinds.unread.iter().map(|(group, status)| format!("{group}: {}", status.message)).collect();
    assert_eq!(unread, ["apps/v1: injected 503", "batch/v1: no answer within 5 s"]);
    assert!(kinds.resolve("cm").is_ok() && kinds.unread_in("apps").is_some());
}

/// What an aggregated server says of a group whose server is down: it is stale. The feed tells the whole group as broken,
/// and takes it back when it answers.
#[tokio::test]
async fn a_stale_group_is_told_as_broken_until_it_answers() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let stale = json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "down.example"},
        "versions": [{"version": "v1", "freshness": "Stale"}]}]});
    faults.times(1, None, &["=/apis"], Fault::Json(stale));
    let often = FeedOptions { rediscovery: Duration::from_millis(10), ..options() };
    let mut reader = Reader::synced(&client, often).await;
    let whole = |reader: &Reader| {
        let told = reader.kinds.iter().find(|kind| kind.resource == WHOLE_GROUP);
        told.map(|kind| (kind.group.clone(), kind.broken.clone()))
    };
    let why = Some("the server behind it does not answer".to_owned());
    assert_eq!(whole(&reader), Some(("down.example".to_owned(), why)));
    reader.until("an answer", |reader| whole(reader).is_none()).await;
}

/// A server that is too busy and says when to come again is asked again; one that is down is not.
#[tokio::test]
async fn only_a_server_that_says_when_is_asked_again() {
    let world = World::new().await;
    let busy = Arc::new(Mutex::new(vec!["1", "0"]));
    let router = world.router();
    let left = busy.clone();
    let client = in_process(tower::service_fn(move |request: Request<Body>| {
        let (router, refusal) = (router.clone(), left.lock().unwrap().pop());
        async move {
            let mut answer = router.oneshot(request).await?;
            if let Some(after) = refusal {
                *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
                answer.headers_mut().insert("retry-after", after.parse().unwrap());
            }
            Ok::<_, std::convert::Infallible>(answer)
        }
    }));
    tokio::time::pause();
    assert!(Kinds::discover(&client).await.is_ok());
    assert!(busy.lock().unwrap().is_empty());

    let (faults, client) = Faults::over(&world);
    faults.times(1, None, &["=/api"], Fault::Code(503));
    assert!(Kinds::discover(&client).await.is_err(), "the first answer counts");
}

async fn read_to_the_end(lines: &mut Lines) -> usize {
    let mut maps = 0;
    loop {
        match lines.next().await.unwrap().unwrap() {
            Line::Added(seen) => maps += usize::from(seen.resource == "configmaps"),
            Line::Synced { .. } => return maps,
            _ => {}
        }
    }
}

fn count(asked: &Mutex<Vec<String>>, words: &[&str]) -> usize {
    let asked = asked.lock().unwrap();
    asked.iter().filter(|uri| words.iter().all(|word| uri.contains(word))).count()
}

/// All readers of a process share the lists of the first. A mere look opens no watch; a look after that is a new one.
#[tokio::test]
async fn readers_share_one_feed() {
    let world = World::plain().await;
    for name in ["a", "b"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    let (asked, client) = counted(&world);
    let resources = Resources::new(client);
    let gateway = || ForeignGateway::of(&resources);
    let mut look = gateway().look().await.unwrap();
    assert_eq!(read_to_the_end(&mut look).await, 2);
    drop(look);
    assert_eq!((count(&asked, &["/configmaps?limit"]), count(&asked, &["watch=true"])), (1, 0));

    let mut first = gateway().changes(None).await.unwrap();
    let mut second = gateway().changes(None).await.unwrap();
    assert_eq!((read_to_the_end(&mut first).await, read_to_the_end(&mut second).await), (2, 2));
    world.create("configmaps", &config_map("c")).await.expect(201);
    for lines in [&mut first, &mut second] {
        let told = lines.next().await.unwrap().unwrap();
        assert!(matches!(&told, Line::Added(seen) if seen.object.metadata.name == "c"), "{told:?}");
    }
    assert_eq!((count(&asked, &["/configmaps?limit"]), count(&asked, &["=/api"])), (1, 0));
    assert_eq!(count(&asked, &["/configmaps?watch=true"]), 1);

    let mut look = gateway().look().await.unwrap();
    assert_eq!(read_to_the_end(&mut look).await, 3);
    assert_eq!(count(&asked, &["/configmaps?limit"]), 2, "what is looked at again is looked at now");
}

/// What was read before a pause is not passed off as the state of now.
#[tokio::test]
async fn a_feed_that_was_not_read_for_a_while_begins_anew() {
    let world = World::plain().await;
    let (asked, client) = counted(&world);
    let resources = Resources::new(client);
    let gateway = ForeignGateway::of(&resources);
    read_to_the_end(&mut gateway.look().await.unwrap()).await;
    world.create("configmaps", &config_map("new")).await.expect(201);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3)).await;
    tokio::time::resume();
    assert_eq!(read_to_the_end(&mut gateway.changes(None).await.unwrap()).await, 1);
    assert_eq!(count(&asked, &["/configmaps?limit"]), 2);
}

/// Somebody with rights in one namespace sees that one, and everything is told as broken: of the rest nothing is known.
#[tokio::test]
async fn what_may_not_be_listed_everywhere_is_looked_at_in_one_namespace() {
    let world = World::plain().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let (faults, client) = Faults::over(&world);
    faults.on(&["/api/v1/configmaps?"], Fault::Code(403));
    faults.on(&["/api/v1/namespaces?"], Fault::Code(403));
    let limited = FeedOptions { namespace: Some("default".into()), ..options() };
    let mut reader = Reader::synced(&client, limited).await;
    assert!(reader.told.contains(&"ADDED configmaps a".to_owned()), "{:?}", reader.told);
    assert_eq!(reader.broken("configmaps"), Some("only the namespace default may be looked at"));
    assert_eq!(reader.broken("namespaces"), Some("injected 403"));
    world.create("configmaps", &config_map("b")).await.expect(201);
    reader.until_told("ADDED configmaps b").await;
}
