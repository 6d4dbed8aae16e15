//! The feed over all kinds: what there is, then every change of anything, each once and in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use sexton_model::feed::Line;
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, Tokens, router};
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, held, widget, widgets};
use sexton_testkit::{Call, Watch, World};

pub(crate) const FEED: &str = "/apis/sexton.dev/v1/changes";

/// A line in few words.
pub(crate) fn told(line: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let (kind, at) = (text(&line["type"]), text(&line["resourceVersion"]));
    let metadata = &line["object"]["metadata"];
    let (name, version) = (text(&metadata["name"]), text(&metadata["resourceVersion"]));
    match kind.as_str() {
        "SYNCED" | "BOOKMARK" => format!("{kind} {at}"),
        "KINDS" => format!("KINDS {}", line["kinds"].as_array().unwrap().len()),
        "ERROR" => format!("ERROR {}", line["object"]["code"]),
        _ => format!("{kind} {}/{name}@{version}", text(&line["resource"])),
    }
}

/// The next lines in few words.
pub(crate) async fn next(feed: &mut Watch, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for _ in 0..count {
        lines.push(told(&feed.next().await.expect("the feed ended early")));
    }
    lines
}

/// What a collector builds its graph from: first all that is there, then what happens.
#[tokio::test]
async fn all_there_is_and_then_what_happens() {
    let world = World::new().await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let mut feed = world.watch(FEED).await;
    let kinds = feed.next().await.unwrap();
    assert_eq!(kinds["type"], "KINDS");
    let of = |plural: &str| {
        let list = kinds["kinds"].as_array().unwrap();
        list.iter().find(|kind| kind["resource"] == plural).cloned().unwrap_or_default()
    };
    assert_eq!(
        of("configmaps"),
        json!({"group": "", "version": "v1", "resource": "configmaps", "kind": "ConfigMap", "namespaced": true, "served": true})
    );
    assert_eq!(
        (&of("namespaces")["namespaced"], &of("changes"), &of("bulk")),
        (&json!(false), &Value::Null, &Value::Null)
    );
    let beginning = [
        "ADDED configmaps/a@4",
        "ADDED namespaces/default@1",
        "ADDED namespaces/kube-public@3",
        "ADDED namespaces/kube-system@2",
        "SYNCED 4",
    ];
    assert_eq!(next(&mut feed, 5).await, beginning);
    world.create("configmaps", &held("b", "example.com/x")).await.expect(201);
    world.delete("configmaps/b", &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.merge("configmaps/b", &json!({"metadata": {"finalizers": null}})).await.expect(200);
    world.delete("configmaps/a", &json!({"propagationPolicy": "Background"})).await.expect(200);
    let changes = [
        "ADDED configmaps/b@5",
        "MODIFIED configmaps/b@6",
        "DELETED configmaps/b@7",
        "DELETED configmaps/a@8",
    ];
    assert_eq!(next(&mut feed, 4).await, changes);
}

/// A line says what lives are made of, and nothing of the rest; it is what the wire form says it is.
#[tokio::test]
async fn a_line_is_kind_and_metadata() {
    let world = World::new().await;
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=3")).await;
    assert!(next(&mut feed, 1).await[0].starts_with("KINDS"));
    let document = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3},
        "metadata": {
            "name": "d", "labels": {"a": "b"}, "annotations": {"x": "\"managedFields\":[]"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true}],
        },
    });
    let made = world.create("/apis/apps/v1/namespaces/default/deployments", &document).await.document(201);
    let line = feed.next().await.unwrap();
    let mut metadata = made["metadata"].clone();
    assert!(metadata.as_object_mut().unwrap().remove("managedFields").is_some());
    assert_eq!(
        line,
        json!({
            "type": "ADDED", "resource": "deployments",
            "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata},
        })
    );
    let Line::Added(object) = serde_json::from_value(line).unwrap() else { panic!("not ADDED") };
    assert_eq!((object.object.metadata.uid.as_str(), object.by), ("uid-4", None));
    assert!(object.object.metadata.owner_references[0].controller);
}

