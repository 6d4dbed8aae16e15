//! The judge is judged: mistakes that are planted are found, and what is right is not called a mistake.

use serde_json::{Value, json};
use sexton_model::{Document, GroupResource, Key, Stored};
use sexton_store::engine::{Op, RawKey};
use sexton_testkit::sim::judge::{Actor, Judge, Known};
use sexton_testkit::things::owner;

fn key(name: &str) -> RawKey {
    let kind = GroupResource::new("", "configmaps");
    Key { kind, namespace: "default".into(), name: name.into() }.encode().into()
}

fn put(name: &str, more: &Value) -> Op {
    let mut metadata = json!({"name": name, "namespace": "default", "uid": format!("uid-{name}")});
    for (field, value) in more.as_object().unwrap() {
        metadata[field] = value.clone();
    }
    let document = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}});
    let stored = Stored::encode(&Document::from_value(document).unwrap());
    Op::Put { key: key(name), value: stored.bytes().clone() }
}

fn gone(name: &str) -> Op {
    Op::Delete { key: key(name) }
}

/// A world in which people did this, and then the collector that; gives back what the judge has to say.
fn judged(people: &[Op], collector: &[Op]) -> String {
    let mut judge = Judge::default();
    let all = people.iter().map(|op| (Actor::People, op));
    let all = all.chain(collector.iter().map(|op| (Actor::Collector(1), op)));
    for (revision, (actor, op)) in (1..).zip(all) {
        judge.committed(actor, std::slice::from_ref(op), revision);
    }
    judge.violations.join("; ")
}

fn below(name: &str) -> Value {
    json!({"ownerReferences": [owner("ConfigMap", name, &format!("uid-{name}"))]})
}

fn marked(finalizers: &[&str]) -> Value {
    json!({"deletionTimestamp": "2026-11-15T20:00:00Z", "finalizers": finalizers})
}

fn with(mut one: Value, other: &Value) -> Value {
    for (field, value) in other.as_object().unwrap() {
        one[field] = value.clone();
    }
    one
}

#[test]
fn who_may_go_may_go() {
    let family = [put("a", &json!({})), put("b", &below("a")), put("a", &marked(&["cascade_deletion"]))];
    let dying = put("b", &with(below("a"), &marked(&["cascade_deletion"])));
    assert_eq!(judged(&family, &[dying, gone("b"), gone("a")]), "");
    assert_eq!(judged(&[put("a", &json!({})), put("b", &below("a")), gone("a")], &[gone("b")]), "");
}

#[test]
fn who_may_not_go_is_missed() {
    let found = |people: &[Op], collector: &[Op], what: &str| {
        let said = judged(people, collector);
        assert!(said.contains(what), "{what:?} is not in {said:?}");
    };
    let nothing = json!({});
    found(&[put("a", &nothing)], &[gone("a")], "nothing asked for it");
    found(&[put("a", &nothing), put("b", &below("a"))], &[gone("b")], "nothing asked for it");
    let protected = json!({"annotations": {"sexton.dev/protect": "true"}});
    let orphan = with(below("nobody"), &protected);
    found(&[put("b", &orphan)], &[gone("b")], "is protected and was removed");
    found(&[put("a", &marked(&["example.com/mine"]))], &[gone("a")], "went with the finalizer");
    let early = [put("a", &nothing), put("b", &below("a")), put("a", &marked(&["cascade_deletion"]))];
    found(&early, &[gone("a")], "went before");
    found(&[put("a", &marked(&["orphan"]))], &[put("a", &nothing)], "the mark of");
    found(&[put("a", &nothing)], &[put("a", &json!({"labels": {"x": "y"}}))], "not its own");
    found(&[put("a", &nothing), put("b", &below("a"))], &[put("b", &nothing)], "without need");
    found(&[], &[put("a", &nothing)], "the collector made");
}

fn journalled(stage: &str) -> Value {
    let journal = json!({"v": 1, "state": {"stage": stage, "uid": "uid-a", "origin": "asked"}}).to_string();
    let mut more = marked(&["sexton.dev/destroy"]);
    more["annotations"] = json!({"sexton.dev/destruction": journal});
    more
}

