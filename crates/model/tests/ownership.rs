//! Ownership after updates: text in, text out.
#![allow(missing_docs, clippy::unwrap_used)]

use serde_json::{Value, json};
use sexton_model::fields::{ManagedFields, Schema, Writer, track_update};

const T1: &str = "2024-01-01T00:00:01Z";
const T2: &str = "2024-01-01T00:00:02Z";

fn by<'a>(manager: &'a str, time: &'a str) -> Writer<'a> {
    Writer { manager, api_version: "v1", subresource: "", time }
}

fn plain() -> Schema {
    Schema::custom(true)
}

/// `manager operation time fields`, one line for each entry.
fn owners(document: &Value) -> Vec<String> {
    let list = &document["metadata"]["managedFields"];
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or("-").to_owned();
    let line = |entry: &Value| {
        let time = text(entry, "time").replace("2024-01-01T00:00:0", "").replace("Z", "");
        format!("{} {} {time} {}", text(entry, "manager"), text(entry, "operation"), entry["fieldsV1"])
    };
    list.as_array().into_iter().flatten().map(line).collect()
}

fn create(document: Value, schema: &Schema) -> Value {
    let mut document = document;
    track_update(None, &mut document, &by("creator", T1), schema);
    document
}

#[test]
fn create_owns_what_it_sets_and_nothing_of_the_bookkeeping() {
    let document = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": "1", "generation": 1,
            "creationTimestamp": "t", "labels": {"a": "b"}, "finalizers": ["f"],
            "ownerReferences": [{"uid": "1", "name": "o"}]},
        "data": {"k": "v"}, "status": {"x": 1}, "list": [1], "empty": {},
    });
    let created = create(document, &plain());
    assert_eq!(
        created["metadata"]["managedFields"].to_string(),
        concat!(
            r#"[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}},"f:empty":{},"f:list":{},"#,
            r#""f:metadata":{"f:finalizers":{".":{},"v:\"f\"":{}},"f:labels":{".":{},"f:a":{}},"#,
            r#""f:ownerReferences":{".":{},"k:{\"uid\":\"1\"}":{}}}},"#,
            r#""manager":"creator","operation":"Update","time":"2024-01-01T00:00:01Z"}]"#
        )
    );
}