/// Kinds are told before their first object and taken back after their last one, however the feed
/// is read: it says so in its place among the changes, also to those who come later.
#[tokio::test]
async fn kinds_that_come_and_go() {
    let world = World::new().await;
    let mut early = world.watch(&format!("{FEED}?resourceVersion=3")).await;
    let builtin = next(&mut early, 1).await.remove(0);
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    world.create(WIDGETS, &widget("w", 1)).await.expect(201);
    let mut second = json!({"name": "v2", "served": false, "storage": false});
    second["schema"] = widgets()["spec"]["versions"][0]["schema"].clone();
    let versions = json!([widgets()["spec"]["versions"][0], second]);
    let definition = format!("{DEFINITIONS}/widgets.demo.example.com");
    world.merge(&definition, &json!({"spec": {"versions": versions}})).await.expect(200);
    let background = json!({"propagationPolicy": "Background"});
    world.delete(&format!("{WIDGETS}/w"), &background).await.expect(200);
    world.delete(&definition, &background).await.expect(200);
    let mut late = world.watch(&format!("{FEED}?resourceVersion=3")).await;
    let mut all = Vec::new();
    for feed in [&mut early, &mut late] {
        let lines = next(feed, if all.is_empty() { 8 } else { 9 }).await;
        all.push(lines[lines.len() - 8..].to_vec());
    }
    let count: usize = builtin.trim_start_matches("KINDS ").parse().unwrap();
    let expected = [
        "ADDED customresourcedefinitions/widgets.demo.example.com@4".to_owned(),
        format!("KINDS {}", count + 1),
        "ADDED widgets/w@5".to_owned(),
        "MODIFIED customresourcedefinitions/widgets.demo.example.com@6".to_owned(),
        format!("KINDS {}", count + 2),
        "DELETED widgets/w@7".to_owned(),
        "DELETED customresourcedefinitions/widgets.demo.example.com@8".to_owned(),
        builtin,
    ];
    assert_eq!(all, [expected.clone(), expected]);
}

/// A version that is stored and not served is told as such, at the beginning as well.
#[tokio::test]
async fn what_is_not_served_is_told_all_the_same() {
    let world = World::new().await;
    let mut definition = widgets();
    definition["spec"]["versions"][0]["served"] = json!(false);
    world.create(DEFINITIONS, &definition).await.expect(201);
    let kinds = world.watch(FEED).await.next().await.unwrap();
    let kinds: Vec<&Value> =
        kinds["kinds"].as_array().unwrap().iter().filter(|kind| kind["kind"] == "Widget").collect();
    assert_eq!(kinds.len(), 1);
    assert_eq!(kinds[0]["served"], false);
}

/// Applies lines to what a follower believes: uid and version by resource and name.
fn believe(world: &mut BTreeMap<String, u64>, line: &Value) -> u64 {
    let metadata = &line["object"]["metadata"];
    let name = format!("{}/{}", line["resource"], metadata["name"]);
    let version: u64 = metadata["resourceVersion"].as_str().unwrap().parse().unwrap();
    let before = match line["type"].as_str().unwrap() {
        "DELETED" => world.remove(&name),
        _ => world.insert(name.clone(), version),
    };
    assert_eq!(before.is_some(), line["type"] != "ADDED", "{line}");
    version
}