/// Steps are not taken back, and what is not destroyed is not said to be.
#[test]
fn what_is_written_wrongly_is_noticed() {
    let back = judged(&[put("a", &journalled("destroying"))], &[put("a", &journalled("warning"))]);
    assert!(back.contains("the step destroying was taken back to warning"), "{back}");
    let lost = judged(&[put("a", &journalled("warned"))], &[put("a", &marked(&["sexton.dev/destroy"]))]);
    assert!(lost.contains("its journal was lost in the step warned"), "{lost}");
    assert_eq!(judged(&[put("a", &journalled("warned"))], &[put("a", &journalled("destroying"))]), "");
    let class = json!({
        "apiVersion": "sexton.dev/v1", "kind": "Class", "metadata": {"name": "configmap", "uid": "uid-class"},
        "spec": {"for": {"kind": "ConfigMap"}, "destroy": {"exec": {"argv": ["/bin/true"]}}},
    });
    let stored = Stored::encode(&Document::from_value(class).unwrap());
    let kind = GroupResource::new("sexton.dev", "classes");
    let key = Key { kind, namespace: String::new(), name: "configmap".into() }.encode().into();
    let class = Op::Put { key, value: stored.bytes().clone() };
    let mut destroyed = journalled("destroying");
    let marked = put("a", &marked(&["sexton.dev/destroy"]));
    destroyed["annotations"]["sexton.dev/destroyed"] = json!("true");
    let early = judged(&[class, marked], &[put("a", &journalled("destroying")), put("a", &destroyed)]);
    assert!(early.contains("its method never said so"), "{early}");
}

/// Whoever follows is not stripped instead, and whoever is kept is not stripped of what keeps it.
#[test]
fn references_that_are_lost_wrongly_are_missed() {
    for (policy, may) in [("cascade_deletion", false), ("foregroundDeletion", false), ("orphan", true)] {
        let family = [put("a", &json!({})), put("b", &below("a")), put("a", &marked(&[policy]))];
        let mut judge = Judge::default();
        for (revision, op) in (1..).zip(&family) {
            judge.committed(Actor::People, std::slice::from_ref(op), revision);
        }
        judge.known.insert(1, Known { revision: 3, blind: false });
        judge.committed(Actor::Collector(1), &[put("b", &json!({}))], 4);
        assert_eq!(judge.violations.is_empty(), may, "{policy}: {:?}", judge.violations);
    }
}

/// What has to go and stays is told: marked, without owners, or swept by a module that has not put it again.
#[test]
fn what_is_left_over_is_told() {
    let left = |more: &Value| {
        let mut judge = Judge::default();
        judge.committed(Actor::People, &[put("a", more)], 1);
        judge.left_over().join("; ")
    };
    let swept = |of: &str| {
        let said = json!({"deployment": of}).to_string();
        json!({"annotations": {"sexton.dev/accused": said, "sexton.dev/deployment-id": "d1"}})
    };
    for (more, is_left) in [
        (json!({}), false),
        (marked(&["cascade_deletion"]), true),
        (below("nobody"), true),
        (swept("d1"), true),
        (swept("d0"), false),
        (with(swept("d1"), &json!({"annotations": {"sexton.dev/protect": "true"}})), false),
    ] {
        assert_eq!(left(&more).contains("still there"), is_left, "{more}: {}", left(&more));
    }
}

/// Nobody writes in a turn that somebody else has begun.
#[test]
fn who_writes_after_its_turn_is_caught() {
    let lease = |transitions: i64| {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "collector", "namespace": "default", "uid": "uid-lease"},
            "spec": {"leaseTransitions": transitions},
        });
        let kind = GroupResource::new("coordination.k8s.io", "leases");
        let key = Key { kind, namespace: "default".into(), name: "collector".into() };
        let stored = Stored::encode(&Document::from_value(lease).unwrap());
        Op::Put { key: key.encode().into(), value: stored.bytes().clone() }
    };
    let family = [put("a", &json!({})), put("b", &below("a")), gone("a")];
    for (second, may) in [(1, true), (2, false)] {
        let mut judge = Judge::default();
        for (revision, op) in (1..).zip(&family) {
            judge.committed(Actor::People, std::slice::from_ref(op), revision);
        }
        judge.committed(Actor::Collector(1), &[lease(1)], 4);
        judge.committed(Actor::Collector(second), &[lease(i64::try_from(second).unwrap())], 5);
        judge.committed(Actor::Collector(1), &[gone("b")], 6);
        assert_eq!(judge.violations.is_empty(), may, "{:?}", judge.violations);
    }
}
