//! Many deletions and patches in one commit: what items do, and in which order.

use serde_json::{Value, json};
use sexton_model::ids::{GroupResource, Key};
use sexton_store::At;
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, held, owner, widget, widgets};

/// Where the verb is.
pub(crate) const BULK: &str = "/apis/sexton.dev/v1/bulk";

/// Makes an object and gives its uid.
pub(crate) async fn made(world: &World, path: &str, document: &Value) -> String {
    world.create(path, document).await.document(201)["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// An item about a ConfigMap in `default`.
pub(crate) fn item(name: &str, uid: &str, action: Value) -> Value {
    json!({"resource": "configmaps", "namespace": "default", "name": name, "uid": uid, "action": action})
}

/// The item with something added.
pub(crate) fn with(mut item: Value, more: Value) -> Value {
    for (field, value) in more.as_object().unwrap() {
        item[field] = value.clone();
    }
    item
}

/// A deletion with a policy.
pub(crate) fn delete(policy: &str) -> Value {
    json!({"delete": {"policy": policy}})
}

/// A patch that takes finalizers off.
pub(crate) fn release(finalizers: &[&str]) -> Value {
    json!({"patch": {"removeFinalizers": finalizers}})
}

/// Sends items and gives the results.
pub(crate) async fn bulk(world: &World, items: Vec<Value>) -> Vec<Value> {
    let answer = world.create(BULK, &json!({"items": items})).await.document(200);
    answer["items"].as_array().unwrap().clone()
}

/// The same under the collector's lease.
pub(crate) async fn as_collector(world: &World, items: Vec<Value>) -> Vec<Value> {
    let bulk = json!({"epoch": world.collector_epoch().await, "items": items});
    let answer = world.create(BULK, &bulk).await.document(200);
    answer["items"].as_array().unwrap().clone()
}

/// What happened, or the code and the reason why not.
pub(crate) fn told(results: &[Value]) -> Vec<String> {
    let one = |result: &Value| match result["outcome"].as_str() {
        Some(outcome) => outcome.to_owned(),
        None => format!("{} {}", result["code"], result["status"]["reason"].as_str().unwrap()),
    };
    results.iter().map(one).collect()
}

/// REQ-KRK-30, REQ-KRK-31: the API marks and the API removes, whoever asks for many of it at once.
#[tokio::test]
async fn deletions_mark_or_remove_as_the_verb_does() {
    let world = World::new().await;
    let uids = [
        made(&world, "configmaps", &config_map("a")).await,
        made(&world, "configmaps", &config_map("b")).await,
        made(&world, "configmaps", &held("c", "example.com/mine")).await,
        made(&world, "configmaps", &config_map("d")).await,
    ];
    let marking =
        json!({"delete": {"policy": "Orphan", "annotations": {"sexton.dev/deleted-by": "ada", "x": null}}});
    let results = bulk(
        &world,
        vec![
            item("a", &uids[0], json!({"delete": {}})),
            item("b", &uids[1], delete("Background")),
            item("c", &uids[2], delete("Background")),
            item("d", &uids[3], marking),
        ],
    )
    .await;
    assert_eq!(told(&results), ["marked", "removed", "marked", "marked"]);
    let a = world.get("configmaps/a").await.document(200);
    assert_eq!(a["metadata"]["finalizers"], json!(["cascade_deletion"]));
    assert_eq!(a["metadata"]["resourceVersion"], results[0]["resourceVersion"]);
    assert_eq!(a["metadata"]["deletionTimestamp"], "2026-11-15T20:00:00Z");
    world.get("configmaps/b").await.expect(404);
    assert_eq!(
        world.get("configmaps/c").await.document(200)["metadata"]["finalizers"],
        json!(["example.com/mine"])
    );
    let d = world.get("configmaps/d").await.document(200);
    assert_eq!(d["metadata"]["annotations"], json!({"sexton.dev/deleted-by": "ada"}));
    assert_eq!(d["metadata"]["finalizers"], json!(["orphan"]));
}

/// EXT-9: deleting what is being deleted changes nothing and succeeds; what is absent, or another life, is a 404.
#[tokio::test]
async fn deleting_again_changes_nothing() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let first = bulk(&world, vec![item("a", &uid, json!({"delete": {}}))]).await;
    let head = world.head().await;
    let again = bulk(
        &world,
        vec![
            item("a", &uid, json!({"delete": {"annotations": {"sexton.dev/deleted-by": "bob"}}})),
            item("b", &uid, delete("Background")),
        ],
    )
    .await;
    assert_eq!(told(&again), ["unchanged", "404 NotFound"]);
    assert_eq!(again[0]["resourceVersion"], first[0]["resourceVersion"]);
    let another = bulk(&world, vec![item("a", "another-life", delete("Background"))]).await;
    assert_eq!(told(&another), ["404 NotFound"]);
    assert_eq!(world.head().await, head);
    // Another policy replaces the one that is recorded.
    let changed = bulk(&world, vec![item("a", &uid, delete("Foreground"))]).await;
    assert_eq!(told(&changed), ["marked"]);
    let finalizers = &world.get("configmaps/a").await.document(200)["metadata"]["finalizers"];
    assert_eq!(*finalizers, json!(["foregroundDeletion"]));
}

/// REQ-KRK-19, REQ-KRK-31: the patch that takes the last hold off removes the object, in the same commit.
#[tokio::test]
async fn the_last_hold_takes_the_object_along() {
    let world = World::new().await;
    let mut document = held("a", "example.com/mine");
    document["metadata"]["finalizers"] = json!(["example.com/mine", "example.com/other"]);
    let uid = made(&world, "configmaps", &document).await;
    let mut watch = world.watch("configmaps?watch=true").await;
    // Not marked: holds come and go, the object stays.
    let free = bulk(&world, vec![item("a", &uid, release(&["example.com/other"]))]).await;
    assert_eq!(told(&free), ["patched"]);
    let unknown = bulk(&world, vec![item("a", &uid, release(&["example.com/never"]))]).await;
    assert_eq!(told(&unknown), ["unchanged"]);
    let marked = bulk(&world, vec![item("a", &uid, json!({"delete": {}}))]).await;
    assert_eq!(told(&marked), ["marked"]);
    let one = as_collector(&world, vec![item("a", &uid, release(&["cascade_deletion"]))]).await;
    assert_eq!(told(&one), ["patched"]);
    let gone = bulk(&world, vec![item("a", &uid, release(&["example.com/mine", "example.com/never"]))]).await;
    assert_eq!(told(&gone), ["removed"]);
    world.get("configmaps/a").await.expect(404);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let event = watch.next().await.unwrap();
        seen.push(event["type"].as_str().unwrap().to_owned());
        if seen.last().unwrap() == "DELETED" {
            assert_eq!(event["object"]["metadata"]["resourceVersion"], gone[0]["resourceVersion"]);
        }
    }
    assert_eq!(seen, ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]);
}

