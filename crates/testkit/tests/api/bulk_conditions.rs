//! What an item rests on is checked in the committing transaction, and only what rests on something untrue is refused.

use std::sync::Arc;

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, owner, widget, widgets};

use crate::bulk::{BULK, as_collector, bulk, delete, item, made, release, told, with};

pub(crate) fn child(name: &str, of: &str, uid: &str) -> Value {
    let mut document = config_map(name);
    document["metadata"]["ownerReferences"] = json!([owner("ConfigMap", of, uid)]);
    document
}

/// EXT-16: every write is compare-and-swap, and one bad item stops no other.
#[tokio::test]
async fn each_item_stands_or_falls_alone() {
    let world = World::new().await;
    let mut uids = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        uids.push(made(&world, "configmaps", &config_map(name)).await);
    }
    let version = world.get("configmaps/b").await.document(200)["metadata"]["resourceVersion"].clone();
    let background = || delete("Background");
    let results = bulk(
        &world,
        vec![
            with(item("a", &uids[0], background()), json!({"resourceVersion": "1"})),
            with(item("b", &uids[1], background()), json!({"resourceVersion": version})),
            with(item("c", &uids[2], background()), json!({"absent": ["u-1", uids[3], uids[1]]})),
            item("d", &uids[3], json!({"delete": {"policy": "Sideways"}})),
            with(item("e", &uids[4], background()), json!({"absent": [uids[1]], "unreferenced": true})),
            with(item("a", &uids[0], background()), json!({"resource": "nonsense"})),
            with(item("a", &uids[0], background()), json!({"namespace": ""})),
        ],
    )
    .await;
    let expected = [
        "409 Conflict",
        "removed",
        "409 StillPresent",
        "422 Invalid",
        "removed",
        "404 NotFound",
        "404 NotFound",
    ];
    assert_eq!(told(&results), expected);
    let causes = &results[2]["status"]["details"]["causes"];
    assert_eq!(causes.as_array().unwrap().len(), 1, "{causes}");
    assert_eq!(causes[0]["message"], uids[3].as_str());
    // The uid of another object: what has the name now is not meant.
    assert_eq!(told(&bulk(&world, vec![item("a", &uids[1], background())]).await), ["404 NotFound"]);
    for (name, code) in [("a", 200), ("b", 404), ("c", 200), ("d", 200), ("e", 404)] {
        world.get(&format!("configmaps/{name}")).await.expect(code);
    }
}

#[tokio::test]
async fn whoever_is_named_as_an_owner_stays() {
    let world = World::new().await;
    let parent = made(&world, "configmaps", &config_map("p")).await;
    let mut children = Vec::new();
    for number in 0..5 {
        let name = format!("c{number}");
        children.push(made(&world, "configmaps", &child(&name, "p", &parent)).await);
    }
    let gone = |more: Value| with(item("p", &parent, delete("Background")), more);
    let results = bulk(&world, vec![gone(json!({"unreferenced": true}))]).await;
    assert_eq!(told(&results), ["409 StillReferenced"]);
    let message = results[0]["status"]["message"].as_str().unwrap();
    assert!(
        message.contains("configmaps/default/c0") && message.contains("c2") && !message.contains("c3"),
        "{message}"
    );
    assert_eq!(results[0]["status"]["details"]["causes"].as_array().unwrap().len(), 3);
    // Those that go together with it do not count.
    let results = bulk(&world, vec![gone(json!({"unreferenced": true, "except": children[..4]}))]).await;
    assert_eq!(told(&results), ["409 StillReferenced"]);
    let results = bulk(&world, vec![gone(json!({"unreferenced": true, "except": children}))]).await;
    assert_eq!(told(&results), ["removed"]);
}

