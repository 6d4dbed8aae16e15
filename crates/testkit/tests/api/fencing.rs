//! What only the holder of a lease may write: every door through which it could be forged, and the lease itself.

use std::task::Poll;

use serde_json::{Value, json};
use sexton_model::bulk::{Action, Annotations, Bulk, Item};
use sexton_model::lease::{PROOF_DIGEST, PROOF_HEADER, Proof};
use sexton_model::{GroupResource, Key};
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, Tokens, router};
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, widget, widgets};
use sexton_testkit::{Call, World};

use crate::bulk::{BULK, as_collector, bulk, item, made, release, told};

const JOURNAL: &str = "sexton.dev/destruction";
const DESTROYED: &str = "sexton.dev/destroyed";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sexton-collector";
const SECRET: &str = "a secret of the tests";

/// A patch and a deletion that both write an annotation.
fn writes(name: &str) -> [Value; 2] {
    [json!({"patch": {"annotations": {name: "true"}}}), json!({"delete": {"annotations": {name: "true"}}})]
}

async fn under(world: &World, epoch: &Value, items: Vec<Value>) -> sexton_testkit::Answer {
    world.create(BULK, &json!({"epoch": epoch, "items": items})).await
}

/// A lease that is held with a proof, and the epoch of its holder.
async fn lease(world: &World, namespace: &str, name: &str) -> Value {
    let proof = Proof::new("another secret");
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
    let metadata = json!({"name": name, "annotations": {PROOF_DIGEST: proof.digest()}});
    world.create(&path, &json!({"metadata": metadata, "spec": {"holderIdentity": "me"}})).await.expect(201);
    json!({"namespace": namespace, "name": name, "holder": "me", "transitions": 0, "proof": proof.secret()})
}

/// REQ-MUR-28: a bulk request without a lease cannot say that an object was destroyed.
#[tokio::test]
async fn no_bulk_without_a_lease_forges_a_destruction() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    for action in [JOURNAL, DESTROYED].into_iter().flat_map(writes) {
        let results = bulk(&world, vec![item("a", &uid, action)]).await;
        assert_eq!(told(&results), ["403 Forbidden"]);
        let message = results[0]["status"]["message"].as_str().unwrap();
        assert!(message.contains("is written only under the collector's lease"), "{message}");
    }
    let kept = world.get("configmaps/a").await.document(200);
    assert!(kept["metadata"]["deletionTimestamp"].is_null() && kept["metadata"]["annotations"].is_null());
}

/// Holder and transitions can be read by every client, so they prove nothing.
#[tokio::test]
async fn the_name_of_the_holder_is_no_proof() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let mut epoch = world.collector_epoch().await;
    let shown = world.get(LEASE).await.document(200).to_string();
    assert!(!shown.contains(SECRET) && shown.contains("holderIdentity"), "{shown}");
    let [forged, _] = writes(DESTROYED);
    epoch.as_object_mut().unwrap().remove("proof");
    let answer = under(&world, &epoch, vec![item("a", &uid, forged.clone())]).await.document(200);
    assert_eq!(told(answer["items"].as_array().unwrap()), ["403 Forbidden"]);
    // Neither is the digest, which can be read as well.
    for wrong in ["", "guessed", &Proof::new(SECRET).digest()] {
        epoch["proof"] = json!(wrong);
        let refused = under(&world, &epoch, vec![item("a", &uid, forged.clone())]).await.expect(403);
        assert!(refused.text_at("message").contains("not that of its holder"), "{:?}", refused.json);
    }
    epoch["proof"] = json!(SECRET);
    let answer = under(&world, &epoch, vec![item("a", &uid, forged)]).await.document(200);
    assert_eq!(told(answer["items"].as_array().unwrap()), ["patched"]);
}

