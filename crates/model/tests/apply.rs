//! Server-side apply: text in, text out.
#![allow(missing_docs, clippy::unwrap_used)]

use serde_json::{Value, json};
use sexton_model::fields::{ApplyError, Schema, Writer, apply, track_update};

const T1: &str = "2024-01-01T00:00:01Z";
const T2: &str = "2024-01-01T00:00:02Z";

fn by<'a>(manager: &'a str, time: &'a str) -> Writer<'a> {
    Writer { manager, api_version: "v1", subresource: "", time }
}

fn service() -> &'static Schema {
    Schema::builtin("", "Service").unwrap()
}

fn pod() -> &'static Schema {
    Schema::builtin("", "Pod").unwrap()
}

fn fields(document: &Value, index: usize) -> String {
    document["metadata"]["managedFields"][index]["fieldsV1"].to_string()
}

/// The document without its managed fields.
fn content(document: &Value) -> String {
    let mut document = document.clone();
    document["metadata"].as_object_mut().unwrap().remove("managedFields");
    document.to_string()
}

fn put(live: Option<&Value>, config: Value, manager: &str, schema: &Schema) -> Value {
    apply(live, &config, &by(manager, T1), false, schema).unwrap()
}

#[test]
fn apply_creates() {
    let config = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", "creationTimestamp": null, "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {}}]}, "status": {}});
    let created = put(None, config, "kubectl", pod());
    assert_eq!(
        content(&created),
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"},"name":"p","namespace":"n"},"spec":{"containers":[{"image":"i","name":"c","resources":{}}]}}"#
    );
    assert_eq!(
        created["metadata"]["managedFields"].to_string(),
        concat!(
            r#"[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}},"#,
            r#""f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}}}},"#,
            r#""manager":"kubectl","operation":"Apply","time":"2024-01-01T00:00:01Z"}]"#
        )
    );
}

