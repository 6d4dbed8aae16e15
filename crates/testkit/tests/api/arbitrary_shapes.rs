//! Arbitrary paths, queries and headers, and definitions with arbitrary parts: the server answers, with less than 500,
//! and goes on serving.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, widget, widgets};

use crate::arbitrary::{anything, until_enough};

fn runner() -> TestRunner {
    TestRunner::new(Config { failure_persistence: None, ..Config::default() })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn path() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => prop::sample::select(vec![
            "api", "apis", "v1", "namespaces", "default", "configmaps", "a", "status", "finalize", "apps", "deployments",
            "openapi", "v3", "watch", "apiextensions.k8s.io", "customresourcedefinitions",
        ]).prop_map(str::to_owned),
        1 => "[a-z%0-9.~!$&'()*+,;=:@-]{0,8}",
    ];
    proptest::collection::vec(word, 0..8).prop_map(|words| format!("/{}", words.join("/")))
}

fn query() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "labelSelector",
        "fieldSelector",
        "limit",
        "continue",
        "resourceVersion",
        "resourceVersionMatch",
        "dryRun",
        "force",
        "fieldManager",
        "fieldValidation",
        "propagationPolicy",
        "gracePeriodSeconds",
        "orphanDependents",
        "includeObject",
        "x",
        "pretty",
        "allowWatchBookmarks",
    ]);
    let value = prop_oneof![
        prop::sample::select(vec![
            "",
            "1",
            "0",
            "-1",
            "true",
            "All",
            "Exact",
            "NotOlderThan",
            "Foreground",
            "a%3Db",
            "!a"
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9%=!(),.+_-]{0,12}",
    ];
    let pair = (name, value).prop_map(|(name, value)| format!("{name}={value}"));
    proptest::collection::vec(pair, 0..4).prop_map(|pairs| pairs.join("&"))
}

/// Whatever the first line and the headers say, there is an answer, and it is JSON or the health page.
#[test]
fn arbitrary_addresses() {
    let (runtime, methods) =
        (runtime(), ["GET", "HEAD", "POST", "PUT", "MERGE", "APPLY", "DELETE", "OPTIONS", "TRACE", "X"]);
    let world = runtime.block_on(World::new());
    let header = "[ -~]{0,40}|application/json;as=[A-Za-z]{0,9};v=v1|(application/[a-z+*.-]{0,20}[,;]){0,3}";
    let inputs = (prop::sample::select(methods.to_vec()), path(), query(), header, header, any::<bool>());
    let run = runner().run(&inputs, |(method, path, query, accept, media, empty)| {
        runtime.block_on(async {
            let address = format!("{path}?{query}");
            let mut call = world.call(method, &address).header("accept", &accept);
            if method != "MERGE" && method != "APPLY" {
                call = call.header("content-type", &media);
            }
            let call = if empty { call } else { call.json(&config_map("a")) };
            let answer = call.send().await;
            assert!(answer.code < 500, "{method} {address}: {} {}", answer.code, answer.json);
            world.get("configmaps").await.expect(200);
        });
        Ok(())
    });
    run.unwrap();
}