#[test]
fn keyed_lists_use_defaulted_keys() {
    let pod = Schema::builtin("", "Pod").unwrap();
    let created = create(
        json!({"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}], "nodeSelector": {"x": "y"}}}),
        pod,
    );
    assert_eq!(
        owners(&created),
        [concat!(
            r#"creator Update 1 {"f:spec":{".":{},"f:containers":{".":{},"k:{\"name\":\"a\"}":{".":{},"f:name":{},"#,
            r#""f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}},"f:nodeSelector":{}}}"#
        )]
    );
}

#[test]
fn updates_move_ownership() {
    let table = [
        // another value moves the field
        (
            r#"{"d":{"a":1,"b":2}}"#,
            r#"{"d":{"a":9,"b":2}}"#,
            vec![r#"creator Update 1 {"f:d":{".":{},"f:b":{}}}"#, r#"other Update 2 {"f:d":{"f:a":{}}}"#],
        ),
        // a new field is the writer's
        (
            r#"{"d":{"a":1}}"#,
            r#"{"d":{"a":1,"b":2}}"#,
            vec![r#"creator Update 1 {"f:d":{".":{},"f:a":{}}}"#, r#"other Update 2 {"f:d":{"f:b":{}}}"#],
        ),
        // a removed field is nobody's, and the writer of nothing has no entry
        (r#"{"d":{"a":1,"b":2}}"#, r#"{"d":{"a":1}}"#, vec![r#"creator Update 1 {"f:d":{".":{},"f:a":{}}}"#]),
        // entries without fields vanish
        (r#"{"a":1}"#, r#"{"b":1}"#, vec![r#"other Update 2 {"f:b":{}}"#]),
        // another type of value
        (r#"{"a":{"b":1}}"#, r#"{"a":"x"}"#, vec![r#"other Update 2 {"f:a":{}}"#]),
        (r#"{"a":"x"}"#, r#"{"a":{"b":1}}"#, vec![r#"other Update 2 {"f:a":{".":{},"f:b":{}}}"#]),
        // status is not written through the object itself
        (r#"{"a":1,"status":{"x":1}}"#, r#"{"a":2,"status":{"x":2}}"#, vec![r#"other Update 2 {"f:a":{}}"#]),
        // sets and keyed lists of metadata
        (
            r#"{"metadata":{"finalizers":["a","b"]}}"#,
            r#"{"metadata":{"finalizers":["b","c"]}}"#,
            vec![
                r#"creator Update 1 {"f:metadata":{"f:finalizers":{".":{},"v:\"b\"":{}}}}"#,
                r#"other Update 2 {"f:metadata":{"f:finalizers":{"v:\"c\"":{}}}}"#,
            ],
        ),
    ];
    for (old, new, expected) in table {
        let old = create(serde_json::from_str(old).unwrap(), &plain());
        let mut new: Value = serde_json::from_str(new).unwrap();
        track_update(Some(&old), &mut new, &by("other", T2), &plain());
        assert_eq!(owners(&new), expected);
    }
}

#[test]
fn an_update_that_changes_nothing_changes_nothing() {
    let old = create(json!({"d": {"a": 1}, "metadata": {"name": "x"}}), &plain());
    let mut same = old.clone();
    track_update(Some(&old), &mut same, &by("other", T2), &plain());
    assert_eq!(same.to_string(), old.to_string());
    // Without the list, as clients that do not know it send it.
    same["metadata"].as_object_mut().unwrap().remove("managedFields");
    track_update(Some(&old), &mut same, &by("other", T2), &plain());
    assert_eq!(same.to_string(), old.to_string());
}

#[test]
fn the_same_manager_keeps_one_entry() {
    let old = create(json!({"a": 1, "b": 1}), &plain());
    let mut new = json!({"a": 2, "b": 1});
    track_update(Some(&old), &mut new, &by("creator", T2), &plain());
    assert_eq!(owners(&new), [r#"creator Update 2 {"f:a":{},"f:b":{}}"#]);
}

#[test]
fn status_is_written_through_its_subresource() {
    let old = create(json!({"a": 1}), &plain());
    let mut new = json!({"a": 7, "status": {"ready": true}});
    let writer = Writer { subresource: "status", ..by("controller", T2) };
    track_update(Some(&old), &mut new, &writer, &plain());
    assert_eq!(
        owners(&new),
        [r#"creator Update 1 {"f:a":{}}"#, r#"controller Update 2 {"f:status":{".":{},"f:ready":{}}}"#]
    );
    assert_eq!(new["metadata"]["managedFields"][1]["subresource"], "status");
}

#[test]
fn a_client_may_edit_or_reset_the_list() {
    let old = create(json!({"a": 1, "b": 1}), &plain());
    for reset in [json!([]), json!([{}])] {
        let mut new = json!({"a": 1, "b": 1, "metadata": {"managedFields": reset}});
        track_update(Some(&old), &mut new, &by("other", T2), &plain());
        assert_eq!(new, json!({"a": 1, "b": 1, "metadata": {}}));
        // Untracked it stays until somebody applies.
        let mut later = json!({"a": 2, "b": 1});
        track_update(Some(&new), &mut later, &by("other", T2), &plain());
        assert_eq!(owners(&later), Vec::<String>::new());
    }
    let edited = json!([{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{},"f:b":{}},
        "manager":"kubectl","operation":"Apply","time":T1}]);
    let mut new = json!({"a": 1, "b": 1, "metadata": {"managedFields": edited}});
    track_update(Some(&old), &mut new, &by("other", T2), &plain());
    assert_eq!(owners(&new), [r#"kubectl Apply 1 {"f:a":{},"f:b":{}}"#]);
    for unreadable in [json!("x"), json!([{"manager": "x"}]), json!(null)] {
        let mut new = json!({"a": 1, "b": 1, "metadata": {"managedFields": unreadable}});
        track_update(Some(&old), &mut new, &by("other", T2), &plain());
        assert_eq!(owners(&new), owners(&old));
    }
}

#[test]
fn old_updaters_are_merged() {
    let mut document = create(json!({"f0": 0}), &plain());
    for index in 1..15 {
        let mut new = document.clone();
        new[format!("f{index}")] = json!(index);
        let (manager, time) = (format!("m{index}"), format!("2024-01-01T00:01:{index:02}Z"));
        track_update(Some(&document), &mut new, &by(&manager, &time), &plain());
        document = new;
    }
    let managed = ManagedFields::decode(&document["metadata"]["managedFields"]).unwrap();
    assert_eq!(managed.entries.len(), 10);
    assert_eq!(managed.entries[0].manager, "ancient-changes");
    assert_eq!(managed.entries[0].fields.len(), 6);
}

#[test]
fn unreadable_lists_say_why() {
    let entry = |fields: Value| json!([{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":fields,"operation":"Update"}]);
    let table = [
        (json!({}), "managedFields must be a list of maps"),
        (json!([{"operation": "Eat"}]), "operation must be `Apply` or `Update`"),
        (json!([{"operation": "Apply"}]), "apiVersion must not be empty"),
        (
            json!([{"operation": "Apply", "apiVersion": "v1"}]),
            r#"invalid fieldsType "" in managed fields entry 0"#,
        ),
        (entry(json!({"f:a": 1})), "fieldsV1 must be made of maps"),
        (entry(json!({"k:[": {}})), r#"malformed path element: "k:[""#),
        (entry(json!({"i:x": {}})), r#"malformed path element: "i:x""#),
        (entry(json!({"x": {}})), r#"malformed path element: "x""#),
    ];
    for (list, expected) in table {
        assert_eq!(ManagedFields::decode(&list).unwrap_err().to_string(), expected);
    }
    let future =
        ManagedFields::decode(&entry(json!({"z:a": {}, "i:0": {}, "k:{\"b\":1, \"a\":2}": {}}))).unwrap();
    assert_eq!(future.entries[0].fields.paths(), ["[0]", "[a=2,b=1]"]);
}
