//! Arbitrary documents and patches at every verb: no failure of the server, no object that cannot be read, listed and
//! deleted afterwards.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, core, widget, widgets};

/// One round has nearly always shown enough.
const ROUNDS: usize = 20;

/// Any JSON, of the sort that hurts: known field names in wrong places, nulls, odd numbers and texts.
pub(crate) fn anything() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("metadata".to_owned()),
        Just("name".to_owned()),
        Just("namespace".to_owned()),
        Just("finalizers".to_owned()),
        Just("ownerReferences".to_owned()),
        Just("managedFields".to_owned()),
        Just("fieldsV1".to_owned()),
        Just("f:data".to_owned()),
        Just("k:{\"uid\":\"x\"}".to_owned()),
        Just("labels".to_owned()),
        Just("uid".to_owned()),
        Just("spec".to_owned()),
        Just("status".to_owned()),
        Just("versions".to_owned()),
        Just("conditions".to_owned()),
        Just("containers".to_owned()),
        Just("data".to_owned()),
        Just("stringData".to_owned()),
        Just("$patch".to_owned()),
        Just("$retainKeys".to_owned()),
        Just("$setElementOrder/finalizers".to_owned()),
        Just("$deleteFromPrimitiveList/finalizers".to_owned()),
        Just("deletionTimestamp".to_owned()),
        Just("creationTimestamp".to_owned()),
        Just("generation".to_owned()),
        "\\PC{0,8}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        word.clone().prop_map(Value::from),
        Just(json!("delete")),
        Just(json!("replace")),
        Just(json!("2026-11-15T20:00:00Z")),
        Just(json!("cascade_deletion")),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word.clone(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A document with anything anywhere. In half of the cases its metadata are sensible, in some there is nothing else, so
/// that it often gets stored; what such a one is called is left to whoever sends it.
fn document() -> impl Strategy<Value = Value> {
    (anything(), anything(), 0..4_u8, 0..6_u8).prop_map(|(body, metadata, name, sort)| {
        let mut body = if body.is_object() { body } else { json!({"data": body}) };
        if sort < 3 {
            body = if sort == 0 { json!({}) } else { body };
            body["metadata"] = json!({"annotations": {"a": "b"}, "labels": {"n": name.to_string()}});
            return body;
        }
        if body.get("metadata").is_none_or(|found| !found.is_object()) {
            body["metadata"] =
                if metadata.is_object() { metadata } else { json!({"annotations": {"a": "b"}}) };
        }
        body["metadata"]["name"] = json!(format!("n{name}"));
        body
    })
}

/// A JSON patch whose operations at least look like some.
fn operations() -> impl Strategy<Value = Value> {
    let path = prop_oneof![
        Just("/metadata"),
        Just("/metadata/finalizers/-"),
        Just("/metadata/ownerReferences/0"),
        Just("/data"),
        Just(""),
        Just("/metadata/managedFields"),
        Just("/metadata/uid"),
        Just("/spec/x"),
        Just("/metadata/labels"),
        Just("/kind"),
    ];
    let verb =
        prop_oneof![Just("add"), Just("remove"), Just("replace"), Just("move"), Just("copy"), Just("test")];
    let operation = (verb, path.clone(), path, anything())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}));
    proptest::collection::vec(operation, 0..4).prop_map(Value::from)
}

const PLACES: [&str; 6] = ["configmaps", "pods", "secrets", "events", WIDGETS, DEFINITIONS];

async fn begin() -> World {
    let world = World::new().await;
    world.create(DEFINITIONS, &widgets()).await.expect(201);
    for name in ["n0", "n1"] {
        world.create("configmaps", &config_map(name)).await.expect(201);
        world.create("pods", &core("Pod", name)).await.expect(201);
        world.create("secrets", &core("Secret", name)).await.expect(201);
        world.create("events", &core("Event", name)).await.expect(201);
        world.create(WIDGETS, &widget(name, 1)).await.expect(201);
    }
    world
}