/// EXT-19: the beginning and what follows it leave no gap and tell nothing twice, while others write.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_gap_and_nothing_twice_under_writers() {
    const ROUNDS: usize = 40;
    let world = Arc::new(World::new().await);
    let write = |writer: usize| {
        let world = world.clone();
        async move {
            for round in 0..ROUNDS {
                let (kind, name) = (["configmaps", "secrets"][round % 2], format!("w{writer}-{round}"));
                world.create(kind, &json!({"metadata": {"name": name}})).await.expect(201);
                let path = format!("{kind}/{name}");
                world.merge(&path, &json!({"metadata": {"labels": {"a": "b"}}})).await.expect(200);
                if round % 3 > 0 {
                    world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
                }
            }
        }
    };
    let writers: Vec<_> = (0..4).map(|writer| tokio::spawn(write(writer))).collect();
    let mut feeds = Vec::new();
    for _ in 0..3 {
        feeds.push(world.watch(FEED).await);
        tokio::task::yield_now().await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let head = world.head().await;
    let stored: BTreeMap<Vec<u8>, u64> =
        world.dump().await.into_iter().map(|(key, revision, _)| (key, revision.get())).collect();
    for mut feed in feeds {
        let (mut believed, mut seen, mut synced) = (BTreeMap::new(), 0, false);
        while !synced || seen < head {
            let line = feed.next().await.unwrap();
            match line["type"].as_str().unwrap() {
                "KINDS" | "BOOKMARK" => {}
                "SYNCED" => {
                    synced = true;
                    seen = line["resourceVersion"].as_str().unwrap().parse().unwrap();
                }
                _ => {
                    let version = believe(&mut believed, &line);
                    // From the beginning on, each revision is told, one after the other.
                    assert!(!synced || version == seen + 1, "{seen} {line}");
                    seen = if synced { version } else { 0 };
                }
            }
        }
        let versions: Vec<u64> = believed.into_values().collect();
        let (mut versions, mut expected) = (versions, stored.values().copied().collect::<Vec<u64>>());
        versions.sort_unstable();
        expected.sort_unstable();
        assert_eq!(versions, expected);
    }
}

/// DELETED says who asked for it, also where nobody could mark the object any more.
#[tokio::test]
async fn a_removal_says_who_asked() {
    let world = World::new().await;
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=3")).await;
    world.create("configmaps", &config_map("a")).await.expect(201);
    let background = json!({"propagationPolicy": "Background"});
    world.delete("configmaps/a", &background).await.expect(200);
    world.create("configmaps", &held("b", "example.com/x")).await.expect(201);
    let marked = world.delete("configmaps/b", &background).await.expect(200);
    assert_eq!(marked.at("/metadata/annotations/sexton.dev~1deleted-by"), "local");
    next(&mut feed, 2).await;
    let deleted = feed.next().await.unwrap();
    assert_eq!((&deleted["type"], &deleted["by"]), (&json!("DELETED"), &json!("local")));
    next(&mut feed, 1).await;
    let modified = feed.next().await.unwrap();
    assert_eq!(modified["object"]["metadata"]["annotations"]["sexton.dev/deleted-by"], "local");
    assert_eq!(modified.get("by"), None);
}

/// A mark says who asked first; no document and no header of a request can say so.
#[tokio::test]
async fn the_first_who_asked_stays() {
    let world = World::new().await;
    world.create("configmaps", &held("a", "example.com/x")).await.expect(201);
    let forged = world.call("DELETE", "configmaps/a").header("x-remote-user", "eve").send().await.expect(200);
    assert_eq!(forged.at("/metadata/annotations/sexton.dev~1deleted-by"), "local");
    world.create("configmaps", &held("b", "example.com/x")).await.expect(201);
    world.call("DELETE", "configmaps/b").header("impersonate-user", "eve").send().await.expect(403);
    let own = world.call("DELETE", "configmaps/b").send().await.expect(200);
    assert_eq!(own.at("/metadata/annotations/sexton.dev~1deleted-by"), "local");
}