#[tokio::test]
async fn a_patch_changes_marks_and_nothing_else() {
    let world = World::new().await;
    let parent = made(&world, "configmaps", &config_map("p")).await;
    let mut document = config_map("a");
    document["metadata"]["ownerReferences"] =
        json!([owner("ConfigMap", "p", &parent), owner("ConfigMap", "q", "gone")]);
    document["metadata"]["annotations"] = json!({"old": "1"});
    let uid = made(&world, "configmaps", &document).await;
    let before = world.get("configmaps/a").await.document(200);
    let patch = json!({"patch": {
        "removeOwners": ["gone"], "addFinalizers": ["example.com/x", "example.com/x"],
        "annotations": {"sexton.dev/collection": "c-1", "old": null},
    }});
    assert_eq!(told(&as_collector(&world, vec![item("a", &uid, patch.clone())]).await), ["patched"]);
    let after = world.get("configmaps/a").await.document(200);
    assert_eq!(after["metadata"]["ownerReferences"], json!([owner("ConfigMap", "p", &parent)]));
    assert_eq!(after["metadata"]["finalizers"], json!(["example.com/x"]));
    assert_eq!(after["metadata"]["annotations"], json!({"sexton.dev/collection": "c-1"}));
    assert_eq!(after["metadata"]["managedFields"], before["metadata"]["managedFields"]);
    assert_eq!(after["data"], before["data"]);
    assert_eq!(told(&as_collector(&world, vec![item("a", &uid, patch)]).await), ["unchanged"]);
}

