//! Conditions of a bulk about marks: who is marked already, who is protected; and marks that only a bulk may write.

use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{config_map, owner};

use crate::bulk::{as_collector, bulk, delete, item, made, told, with};

/// What follows from a mark rests on it, also if that is made by the same request.
#[tokio::test]
async fn a_mark_that_is_missing_takes_nobody_along() {
    let world = World::new().await;
    let parent = made(&world, "configmaps", &config_map("p")).await;
    let mut child = config_map("c");
    child["metadata"]["ownerReferences"] = json!([owner("ConfigMap", "p", &parent)]);
    let uid = made(&world, "configmaps", &child).await;
    let follows = || with(item("c", &uid, delete("Cascade")), json!({"marked": [parent]}));
    assert_eq!(told(&bulk(&world, vec![follows()]).await), ["409 NotMarked"]);
    let refused = with(item("p", &parent, delete("Cascade")), json!({"owners": ["u"]}));
    let results = bulk(&world, vec![refused, follows()]).await;
    assert_eq!(told(&results), ["409 OwnersChanged", "409 NotMarked"]);
    let both = vec![item("p", &parent, delete("Cascade")), follows()];
    assert_eq!(told(&bulk(&world, both).await), ["marked", "marked"]);
}

/// What follows from something else never changes what somebody asked for.
#[tokio::test]
async fn what_is_marked_stays_as_it_was_asked_for() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    world.delete("configmaps/a", &json!({"propagationPolicy": "Foreground"})).await.expect(200);
    let follows = with(item("a", &uid, delete("Background")), json!({"unmarked": true}));
    let head = world.head().await;
    assert_eq!(told(&bulk(&world, vec![follows]).await), ["unchanged"]);
    assert_eq!(world.head().await, head);
    let left = world.get("configmaps/a").await.document(200);
    assert_eq!(left["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let other = made(&world, "configmaps", &config_map("b")).await;
    let goes = with(item("b", &other, delete("Background")), json!({"unmarked": true}));
    assert_eq!(told(&bulk(&world, vec![goes]).await), ["removed"]);
}

#[tokio::test]
async fn what_is_protected_is_not_deleted_if_that_matters() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let gone = || with(item("a", &uid, delete("Background")), json!({"unprotected": true}));
    let protect = |value: Value| json!({"metadata": {"annotations": {"sexton.dev/protect": value}}});
    world.merge("configmaps/a", &protect(json!("it is mine"))).await.expect(200);
    assert_eq!(told(&bulk(&world, vec![gone()]).await), ["409 Protected"]);
    world.merge("configmaps/a", &protect(json!("false"))).await.expect(200);
    assert_eq!(told(&bulk(&world, vec![gone()]).await), ["removed"]);
}

/// What a judgement rests on besides: other lives as they were, annotations, and who wants to hear of the end.
#[tokio::test]
async fn others_must_be_as_they_were() {
    let world = World::new().await;
    let (a, b) = (
        made(&world, "configmaps", &config_map("a")).await,
        made(&world, "configmaps", &config_map("b")).await,
    );
    let version = |answer: &Value| answer["metadata"]["resourceVersion"].clone();
    let seen = version(&world.get("configmaps/b").await.document(200));
    let gone = |more: Value| with(item("a", &a, delete("Background")), more);
    let note = json!({"metadata": {"annotations": {"note": "one"}}});
    let now = version(&world.merge("configmaps/b", &note).await.document(200));
    assert_eq!(told(&bulk(&world, vec![gone(json!({"unchanged": [[b, seen]]}))]).await), ["409 Conflict"]);
    let other = json!({"annotated": {"note": "one"}});
    assert_eq!(told(&bulk(&world, vec![gone(other)]).await), ["409 AnnotationsChanged"]);
    for labels in [json!({"team": "blue"}), json!({"team": null, "app": "x"})] {
        let other = json!({"labelled": labels});
        assert_eq!(told(&bulk(&world, vec![gone(other)]).await), ["409 LabelsChanged"]);
    }
    let hears =
        json!({"metadata": {"annotations": {"sexton.dev/destruction-dependencies": "- ConfigMap/a"}}});
    let now_hears = version(&world.merge("configmaps/b", &hears).await.document(200));
    assert_ne!(now, now_hears);
    assert_eq!(told(&bulk(&world, vec![gone(json!({"subscribers": []}))]).await), ["409 Conflict"]);
    let all = json!({"unchanged": [[b, now_hears], ["nobody", "1"]], "annotated": {"note": null}, "labelled": {"team": null}, "subscribers": [b]});
    assert_eq!(told(&bulk(&world, vec![gone(all)]).await), ["marked"]);
}