/// A ring, and one that owns itself: they go together.
#[tokio::test]
async fn a_ring_goes_as_one() {
    let world = World::new().await;
    let a = made(&world, "configmaps", &config_map("a")).await;
    let b = made(&world, "configmaps", &child("b", "a", &a)).await;
    let refer =
        |name: &str, uid: &str| json!({"metadata": {"ownerReferences": [owner("ConfigMap", name, uid)]}});
    world.merge("configmaps/a", &refer("b", &b)).await.expect(200);
    let own = made(&world, "configmaps", &config_map("own")).await;
    world.merge("configmaps/own", &refer("own", &own)).await.expect(200);
    let alone = vec![with(item("a", &a, delete("Background")), json!({"unreferenced": true}))];
    assert_eq!(told(&bulk(&world, alone).await), ["409 StillReferenced"]);
    let ring = vec![
        with(item("a", &a, delete("Background")), json!({"unreferenced": true, "except": [b]})),
        with(item("b", &b, delete("Background")), json!({"unreferenced": true, "except": [a]})),
        with(item("own", &own, delete("Background")), json!({"unreferenced": true})),
    ];
    assert_eq!(told(&bulk(&world, ring).await), ["removed", "removed", "removed"]);
}

#[tokio::test]
async fn owners_are_as_the_judgement_knew_them() {
    let world = World::new().await;
    let parent = made(&world, "configmaps", &config_map("p")).await;
    let uid = made(&world, "configmaps", &child("c", "p", &parent)).await;
    let gone = |owners: Value| with(item("c", &uid, delete("Background")), json!({"owners": owners}));
    for other in [json!([]), json!(["u"]), json!([parent, "u"])] {
        let results = bulk(&world, vec![gone(other)]).await;
        assert_eq!(told(&results), ["409 OwnersChanged"]);
    }
    assert_eq!(told(&bulk(&world, vec![gone(json!([parent]))]).await), ["removed"]);
}

#[tokio::test]
async fn what_has_contents_is_referenced() {
    let world = World::new().await;
    let namespace = made(&world, "/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await;
    let inside = made(&world, "/api/v1/namespaces/n/configmaps", &config_map("a")).await;
    let definition = made(&world, DEFINITIONS, &widgets()).await;
    let instance = made(&world, WIDGETS, &widget("w", 1)).await;
    let crd = |action: Value| {
        json!({
            "group": "apiextensions.k8s.io", "resource": "customresourcedefinitions", "name": "widgets.demo.example.com",
            "uid": definition, "action": action, "unreferenced": true,
        })
    };
    let ns = |action: Value| {
        json!({
            "resource": "namespaces", "name": "n", "uid": namespace, "action": action, "unreferenced": true,
        })
    };
    let mark = |item: Value| with(item, json!({"unreferenced": false}));
    let marked = bulk(&world, vec![mark(ns(json!({"delete": {}}))), mark(crd(json!({"delete": {}})))]).await;
    assert_eq!(told(&marked), ["marked", "marked"]);
    let hold = "customresourcecleanup.apiextensions.k8s.io";
    let release = || vec![ns(release(&["kubernetes"])), crd(release(&[hold]))];
    assert_eq!(told(&as_collector(&world, release()).await), ["409 StillReferenced", "409 StillReferenced"]);
    // With the contents before them they go, in the same commit.
    let mut all = vec![
        with(item("a", &inside, delete("Background")), json!({"namespace": "n"})),
        with(
            item("w", &instance, delete("Background")),
            json!({"group": "demo.example.com", "resource": "widgets"}),
        ),
    ];
    all.extend(release());
    assert_eq!(told(&as_collector(&world, all).await), ["removed"; 4]);
    world.get("/api/v1/namespaces/n").await.expect(404);
    world.get(WIDGETS).await.expect(404);
    let permanent = world.get("/api/v1/namespaces/default").await.document(200);
    let item = json!({
        "resource": "namespaces", "name": "default", "uid": permanent["metadata"]["uid"], "action": {"delete": {}},
    });
    assert_eq!(told(&bulk(&world, vec![item]).await), ["403 Forbidden"]);
}

async fn lease(world: &World) -> Value {
    let lease = json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}});
    world.create("/apis/coordination.k8s.io/v1/namespaces/default/leases", &lease).await.document(201)
}

fn epoch(holder: &str, transitions: i64) -> Value {
    json!({"namespace": "default", "name": "l", "holder": holder, "transitions": transitions})
}

