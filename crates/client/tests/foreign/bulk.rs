//! Writes one by one that answer as one bulk.

use http::Method;
use serde_json::json;
use sexton_client::foreign::{BulkOptions, FeedOptions};
use sexton_client::{BulkError, ForeignGateway, Gateway};
use sexton_model::bulk::{Action, Annotations, Bulk, Epoch, Item, ItemResult, Outcome};
use sexton_testkit::World;
use sexton_testkit::things::{config_map, held, owner};

use crate::faults::{Fault, Faults};

/// An item about an object as it is now.
pub(crate) async fn item(world: &World, resource: &str, name: &str, action: Action) -> Item {
    let path = if resource == "namespaces" {
        format!("/api/v1/namespaces/{name}")
    } else {
        format!("{resource}/{name}")
    };
    let object = world.get(&path).await.document(200);
    Item {
        group: String::new(),
        resource: resource.into(),
        namespace: object["metadata"]["namespace"].as_str().unwrap_or("").into(),
        name: name.into(),
        uid: object["metadata"]["uid"].as_str().unwrap().into(),
        also: Vec::new(),
        resource_version: object["metadata"]["resourceVersion"].as_str().map(str::to_owned),
        absent: Vec::new(),
        unreferenced: false,
        except: Vec::new(),
        owners: None,
        marked: Vec::new(),
        unchanged: Vec::new(),
        subscribers: None,
        unprotected: false,
        annotated: Annotations::new(),
        labelled: Annotations::new(),
        unmarked: false,
        action,
        tombstone: None,
    }
}

pub(crate) fn delete(policy: &str) -> Action {
    Action::Delete { policy: Some(policy.into()), annotations: Annotations::new(), hold: false }
}

pub(crate) fn patch(remove: &[&str], add: &[&str], owners: &[&str]) -> Action {
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    Action::Patch {
        remove_finalizers: words(remove),
        add_finalizers: words(add),
        remove_owners: words(owners),
        annotations: Annotations::new(),
    }
}

pub(crate) fn gateway(client: &kube::Client) -> ForeignGateway {
    ForeignGateway::new(client.clone(), FeedOptions::default(), BulkOptions::default())
}

pub(crate) async fn one(gateway: &ForeignGateway, item: Item) -> ItemResult {
    let bulk = Bulk { epoch: None, items: vec![item] };
    gateway.bulk(&bulk).await.unwrap().items.remove(0)
}

pub(crate) fn reason(result: &ItemResult) -> (u16, String) {
    (result.code, result.status.as_ref().map_or(String::new(), |status| status.reason.to_string()))
}

/// Race 13: what is gone already is said to be gone, and so is a successor's predecessor; nothing else is touched.
#[tokio::test]
async fn only_the_life_and_the_version_that_are_meant() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let gateway = gateway(&client);
    world.create("configmaps", &config_map("a")).await.expect(201);
    let first = item(&world, "configmaps", "a", delete("Background")).await;
    world.merge("configmaps/a", &json!({"data": {"x": "y"}})).await.expect(200);
    assert_eq!(reason(&one(&gateway, first.clone()).await), (409, "Conflict".into()));
    let second = item(&world, "configmaps", "a", delete("Background")).await;
    let done = one(&gateway, second.clone()).await;
    assert_eq!((done.code, done.outcome, done.weaker), (200, Some(Outcome::Removed), None));
    assert_eq!(reason(&one(&gateway, second.clone()).await), (404, "NotFound".into()));
    world.create("configmaps", &config_map("a")).await.expect(201);
    assert_eq!(reason(&one(&gateway, second).await), (404, "NotFound".into()));
    let unversioned = Item { resource_version: None, ..first };
    assert_eq!(reason(&one(&gateway, unversioned).await), (404, "NotFound".into()));
    world.get("configmaps/a").await.expect(200);
}

/// EXT-13: who has other owners than those by which it was judged is left alone, and so is what somebody else marked.
#[tokio::test]
async fn only_with_the_owners_and_without_the_mark_that_are_meant() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let gateway = gateway(&client);
    let mut document = config_map("a");
    document["metadata"]["ownerReferences"] = json!([owner("ConfigMap", "x", "uid-x")]);
    world.create("configmaps", &document).await.expect(201);
    let gone = item(&world, "configmaps", "a", delete("Background")).await;
    let gone = Item { resource_version: None, unmarked: true, owners: Some(vec!["uid-y".into()]), ..gone };
    assert_eq!(reason(&one(&gateway, gone.clone()).await), (409, "OwnersChanged".into()));
    let gone = Item { owners: Some(vec!["uid-x".into()]), ..gone };
    world.delete("configmaps/a", &json!({"propagationPolicy": "Orphan"})).await.expect(200);
    assert_eq!(one(&gateway, gone.clone()).await.outcome, Some(Outcome::Unchanged));
    let asked = Item { unmarked: false, ..gone };
    assert_eq!(one(&gateway, asked).await.outcome, Some(Outcome::Removed));
}