/// A lease of one's own gives no right to the objects of others; that of an environment only to its objects.
#[tokio::test]
async fn another_lease_is_no_proof() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let [forged, _] = writes(JOURNAL);
    for (namespace, name) in
        [("default", "sexton-collector"), ("kube-system", "mine"), ("default", "sexton-environment-default")]
    {
        let epoch = lease(&world, namespace, name).await;
        let answer = under(&world, &epoch, vec![item("a", &uid, forged.clone())]).await.document(200);
        assert_eq!(told(answer["items"].as_array().unwrap()), ["403 Forbidden"], "{namespace}/{name}");
    }
}

/// The holds of a destruction go when the collector says so, and then only.
#[tokio::test]
async fn no_bulk_takes_the_hold_of_a_destruction_off() {
    let world = World::new().await;
    for hold in ["sexton.dev/destroy", "sexton.dev/in-use"] {
        let name = hold.rsplit('/').next().unwrap();
        let mut held = config_map(name);
        held["metadata"]["finalizers"] = json!([hold]);
        let uid = made(&world, "configmaps", &held).await;
        world
            .delete(&format!("configmaps/{name}"), &json!({"propagationPolicy": "Background"}))
            .await
            .expect(200);
        let gone = || vec![item(name, &uid, release(&[hold]))];
        assert_eq!(told(&bulk(&world, gone()).await), ["403 Forbidden"], "{hold}");
        world.get(&format!("configmaps/{name}")).await.expect(200);
        assert_eq!(told(&as_collector(&world, gone()).await), ["removed"]);
    }
}

/// The same for the hold of the cascade and the other holds that the collector takes off, and for what a collection writes.
#[tokio::test]
async fn no_bulk_without_a_lease_ends_a_cascade() {
    let world = World::new().await;
    for (hold, policy) in
        [("cascade_deletion", "Cascade"), ("foregroundDeletion", "Foreground"), ("orphan", "Orphan")]
    {
        let name = policy.to_lowercase();
        let uid = made(&world, "configmaps", &config_map(&name)).await;
        let path = format!("configmaps/{name}");
        let held = json!({"metadata": {"finalizers": ["example.com/mine"]}});
        world.merge(&path, &held).await.expect(200);
        let options = if policy == "Cascade" { json!({}) } else { json!({"propagationPolicy": policy}) };
        world.delete(&path, &options).await.expect(200);
        let gone = || vec![item(&name, &uid, release(&[hold]))];
        assert_eq!(told(&bulk(&world, gone()).await), ["403 Forbidden"], "{hold}");
        // A person takes it off by hand, as on any Kubernetes.
        let by_hand = json!({"metadata": {"finalizers": ["example.com/mine"]}});
        world.merge(&path, &by_hand).await.expect(200);
        let finalizers = world.get(&path).await.document(200)["metadata"]["finalizers"].clone();
        assert_eq!(finalizers, json!(["example.com/mine"]), "{hold}");
        // Holds of others are theirs.
        assert_eq!(
            told(&bulk(&world, vec![item(&name, &uid, release(&["example.com/mine"]))]).await),
            ["removed"]
        );
    }
    let uid = made(&world, "/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await;
    let namespace =
        json!({"resource": "namespaces", "name": "n", "uid": uid, "action": release(&["kubernetes"])});
    assert_eq!(told(&bulk(&world, vec![namespace]).await), ["403 Forbidden"]);
    let uid = made(&world, "configmaps", &config_map("a")).await;
    for name in ["sexton.dev/deleted-by", "sexton.dev/collection"] {
        let [patch, _] = writes(name);
        assert_eq!(
            told(&bulk(&world, vec![item("a", &uid, patch.clone())]).await),
            ["403 Forbidden"],
            "{name}"
        );
        assert_eq!(told(&as_collector(&world, vec![item("a", &uid, patch)]).await), ["patched"], "{name}");
    }
}

/// What is said of a removal is said by the collector: no other requester leaves a tombstone, alone or with a removal.
#[tokio::test]
async fn records_are_the_collectors() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let mut buried = item("a", &uid, json!({"delete": {"policy": "Background"}}));
    buried["tombstone"] = json!({"reason": "because"});
    assert_eq!(told(&bulk(&world, vec![buried.clone()]).await), ["403 Forbidden"]);
    let (collector, document) =
        (world.as_collector().await, |spec: Value| json!({"metadata": {"name": "r"}, "spec": spec}));
    for plural in ["collections", "tombstones"] {
        let path = format!("/apis/sexton.dev/v1/{plural}");
        let (said, forged) =
            (json!({"reason": "asked", "trigger": "delete"}), json!({"reason": "forged", "trigger": "x"}));
        let refused = world.create(&path, &document(said.clone())).await.expect(403);
        assert!(refused.text_at("message").contains("with the proof of its holder"), "{:?}", refused.json);
        let mut whole = collector.create(&path, &document(said.clone())).await.document(201);
        let one = format!("{path}/r");
        world.merge(&one, &json!({"spec": forged})).await.expect(403);
        let mut config = document(forged.clone());
        let kind = if plural == "collections" { "Collection" } else { "Tombstone" };
        (config["apiVersion"], config["kind"]) = (json!("sexton.dev/v1"), json!(kind));
        let apply = world.call("APPLY", &format!("{one}?fieldManager=me&force=true")).json(&config);
        apply.send().await.expect(403);
        whole["spec"] = forged;
        world.put(&one, &whole).await.expect(403);
        let about = |action: Value| json!({"group": "sexton.dev", "resource": plural, "name": "r", "uid": whole["metadata"]["uid"], "action": action});
        let put = json!({"put": {"object": config, "fieldManager": "me"}});
        assert_eq!(told(&bulk(&world, vec![about(put)]).await), ["403 Forbidden"]);
        // A request to the collector about the record is free, and so is its deletion.
        world
            .merge(&one, &json!({"metadata": {"annotations": {"sexton.dev/request": "{}"}}}))
            .await
            .expect(200);
        assert_eq!(world.get(&one).await.document(200)["spec"], said);
        world.delete(&one, &json!({"propagationPolicy": "Background"})).await.expect(200);
    }
    assert_eq!(told(&as_collector(&world, vec![buried]).await), ["removed"]);
}