#[tokio::test]
async fn whose_turn_is_over_writes_nothing() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let send = async |epoch: Value| {
        world.create(BULK, &json!({"epoch": epoch, "items": [item("a", &uid, delete("Background"))]})).await
    };
    let dump = world.dump().await;
    assert_eq!(send(epoch("me", 0)).await.document(409)["reason"], "StaleEpoch");
    let mut held = lease(&world).await;
    for stale in [epoch("you", 0), epoch("me", 1), epoch("me", -1), epoch("", 0)] {
        assert_eq!(send(stale).await.document(409)["reason"], "StaleEpoch");
    }
    assert_eq!(world.dump().await.len(), dump.len() + 1);
    held["spec"]["leaseTransitions"] = 3.into();
    world.put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l", &held).await.expect(200);
    assert_eq!(send(epoch("me", 0)).await.document(409)["reason"], "StaleEpoch");
    let done = send(epoch("me", 3)).await.document(200);
    assert_eq!(done["items"][0]["outcome"], "removed");
}

/// The lease is renewed all the while: that is no reason to refuse, only to look again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_is_no_loss() {
    let world = Arc::new(World::new().await);
    lease(&world).await;
    let renewing = tokio::spawn({
        let world = world.clone();
        async move {
            for turn in 0..200 {
                let spec = json!({"spec": {"renewTime": format!("2026-11-15T20:00:00.{turn:06}Z")}});
                world
                    .merge("/apis/coordination.k8s.io/v1/namespaces/default/leases/l", &spec)
                    .await
                    .expect(200);
            }
        }
    });
    for round in 0..20 {
        let mut items = Vec::new();
        for number in 0..20 {
            let name = format!("m-{round}-{number}");
            let uid = made(&world, "configmaps", &config_map(&name)).await;
            items.push(item(&name, &uid, delete("Background")));
        }
        let answer =
            world.create(BULK, &json!({"epoch": epoch("me", 0), "items": items})).await.document(200);
        assert!(told(answer["items"].as_array().unwrap()).iter().all(|outcome| outcome == "removed"));
    }
    renewing.await.unwrap();
}

/// Others change the objects meanwhile; whoever lost decides again and nothing is refused for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn races_are_decided_again() {
    let world = Arc::new(World::new().await);
    let mut uids = Vec::new();
    for number in 0..40 {
        uids.push(made(&world, "configmaps", &config_map(&format!("r-{number:02}"))).await);
    }
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let world = world.clone();
            tokio::spawn(async move {
                for turn in 0..200 {
                    let path = format!("configmaps/r-{:02}", (turn * 7 + writer) % 40);
                    let answer = world.merge(&path, &json!({"data": {"turn": turn.to_string()}})).await;
                    assert!(matches!(answer.code, 200 | 404 | 409), "{}", answer.code);
                }
            })
        })
        .collect();
    let items = |action: Value| -> Vec<Value> {
        uids.iter()
            .enumerate()
            .map(|(number, uid)| item(&format!("r-{number:02}"), uid, action.clone()))
            .collect()
    };
    for turn in 0..20 {
        let patch = json!({"patch": {"annotations": {"turn": turn.to_string()}}});
        assert!(told(&bulk(&world, items(patch)).await).iter().all(|outcome| outcome == "patched"));
    }
    assert!(
        told(&bulk(&world, items(json!({"delete": {}}))).await).iter().all(|outcome| outcome == "marked")
    );
    assert!(
        told(&as_collector(&world, items(release(&["cascade_deletion"]))).await)
            .iter()
            .all(|told| told == "removed")
    );
    for writer in writers {
        writer.await.unwrap();
    }
}

/// Children are made all the while; whatever goes as unreferenced leaves none behind that named it at that moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_orphaned_by_a_removal_that_did_not_see_it() {
    let world = Arc::new(World::new().await);
    for round in 0..40 {
        let parent = made(&world, "configmaps", &config_map(&format!("p{round}"))).await;
        let making = tokio::spawn({
            let (world, parent) = (world.clone(), parent.clone());
            async move {
                let name = format!("c{round}");
                world.create("configmaps", &child(&name, &format!("p{round}"), &parent)).await.document(201)
            }
        });
        let gone =
            with(item(&format!("p{round}"), &parent, delete("Background")), json!({"unreferenced": true}));
        let results = bulk(&world, vec![gone]).await;
        let version = |document: &Value| -> u64 { document.as_str().unwrap().parse().unwrap() };
        let born = version(&making.await.unwrap()["metadata"]["resourceVersion"]);
        match told(&results)[0].as_str() {
            "removed" => assert!(version(&results[0]["resourceVersion"]) < born),
            other => assert_eq!(other, "409 StillReferenced"),
        }
    }
}