/// Of many removals in one request each says from whom it comes, or it is who sent the request.
#[tokio::test]
async fn removals_in_bulk_say_who_asked() {
    let world = World::new().await;
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=3")).await;
    let item = |name: &str, uid: &str, annotations: Value| {
        let delete = json!({"delete": {"policy": "Background", "annotations": annotations}});
        json!({"resource": "configmaps", "namespace": "default", "name": name, "uid": uid, "action": delete})
    };
    for name in ["a", "b"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    let items = [item("a", "uid-4", json!({})), item("b", "uid-5", json!({"sexton.dev/deleted-by": "ada"}))];
    world.create("/apis/sexton.dev/v1/bulk", &json!({"items": items})).await.expect(200);
    next(&mut feed, 3).await;
    for by in ["local", "ada"] {
        let deleted = feed.next().await.unwrap();
        assert_eq!((&deleted["type"], &deleted["by"]), (&json!("DELETED"), &json!(by)));
    }
}

/// Who asked is whose token it was.
#[tokio::test]
async fn users_are_known_by_their_tokens() {
    let world = World::new().await;
    let tokens = Tokens::parse("0123456789abcdef-ada,ada\n0123456789abcdef-bob,bob\n").unwrap();
    let authentication = Authentication::Required(tokens);
    let app = App::new(world.api().clone(), authentication, RequestLimits::default(), Metrics::default());
    let router = router(app);
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=3")).await;
    for name in ["a", "b"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    let delete = |name: &str, user: &str| {
        Call::new(router.clone(), "DELETE", &format!("configmaps/{name}?propagationPolicy=Background"))
            .header("authorization", &format!("Bearer 0123456789abcdef-{user}"))
    };
    delete("a", "eve").send().await.expect(401);
    delete("a", "bob").send().await.expect(200);
    delete("b", "ada").send().await.expect(200);
    next(&mut feed, 3).await;
    assert_eq!(feed.next().await.unwrap()["by"], "bob");
    assert_eq!(feed.next().await.unwrap()["by"], "ada");
}

/// Silence is broken, so that a follower can tell a quiet server from a dead one.
#[tokio::test(start_paused = true)]
async fn silence_is_broken() {
    let world = World::new().await;
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=3&timeoutSeconds=10")).await;
    assert!(next(&mut feed, 1).await[0].starts_with("KINDS"));
    let start = tokio::time::Instant::now();
    assert_eq!(next(&mut feed, 1).await, ["BOOKMARK 3"]);
    assert!(start.elapsed() <= Duration::from_secs(5));
    let mut rest = Vec::new();
    while let Some(line) = feed.next().await {
        rest.push(told(&line));
    }
    assert_eq!(rest, ["BOOKMARK 3", "BOOKMARK 3"]);
}

/// When the server goes away a feed ends with the version to go on from.
#[tokio::test]
async fn a_server_that_goes_away_says_so() {
    let world = World::new().await;
    let mut feed = world.watch(&format!("{FEED}?resourceVersion=2")).await;
    next(&mut feed, 2).await;
    world.api().end_watches();
    assert_eq!(next(&mut feed, 1).await, ["BOOKMARK 3"]);
    assert_eq!(feed.next().await, None);
}

/// The beginning is written piece by piece as it is taken, not at once: 100,000 objects never stand in memory as text.
#[tokio::test]
async fn a_large_beginning_streams() {
    const MANY: usize = 100_000;
    let world = World::new().await;
    world.fill("configmaps", MANY).await;
    let response = world.call("GET", FEED).raw().await;
    let mut body = response.into_body().into_data_stream();
    let (mut lines, mut largest, mut pieces) = (0, 0, 0);
    while let Some(piece) = body.next().await {
        let piece = piece.unwrap();
        assert_eq!(piece.last(), Some(&b'\n'));
        lines += piece.iter().filter(|byte| **byte == b'\n').count();
        (largest, pieces) = (largest.max(piece.len()), pieces + 1);
        if lines >= MANY + 5 {
            break;
        }
    }
    assert_eq!(lines, MANY + 5);
    assert!(largest < 300 << 10, "{largest}");
    assert!(pieces > 50, "{pieces}");
}