/// Everything that is stored can be read, listed in each form, and in the end deleted.
async fn still_works(world: &World) {
    for place in PLACES {
        for form in [
            "application/json",
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        ] {
            let listed = world.call("GET", place).header("accept", form).send().await;
            assert!(matches!(listed.code, 200 | 404), "{place}: {}", listed.code);
            assert!(!listed.json.is_null(), "{place} as {form} is not JSON");
        }
        let listed = world.get(place).await;
        for item in listed.at("items").as_array().into_iter().flatten() {
            let path = format!("{place}/{}", item["metadata"]["name"].as_str().unwrap());
            assert_eq!(world.get(&path).await.expect(200).json, *item);
            if place != DEFINITIONS {
                // Twice at most: a mark, then the removal of whatever holds it.
                world.delete(&path, &json!({"propagationPolicy": "Background"})).await.expect(200);
                if world.get(&path).await.code == 200 {
                    world.merge(&path, &json!({"metadata": {"finalizers": null}})).await.expect(200);
                }
                world.get(&path).await.expect(404);
            }
        }
    }
}

/// One case: a world, some hostile requests, and then a look at everything. Returns how many were accepted.
async fn case(requests: Vec<(usize, u8, u8, Value, Value)>) -> usize {
    let world = begin().await;
    let mut accepted = 0;
    for (place, verb, name, mut document, operations) in requests {
        let place = PLACES[place % PLACES.len()];
        if document["metadata"]["name"].is_null() {
            document["metadata"]["name"] = json!(format!("n{name}"));
        }
        let one = format!("{place}/n{name}");
        let call = match verb % 9 {
            0 => world.call("POST", place).json(&document),
            1 => world.call("PUT", &one).json(&document),
            2 => world.call("MERGE", &one).json(&document),
            3 => world.call("STRATEGIC", &one).json(&document),
            4 => world.call("JSON-PATCH", &one).json(&operations),
            5 => world.call("APPLY", &format!("{one}?fieldManager=m&force=true")).json(&document),
            6 => world.call("PUT", &format!("{one}/status")).json(&document),
            7 => world.call("MERGE", &format!("{one}/status")).json(&document),
            _ => world.call("DELETE", &one).json(&document),
        };
        let answer = call.send().await;
        assert!(
            answer.code < 500,
            "verb {verb} at {one}: {} {}\n{document}\n{operations}",
            answer.code,
            answer.json
        );
        assert!(!answer.json.is_null(), "an answer is always JSON");
        accepted += usize::from(answer.code < 300);
    }
    world.get("/readyz").await.expect(200);
    still_works(&world).await;
    accepted
}

/// The usual number of cases, and again until they have shown enough: chance alone must not fail a test, however unlikely.
/// What never gets there in so many rounds is not a matter of chance.
pub(crate) fn until_enough<S: Strategy>(inputs: &S, case: impl Fn(S::Value), enough: impl Fn() -> bool) {
    for _ in 0..ROUNDS {
        // PROPTEST_CASES asks for more.
        let config = Config { failure_persistence: None, ..Config::default() };
        let run = TestRunner::new(config).run(inputs, |input| {
            case(input);
            Ok(())
        });
        run.unwrap();
        if enough() {
            return;
        }
    }
}

/// See the head of this file.
#[test]
fn arbitrary_requests_never_break_the_server() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = (0..PLACES.len(), any::<u8>(), 0..4_u8, document(), operations());
    let requests = proptest::collection::vec(request, 1..12);
    let (accepted, asked) = (Cell::new(0), Cell::new(0));
    let round = |requests: Vec<_>| {
        asked.set(asked.get() + requests.len());
        accepted.set(accepted.get() + runtime.block_on(case(requests)));
    };
    // Requests that are all refused would prove nothing.
    let enough = || accepted.get() * 10 > asked.get();
    until_enough(&requests, round, enough);
    assert!(enough(), "{} of {} were accepted", accepted.get(), asked.get());
}
