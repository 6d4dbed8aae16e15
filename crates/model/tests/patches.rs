//! Patches: text in, text out.
#![allow(missing_docs, clippy::unwrap_used)]

use serde_json::{Value, json};
use sexton_model::fields::Schema;
use sexton_model::patch::{
    JsonPatchError, MAX_OPERATIONS, StrategicError, json_patch, json_patch_bytes, merge_patch,
    strategic_merge,
};

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn pod() -> &'static Schema {
    Schema::builtin("", "Pod").unwrap()
}

fn smp(document: &str, patch: &str) -> Result<String, StrategicError> {
    let mut document = read(document);
    strategic_merge(&mut document, &read(patch), pod())?;
    Ok(document.to_string())
}

/// What is there, the patch, and what comes out.
const STRATEGIC: &[(&str, &str, &str)] = &[
    // maps merge, null deletes, scalars replace
    (r#"{"a":{"b":1,"c":2},"d":3}"#, r#"{"a":{"b":null,"e":4},"d":5}"#, r#"{"a":{"c":2,"e":4},"d":5}"#),
    // a null for what is not there leaves nothing
    (r#"{}"#, r#"{"a":null,"b":{"c":null}}"#, r#"{"b":{}}"#),
    // keyed lists merge by key; what is new comes first
    (
        r#"{"spec":{"containers":[{"image":"1","name":"a"},{"image":"2","name":"b"}]}}"#,
        r#"{"spec":{"containers":[{"name":"b","image":"3"}]}}"#,
        r#"{"spec":{"containers":[{"image":"1","name":"a"},{"image":"3","name":"b"}]}}"#,
    ),
    (
        r#"{"spec":{"containers":[{"name":"a"}]}}"#,
        r#"{"spec":{"containers":[{"name":"b"}]}}"#,
        r#"{"spec":{"containers":[{"name":"b"},{"name":"a"}]}}"#,
    ),
    // $patch: delete and replace in lists
    (
        r#"{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}"#,
        r#"{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}"#,
        r#"{"spec":{"containers":[{"name":"b"}]}}"#,
    ),
    (
        r#"{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}"#,
        r#"{"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}}"#,
        r#"{"spec":{"containers":[{"name":"c"}]}}"#,
    ),
    (
        r#"{"spec":{"containers":[{"name":"a","image":"1"}]}}"#,
        r#"{"spec":{"containers":[{"name":"a","x":1,"$patch":"merge"}]}}"#,
        r#"{"spec":{"containers":[{"image":"1","name":"a","x":1}]}}"#,
    ),
    // $patch in maps
    (r#"{"a":{"b":1}}"#, r#"{"a":{"$patch":"replace","c":2}}"#, r#"{"a":{"c":2}}"#),
    (r#"{"a":{"b":1}}"#, r#"{"a":{"$patch":"delete"},"z":{"$patch":"delete"}}"#, r#"{"a":{}}"#),
    // $retainKeys
    (
        r#"{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}"#,
        r#"{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}"#,
        r#"{"spec":{"strategy":{"type":"Recreate"}}}"#,
    ),
    // sets
    (
        r#"{"metadata":{"finalizers":["a","b"]}}"#,
        r#"{"metadata":{"finalizers":["b","c"]}}"#,
        r#"{"metadata":{"finalizers":["a","b","c"]}}"#,
    ),
    (
        r#"{"metadata":{"finalizers":["a","b"]}}"#,
        r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["a","z"],"$setElementOrder/finalizers":["b"]}}"#,
        r#"{"metadata":{"finalizers":["b"]}}"#,
    ),
    // owners by uid
    (
        r#"{"metadata":{"ownerReferences":[{"name":"o","uid":"1"},{"name":"p","uid":"2"}]}}"#,
        r#"{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"1"}]}}"#,
        r#"{"metadata":{"ownerReferences":[{"name":"p","uid":"2"}]}}"#,
    ),
    // $setElementOrder
    (
        r#"{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}}"#,
        r#"{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}}"#,
        r#"{"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}}"#,
    ),
    (
        r#"{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}"#,
        r#"{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"c"},{"name":"b"}],"containers":[{"name":"c"}]}}"#,
        r#"{"spec":{"containers":[{"name":"a"},{"name":"c"},{"name":"b"}]}}"#,
    ),
    (r#"{}"#, r#"{"spec":{"$setElementOrder/containers":[{"name":"a"}]}}"#, r#"{"spec":{}}"#),
    // the merge key of ports is containerPort alone
    (
        r#"{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"protocol":"TCP"}]}]}}"#,
        r#"{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"http"}]}]}}"#,
        r#"{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"http","protocol":"TCP"}]}]}}"#,
    ),
    // atomic lists are replaced
    (
        r#"{"spec":{"tolerations":[{"key":"a"}]}}"#,
        r#"{"spec":{"tolerations":[{"key":"b"}]}}"#,
        r#"{"spec":{"tolerations":[{"key":"b"}]}}"#,
    ),
    // directives in what is new are obeyed, not stored
    (
        r#"{}"#,
        r#"{"spec":{"containers":[{"name":"a","env":[{"name":"x","$patch":"delete"},{"name":"y"}]}]}}"#,
        r#"{"spec":{"containers":[{"env":[{"name":"y"}],"name":"a"}]}}"#,
    ),
];

#[test]
fn strategic_merge_table() {
    for (document, patch, expected) in STRATEGIC.iter().copied() {
        assert_eq!(smp(document, patch).as_deref(), Ok(expected), "{document} + {patch}");
    }
}

#[test]
fn strategic_merge_errors() {
    let table = [
        (r#"{"a":{"$patch":"frobnicate"}}"#, r#"unknown patch type "frobnicate" at ".a""#),
        (
            r#"{"spec":{"containers":[{"image":"1"}]}}"#,
            r#"an item of the list ".spec.containers" does not contain the merge key "name""#,
        ),
        (
            r#"{"spec":{"containers":[{"$patch":"delete"}]}}"#,
            r#"an item of the list ".spec.containers" does not contain the merge key "name""#,
        ),
        (r#"{"spec":{"containers":["x"]}}"#, r#"an item of the list ".spec.containers" has the wrong type"#),
        (
            r#"{"metadata":{"finalizers":[{}]}}"#,
            r#"an item of the list ".metadata.finalizers" has the wrong type"#,
        ),
        (r#"{"a":{"$retainKeys":["b"],"c":1}}"#, r#"the directive $retainKeys at ".a" is malformed"#),
        (
            r#"{"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a"}]}}"#,
            r#"the order in the patch list ".spec.containers" doesn't match its $setElementOrder list"#,
        ),
        (
            r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":1}}"#,
            r#"the directive $deleteFromPrimitiveList/ at ".metadata.finalizers" is malformed"#,
        ),
    ];
    for (patch, expected) in table {
        assert_eq!(smp("{}", patch).unwrap_err().to_string(), expected, "{patch}");
    }
    assert_eq!(strategic_merge(&mut json!({}), &json!([]), pod()), Err(StrategicError::NotAnObject));
}

#[test]
fn merge_patch_table() {
    // The examples of RFC 7396, appendix A.
    let table = [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
        (r#"{"a":"foo"}"#, r#"null"#, r#"null"#),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
        (r#"[1,2]"#, r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
        (r#"{}"#, r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
    ];
    for (document, patch, expected) in table {
        let mut document = read(document);
        merge_patch(&mut document, &read(patch));
        assert_eq!(document.to_string(), expected);
    }
}

#[test]
fn json_patch_applies_all_or_nothing() {
    let before = json!({"a": {"b": 1}, "l": [1]});
    let mut document = before.clone();
    let patch = br#"[{"op":"test","path":"/a/b","value":1},{"op":"replace","path":"/a/b","value":2},{"op":"add","path":"/l/-","value":3}]"#;
    json_patch_bytes(&mut document, patch).unwrap();
    assert_eq!(document, json!({"a": {"b": 2}, "l": [1, 3]}));

    let mut document = before.clone();
    let failing = json!([{"op":"remove","path":"/a"},{"op":"test","path":"/l/0","value":7}]);
    let error = json_patch(&mut document, &failing).unwrap_err();
    assert_eq!(error.to_string(), r#"operation 1 of the JSON patch at path "/l/0": value did not match"#);
    assert_eq!(document, before);
}

/// Clients that want to be the first to set a field say so with a test for null.
#[test]
fn json_patch_takes_a_missing_field_for_null() {
    for (path, holds) in [("/a/x", true), ("/x", true), ("/a/b", false), ("/x/y", false), ("/l/7", false)] {
        let patch =
            json!([{"op": "test", "path": path, "value": null}, {"op": "add", "path": "/n", "value": 1}]);
        let mut document = json!({"a": {"b": 1}, "l": [1]});
        assert_eq!(json_patch(&mut document, &patch).is_ok(), holds, "{path}");
        assert_eq!(document.get("n").is_some(), holds);
    }
}

#[test]
fn json_patch_errors_tell_whose_fault() {
    let apply = |patch: &[u8]| json_patch_bytes(&mut json!({"a": [1]}), patch).unwrap_err();
    for undecodable in
        [&b"{"[..], b"{}", br#"[{"op":"no","path":""}]"#, br#"[{"op":"add","path":"x","value":1}]"#]
    {
        assert!(matches!(apply(undecodable), JsonPatchError::Undecodable(_)));
    }
    for unappliable in [
        &br#"[{"op":"remove","path":"/x"}]"#[..],
        br#"[{"op":"add","path":"/x/y","value":1}]"#,
        br#"[{"op":"add","path":"/a/7","value":1}]"#,
        br#"[{"op":"move","from":"/a","path":"/a/b"}]"#,
        br#"[{"op":"copy","from":"/q","path":"/b"}]"#,
    ] {
        assert!(matches!(apply(unappliable), JsonPatchError::Unappliable { .. }));
    }
    let many = vec![json!({"op":"test","path":"/a","value":[1]}); MAX_OPERATIONS + 1];
    let error = json_patch(&mut json!({}), &Value::Array(many)).unwrap_err();
    assert!(matches!(error, JsonPatchError::TooManyOperations(_)));
}

#[test]
fn json_patch_cannot_be_made_to_explode() {
    let doubling = vec![json!({"op":"copy","from":"/a","path":"/a/-"}); 60];
    let mut patch = vec![json!({"op":"add","path":"/a","value":["0123456789"]})];
    patch.extend(doubling.clone());
    // Copying a list into itself nests it, so depth stops it first.
    let error = json_patch(&mut json!({}), &Value::Array(patch)).unwrap_err();
    assert!(matches!(error, JsonPatchError::TooMuchCopied | JsonPatchError::TooDeep(_)));

    let wide = vec![json!({"op":"copy","from":"/s","path":"/l/-"}); 5000];
    let mut document = json!({"s": "x".repeat(1000), "l": []});
    let error = json_patch(&mut document, &Value::Array(wide)).unwrap_err();
    assert!(matches!(error, JsonPatchError::TooMuchCopied));

    let mut path = String::new();
    let mut deep = Vec::new();
    for _ in 0..200 {
        path.push_str("/a");
        deep.push(json!({"op":"add","path":path,"value":{}}));
    }
    let error = json_patch(&mut json!({}), &Value::Array(deep)).unwrap_err();
    assert!(matches!(error, JsonPatchError::TooDeep(63)));
}
