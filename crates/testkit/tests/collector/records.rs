//! What people can read about collections: what they were about, who asked, how far they are, and what is left behind.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_collector::hooks::Hooks;
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, Tokens, router};
use sexton_testkit::collecting::quick;
use sexton_testkit::{Call, Collecting, Scripted, World};

use crate::common::{class, delete, left, make, make_with, metadata, record, records};

/// A DELETE by somebody who is known.
async fn delete_as(world: &World, user: &str, path: &str, policy: &str) {
    let tokens = Tokens::parse(&format!("0123456789abcdef-{user},{user}\n")).unwrap();
    let authentication = Authentication::Required(tokens);
    let app = App::new(world.api().clone(), authentication, RequestLimits::default(), Metrics::default());
    let options = if policy.is_empty() { json!({}) } else { json!({"propagationPolicy": policy}) };
    let call = Call::new(router(app), "DELETE", path).json(&options);
    let call = call.header("authorization", &format!("Bearer 0123456789abcdef-{user}"));
    call.send().await.expect(200);
}

async fn family(world: &World) -> String {
    let root = make(world, "root", &[]).await;
    let a = make(world, "a", &[("root", &root)]).await;
    make(world, "leaf", &[("a", &a)]).await;
    let secret = json!({"metadata": {"name": "s", "ownerReferences":
        [sexton_testkit::things::owner("ConfigMap", "root", &root)]}});
    world.create("/api/v1/namespaces/default/secrets", &secret).await.expect(201);
    root
}

fn tombstone<'a>(all: &'a [Value], name: &str) -> &'a Value {
    let found = all.iter().find(|one| one["spec"]["object"]["name"] == name);
    &found.unwrap_or_else(|| panic!("no tombstone of {name}: {all:#?}"))["spec"]
}

/// What a collection was about, who asked, how much went, and when it was over.
#[tokio::test]
async fn a_collection_says_what_it_was_about() {
    for policy in ["", "Foreground", "Background"] {
        let world = World::new().await;
        let root = family(&world).await;
        let mut collecting = Collecting::on(&world);
        collecting.settled(&world).await;
        delete_as(&world, "ada", "configmaps/root", policy).await;
        collecting.settled(&world).await;
        let done = record(&world, |record| record["status"]["phase"] == "done").await;
        let (spec, status) = (&done["spec"], &done["status"]);
        assert_eq!((&spec["trigger"], &spec["by"]), (&json!("delete"), &json!("ada")), "{policy} {done:#}");
        assert_eq!(spec["roots"][0]["uid"], json!(root), "{policy} {done:#}");
        assert_eq!(
            (&spec["startedAt"], &status["finishedAt"]),
            (&json!("2026-11-15T20:00:00Z"), &spec["startedAt"])
        );
        // In the background the one that was deleted was gone before.
        let (count, maps) = if policy == "Background" { (3, 2) } else { (4, 3) };
        assert_eq!((&status["doomed"], &status["gone"]), (&json!(count), &json!(count)), "{policy}");
        assert_eq!(status["kinds"]["ConfigMap"], json!({"doomed": maps, "gone": maps}));
        assert_eq!(status["kinds"]["Secret"], json!({"doomed": 1, "gone": 1}));
        assert_eq!(records(&world, "collections").await.len(), 1);
        // Who asked goes along to everybody who followed.
        let tombstones = records(&world, "tombstones").await;
        assert_eq!(tombstones.len(), count, "{policy}");
        for name in ["a", "leaf", "s"] {
            let found = tombstone(&tombstones, name);
            assert_eq!((&found["by"], &found["collection"]), (&json!("ada"), &done["metadata"]["name"]));
            assert_eq!(found["outcome"], "gone");
            assert_eq!(found["document"]["metadata"]["name"], name);
        }
    }
}

/// A tombstone says why: what was asked for, or which owner dies.
#[tokio::test]
async fn a_tombstone_says_why() {
    let world = World::new().await;
    let root = family(&world).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    let all = records(&world, "tombstones").await;
    assert_eq!(tombstone(&all, "root")["reason"], "asked for");
    assert_eq!(tombstone(&all, "a")["reason"], "its owner ConfigMap/default/root is destroyed");
    assert_eq!(tombstone(&all, "leaf")["reason"], "its owner ConfigMap/default/a is destroyed");
    assert_eq!(tombstone(&all, "a")["owners"], json!([format!("ConfigMap/root {root}")]));
    assert!(tombstone(&all, "a")["document"]["metadata"]["managedFields"].is_null());
}

/// Who asked is written on whoever is marked, so that it outlives a collector.
#[tokio::test]
async fn who_asked_is_written_on_the_marked() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make_with(&world, "a", &[("root", &root)], json!({"finalizers": ["example.com/mine"]})).await;
    let mut collecting = Collecting::on(&world);
    delete_as(&world, "ada", "configmaps/root", "").await;
    collecting.settled(&world).await;
    for name in ["root", "a"] {
        assert_eq!(metadata(&world, name).await["annotations"]["sexton.dev/deleted-by"], "ada", "{name}");
    }
    record(&world, |record| record["status"]["phase"] == "blocked").await;
    collecting.kill();
    let mut collecting = Collecting::on(&world);
    world.merge("configmaps/a", &json!({"metadata": {"finalizers": []}})).await.expect(200);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    record(&world, |record| record["spec"]["by"] == "ada" && record["status"]["phase"] == "done").await;
}