/// Who carries other labels than those by which it was judged is left alone, by a patch and by a deletion.
#[tokio::test]
async fn only_with_the_labels_that_are_meant() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let gateway = gateway(&client);
    let mut document = config_map("a");
    document["metadata"]["labels"] = json!({"team": "red"});
    world.create("configmaps", &document).await.expect(201);
    let label = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
    for action in [patch(&[], &["example.com/one"], &[]), delete("Background")] {
        let change = item(&world, "configmaps", "a", action).await;
        for other in [label("team", Some("blue")), label("team", None), label("app", Some("x"))] {
            let refused = Item { labelled: [other].into(), ..change.clone() };
            assert_eq!(reason(&one(&gateway, refused).await), (409, "LabelsChanged".into()));
        }
        let meant = [label("team", Some("red")), label("app", None)].into();
        assert_eq!(one(&gateway, Item { labelled: meant, ..change }).await.code, 200);
    }
}

#[tokio::test]
async fn finalizers_owners_and_annotations_are_changed_and_the_last_finalizer_lets_go() {
    let world = World::plain().await;
    let (_, client) = Faults::over(&world);
    let gateway = gateway(&client);
    let mut document = held("a", "example.com/one");
    document["metadata"]["ownerReferences"] =
        json!([owner("ConfigMap", "x", "uid-x"), owner("ConfigMap", "y", "uid-y")]);
    world.create("configmaps", &document).await.expect(201);

    let mut strip = item(&world, "configmaps", "a", patch(&[], &["example.com/two"], &["uid-x"])).await;
    if let Action::Patch { annotations, .. } = &mut strip.action {
        annotations.insert("sexton.dev/deleted-by".into(), Some("ada".into()));
    }
    assert_eq!(one(&gateway, strip.clone()).await.outcome, Some(Outcome::Patched));
    let now = world.get("configmaps/a").await.document(200);
    assert_eq!(now["metadata"]["finalizers"], json!(["example.com/one", "example.com/two"]));
    assert_eq!(now["metadata"]["ownerReferences"][0]["uid"], "uid-y");
    assert_eq!(now["metadata"]["annotations"]["sexton.dev/deleted-by"], "ada");
    let again = Item { resource_version: None, ..strip };
    assert_eq!(one(&gateway, again).await.outcome, Some(Outcome::Unchanged));

    let mark = item(&world, "configmaps", "a", delete("Background")).await;
    assert_eq!(one(&gateway, mark).await.outcome, Some(Outcome::Marked));
    let mark = item(&world, "configmaps", "a", delete("Background")).await;
    assert_eq!(one(&gateway, mark).await.outcome, Some(Outcome::Unchanged));
    let release = patch(&["example.com/one", "example.com/two"], &[], &[]);
    let release = item(&world, "configmaps", "a", release).await;
    assert_eq!(one(&gateway, release).await.outcome, Some(Outcome::Removed));
    world.get("configmaps/a").await.expect(404);
}

#[tokio::test]
async fn a_namespace_is_let_go_through_its_own_door() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
    world.create("/api/v1/namespaces", &namespace).await.expect(201);
    let inside = "/api/v1/namespaces/n/configmaps";
    world.create(inside, &config_map("a")).await.expect(201);
    let gateway = gateway(&client);
    let mark = item(&world, "namespaces", "n", delete("Background")).await;
    assert_eq!(one(&gateway, mark).await.outcome, Some(Outcome::Marked));
    world.delete(&format!("{inside}/a"), &json!({"propagationPolicy": "Background"})).await.expect(200);
    let release = item(&world, "namespaces", "n", patch(&["kubernetes"], &[], &[])).await;
    assert_eq!(one(&gateway, release).await.outcome, Some(Outcome::Removed));
    world.get("/api/v1/namespaces/n").await.expect(404);
}

/// Race 17: many change the same list of finalizers, and nobody's change is lost.
#[tokio::test]
async fn writers_that_race_lose_nothing() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    world.create("configmaps", &config_map("a")).await.expect(201);
    let options = BulkOptions { attempts: 64, ..BulkOptions::default() };
    let gateway = ForeignGateway::new(client, FeedOptions::default(), options);
    let mut writes = Vec::new();
    for at in 0..8 {
        let finalizer = format!("example.com/f{at}");
        let mut add = item(&world, "configmaps", "a", patch(&[], &[&finalizer], &[])).await;
        add.resource_version = None;
        writes.push(one(&gateway, add));
    }
    for done in futures::future::join_all(writes).await {
        assert_eq!(done.outcome, Some(Outcome::Patched), "{done:?}");
    }
    let now = world.get("configmaps/a").await.document(200);
    assert_eq!(now["metadata"]["finalizers"].as_array().unwrap().len(), 8);

    faults.times(usize::MAX, Some(Method::PATCH), &["/configmaps/a"], Fault::Code(409));
    let add = item(&world, "configmaps", "a", patch(&[], &["example.com/never"], &[])).await;
    assert_eq!(one(&gateway, add).await.code, 409, "tries are bounded");
}

