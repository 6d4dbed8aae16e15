//! LIST: selectors, pages of one snapshot, moments, forms.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::BodyExt;
use serde_json::{Value, json};
use sexton_testkit::script::run;
use sexton_testkit::things::{config_map, core};
use sexton_testkit::{Answer, World};

fn names(answer: &Answer) -> Vec<String> {
    let items = answer.at("items").as_array().expect("items is never null");
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

async fn fill(world: &World, count: usize) {
    for at in 0..count {
        let mut document = config_map(&format!("a{at:03}"));
        document["metadata"]["labels"] =
            json!({"half": if at % 2 == 0 { "even" } else { "odd" }, "n": at.to_string()});
        world.create("configmaps", &document).await.expect(201);
    }
}

/// Label selectors in all their forms; field selectors by name and namespace.
#[tokio::test]
async fn selectors_select() {
    let world = World::new().await;
    fill(&world, 4).await;
    let mut bare = config_map("bare");
    bare["metadata"]["labels"] = json!({});
    world.create("configmaps", &bare).await.expect(201);
    world.create("/api/v1/namespaces/kube-system/configmaps", &config_map("far")).await.expect(201);
    for (query, expected) in [
        ("labelSelector=half%3Deven", vec!["a000", "a002"]),
        ("labelSelector=half==odd", vec!["a001", "a003"]),
        ("labelSelector=half!%3Deven", vec!["a001", "a003", "bare"]),
        ("labelSelector=n+in+(1,2)", vec!["a001", "a002"]),
        ("labelSelector=n%20notin%20(1,2),half", vec!["a000", "a003"]),
        ("labelSelector=half", vec!["a000", "a001", "a002", "a003"]),
        ("labelSelector=!half", vec!["bare"]),
        ("labelSelector=n%3E1", vec!["a002", "a003"]),
        ("labelSelector=", vec!["a000", "a001", "a002", "a003", "bare"]),
        ("fieldSelector=metadata.name%3Da001", vec!["a001"]),
        (
            "fieldSelector=metadata.name!%3Da001,metadata.namespace%3Ddefault",
            vec!["a000", "a002", "a003", "bare"],
        ),
        ("fieldSelector=metadata.name%3Da001&labelSelector=half%3Deven", vec![]),
        ("fieldSelector=metadata.name%3Dnobody", vec![]),
    ] {
        let answer = world.get(&format!("configmaps?{query}")).await.expect(200);
        assert_eq!(names(&answer), expected, "{query}");
    }
    let everywhere = world.get("/api/v1/configmaps?fieldSelector=metadata.name%3Dfar").await.expect(200);
    assert_eq!(names(&everywhere), ["far"]);
    for bad in [
        "labelSelector=%3D",
        "labelSelector=a+in+b",
        "labelSelector=a,,b",
        "labelSelector=-x",
        "fieldSelector=x",
    ] {
        let answer = world.get(&format!("configmaps?{bad}")).await.expect(400);
        assert_eq!(answer.text_at("reason"), "BadRequest", "{bad}");
    }
    let unknown = world.get("configmaps?fieldSelector=data.k%3Dv").await.expect(400);
    assert_eq!(unknown.text_at("message"), "field label not supported: data.k");
}

/// Events are listed by what they speak of, because `describe` asks so.
#[tokio::test]
async fn events_are_found_by_their_object() {
    let world = World::new().await;
    for (name, about) in [("e1", "x"), ("e2", "y")] {
        let mut event = core("Event", name);
        event["involvedObject"] = json!({"kind": "Pod", "name": about, "uid": format!("u-{about}")});
        world.create("events", &event).await.expect(201);
    }
    let query = "events?fieldSelector=involvedObject.name%3Dy,involvedObject.uid%3Du-y&limit=500";
    assert_eq!(names(&world.get(query).await.expect(200)), ["e2"]);
}

/// Pages belong to one snapshot although writers run; what is left is counted without selectors
/// only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_belong_to_one_snapshot() {
    let world = Arc::new(World::new().await);
    fill(&world, 50).await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (world, stop) = (world.clone(), stop.clone());
        async move {
            let mut round = 0;
            while !stop.load(Ordering::Relaxed) {
                round += 1;
                let name = format!("a{:03}x{round}", round % 50);
                world.create("configmaps", &config_map(&name)).await.expect(201);
                let path = format!("configmaps/a{:03}", round % 50);
                world.merge(&path, &json!({"data": {"k": round.to_string()}})).await;
                world.delete(&path, &json!({"propagationPolicy": "Background"})).await;
                tokio::task::yield_now().await;
            }
        }
    });
    for (query, size, expected) in [("", 7, 50_usize), ("&labelSelector=half%3Deven", 4, 25)] {
        let first =
            world.get("configmaps?resourceVersion=53&resourceVersionMatch=Exact&limit=1").await.expect(200);
        assert_eq!(first.version(), 53);
        let start = format!("configmaps?resourceVersion=53&resourceVersionMatch=Exact&limit={size}{query}");
        let mut page = world.get(&start).await.expect(200);
        let mut all = names(&page);
        while !page.text_at("metadata.continue").is_empty() {
            let left = page.at("metadata.remainingItemCount");
            let known = if query.is_empty() { json!(expected - all.len()) } else { Value::Null };
            assert_eq!(left, &known);
            let token = page.text_at("metadata.continue").to_owned();
            page = world.get(&format!("configmaps?limit={size}{query}&continue={token}")).await.expect(200);
            assert_eq!(page.version(), 53);
            assert!(names(&page).len() <= size);
            all.extend(names(&page));
        }
        let step = 50 / expected;
        let wanted: Vec<String> = (0..50).step_by(step).map(|at| format!("a{at:03}")).collect();
        assert_eq!(all, wanted);
        assert!(page.at("metadata.remainingItemCount").is_null());
    }
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