#[tokio::test]
async fn nonsense_is_refused_as_a_whole() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let good = || item("a", &uid, delete("Background"));
    let dump = world.dump().await;
    let many = |count: usize| -> Vec<Value> {
        (0..count).map(|number| with(good(), json!({"name": format!("n{number}")}))).collect()
    };
    for (body, code) in [
        (json!({"items": [good(), good()]}), 400),
        (json!({"items": many(5_001)}), 400),
        (json!({"items": [with(good(), json!({"uid": ""}))]}), 400),
        (json!({"items": [with(good(), json!({"name": ""}))]}), 400),
        (json!({"items": [with(good(), json!({"action": {"explode": {}}}))]}), 400),
        (json!({"items": [with(good(), json!({"action": null}))]}), 400),
        (json!({"items": [with(good(), json!({"absent": "x"}))]}), 400),
        (json!({"items": {}}), 400),
        (json!([]), 400),
        (json!({}), 400),
        (json!({"items": [], "epoch": 7}), 400),
    ] {
        let answer = world.create(BULK, &body).await;
        assert_eq!(answer.code, code, "{:.200} {:.300}", body.to_string(), answer.json);
    }
    world.call("POST", BULK).bytes("{").send().await.expect(400);
    world.call("POST", BULK).bytes("x".repeat((16 << 20) + 1)).send().await.expect(413);
    world
        .call("POST", BULK)
        .header("content-type", "text/plain")
        .json(&json!({"items": []}))
        .send()
        .await
        .expect(415);
    world
        .call("POST", &format!("{BULK}?dryRun=All"))
        .json(&json!({"items": [good()]}))
        .send()
        .await
        .expect(400);
    for method in ["GET", "PUT", "DELETE", "MERGE"] {
        world.call(method, BULK).send().await.expect(405);
    }
    assert_eq!(world.dump().await, dump);
    assert_eq!(bulk(&world, Vec::new()).await, Vec::<Value>::new());
    let more = json!({"apiVersion": "sexton.dev/v1", "kind": "Bulk", "items": many(5_000)});
    let answer = world.create(BULK, &more).await.document(200);
    assert_eq!(answer["items"].as_array().unwrap().len(), 5_000);
}

/// Large objects come to more than one commit takes; the order stays, and so does what rests on it.
#[tokio::test]
async fn large_objects_take_several_commits() {
    let world = World::new().await;
    let mut uids: Vec<String> = Vec::new();
    for number in 0..8 {
        let mut document = config_map(&format!("l-{number:02}"));
        document["data"]["k"] = "x".repeat(2_900_000).into();
        if let Some(above) = uids.last() {
            let name = format!("l-{:02}", number - 1);
            document["metadata"]["ownerReferences"] = json!([owner("ConfigMap", &name, above)]);
        }
        uids.push(made(&world, "configmaps", &document).await);
    }
    let items = |action: Value, more: Value| -> Vec<Value> {
        let one = |(number, uid): (usize, &String)| {
            with(item(&format!("l-{number:02}"), uid, action.clone()), more.clone())
        };
        uids.iter().enumerate().rev().map(one).collect()
    };
    assert_eq!(told(&bulk(&world, items(json!({"delete": {}}), json!({}))).await), ["marked"; 8]);
    let gone =
        items(release(&["cascade_deletion"]), json!({"unreferenced": true, "tombstone": {"reason": "test"}}));
    assert_eq!(told(&as_collector(&world, gone).await), ["removed"; 8]);
}

/// What is put on by this verb follows the grammar of everybody.
#[tokio::test]
async fn marks_have_a_grammar() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    for action in [
        json!({"patch": {"addFinalizers": ["no such name"]}}),
        json!({"patch": {"annotations": {"not a key": "x"}}}),
        json!({"patch": {"annotations": {"big": "x".repeat(300 << 10)}}}),
        json!({"delete": {"annotations": {"not a key": "x"}}}),
    ] {
        let results = bulk(&world, vec![item("a", &uid, action)]).await;
        assert_eq!(told(&results), ["422 Invalid"]);
    }
}