/// Only the holder of the lease acts; a lease that cannot be read is nobody's.
#[tokio::test]
async fn a_stale_epoch_stops_everything() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let gateway = gateway(&client);
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
        "spec": {"holderIdentity": "me", "leaseTransitions": 3}});
    world.create("/apis/coordination.k8s.io/v1/namespaces/default/leases", &lease).await.expect(201);
    for name in ["a", "b"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
    }
    let a = item(&world, "configmaps", "a", delete("Background")).await;
    let b = item(&world, "configmaps", "b", delete("Background")).await;
    let epoch = |holder: &str, transitions: i64| {
        let (namespace, name, holder) = ("default".into(), "l".into(), holder.into());
        Bulk {
            epoch: Some(Epoch { namespace, name, holder, transitions, proof: None }),
            items: vec![a.clone(), b.clone()],
        }
    };
    for stale in [epoch("you", 3), epoch("me", 2)] {
        let done = gateway.bulk(&stale).await.unwrap();
        assert!(done.items.iter().all(|done| reason(done) == (409, "StaleEpoch".into())), "{done:?}");
        assert_eq!(done.items.len(), 2);
    }
    faults.on(&["/leases/l"], Fault::Code(500));
    assert!(gateway.bulk(&epoch("me", 3)).await.unwrap().items.iter().all(|done| done.code == 500));
    faults.heal();
    let done = gateway.bulk(&epoch("me", 3)).await.unwrap();
    assert!(done.items.iter().all(|done| done.outcome == Some(Outcome::Removed)));
    assert!(done.items[0].weaker.as_deref().unwrap().starts_with("epoch: "));
}

#[tokio::test]
async fn a_bulk_that_our_own_server_would_refuse_is_refused() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    world.create("configmaps", &config_map("a")).await.expect(201);
    let a = item(&world, "configmaps", "a", delete("Background")).await;
    let twice = Bulk { epoch: None, items: vec![a.clone(), a.clone()] };
    let many = Bulk { epoch: None, items: vec![a; 5_001] };
    for bulk in [twice, many] {
        let error = gateway(&client).bulk(&bulk).await.unwrap_err();
        assert!(
            matches!(error, BulkError::Call(sexton_client::CallError::Refused(status)) if status.code == 400)
        );
    }
    world.get("configmaps/a").await.expect(200);
}

/// In parallel or not, results come in the order of the items.
#[tokio::test]
async fn parallel_runs_answer_in_order() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    let mut items = Vec::new();
    for at in 0..40 {
        let name = format!("c{at}");
        world.create("configmaps", &config_map(&name)).await.expect(201);
        let mut next = item(&world, "configmaps", &name, delete("Background")).await;
        if at % 3 == 0 {
            next.uid = "another life".into();
        }
        items.push(next);
    }
    let options = BulkOptions { parallel: 16, ..BulkOptions::default() };
    let gateway = ForeignGateway::new(client, FeedOptions::default(), options);
    let done = gateway.bulk(&Bulk { epoch: None, items }).await.unwrap();
    let codes: Vec<u16> = done.items.iter().map(|done| done.code).collect();
    let expected: Vec<u16> = (0..40).map(|at| if at % 3 == 0 { 404 } else { 200 }).collect();
    assert_eq!(codes, expected);
}

/// A server that falls silent costs one item its answer, and the others nothing.
#[tokio::test]
async fn silence_is_an_answer_of_its_own() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let mut items = Vec::new();
    for name in ["a", "b"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
        items.push(item(&world, "configmaps", name, delete("Background")).await);
    }
    faults.times(1, Some(Method::DELETE), &["/configmaps/a"], Fault::Silence);
    let gateway = gateway(&client);
    let work = tokio::spawn(async move { gateway.bulk(&Bulk { epoch: None, items }).await });
    faults.fall_silent().await;
    // The patience for that one passes in a moment; the other has all of its own.
    tokio::time::pause();
    tokio::time::advance(BulkOptions::default().patience).await;
    tokio::time::resume();
    let done = work.await.unwrap().unwrap().items;
    assert_eq!(reason(&done[0]), (504, "Timeout".into()));
    assert_eq!(done[1].outcome, Some(Outcome::Removed));
}