/// Who asked for a deletion is the requester that the server knows, whatever the request says; and no document says it before.
#[tokio::test]
async fn a_requester_is_not_forged() {
    let world = World::new().await;
    let tokens = Tokens::parse("0123456789abcdef-eve,eve\n").unwrap();
    let app = App::new(
        world.api().clone(),
        Authentication::Required(tokens),
        RequestLimits::default(),
        Metrics::default(),
    );
    let mut document = config_map("a");
    document["metadata"]["finalizers"] = json!(["example.com/mine"]);
    let uid = made(&world, "configmaps", &document).await;
    for name in ["sexton.dev/deleted-by", "sexton.dev/collection"] {
        let said = json!({"metadata": {"annotations": {name: "ada"}}});
        world.merge("configmaps/a", &said).await.expect(422);
        let mut copy = config_map("b");
        copy["metadata"]["annotations"] = said["metadata"]["annotations"].clone();
        world.create("configmaps", &copy).await.expect(422);
    }
    let delete = json!({"delete": {"policy": "Background", "annotations": {"sexton.dev/deleted-by": "ada"}}});
    let call = Call::new(router(app), "POST", BULK).json(&json!({"items": [item("a", &uid, delete)]}));
    call.header("authorization", "Bearer 0123456789abcdef-eve").send().await.expect(200);
    let marked = world.get("configmaps/a").await.document(200);
    assert_eq!(marked["metadata"]["annotations"]["sexton.dev/deleted-by"], "eve");
}

/// What an approved plan said is written with the deletion; no other write adds, changes or takes it off.
#[tokio::test]
async fn an_approval_is_not_forged() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let approved = |value: Value| json!({"metadata": {"annotations": {"sexton.dev/approved": value}}});
    world.merge("configmaps/a", &approved(json!("d1"))).await.expect(422);
    let [patch, _] = writes("sexton.dev/approved");
    assert_eq!(told(&bulk(&world, vec![item("a", &uid, patch)]).await), ["patched"]);
    world.merge("configmaps/a", &approved(json!("other"))).await.expect(422);
    let kept = world.put("configmaps/a", &config_map("a")).await.document(200);
    assert_eq!(kept["metadata"]["annotations"]["sexton.dev/approved"], "true");
}

