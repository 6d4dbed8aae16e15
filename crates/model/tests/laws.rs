//! Laws of field sets, patches and apply, checked against naive models and on arbitrary JSON.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sexton_model::fields::{FieldSet, ManagedFields, PathElement, Schema, Writer, apply, track_update};
use sexton_model::patch::{json_patch, merge_patch, strategic_merge};

const WRITER: Writer<'static> =
    Writer { manager: "a", api_version: "v1", subresource: "", time: "2024-01-01T00:00:01Z" };
const OTHER: Writer<'static> = Writer { manager: "b", ..WRITER };

fn pod() -> &'static Schema {
    Schema::builtin("", "Pod").unwrap()
}

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        4 => "[a-c.\"]{0,2}".prop_map(PathElement::Field),
        1 => (0..3i64).prop_map(PathElement::Index),
        1 => scalar().prop_map(PathElement::Value),
        1 => (scalar(), "[a-b]").prop_map(|(value, name)| PathElement::Key(vec![(name, value)])),
    ]
}

fn paths() -> impl Strategy<Value = Vec<Vec<PathElement>>> {
    prop::collection::vec(prop::collection::vec(element(), 1..4), 0..8)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..3i64).prop_map(Value::from),
        "[a-b\"]{0,2}".prop_map(Value::from),
    ]
}

/// Names that mean something to some rule or directive, and some that do not.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a",
        "b",
        "name",
        "metadata",
        "spec",
        "status",
        "containers",
        "ports",
        "containerPort",
        "protocol",
        "finalizers",
        "ownerReferences",
        "uid",
        "managedFields",
        "env",
        "nodeSelector",
        "$patch",
        "$retainKeys",
        "$setElementOrder/finalizers",
        "$setElementOrder/containers",
        "$deleteFromPrimitiveList/finalizers",
        "op",
        "path",
        "f:a",
        ".",
        "k:{}",
        "fieldsV1",
        "fieldsType",
        "operation",
        "apiVersion",
    ])
    .prop_map(str::to_owned)
}

/// Any JSON, with names and words that hit special cases often.
fn anything() -> impl Strategy<Value = Value> {
    let word =
        prop::sample::select(vec!["delete", "replace", "merge", "add", "/a", "Apply", "Update", "FieldsV1"]);
    let leaf = prop_oneof![scalar(), word.prop_map(Value::from)];
    leaf.prop_recursive(5, 64, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A configuration that can be applied to a pod: containers told apart, no nulls, plain maps.
fn config() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![(0..3i64).prop_map(Value::from), "[x-z]".prop_map(Value::from)];
    let map = prop::collection::btree_map("[a-d]", plain, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>()));
    let containers = prop::collection::btree_map("[p-r]", map.clone(), 0..3).prop_map(|items| {
        let item = |(name, mut item): (String, Value)| {
            item["name"] = name.into();
            item
        };
        items.into_iter().map(item).collect::<Vec<Value>>()
    });
    let finalizers = prop::collection::btree_set("[f-h]", 0..3);
    (map.clone(), map, containers, finalizers).prop_map(|(labels, extra, containers, finalizers)| {
        json!({"metadata": {"labels": labels, "finalizers": finalizers}, "spec": {"containers": containers, "extra": extra}})
    })
}

fn set_of(paths: &[Vec<PathElement>]) -> (FieldSet, BTreeSet<String>) {
    let mut set = FieldSet::new();
    for path in paths {
        set.insert(path);
    }
    // The model tells paths apart by their spelling, step by step.
    let spelled = |path: &Vec<PathElement>| {
        let steps: Vec<String> = path.iter().map(PathElement::encode).collect();
        Value::from(steps).to_string()
    };
    (set, paths.iter().map(spelled).collect())
}

fn same(set: &FieldSet, model: &BTreeSet<String>) -> bool {
    let contains = |spelled: &String| {
        let steps: Vec<String> = serde_json::from_str(spelled).unwrap();
        let path: Vec<PathElement> = steps.iter().map(|step| PathElement::parse(step).unwrap()).collect();
        set.contains(&path)
    };
    set.len() == model.len() && model.iter().all(contains) && set.is_empty() == model.is_empty()
}

fn without_managers(document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(metadata) = document.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    document
}

