//! What holds for any schema and any document.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::Structural;
use crate::schema::check;

/// Names are few, so that schemas and documents meet.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "spec", "metadata", "kind"]).prop_map(str::to_owned)
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5_i64..50).prop_map(Value::from),
        (-5.0..5.0_f64).prop_map(Value::from),
        "[a-c]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 4, |below| {
        prop_oneof![
            prop::collection::vec(below.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(name(), below, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Schemas that are structural, more often than not.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "maxLength": 2})),
        Just(json!({"type": "string", "enum": ["a", "b"], "default": "a"})),
        Just(json!({"type": "integer", "minimum": 0, "default": 7})),
        Just(json!({"type": "number", "nullable": true})),
        Just(json!({"type": "boolean"})),
        Just(json!({"x-kubernetes-int-or-string": true})),
        Just(json!({"x-kubernetes-preserve-unknown-fields": true})),
        Just(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "nullable": true})),
    ];
    leaf.prop_recursive(4, 32, 4, |below| {
        let object = (prop::collection::btree_map(name(), below.clone(), 0..4), any::<bool>(), any::<bool>());
        prop_oneof![
            object.prop_map(|(map, open, default)| {
                let mut schema = json!({"type": "object", "properties": Map::from_iter(map)});
                if open {
                    schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
                }
                if default {
                    schema["default"] = json!({});
                }
                schema
            }),
            below.clone().prop_map(|each| json!({"type": "object", "additionalProperties": each})),
            below.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (below.clone(), below).prop_map(|(a, b)| json!({"type": "object", "properties": {"a": a, "b": b}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]})),
        ]
    })
}

/// Which paths a naive reader would keep: written down from the rules, not from the code.
fn kept(schema: Option<&Value>, value: &Value, resource: bool) -> Value {
    let open = schema.is_some_and(|schema| schema["x-kubernetes-preserve-unknown-fields"] == true);
    match value {
        Value::Object(map) => {
            let mut out = Map::new();
            for (name, value) in map {
                let property = schema.and_then(|schema| schema["properties"].get(name));
                let each = schema.and_then(|schema| schema.get("additionalProperties"));
                if resource && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
                    out.insert(name.clone(), value.clone());
                } else if let Some(below) = property.or(each) {
                    out.insert(name.clone(), kept(Some(below), value, false));
                } else if open {
                    out.insert(name.clone(), value.clone());
                }
            }
            Value::Object(out)
        }
        Value::Array(items) => match schema.and_then(|schema| schema.get("items")) {
            None if open => value.clone(),
            below => items.iter().map(|item| kept(below, item, false)).collect(),
        },
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Pruning is what the rules say, and doing it again changes nothing.
    #[test]
    fn pruning_is_as_written_and_idempotent(schema in schema(), document in document()) {
        let compiled = Structural::compile(&schema);
        let mut pruned = document.clone();
        let told = compiled.prune(&mut pruned);
        prop_assert_eq!(&pruned, &kept(Some(&schema), &document, true));
        prop_assert_eq!(told.is_empty(), pruned == document);
        prop_assert!(compiled.prune(&mut pruned).is_empty());
    }

    /// Filling in again changes nothing; and with defaults that were checked there is nothing to prune afterwards.
    #[test]
    fn filling_in_is_idempotent(schema in schema(), document in document()) {
        let compiled = Structural::compile(&schema);
        let mut filled = document;
        compiled.prune(&mut filled);
        compiled.fill(&mut filled).unwrap();
        let mut again = filled.clone();
        compiled.fill(&mut again).unwrap();
        prop_assert_eq!(&again, &filled);
        if schema["type"] == "object" && check(&schema, "s").is_empty() {
            prop_assert_eq!(compiled.prune(&mut again), Vec::<String>::new());
            prop_assert_eq!(&again, &filled);
        }
    }

    /// The order in which Kubernetes does it does not matter for what comes out.
    #[test]
    fn pruning_and_filling_in_commute(schema in schema(), document in document()) {
        prop_assume!(schema["type"] == "object" && check(&schema, "s").is_empty());
        let compiled = Structural::compile(&schema);
        let (mut one, mut other) = (document.clone(), document);
        compiled.prune(&mut one);
        compiled.fill(&mut one).unwrap();
        compiled.fill(&mut other).unwrap();
        compiled.prune(&mut other);
        prop_assert_eq!(one, other);
    }

    /// What is valid once is valid again, and as an update of itself or of anything.
    #[test]
    fn what_is_valid_stays_so(schema in schema(), document in document(), old in document()) {
        let compiled = Structural::compile(&schema);
        let mut stored = document;
        compiled.prune(&mut stored);
        compiled.fill(&mut stored).unwrap();
        let errors = compiled.validate(&stored, None);
        prop_assert!(compiled.validate(&stored, Some(&stored)).is_empty() || !stored.is_object());
        if errors.is_empty() {
            prop_assert!(compiled.validate(&stored, Some(&old)).is_empty());
            let mut again = stored.clone();
            prop_assert!(compiled.prune(&mut again).is_empty());
            compiled.fill(&mut again).unwrap();
            prop_assert_eq!(&again, &stored);
        }
        prop_assert!(errors.len() <= 65);
    }

    /// Anything can be sent as a schema or as a document.
    #[test]
    fn nonsense_is_refused_and_harmless(schema in nonsense(), document in document()) {
        let errors = check(&schema, "s");
        prop_assert!(errors.len() <= 65);
        let compiled = Structural::compile(&schema);
        let mut document = document;
        compiled.prune(&mut document);
        compiled.fill(&mut document).unwrap();
        prop_assert!(compiled.validate(&document, None).len() <= 65);
    }
}

/// The words of schemas with anything behind them.
fn nonsense() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "type",
        "properties",
        "additionalProperties",
        "items",
        "required",
        "nullable",
        "enum",
        "default",
        "maximum",
        "minimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "format",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "$ref",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-int-or-string",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-map-type",
        "x-kubernetes-validations",
    ]);
    let leaf = prop_oneof![
        document(),
        prop::sample::select(vec![
            "object", "array", "string", "integer", "map", "set", "date", "(", "[a-z]+"
        ])
        .prop_map(Value::from),
        Just(json!(true)),
    ];
    leaf.prop_recursive(4, 64, 6, move |below| {
        prop_oneof![
            prop::collection::btree_map(word.clone(), below.clone(), 0..6)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
            prop::collection::btree_map(name(), below.clone(), 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
            prop::collection::vec(below, 0..3).prop_map(Value::Array),
        ]
    })
}