/// Where a definition can be damaged, and what could stand there as well.
fn places() -> Vec<(&'static str, Value)> {
    let column = json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"});
    let scale = json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    vec![
        ("/spec/scope", json!("Cluster")),
        ("/spec/group", json!("demo.example.com")),
        (
            "/spec/names",
            json!({"plural": "widgets", "kind": "Widget", "singular": "w", "categories": ["all"]}),
        ),
        ("/spec/names/kind", json!("Gadget")),
        ("/spec/names/shortNames", json!(["w", "wi"])),
        ("/spec/versions", json!([version])),
        ("/spec/versions/0", version),
        ("/spec/versions/0/served", json!(false)),
        ("/spec/versions/0/subresources", json!({"scale": scale})),
        ("/spec/versions/0/subresources/status", json!({})),
        ("/spec/versions/0/schema", json!({"openAPIV3Schema": {"type": "object"}})),
        (
            "/spec/versions/0/schema/openAPIV3Schema",
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
        ("/spec/versions/0/additionalPrinterColumns", json!([column])),
        ("/spec/versions/0/additionalPrinterColumns/0", column),
        ("/spec/versions/0/additionalPrinterColumns/0/jsonPath", json!(".spec.parts[*].size")),
        ("/spec/versions/0/additionalPrinterColumns/0/type", json!("string")),
        ("/spec/versions/0/subresources/scale", scale),
        ("/spec/versions/0/subresources/scale/specReplicasPath", json!(".spec.count")),
        ("/spec/versions/0/deprecated", json!(true)),
        ("/spec/conversion", json!({"strategy": "None"})),
        ("/metadata", json!({"name": "widgets.demo.example.com", "labels": {"a": "b"}})),
    ]
}

/// A place of a definition and what is put there: often nonsense, sometimes not, so that all combinations are served too.
fn damage() -> impl Strategy<Value = (&'static str, Value)> {
    (prop::sample::select(places()), anything(), any::<bool>())
        .prop_map(|((place, sensible), nonsense, sane)| (place, if sane { sensible } else { nonsense }))
}

/// A definition with everything that can be damaged.
fn rich() -> Value {
    let mut definition = widgets();
    definition["spec"]["conversion"] = json!({"strategy": "None"});
    let version = &mut definition["spec"]["versions"][0];
    version["deprecated"] = json!(false);
    version["additionalPrinterColumns"] =
        json!([{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]);
    version["subresources"]["scale"] =
        json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    definition
}

/// A definition with any of its parts replaced is refused, or can be served with everything that belongs to it.
#[test]
fn arbitrary_definitions() {
    let runtime = runtime();
    let accepted = Cell::new(0);
    let parts = proptest::collection::vec(damage(), 1..4);
    let case = |parts: Vec<(&str, Value)>| {
        let mut definition = rich();
        for (pointer, value) in parts {
            if let Some(slot) = definition.pointer_mut(pointer) {
                *slot = value;
            }
        }
        runtime.block_on(async {
            let world = World::new().await;
            let code = world.create(DEFINITIONS, &definition).await.code;
            assert!(matches!(code, 201 | 400 | 422), "{code}: {definition}");
            accepted.set(accepted.get() + usize::from(code == 201));
            served(&world, &definition).await;
        });
    };
    until_enough(&parts, case, || accepted.get() > 40);
    assert!(accepted.get() > 40, "only {} definitions were accepted", accepted.get());
}

/// Discovery, documents and all verbs answer, whatever the definition says.
async fn served(world: &World, definition: &Value) {
    for path in ["/apis", "/openapi/v3", DEFINITIONS] {
        world.get(path).await.expect(200);
    }
    let cluster = WIDGETS.replace("namespaces/default/", "");
    for place in [WIDGETS, cluster.as_str()] {
        let one = format!("{place}/w");
        for call in [
            world.call("GET", "/openapi/v3/apis/demo.example.com/v1"),
            world.call("POST", place).json(&widget("w", 1)),
            world.call("APPLY", &format!("{one}?fieldManager=m&force=true")).json(&widget("w", 2)),
            world.call("MERGE", &format!("{one}/status")).json(&widget("w", 3)),
            world.call("MERGE", &format!("{one}/scale")).json(&json!({"spec": {"replicas": 1}})),
            world.call("GET", place).header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),
            world.call("DELETE", &one),
        ] {
            let answer = call.send().await;
            assert!(answer.code < 500, "{} {}: {definition}", answer.code, answer.json);
        }
    }
    world.call("DELETE", &format!("{DEFINITIONS}/widgets.demo.example.com")).send().await;
    world.get(DEFINITIONS).await.expect(200);
}