/// A write of the status does not carry annotations along.
#[tokio::test]
async fn no_status_forges_a_destruction() {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    let mut forged = world.create(WIDGETS, &widget("w", 1)).await.document(201);
    forged["metadata"]["annotations"] = json!({DESTROYED: "true", JOURNAL: "{}", "sexton.dev/accused": "{}"});
    forged["status"] = json!({"ready": true});
    let path = format!("{WIDGETS}/w/status");
    let written = world.put(&path, &forged).await;
    assert!(written.code == 200 || written.code == 422, "{:?}", written.json);
    world.merge(&path, &json!({"metadata": {"annotations": {DESTROYED: "true"}}})).await;
    let kept = world.get(&format!("{WIDGETS}/w")).await.document(200);
    assert!(kept["metadata"]["annotations"].is_null(), "{kept}");
}

/// A document that was copied from an object on its way out is refused, and the answer names all that has to be left out.
#[tokio::test]
async fn a_copy_of_a_destroyed_object_is_refused() {
    let world = World::new().await;
    let mut copy = config_map("a");
    let marks = [JOURNAL, DESTROYED, "sexton.dev/approved", "sexton.dev/accused"];
    for name in marks {
        copy["metadata"]["annotations"][name] = json!("true");
    }
    (copy["apiVersion"], copy["kind"]) = (json!("v1"), json!("ConfigMap"));
    let apply = world.call("APPLY", "configmaps/a?fieldManager=me").json(&copy).send().await;
    for refused in [world.create("configmaps", &copy).await, apply] {
        let causes = refused.expect(422).at("details.causes").clone();
        let named: Vec<&str> =
            causes.as_array().unwrap().iter().filter_map(|cause| cause["field"].as_str()).collect();
        assert_eq!(named, marks.map(|name| format!("metadata.annotations[{name}]")));
        assert!(
            causes
                .as_array()
                .unwrap()
                .iter()
                .all(|cause| cause["message"].as_str().unwrap().contains("leave it out"))
        );
    }
    world.get("configmaps/a").await.expect(404);
}

/// The lease is looked at, then another collector takes it over, then the look is to be committed: it is not.
#[tokio::test]
async fn a_takeover_between_look_and_commit_is_refused() {
    // More than are committed together, so that the rest is decided before the takeover and committed after it.
    const COUNT: usize = 300;
    let world = World::new().await;
    world.fill("configmaps", COUNT).await;
    let epoch = serde_json::from_value(world.collector_epoch().await).unwrap();
    let write = |number: usize| {
        let key = Key {
            kind: GroupResource::new("", "configmaps"),
            namespace: "default".into(),
            name: format!("fill-{number:07}"),
        };
        let destroyed = Annotations::from([(DESTROYED.to_owned(), Some("true".to_owned()))]);
        Item::new(key, format!("fill-configmaps-{number}"), Action::annotate(destroyed))
    };
    let request = Bulk { epoch: Some(epoch), items: (0..COUNT).map(write).collect() };
    let mut late = Box::pin(world.api().bulk(&request));
    // The lease was looked at, and the first of them are on their way to the disk.
    assert!(matches!(futures::poll!(&mut late), Poll::Pending));
    world.collector_epoch().await;
    let results = late.await.unwrap().items;
    let refused = results.iter().filter(|result| result.code == 409).count();
    assert!(refused > 0 && refused < COUNT, "{refused} were refused");
    let stale = |reason: &str| reason == "StaleEpoch";
    assert!(results.iter().filter_map(|result| result.status.as_ref()).all(|status| stale(&status.reason)));
    let listed = world.get("configmaps").await.document(200);
    let marked = listed["items"].as_array().unwrap().iter();
    let marked = marked.filter(|one| one["metadata"]["annotations"][DESTROYED] == "true").count();
    assert_eq!(marked, COUNT - refused);
}