#[test]
fn dropped_fields_go() {
    let first =
        put(None, json!({"metadata": {"labels": {"x": "1"}}, "data": {"a": "1", "b": "2"}}), "m", service());
    let second = put(Some(&first), json!({"metadata": {}, "data": {"b": "2"}}), "m", service());
    assert_eq!(content(&second), r#"{"data":{"b":"2"},"metadata":{}}"#);
    let third = put(Some(&second), json!({}), "m", service());
    assert_eq!(third, json!({"metadata": {}}));
}

#[test]
fn dropped_fields_of_others_stay() {
    let first = put(None, json!({"data": {"a": "1", "b": "2"}}), "m", service());
    let shared = put(Some(&first), json!({"data": {"a": "1"}}), "n", service());
    assert_eq!(fields(&shared, 1), r#"{"f:data":{"f:a":{}}}"#);
    let dropped = put(Some(&shared), json!({}), "m", service());
    assert_eq!(content(&dropped), r#"{"data":{"a":"1"},"metadata":{}}"#);
}

#[test]
fn unowned_content_of_maps_stays() {
    let mut live = put(None, json!({"spec": {"a": 1}, "metadata": {}}), "m", service());
    live["spec"]["defaulted"] = json!(true);
    let dropped = put(Some(&live), json!({}), "m", service());
    assert_eq!(content(&dropped), r#"{"metadata":{},"spec":{"defaulted":true}}"#);
}

#[test]
fn dropped_list_items_go_with_all_they_hold() {
    let config = json!({"metadata": {}, "spec": {"ports": [{"port": 80, "name": "a"}, {"port": 81, "protocol": "UDP"}]}});
    let mut live = put(None, config, "m", service());
    // Defaulting fills in what the configuration leaves open.
    live["spec"]["ports"][0]["protocol"] = json!("TCP");
    live["spec"]["ports"][0]["targetPort"] = json!(80);
    let kept = put(
        Some(&live),
        json!({"spec": {"ports": [{"port": 80, "protocol": "TCP", "name": "a"}]}}),
        "m",
        service(),
    );
    assert_eq!(
        content(&kept),
        r#"{"metadata":{},"spec":{"ports":[{"name":"a","port":80,"protocol":"TCP","targetPort":80}]}}"#
    );
    let gone =
        put(Some(&live), json!({"spec": {"ports": [{"port": 81, "protocol": "UDP"}]}}), "m", service());
    assert_eq!(content(&gone), r#"{"metadata":{},"spec":{"ports":[{"port":81,"protocol":"UDP"}]}}"#);
}

#[test]
fn emptied_containers_go_unless_somebody_owns_them() {
    let mut live = json!({"metadata": {}, "data": {}});
    track_update(None, &mut live, &by("creator", T1), service());
    let config = json!({"data": {"a": "1"}, "more": {"deep": {"b": "2"}}});
    let applied = put(Some(&live), config, "m", service());
    let dropped = put(Some(&applied), json!({}), "m", service());
    assert_eq!(content(&dropped), r#"{"data":{},"metadata":{}}"#);
}

#[test]
fn a_dropped_item_goes_although_an_updater_owns_a_field_of_it() {
    let config =
        json!({"metadata": {}, "spec": {"containers": [{"name": "c", "image": "1"}, {"name": "d"}]}});
    let live = put(None, config, "m", pod());
    let mut updated = live.clone();
    updated["spec"]["containers"][0]["image"] = json!("2");
    track_update(Some(&live), &mut updated, &by("set-image", T2), pod());
    let dropped = put(Some(&updated), json!({"spec": {"containers": [{"name": "d"}]}}), "m", pod());
    assert_eq!(content(&dropped), r#"{"metadata":{},"spec":{"containers":[{"name":"d"}]}}"#);
    assert_eq!(dropped["metadata"]["managedFields"].as_array().unwrap().len(), 1);
}

#[test]
fn a_shared_item_keeps_its_keys() {
    let live = put(
        None,
        json!({"metadata": {}, "spec": {"ports": [{"port": 80, "protocol": "TCP", "name": "a"}]}}),
        "m",
        service(),
    );
    let live = put(Some(&live), json!({"spec": {"ports": [{"port": 80, "targetPort": 1}]}}), "n", service());
    let dropped = put(Some(&live), json!({}), "m", service());
    assert_eq!(
        content(&dropped),
        r#"{"metadata":{},"spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":1}]}}"#
    );
}

#[test]
fn conflicts_name_field_and_manager() {
    let mut live = json!({"metadata": {"name": "x"}, "data": {"a": "1", "b": "2"},
        "spec": {"ports": [{"port": 80, "protocol": "TCP", "name": "x"}]}});
    track_update(None, &mut live, &by("kubectl-create", T1), service());
    let conflict = |config: Value| match apply(Some(&live), &config, &by("m", T2), false, service()) {
        Err(ApplyError::Conflicts(conflicts)) => conflicts,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        conflict(json!({"data": {"a": "9", "b": "2"}})).to_string(),
        r#"Apply failed with 1 conflict: conflict with "kubectl-create" using v1: .data.a"#
    );
    let conflicts =
        conflict(json!({"data": {"a": "9", "b": "9"}, "spec": {"ports": [{"port": 80, "name": "y"}]}}));
    assert_eq!(
        conflicts.to_string(),
        "Apply failed with 3 conflicts: conflicts with \"kubectl-create\" using v1:\n- .data.a\n- .data.b\n- .spec.ports[port=80,protocol=\"TCP\"].name"
    );
    let cause = &conflicts.causes()[2];
    assert_eq!(cause.reason, "FieldManagerConflict");
    assert_eq!(cause.message, r#"conflict with "kubectl-create" using v1"#);
    assert_eq!(cause.field, r#".spec.ports[port=80,protocol="TCP"].name"#);

    let forced = apply(Some(&live), &json!({"data": {"a": "9"}}), &by("m", T2), true, service()).unwrap();
    assert_eq!(forced["data"], json!({"a": "9", "b": "2"}));
    assert_eq!(fields(&forced, 0), r#"{"f:data":{"f:a":{}}}"#);
    assert!(!fields(&forced, 1).contains(r#""f:a""#));
}

#[test]
fn conflicts_with_appliers_and_subresources() {
    let schema = Schema::custom(true);
    let status = |manager, time| Writer { subresource: "status", ..by(manager, time) };
    let live = put(None, json!({"metadata": {}, "a": 1, "b": 1}), "first", &schema);
    let live =
        apply(Some(&live), &json!({"status": {"x": 1}, "a": 5}), &status("s", T1), false, &schema).unwrap();
    assert_eq!(content(&live), r#"{"a":1,"b":1,"metadata":{},"status":{"x":1}}"#);
    let error = apply(Some(&live), &json!({"a": 2, "b": 2}), &by("second", T2), false, &schema).unwrap_err();
    assert_eq!(error.to_string(), "Apply failed with 2 conflicts: conflicts with \"first\":\n- .a\n- .b");
    let error =
        apply(Some(&live), &json!({"status": {"x": 2}}), &status("t", T2), false, &schema).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"Apply failed with 1 conflict: conflict with "s" with subresource "status": .status.x"#
    );
}

#[test]
fn applying_the_same_again_changes_nothing() {
    let config = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"ports": [{"port": 80}]}});
    let live = put(None, config.clone(), "m", service());
    let again = apply(Some(&live), &config, &by("m", T2), false, service()).unwrap();
    assert_eq!(again.to_string(), live.to_string());
    let nothing = apply(Some(&live), &json!({}), &by("new", T2), false, service()).unwrap();
    assert_eq!(nothing.to_string(), live.to_string());
    let changed =
        apply(Some(&live), &json!({"spec": {"ports": [{"port": 81}]}}), &by("m", T2), false, service())
            .unwrap();
    assert_eq!(changed["metadata"]["managedFields"][0]["time"], T2);
}

#[test]
fn untracked_objects_belong_to_a_manager_of_their_own() {
    let live = json!({"metadata": {"name": "x"}, "data": {"a": "1"}});
    let error = apply(Some(&live), &json!({"data": {"a": "2"}}), &by("m", T1), false, service()).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a"#
    );
}

#[test]
fn lists_keep_the_order_of_the_configuration() {
    let table: [(&[u8], &[u8], &[u8]); 5] = [
        (&[1, 2, 3], &[3, 1], &[2, 3, 1]),
        (&[1, 2, 3], &[4], &[1, 2, 3, 4]),
        (&[1, 3], &[1, 2, 3], &[1, 2, 3]),
        (&[1, 9, 3], &[1, 2, 3], &[1, 9, 2, 3]),
        (&[], &[2, 1], &[2, 1]),
    ];
    let ports = |list: &[u8]| json!({"metadata": {}, "spec": {"ports": list.iter().map(|port| json!({"port": port})).collect::<Vec<_>>()}});
    for (live, config, expected) in table {
        let live = put(None, ports(live), "a", service());
        let merged = put(Some(&live), ports(config), "b", service());
        assert_eq!(merged["spec"], ports(expected)["spec"]);
    }
}

#[test]
fn bad_configurations_are_refused() {
    let table = [
        (json!([]), "the applied configuration must be an object with metadata"),
        (json!({"metadata": 1}), "the applied configuration must be an object with metadata"),
        (json!({"metadata": {"managedFields": []}}), "metadata.managedFields must be nil"),
        (
            json!({"spec": {"ports": [{"name": "x"}]}}),
            "failed to merge the applied configuration: .spec.ports: element 0: the item cannot be identified by the keys of its list",
        ),
        (
            json!({"spec": {"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}}),
            r#"failed to merge the applied configuration: .spec.ports: duplicate entries for key [port=1,protocol="TCP"]"#,
        ),
    ];
    for (config, expected) in table {
        let error = apply(None, &config, &by("m", T1), false, service()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn custom_schemas_feed_the_same_rules() {
    let schema = Schema::from_openapi(
        &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["zone", "id"],
                "items": {"type": "object", "properties": {"zone": {"type": "string", "default": "z"}, "id": {"type": "integer"}}}},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic"}}}}}),
        true,
    )
    .unwrap();
    let created = put(
        None,
        json!({"metadata": {}, "spec": {"items": [{"id": 1}], "tags": ["b", "a"], "whole": {"x": 1}}}),
        "m",
        &schema,
    );
    assert_eq!(
        fields(&created, 0),
        r#"{"f:spec":{"f:items":{"k:{\"id\":1,\"zone\":\"z\"}":{".":{},"f:id":{}}},"f:tags":{"v:\"a\"":{},"v:\"b\"":{}},"f:whole":{}}}"#
    );
}