/// A record that was blocked goes on and ends; and what is in the way is named with what helps.
#[tokio::test]
async fn blocked_then_done() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make_with(&world, "a", &[("root", &root)], json!({"finalizers": ["example.com/mine"]})).await;
    make(&world, "b", &[("root", &root)]).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    let blocked = record(&world, |record| record["status"]["phase"] == "blocked").await;
    let status = &blocked["status"];
    assert_eq!((&status["doomed"], &status["gone"], &status["blocked"]), (&json!(3), &json!(1), &json!(1)));
    let blocker = &status["blockers"][0];
    assert_eq!(blocker["reason"], "held by the finalizer example.com/mine");
    let clears = blocker["clears"].as_str().unwrap();
    assert!(
        clears.starts_with("sexton force ConfigMap/default/a --blocker finalizer:example.com/mine"),
        "{clears}"
    );
    world.merge("configmaps/a", &json!({"metadata": {"finalizers": []}})).await.expect(200);
    collecting.settled(&world).await;
    let done = record(&world, |record| record["status"]["phase"] == "done").await;
    assert_eq!((&done["status"]["gone"], &done["status"]["blocked"]), (&json!(3), &json!(0)));
    assert!(done["status"]["blockers"].is_null());
}

/// EXT-25: somebody else's finalizer can be given up, with a reason; what is left says so.
#[tokio::test]
async fn a_finalizer_is_given_up() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make_with(&world, "a", &[("root", &root)], json!({"finalizers": ["example.com/mine"]})).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    let request =
        json!({"want": "force", "blocker": "finalizer:example.com/mine", "reason": "nobody serves it"});
    crate::common::ask(&world, "a", request).await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let all = records(&world, "tombstones").await;
    let found = tombstone(&all, "a");
    assert_eq!(found["outcome"], "abandoned");
    assert!(found["causes"][0].as_str().unwrap().contains("nobody serves it"));
}

/// Something that somebody deletes and nothing follows leaves nothing behind.
#[tokio::test]
async fn a_single_deletion_leaves_no_record() {
    let world = World::new().await;
    make(&world, "a", &[]).await;
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/a", "").await;
    collecting.settled(&world).await;
    collecting.drain().await;
    assert_eq!((records(&world, "collections").await, records(&world, "tombstones").await), (vec![], vec![]));
}

/// However much is deleted, what is written about it is bounded.
#[tokio::test]
async fn records_are_bounded() {
    let world = World::new().await;
    for number in 0..60 {
        let root = make(&world, &format!("root-{number:02}"), &[]).await;
        make(&world, &format!("a-{number:02}"), &[("root", &root)]).await;
    }
    world.call("DELETE", "configmaps").send().await.expect(200);
    let mut settings = quick("tests");
    settings.tombstones = 7;
    let mut collecting = Collecting::with(&world, settings, Arc::new(Hooks::new()));
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    collecting.drain().await;
    let all = records(&world, "collections").await;
    assert_eq!(all.len(), 1, "one for all that began at the same moment");
    assert_eq!((&all[0]["status"]["doomed"], &all[0]["status"]["phase"]), (&json!(120), &json!("done")));
    assert!(all[0]["spec"]["roots"].as_array().unwrap().len() <= 100);
    assert_eq!(records(&world, "tombstones").await.len(), 7);
}

/// A collector that goes on after another one does not forget what that one has done already.
#[tokio::test]
async fn a_record_outlives_its_collector() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    make_with(&world, "held", &[("root", &root)], json!({"finalizers": ["example.com/mine"]})).await;
    for name in ["a", "b", "c"] {
        make(&world, name, &[("root", &root)]).await;
    }
    let mut collecting = Collecting::on(&world);
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    record(&world, |record| record["status"]["gone"] == 3).await;
    collecting.drain().await;
    let mut collecting = Collecting::on(&world);
    world.merge("configmaps/held", &json!({"metadata": {"finalizers": []}})).await.expect(200);
    collecting.settled(&world).await;
    let done = record(&world, |record| record["status"]["phase"] == "done").await;
    assert_eq!((&done["status"]["doomed"], &done["status"]["gone"]), (&json!(5), &json!(5)), "{done:#}");
    assert_eq!(records(&world, "collections").await.len(), 1);
}

/// What a table of records shows.
#[tokio::test]
async fn records_as_tables() {
    let world = World::new().await;
    class(&world, json!({})).await;
    let hooks = Arc::new(Scripted::default());
    let root = make(&world, "root", &[]).await;
    make(&world, "a", &[("root", &root)]).await;
    let mut collecting = Collecting::scripted(&world, &hooks);
    delete_as(&world, "ada", "configmaps/root", "").await;
    collecting.settled(&world).await;
    record(&world, |record| record["status"]["phase"] == "done").await;
    let table = async |plural: &str| {
        let call = world.call("GET", &format!("/apis/sexton.dev/v1/{plural}"));
        let table =
            call.header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io").send().await.document(200);
        let words = |value: &Value, key: Option<&str>| -> Vec<String> {
            let words = value.as_array().unwrap().iter();
            words
                .map(|word| key.map_or(word, |key| &word[key]).to_string().trim_matches('"').to_owned())
                .collect()
        };
        let names = words(&table["columnDefinitions"], Some("name")).join(" ");
        let rows = table["rows"].as_array().unwrap().iter();
        let mut rows: Vec<String> = rows.map(|row| words(&row["cells"], None)[1..].join(" ")).collect();
        rows.sort();
        (names, rows)
    };
    let (names, rows) = table("collections").await;
    assert_eq!(names, "Name Trigger By Phase Doomed Gone Blocked Age");
    assert_eq!(rows, ["delete ada done 2 2 0 0s"]);
    let (names, rows) = table("tombstones").await;
    assert_eq!(names, "Name Kind Namespace Object Reason By Outcome Age");
    assert_eq!(
        rows,
        [
            "ConfigMap default a its owner ConfigMap/default/root is destroyed ada destroyed 0s",
            "ConfigMap default root asked for ada destroyed 0s",
        ]
    );
}
