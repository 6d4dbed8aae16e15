//! Definitions with schemas of any shape, and objects of any shape for them: refused with the right code, or served; and
//! what was accepted once is accepted again as it is.

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, widget, widgets};

use crate::arbitrary::{anything, until_enough};

const PATTERNS: [&str; 6] = ["^a", "(", "a{1000}{1000}{1000}", "(a+)+$", "\\pX", "[[:alpha:]]+"];
const FORMATS: [&str; 6] = ["date-time", "uuid", "ipv4", "int32", "nothing", "byte"];
const RULES: [&str; 8] = [
    "self.a == self.b",
    "has(self.a) && size(self) < 3",
    "self.all(x, x.startsWith('a'))",
    "bogus(",
    "unheard(self)",
    "((((((((((1))))))))))",
    "'a'.matches('(a+)+$')",
    "[1,2,3].map(x, [1,2,3].map(y, x * y)).size() > 0",
];

/// Any schema of a value that has none below it.
fn leaf() -> impl Strategy<Value = Value> {
    let text = |words: &'static [&'static str]| prop::sample::select(words).prop_map(Value::from);
    prop_oneof![
        Just(json!({"type": "string"})),
        text(&PATTERNS).prop_map(|pattern| json!({"type": "string", "pattern": pattern, "minLength": 1})),
        text(&FORMATS).prop_map(|format| json!({"type": "string", "format": format})),
        (any::<i64>(), any::<i32>())
            .prop_map(|(most, least)| json!({"type": "integer", "maximum": most, "minimum": least})),
        Just(json!({"type": "number", "multipleOf": 0})),
        Just(json!({"type": "boolean", "nullable": true, "default": null})),
        Just(json!({"x-kubernetes-int-or-string": true})),
        Just(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})),
        anything().prop_map(|value| json!({"type": "string", "enum": [value, "a"]})),
        anything().prop_map(|value| json!({"type": "string", "default": value})),
    ]
}

/// Any schema, now and then with a word too many.
fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 24, 3, |inner| {
        let fields = prop::collection::btree_map("[a-c]", inner.clone(), 0..3);
        let object = (fields, prop::collection::vec("[a-d]", 0..2)).prop_map(|(fields, required)| {
            let properties: Map<String, Value> = fields.into_iter().collect();
            json!({"type": "object", "properties": properties, "required": required})
        });
        let list_types = prop::sample::select(vec!["atomic", "set", "map", "other"]);
        let list = (inner.clone(), list_types).prop_map(|(items, kind)| {
            let keys = if kind == "map" { json!(["a"]) } else { Value::Null };
            json!({"type": "array", "items": items, "x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": keys})
        });
        let map = inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values}));
        let ruled = (inner.clone(), prop::sample::select(RULES.to_vec())).prop_map(|(mut schema, rule)| {
            schema["x-kubernetes-validations"] = json!([{"rule": rule, "message": "no"}]);
            schema
        });
        let words = prop::sample::select(vec!["type", "items", "allOf", "not", "required", "$ref", "uniqueItems"]);
        let damaged = (inner, words, anything()).prop_map(|(mut schema, word, value)| {
            schema[word] = value;
            schema
        });
        prop_oneof![3 => object, 1 => list, 1 => map, 1 => ruled, 1 => damaged]
    })
}

/// Fuzzed schemas and objects: the right 4xx, no panic, and what is stored is what would be stored again.
#[test]
fn arbitrary_schemas() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (defined, created) = (Cell::new(0), Cell::new(0));
    let case = |(schema, objects): (Value, Vec<Value>)| {
        runtime.block_on(async {
            let world = World::new().await;
            let mut definition = widgets();
            let whole = json!({"type": "object", "properties": {"spec": schema}});
            definition["spec"]["versions"][0]["schema"] = json!({"openAPIV3Schema": whole});
            let code = world.create(DEFINITIONS, &definition).await.code;
            assert!(matches!(code, 201 | 400 | 422), "{code}: {definition}");
            world.get("/openapi/v3").await.expect(200);
            if code != 201 {
                return;
            }
            defined.set(defined.get() + 1);
            world.get("/openapi/v3/apis/demo.example.com/v1").await.expect(200);
            for spec in objects.into_iter().chain([json!({}), json!("a"), json!({"a": "a"}), json!(["a"])]) {
                let made = write(&world, spec).await;
                created.set(created.get() + usize::from(made));
            }
        });
    };
    let inputs = (schema(), prop::collection::vec(anything(), 3));
    until_enough(&inputs, case, || defined.get() > 20 && created.get() > 20);
    assert!(defined.get() > 20, "only {} definitions were accepted", defined.get());
    assert!(created.get() > 20, "only {} objects were accepted", created.get());
}

/// Writes an object in every way; whether it was created.
async fn write(world: &World, spec: Value) -> bool {
    let mut object = widget("w", 1);
    object["spec"] = spec.clone();
    let made = world.create(WIDGETS, &object).await;
    assert!(matches!(made.code, 201 | 400 | 422), "{} {}", made.code, made.json);
    let one = format!("{WIDGETS}/w");
    for call in [
        world.call("APPLY", &format!("{one}?fieldManager=m&force=true&dryRun=All")).json(&object),
        world.call("MERGE", &format!("{one}?dryRun=All")).json(&json!({"spec": spec})),
        world.call("GET", WIDGETS).header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),
    ] {
        let answer = call.send().await;
        assert!(answer.code < 500, "{} {}", answer.code, answer.json);
    }
    if made.code == 201 {
        let stored = world.get(&one).await.expect(200).json;
        let again = world.put(&one, &stored).await.expect(200);
        assert_eq!(again.at("metadata.resourceVersion"), &stored["metadata"]["resourceVersion"], "{stored}");
        world.call("DELETE", &format!("{one}?propagationPolicy=Background")).send().await.expect(200);
    }
    made.code == 201
}