const JOURNAL: &str = "sexton.dev/destruction";
const DESTROYED: &str = "sexton.dev/destroyed";

fn annotated(name: &str, value: Value) -> Value {
    json!({"metadata": {"annotations": {name: value}}})
}

/// REQ-MUR-28, REQ-MUR-29: nobody can forge that a life was destroyed, whichever way it is written.
#[tokio::test]
async fn what_was_done_to_a_life_is_not_told_by_others() {
    let world = World::new().await;
    made(&world, "configmaps", &config_map("a")).await;
    for name in [JOURNAL, DESTROYED] {
        let mut forged = config_map("b");
        forged["metadata"]["annotations"] = json!({name: "true"});
        let refused = world.create("configmaps", &forged).await;
        assert_eq!(refused.code, 422);
        assert!(
            refused.text_at("message").contains("from which this document was copied; leave it out"),
            "{:?}",
            refused.json
        );
        let field = format!("metadata.annotations[{name}]");
        assert_eq!(refused.at("details.causes")[0]["field"], field.as_str());
        forged["metadata"]["name"] = json!("a");
        world.put("configmaps/a", &forged).await.expect(422);
        world.merge("configmaps/a", &annotated(name, json!("true"))).await.expect(422);
        let strategic = world.call("STRATEGIC", "configmaps/a").json(&annotated(name, json!("true")));
        strategic.send().await.expect(422);
        let path = format!("/metadata/annotations/{}", name.replace('/', "~1"));
        let operations = json!([{"op": "add", "path": "/metadata/annotations", "value": {}},
            {"op": "add", "path": path, "value": "true"}]);
        world.call("JSON-PATCH", "configmaps/a").json(&operations).send().await.expect(422);
        for object in ["a", "new"] {
            let path = format!("configmaps/{object}?fieldManager=me&force=true");
            let mut config = annotated(name, json!("true"));
            config["apiVersion"] = json!("v1");
            config["kind"] = json!("ConfigMap");
            world.call("APPLY", &path).json(&config).send().await.expect(422);
        }
    }
    world.get("configmaps/b").await.expect(404);
    world.get("configmaps/new").await.expect(404);
}

/// What the collector wrote survives whoever writes the object as a whole, and is taken off by nobody else.
#[tokio::test]
async fn what_was_done_to_a_life_stays() {
    let world = World::new().await;
    let uid = made(&world, "configmaps", &config_map("a")).await;
    let notes = json!({"patch": {"annotations": {JOURNAL: "{}", DESTROYED: "true"}}});
    assert_eq!(told(&as_collector(&world, vec![item("a", &uid, notes)]).await), ["patched"]);
    let kept = |document: &Value| {
        assert_eq!(document["metadata"]["annotations"][JOURNAL], "{}");
        assert_eq!(document["metadata"]["annotations"][DESTROYED], "true");
    };
    let mut read = world.get("configmaps/a").await.document(200);
    read["data"] = json!({"k": "1"});
    kept(&world.put("configmaps/a", &read).await.document(200));
    // Written by somebody who read it before, or never.
    kept(&world.put("configmaps/a", &config_map("a")).await.document(200));
    kept(&world.merge("configmaps/a", &annotated("example.com/mine", json!("1"))).await.document(200));
    let config =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"annotations": {DESTROYED: "true"}}});
    for config in [config, json!({"apiVersion": "v1", "kind": "ConfigMap"})] {
        let apply = world.call("APPLY", "configmaps/a?fieldManager=me&force=true").json(&config);
        kept(&apply.send().await.document(200));
    }
    for name in [JOURNAL, DESTROYED] {
        for value in [Value::Null, json!("false")] {
            world.merge("configmaps/a", &annotated(name, value)).await.expect(422);
        }
    }
    world.merge("configmaps/a", &json!({"metadata": {"annotations": null}})).await.expect(422);
    kept(&world.get("configmaps/a").await.document(200));
    let none = json!({"patch": {"annotations": {JOURNAL: null, DESTROYED: null}}});
    assert_eq!(told(&as_collector(&world, vec![item("a", &uid, none)]).await), ["patched"]);
}