/// A token whose snapshot is forgotten is 410, with a token that goes on in the present.
#[tokio::test]
async fn a_forgotten_snapshot_says_how_to_go_on() {
    let world = World::new().await;
    fill(&world, 10).await;
    let token = world.get("configmaps?limit=4").await.text_at("metadata.continue").to_owned();
    world.delete("configmaps/a005", &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.create("configmaps", &config_map("a0045")).await.expect(201);
    world.compact().await;
    let expired = world.get(&format!("configmaps?limit=4&continue={token}")).await.expect(410);
    assert_eq!((expired.text_at("reason"), expired.at("code")), ("Expired", &json!(410)));
    let fresh = expired.text_at("metadata.continue").to_owned();
    let page = world.get(&format!("configmaps?limit=4&continue={fresh}")).await.expect(200);
    assert_eq!(names(&page), ["a004", "a0045", "a006", "a007"]);
    assert_eq!(page.at("metadata.remainingItemCount"), 2);
    let token = page.text_at("metadata.continue");
    assert_eq!(
        names(&world.get(&format!("configmaps?continue={token}")).await.expect(200)),
        ["a008", "a009"]
    );
    for bad in ["nonsense", "e30", "%ff", "bm90IGpzb24"] {
        world.get(&format!("configmaps?continue={bad}")).await.expect(400);
    }
}

/// `resourceVersion` and `resourceVersionMatch`, the whole table.
#[tokio::test]
async fn moments_of_a_list() {
    let world = World::new().await;
    fill(&world, 3).await;
    for (query, code, count) in [
        ("", 200, 3),
        ("resourceVersion=", 200, 3),
        ("resourceVersion=0", 200, 3),
        ("resourceVersion=4", 200, 3),
        ("resourceVersion=0&resourceVersionMatch=NotOlderThan", 200, 3),
        ("resourceVersion=4&resourceVersionMatch=NotOlderThan", 200, 3),
        ("resourceVersion=4&resourceVersionMatch=Exact", 200, 1),
        ("resourceVersion=6&resourceVersionMatch=Exact", 200, 3),
        ("resourceVersionMatch=Exact", 422, 0),
        ("resourceVersionMatch=NotOlderThan", 422, 0),
        ("resourceVersion=0&resourceVersionMatch=Exact", 422, 0),
        ("resourceVersion=4&resourceVersionMatch=Sometime", 422, 0),
        ("resourceVersion=x", 400, 0),
        ("resourceVersion=-4", 400, 0),
        ("resourceVersion=7", 504, 0),
        ("resourceVersion=7&resourceVersionMatch=Exact", 504, 0),
    ] {
        let answer = world.get(&format!("configmaps?{query}")).await.expect(code);
        if code == 200 {
            assert_eq!(names(&answer).len(), count, "{query}");
        }
    }
    let token = world.get("configmaps?limit=1").await.text_at("metadata.continue").to_owned();
    world
        .get(&format!("configmaps?continue={token}&resourceVersion=4&resourceVersionMatch=Exact"))
        .await
        .expect(422);
    world.get(&format!("configmaps?continue={token}&resourceVersion=4")).await.expect(400);
    world.get(&format!("configmaps?continue={token}&resourceVersion=0")).await.expect(200);
    let future = world.get("configmaps?resourceVersion=99").await.expect(504);
    assert_eq!(future.text_at("details.causes.0.reason"), "ResourceVersionTooLarge");
    world.get("configmaps/a000?resourceVersion=99").await.expect(504);
    world.get("configmaps/a000?resourceVersion=0").await.expect(200);
    world.compact().await;
    world.get("configmaps?resourceVersion=4&resourceVersionMatch=Exact").await.expect(410);
}

/// Content: objects, rows or metadata, as the client wants; an empty list is a list.
#[tokio::test]
async fn forms_of_a_list() {
    let world = World::new().await;
    run(
        &world,
        r#"
        GET configmaps
        -> 200
           kind = "ConfigMapList"
           apiVersion = "v1"
           metadata = {"resourceVersion": "3"}
           items = []
    "#,
    )
    .await;
    fill(&world, 2).await;
    world.nature().pass(90);
    run(
        &world,
        r#"
        GET configmaps?limit=1
        Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json
        -> 200
           kind = "Table"
           apiVersion = "meta.k8s.io/v1"
           columnDefinitions.0.name = "Name"
           rows.0.cells = ["a000", 1, "90s"]
           rows.0.object.kind = "PartialObjectMetadata"
           metadata.remainingItemCount = 1

        GET configmaps/a001?includeObject=Object
        Accept: application/json;as=Table;v=v1;g=meta.k8s.io
        -> 200
           rows.0.object.data.k = "v"

        GET configmaps?includeObject=None
        Accept: application/json;as=Table;v=v1;g=meta.k8s.io
        -> 200
           rows.1.object absent
    "#,
    )
    .await;
}

/// Content: metadata alone; a form that cannot be served falls back to JSON if that is accepted, and is
/// 406 otherwise.
#[tokio::test]
async fn other_forms_of_a_list() {
    let world = World::new().await;
    fill(&world, 2).await;
    run(
        &world,
        r#"
        GET configmaps
        Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1
        -> 200
           kind = "PartialObjectMetadataList"
           apiVersion = "meta.k8s.io/v1"
           items.0.kind = "PartialObjectMetadata"
           items.0.metadata.labels.half = "even"
           items.0.data absent

        GET configmaps/a000
        Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1
        -> 200
           kind = "PartialObjectMetadata"
           data absent

        GET configmaps
        Accept: application/json;as=Sculpture,application/json
        -> 200
           kind = "ConfigMapList"

        GET configmaps
        Accept: application/vnd.kubernetes.protobuf
        -> 406 NotAcceptable

        GET configmaps
        Accept: application/json;as=Table;v=v9;g=meta.k8s.io
        -> 406 NotAcceptable

        POST configmaps
        Content-Type: text/plain
        hello
        -> 415 UnsupportedMediaType
    "#,
    )
    .await;
}

/// A long list is read while it is written, and still is one snapshot, whatever is written and forgotten meanwhile.
#[tokio::test]
async fn a_long_list_is_one_snapshot() {
    let world = World::new().await;
    world.fill("configmaps", 3_000).await;
    let mut body = world.call("GET", "configmaps").raw().await.into_body();
    let mut text = body.frame().await.unwrap().unwrap().into_data().unwrap().to_vec();
    world.create("configmaps", &config_map("zzz")).await.expect(201);
    world.delete("configmaps", &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.compact().await;
    assert!(text.len() < 600_000, "it was all there at once");
    text.extend(body.collect().await.unwrap().to_bytes());
    let list: Value = serde_json::from_slice(&text).unwrap();
    let items = list["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[2_999]["metadata"]["name"]), (3_000, &json!("fill-0002999")));
    assert_eq!(names(&world.get("configmaps").await).len(), 0);
}

/// Large pages are not gathered first, and are pages like any other.
#[tokio::test]
async fn large_pages_are_pages() {
    let world = World::new().await;
    world.fill("configmaps", 2_500).await;
    let (mut seen, mut left, mut next, mut revisions) = (Vec::new(), Vec::new(), String::new(), Vec::new());
    for _ in 0..3 {
        let page = world.get(&format!("configmaps?limit=1100&continue={next}")).await.expect(200);
        seen.extend(names(&page));
        left.push(page.at("metadata.remainingItemCount").as_u64());
        revisions.push(page.text_at("metadata.resourceVersion").to_owned());
        next = page.text_at("metadata.continue").to_owned();
        world.create("configmaps", &config_map(&format!("aaa-{}", seen.len()))).await.expect(201);
    }
    assert_eq!((left, next.as_str()), (vec![Some(1400), Some(300), None], ""));
    assert!(seen.len() == 2_500 && seen.is_sorted() && revisions.iter().all(|one| *one == revisions[0]));
    let some =
        world.get("configmaps?limit=1500&fieldSelector=metadata.name!%3Dfill-0000001").await.expect(200);
    assert_eq!((names(&some).len(), some.at("metadata.remainingItemCount")), (1_500, &Value::Null));
    assert!(!some.text_at("metadata.continue").is_empty());
}