/// A chain dies in one request, owners last: every removal rests on nothing naming the life as its owner, which only
/// becomes true within the commit.
#[tokio::test]
async fn a_chain_dies_in_one_commit() {
    const LINKS: usize = 1_000;
    let world = World::embedded().await;
    let mut uids: Vec<String> = Vec::new();
    for number in 0..LINKS {
        let mut link = config_map(&format!("link-{number:04}"));
        if let Some(above) = uids.last() {
            let name = format!("link-{:04}", number - 1);
            link["metadata"]["ownerReferences"] = json!([owner("ConfigMap", &name, above)]);
        }
        uids.push(made(&world, "configmaps", &link).await);
    }
    let each = |action: Value, more: Value| -> Vec<Value> {
        let one = |(number, uid): (usize, &String)| {
            with(item(&format!("link-{number:04}"), uid, action.clone()), more.clone())
        };
        uids.iter().enumerate().rev().map(one).collect()
    };
    let marked = bulk(&world, each(json!({"delete": {}}), json!({}))).await;
    assert!(told(&marked).iter().all(|outcome| outcome == "marked"));
    // The wrong way round nothing but the last link can go.
    let mut wrong = each(release(&["cascade_deletion"]), json!({"unreferenced": true}));
    wrong.reverse();
    let results = told(&as_collector(&world, wrong).await);
    assert_eq!(results[LINKS - 1], "removed");
    assert!(results[..LINKS - 1].iter().all(|outcome| outcome == "409 StillReferenced"));
    let items = each(release(&["cascade_deletion"]), json!({"unreferenced": true}));
    let results = as_collector(&world, items).await;
    assert_eq!(told(&results)[0], "404 NotFound");
    assert!(told(&results)[1..].iter().all(|outcome| outcome == "removed"));
    let revisions: Vec<u64> = results[1..]
        .iter()
        .map(|result| result["resourceVersion"].as_str().unwrap().parse().unwrap())
        .collect();
    assert!(revisions.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let world = world.restart().await;
    assert_eq!(world.get("configmaps").await.document(200)["items"], json!([]));
}

#[tokio::test]
async fn what_is_left_of_a_life_comes_with_its_removal() {
    let world = World::new().await;
    let (a, b) = (
        made(&world, "configmaps", &config_map("a")).await,
        made(&world, "configmaps", &config_map("b")).await,
    );
    let mut large = config_map("large");
    large["data"]["k"] = "x".repeat(70_000).into();
    let c = made(&world, "configmaps", &large).await;
    let note = |more: Value| json!({"tombstone": with(json!({"reason": "asked for"}), more)});
    let results = as_collector(
        &world,
        vec![
            with(item("a", &a, delete("Background")), note(json!({}))),
            with(item("b", &b, json!({"delete": {}})), note(json!({}))),
            with(item("large", &c, delete("Background")), note(json!({"name": "t-large"}))),
        ],
    )
    .await;
    assert_eq!(told(&results), ["removed", "marked", "removed"]);
    let tomb = stored(&world, &a).await.unwrap();
    assert_eq!((&tomb["kind"], &tomb["apiVersion"]), (&json!("Tombstone"), &json!("sexton.dev/v1")));
    assert_eq!(tomb["spec"]["reason"], "asked for");
    assert_eq!(tomb["spec"]["document"]["metadata"]["name"], "a");
    assert_eq!(tomb["spec"]["document"]["data"], json!({"k": "v"}));
    assert_eq!(tomb["spec"]["document"]["metadata"].get("managedFields"), None);
    let removal: u64 = results[0]["resourceVersion"].as_str().unwrap().parse().unwrap();
    assert_eq!(tomb["metadata"]["resourceVersion"], (removal - 1).to_string());
    assert_eq!(stored(&world, &b).await, None);
    let omitted = stored(&world, "t-large").await.unwrap();
    assert_eq!((&omitted["spec"]["documentOmitted"], omitted["spec"].get("document")), (&json!(true), None));
    // A name that is taken, or none: the life stays.
    let taken = vec![with(item("b", &b, release(&["cascade_deletion"])), note(json!({"name": "t-large"})))];
    assert_eq!(told(&as_collector(&world, taken).await), ["409 Conflict"]);
    for nonsense in [json!({"tombstone": 7}), note(json!({"name": "No Name"})), note(json!({"name": 7}))] {
        let items = vec![with(item("b", &b, release(&["cascade_deletion"])), nonsense)];
        assert_eq!(told(&as_collector(&world, items).await), ["422 Invalid"]);
    }
    let items = vec![with(item("b", &b, release(&["cascade_deletion"])), note(json!({})))];
    assert_eq!(told(&as_collector(&world, items).await), ["removed"]);
    assert_eq!(stored(&world, &b).await.unwrap()["spec"]["document"]["metadata"]["name"], "b");
}

/// A tombstone as it is stored.
async fn stored(world: &World, name: &str) -> Option<Value> {
    let kind = GroupResource::new("sexton.dev", "tombstones");
    let key = Key { kind, namespace: String::new(), name: name.to_owned() };
    let object = world.api().store().get(&key, At::Latest).await.unwrap()?;
    Some(object.document().unwrap().into_value())
}

/// Switching a definition's versions off does not keep its objects from going away.
#[tokio::test]
async fn objects_of_kinds_that_are_not_served_can_go() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let uid = made(&world, WIDGETS, &widget("w", 1)).await;
    let off = json!({"spec": {"versions": [with(widgets()["spec"]["versions"][0].clone(), json!({"served": false}))]}});
    world.merge(&format!("{DEFINITIONS}/widgets.demo.example.com"), &off).await.expect(200);
    world.get(&format!("{WIDGETS}/w")).await.expect(404);
    let gone = json!({
        "group": "demo.example.com", "resource": "widgets", "namespace": "default", "name": "w", "uid": uid,
        "action": {"delete": {"policy": "Background"}},
    });
    assert_eq!(told(&bulk(&world, vec![gone.clone()]).await), ["removed"]);
    assert_eq!(told(&bulk(&world, vec![gone]).await), ["404 NotFound"]);
}