/// Empties that pruning leaves or takes away do not count.
fn without_empties(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().map(|(name, value)| (name, without_empties(value)));
            let full = |value: &Value| *value != json!({}) && *value != json!([]);
            Value::Object(kept.filter(|(_, value)| full(value)).collect())
        }
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn set_algebra_is_that_of_sets(left in paths(), right in paths()) {
        let ((a, model_a), (b, model_b)) = (set_of(&left), set_of(&right));
        prop_assert!(same(&a, &model_a));
        prop_assert!(same(&a.union(&b), &(&model_a | &model_b)));
        prop_assert!(same(&a.intersection(&b), &(&model_a & &model_b)));
        prop_assert!(same(&a.difference(&b), &(&model_a - &model_b)));
        let mut taken = a.clone();
        prop_assert_eq!(taken.subtract(&b), taken != a);
        prop_assert_eq!(a.paths().len(), a.len());
        prop_assert!(a.difference(&a.leaves()).intersection(&a.leaves()).is_empty());
    }

    #[test]
    fn fields_v1_round_trip(paths in paths()) {
        let (set, _) = set_of(&paths);
        let encoded = set.encode();
        prop_assert_eq!(FieldSet::decode(&encoded).unwrap(), set);
        prop_assert_eq!(FieldSet::decode(&encoded).unwrap().encode(), encoded);
    }

    #[test]
    fn merge_patch_twice_is_once(document in anything(), patch in anything()) {
        let mut once = document;
        merge_patch(&mut once, &patch);
        let mut twice = once.clone();
        merge_patch(&mut twice, &patch);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn strategic_replacement_is_the_replacement(document in config(), wanted in config()) {
        let mut patch = wanted.clone();
        patch["$patch"] = "replace".into();
        let mut patched = document.clone();
        strategic_merge(&mut patched, &patch, pod()).unwrap();
        prop_assert_eq!(&patched, &wanted);
        // Merging a document into itself changes nothing.
        let mut itself = document.clone();
        strategic_merge(&mut itself, &document, pod()).unwrap();
        prop_assert_eq!(itself, document);
    }

    #[test]
    fn applying_twice_is_applying_once(first in config(), second in config()) {
        let live = apply(None, &first, &WRITER, false, pod()).unwrap();
        let once = apply(Some(&live), &second, &OTHER, true, pod()).unwrap();
        let later = Writer { time: "2025-01-01T00:00:00Z", ..OTHER };
        let twice = apply(Some(&once), &second, &later, false, pod()).unwrap();
        prop_assert_eq!(once.to_string(), twice.to_string());
    }

    #[test]
    fn applying_nothing_takes_back_only_what_one_owned(base in config(), mine in config()) {
        let mut live = base;
        track_update(None, &mut live, &OTHER, pod());
        let Ok(applied) = apply(Some(&live), &mine, &WRITER, false, pod()) else {
            return Ok(());
        };
        let back = apply(Some(&applied), &json!({}), &WRITER, false, pod()).unwrap();
        prop_assert_eq!(without_empties(without_managers(&back)), without_empties(without_managers(&live)));
        let managed = ManagedFields::decode(&back["metadata"]["managedFields"]).unwrap();
        prop_assert!(managed.entries.iter().all(|entry| entry.manager == "b"));
    }

    #[test]
    fn appliers_without_conflicts_commute(a in config(), b in config()) {
        let both = |first: &Value, one: &Writer<'_>, second: &Value, two: &Writer<'_>| {
            let live = apply(None, first, one, false, pod()).unwrap();
            apply(Some(&live), second, two, false, pod())
        };
        let (Ok(ab), Ok(ba)) = (both(&a, &WRITER, &b, &OTHER), both(&b, &OTHER, &a, &WRITER)) else {
            return Ok(());
        };
        prop_assert_eq!(&ab["metadata"]["labels"], &ba["metadata"]["labels"]);
        prop_assert_eq!(&ab["spec"]["extra"], &ba["spec"]["extra"]);
        prop_assert_eq!(&ab["metadata"]["managedFields"], &ba["metadata"]["managedFields"]);
        // Lists hold the same items; their order is that of the last applier.
        let sorted = |document: &Value, list: &str| {
            let mut items: Vec<String> = document.pointer(list).unwrap().as_array().unwrap().iter().map(Value::to_string).collect();
            items.sort();
            items
        };
        for list in ["/spec/containers", "/metadata/finalizers"] {
            prop_assert_eq!(sorted(&ab, list), sorted(&ba, list));
        }
    }

    #[test]
    fn an_update_and_its_undoing_leave_no_strangers(old in config(), new in config()) {
        let mut live = old.clone();
        track_update(None, &mut live, &WRITER, pod());
        let mut changed = new;
        track_update(Some(&live), &mut changed, &OTHER, pod());
        // Everything there is has an owner, and nothing else has.
        let owned = ManagedFields::decode(&changed["metadata"]["managedFields"]).unwrap();
        let all = owned.entries.iter().fold(FieldSet::new(), |all, entry| all.union(&entry.fields));
        let there = FieldSet::of(&without_managers(&changed), pod());
        prop_assert_eq!(there.difference(&all), FieldSet::new());
        prop_assert_eq!(all.leaves().difference(&there), FieldSet::new());
    }

    #[test]
    fn nothing_panics(a in anything(), b in anything(), c in anything(), force in any::<bool>(), status in any::<bool>()) {
        let writer = Writer { subresource: if status { "status" } else { "" }, ..WRITER };
        for schema in [pod(), &Schema::custom(false)] {
            let _ = apply(None, &a, &writer, force, schema);
            let _ = apply(Some(&a), &b, &writer, force, schema);
            let mut new = b.clone();
            track_update(None, &mut new, &writer, schema);
            let mut newer = c.clone();
            track_update(Some(&new), &mut newer, &writer, schema);
            let _ = apply(Some(&newer), &a, &OTHER, force, schema);
            let _ = strategic_merge(&mut a.clone(), &b, schema);
            FieldSet::of(&a, schema).remove_from(&mut b.clone(), &FieldSet::of(&c, schema), schema);
        }
        let _ = json_patch(&mut a.clone(), &b);
        let _ = json_patch(&mut a.clone(), &json!([b]));
        let _ = FieldSet::decode(&a);
        let _ = ManagedFields::decode(&a);
        let _ = Schema::from_openapi(&a, true);
    }
}
