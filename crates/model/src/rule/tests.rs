//! What a rule may say, and what it is told when it may not.

use super::*;
use serde_json::json;

fn orphaned(spec: Value) -> Result<Rule, Vec<FieldError>> {
    let mut whole = json!({"detector": "orphaned", "kinds": [{"group": "apps", "kind": "StatefulSet"}]});
    for (field, value) in spec.as_object().unwrap() {
        whole[field] = value.clone();
    }
    Rule::parse(
        &json!({"apiVersion": "sexton.dev/v1", "kind": "Rule", "metadata": {"name": "r"}, "spec": whole}),
    )
}

fn leftover(spec: Value) -> Result<Rule, Vec<FieldError>> {
    let mut whole = json!({"detector": "leftover", "kinds": [{"group": "apps", "kind": "StatefulSet"}],
        "owner": {"group": "example.com", "kind": "RedisCluster"},
        "labels": {"app": "{name}", "rss-operator-managed": "true"}});
    for (field, value) in spec.as_object().unwrap() {
        whole[field] = value.clone();
    }
    orphaned(whole)
}

fn complaint(read: Result<Rule, Vec<FieldError>>) -> String {
    read.unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// REQ-RSS-18: about ten minutes by default.
#[test]
fn what_is_not_said_is_the_usual() {
    let rule = orphaned(json!({})).unwrap();
    assert_eq!(rule.interval, Duration::from_secs(600));
    assert_eq!((rule.min_age, rule.mode), (DEFAULT_MIN_AGE, Mode::Report));
    assert_eq!((rule.max_delete, rule.namespaces.len(), rule.selector.as_str()), (None, 0, ""));
    let Detector::Leftover(usual) = leftover(json!({})).unwrap().detector else { panic!() };
    assert!(usual.on_create && usual.on_delete && !usual.hold);
}

/// EXT-23: an interval that makes no sense is refused, and it is said what would make some.
#[test]
fn intervals_that_make_no_sense_are_refused() {
    for bad in [
        json!("0s"),
        json!("-5m"),
        json!("10"),
        json!(10),
        json!("25h"),
        json!("soon"),
        json!(null),
        json!(""),
    ] {
        let why = complaint(orphaned(json!({"interval": bad})));
        assert!(why.contains("spec.interval") && why.contains("from 1s to 1d"), "{bad}: {why}");
    }
    for good in ["1s", "24h", "1d", "1h30m"] {
        orphaned(json!({"interval": good})).unwrap();
    }
}

/// REQ-RSS-11: any kinds, as long as they are named; and all of them where that can be meant.
#[test]
fn kinds_are_named() {
    assert_eq!(orphaned(json!({"kinds": ["*"]})).unwrap().kinds, Targets::All);
    let two = json!([{"kind": "Service"}, {"group": "apps", "kind": "StatefulSet"}]);
    let Targets::These(kinds) = orphaned(json!({"kinds": two})).unwrap().kinds else { panic!() };
    assert_eq!(kinds.iter().map(ToString::to_string).collect::<Vec<_>>(), ["Service", "StatefulSet.apps"]);
    for bad in [
        json!([]),
        json!("Service"),
        json!(["*", "*"]),
        json!([{"kind": ""}]),
        json!([{"kid": "x"}]),
        json!([{"kind": "Service"}, {"kind": "Service"}]),
    ] {
        assert!(complaint(orphaned(json!({"kinds": bad}))).contains("spec.kinds"), "{bad}");
    }
    assert!(complaint(leftover(json!({"kinds": ["*"]}))).contains("only where detector is 'orphaned'"));
}

#[test]
fn selectors_have_two_forms() {
    let selector = |value: Value| orphaned(json!({"selector": value})).map(|rule| rule.selector);
    assert_eq!(selector(json!("app=a,!b")).unwrap(), "app=a,!b");
    let long = json!({"matchLabels": {"app": "a"}, "matchExpressions": [
        {"key": "tier", "operator": "In", "values": ["x", "y"]}, {"key": "z", "operator": "DoesNotExist"}]});
    assert_eq!(selector(long).unwrap(), "app=a,tier in (x,y),!z");
    for bad in [
        json!("a=b=c=,("),
        json!(7),
        json!({"matchlabels": {}}),
        json!({"matchExpressions": [{"key": "a", "operator": "Near"}]}),
        json!({"matchExpressions": [{"key": "a", "operator": "In"}]}),
        json!({"matchLabels": {"a": 1}}),
    ] {
        assert!(complaint(selector(bad.clone()).map(|_| unreachable!())).contains("spec.selector"), "{bad}");
    }
}

#[test]
fn nonsense_is_refused_with_its_place() {
    for (spec, place) in [
        (json!({"detector": "magic"}), "spec.detector"),
        (json!({"mode": "delete"}), "spec.mode"),
        (json!({"maxDelete": "101%"}), "spec.maxDelete"),
        (json!({"maxDelete": "-1"}), "spec.maxDelete"),
        (json!({"minAge": "young"}), "spec.minAge"),
        (json!({"namespaces": ["A b"]}), "spec.namespaces"),
        (json!({"hold": true}), "spec.hold"),
        (json!({"intervall": "1m"}), "spec.intervall"),
    ] {
        assert!(complaint(orphaned(spec.clone())).contains(place), "{spec}");
    }
    assert_eq!(orphaned(json!({"maxDelete": 20})).unwrap().max_delete.as_deref(), Some("20"));
    assert!(complaint(Rule::parse(&json!({"kind": "Rule"}))).contains("spec"));
}

/// REQ-RSS-14, REQ-RSS-15: by the labels `app` = the cluster's name and `rss-operator-managed` = "true".
#[test]
fn leftovers_are_recognized_by_labels_with_the_name_in_them() {
    let Detector::Leftover(rule) = leftover(json!({})).unwrap().detector else { panic!() };
    assert_eq!(rule.selector_for("a"), "app=a,rss-operator-managed=true");
    assert_eq!(rule.selector_for_all(), "app,rss-operator-managed=true");
    let name = |app: &'static str, managed: &'static str| {
        rule.name_in(|key| Some(if key == "app" { app } else { managed }))
    };
    assert_eq!((name("a", "true"), name("a", "false"), name("", "true")), (Some("a"), None, None));
    for bad in [json!({"managed": "true"}), json!({}), json!({"a b": "{name}"}), json!({"app": "{name} x"})] {
        assert!(complaint(leftover(json!({"labels": bad}))).contains("spec.labels"), "{bad}");
    }
    assert!(complaint(leftover(json!({"on": ["update"]}))).contains("spec.on"));
    assert!(complaint(leftover(json!({"owner": {}}))).contains("spec.owner.kind"));
}
