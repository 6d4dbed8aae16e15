//! A plan tells exactly what is done: field by field, whatever others have changed before.

use std::collections::BTreeMap;

use proptest::collection::btree_map;
use proptest::prelude::*;
use serde_json::{Value, json};
use sexton_collector::modules::{Deployment, PutAction};
use sexton_testkit::World;

use crate::common::*;

type Entries = BTreeMap<String, String>;

fn entries() -> impl Strategy<Value = Entries> {
    btree_map("[a-d]", "[01]", 0..4)
}

fn document(data: &Entries, labels: &Entries) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it", "labels": labels}, "data": data,
    })
}

/// Data and labels of the object, as paths; our own label is left out.
async fn seen(world: &World) -> BTreeMap<String, String> {
    let object = world.get("configmaps/it").await.json;
    let mut seen = BTreeMap::new();
    for (field, pointer) in [("data.", "/data"), ("metadata.labels[", "/metadata/labels")] {
        for (key, value) in object.pointer(pointer).and_then(Value::as_object).into_iter().flatten() {
            let end = if field.ends_with('[') { "]" } else { "" };
            seen.insert(format!("{field}{key}{end}"), value.as_str().unwrap().to_owned());
        }
    }
    seen.remove(&format!("metadata.labels[{MANAGER}]"));
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// What the plan says changes, changes, and nothing else does; what it calls unchanged stays as it is.
    #[test]
    fn a_plan_is_what_happens(
        first in (entries(), entries()),
        second in (entries(), entries()),
        others in btree_map("[a-d]", proptest::option::of("[01]"), 0..3),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new().await;
            apply(&world, &shop("d1", sources([document(&first.0, &first.1)]))).await;
            world.merge("configmaps/it", &json!({"data": others})).await.expect(200);
            let before = seen(&world).await;
            let deployment =
                Deployment { force: true, ..shop("d2", sources([document(&second.0, &second.1)])) };
            let modules = modules(&world).await;
            let plan = modules.plan(&deployment).await.unwrap();
            modules.deploy(&plan, &|_| ()).await.unwrap();
            let after = seen(&world).await;
            let mut expected = before;
            for change in &plan.puts[0].changes {
                // A whole map that comes or goes is one change.
                let inside = |value: &Option<Value>| -> Vec<(String, Option<String>)> {
                    match value {
                        Some(Value::Object(map)) => {
                            let path = |key: &String| format!("{}.{key}", change.path);
                            map.iter().map(|(key, value)| (path(key), value.as_str().map(Into::into))).collect()
                        }
                        Some(Value::String(text)) => vec![(change.path.clone(), Some(text.clone()))],
                        _ => Vec::new(),
                    }
                };
                inside(&change.old).iter().for_each(|(path, _)| _ = expected.remove(path));
                for (path, value) in inside(&change.new) {
                    expected.insert(path, value.unwrap());
                }
            }
            assert_eq!(expected, after, "{:?}", plan.puts[0]);
            assert_eq!(plan.puts[0].action == PutAction::Unchanged, plan.puts[0].changes.is_empty());
        });
    }
}