/// No door leads to the lease of a holder that is alive, except with its secret.
#[tokio::test]
async fn a_live_lease_is_its_holders() {
    let world = World::new().await;
    world.collector_epoch().await;
    let (head, others) = (world.head().await, world.outside());
    let mine = json!({"spec": {"holderIdentity": "me"}});
    let mut whole = others.get(LEASE).await.document(200);
    whole["spec"]["holderIdentity"] = json!("me");
    let uid = whole["metadata"]["uid"].as_str().unwrap().to_owned();
    let refused = others.put(LEASE, &whole).await.expect(409);
    assert!(refused.text_at("message").contains("it is held by \"tests\""), "{:?}", refused.json);
    others.merge(LEASE, &mine).await.expect(409);
    others.merge(LEASE, &json!({"metadata": {"annotations": {PROOF_DIGEST: null}}})).await.expect(409);
    let mut config = mine.clone();
    (config["apiVersion"], config["kind"]) = (json!("coordination.k8s.io/v1"), json!("Lease"));
    let apply = others.call("APPLY", &format!("{LEASE}?fieldManager=me&force=true")).json(&config);
    apply.send().await.expect(409);
    others.delete(LEASE, &json!({})).await.expect(409);
    others.delete(LEASES, &json!({})).await.expect(409);
    let about = |action: Value| {
        json!({"group": "coordination.k8s.io", "resource": "leases", "namespace": "kube-system",
            "name": "sexton-collector", "uid": uid, "action": action})
    };
    let put = json!({"put": {"object": whole, "fieldManager": "me"}});
    let annotate = json!({"patch": {"annotations": {PROOF_DIGEST: "mine"}}});
    for action in [json!({"delete": {"policy": "Background"}}), annotate, put] {
        assert_eq!(told(&bulk(&others, vec![about(action)]).await), ["409 Conflict"]);
    }
    assert_eq!(world.head().await, head, "nothing was written");
    // Its holder renews it from wherever it is.
    let renewed = json!({"spec": {"renewTime": "2026-11-15T20:00:01.000000Z"}});
    let renew = others.call("MERGE", LEASE).header(PROOF_HEADER, SECRET).json(&renewed);
    renew.send().await.expect(200);
    others.call("MERGE", LEASE).header(PROOF_HEADER, "guessed").json(&renewed).send().await.expect(409);
}

/// A holder that renews keeps its lease, one that is silent for 15 s by the server's clock loses it. After a restart the
/// server waits as long before it believes that a holder is gone.
#[tokio::test]
async fn a_silent_holder_loses_its_lease() {
    let world = World::embedded().await;
    world.collector_epoch().await;
    let take = |holder: &str| json!({"spec": {"holderIdentity": holder}});
    for _ in 0..3 {
        world.nature().pass(10);
        let renew = world.outside().call("MERGE", LEASE).header(PROOF_HEADER, SECRET).json(&take("tests"));
        renew.send().await.expect(200);
    }
    world.nature().pass(15);
    world.outside().merge(LEASE, &take("me")).await.expect(409);
    let world = world.restart().await;
    world.nature().pass(15);
    world.outside().merge(LEASE, &take("me")).await.expect(409);
    world.nature().pass(1);
    world.outside().merge(LEASE, &take("me")).await.expect(200);
}

/// A lease that no process holds, and one without a proof, are leases as on any Kubernetes.
#[tokio::test]
async fn other_leases_are_free() {
    let world = World::new().await;
    world.collector_epoch().await;
    let others = world.outside();
    world.merge(LEASE, &json!({"spec": {"holderIdentity": ""}})).await.expect(200);
    others
        .merge(
            LEASE,
            &json!({"spec": {"holderIdentity": "me"}, "metadata": {"annotations": {PROOF_DIGEST: null}}}),
        )
        .await
        .expect(200);
    others.merge(LEASE, &json!({"spec": {"holderIdentity": "you"}})).await.expect(200);
    others.delete(LEASE, &json!({})).await.expect(200);
}
