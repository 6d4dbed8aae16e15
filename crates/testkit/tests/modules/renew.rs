//! What is unchanged gets its new marks together with others, and is otherwise left alone.

use serde_json::{Value, json};
use sexton_collector::modules::PutAction;
use sexton_testkit::World;

use crate::common::*;

fn mark(object: &Value) -> (&str, &str) {
    let annotations = &object["metadata"]["annotations"];
    (annotations[DEPLOYMENT].as_str().unwrap(), annotations[ORDER].as_str().unwrap())
}

/// Without its marks, its version and the time of its managers.
fn rest(object: &Value) -> Value {
    let mut rest = object.clone();
    let metadata = rest["metadata"].as_object_mut().unwrap();
    metadata.remove("resourceVersion");
    metadata.remove("annotations");
    rest
}

/// REQ-CLD-5: who is deployed unchanged carries the marks of this deployment afterwards, and is what it was, down to who
/// manages its fields. No request is made for it alone.
#[tokio::test]
async fn the_unchanged_are_marked_together() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "c"]).await;
    let before = world.get("configmaps/c").await.json;
    assert_eq!(mark(&before), ("d1", "3"));
    let line = Line::new(&world, |_, _| Fate::Passes);
    let modules = over(&world, line.client(), "tests-2").await;
    let plan = modules.plan(&shop("d2", maps(&["b", "c"]))).await.unwrap();
    assert!(plan.puts.iter().all(|put| put.action == PutAction::Unchanged));
    let done = modules.deploy(&plan, &|_| ()).await.unwrap();
    assert_eq!((done.unchanged, done.changed, done.created, done.swept.accused.len()), (2, 0, 0, 1));
    let after = world.get("configmaps/c").await.json;
    assert_eq!(mark(&after), ("d2", "2"), "its place is another one now");
    assert_eq!(rest(&after), rest(&before));
    let seen = line.seen();
    assert!(!seen.iter().any(|request| request.contains("configmaps/")), "{seen:#?}");
}

/// Whatever somebody else wrote after the plan was made is met by an ordinary put: what the document says is so
/// afterwards, what it does not speak of stays, and who is not there any more is put again.
#[tokio::test]
async fn who_was_written_meanwhile_is_put() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["gone", "labelled", "same"]).await;
    let modules = modules(&world).await;
    let plan = modules.plan(&shop("d2", maps(&["gone", "labelled", "same"]))).await.unwrap();
    world.delete("configmaps/gone", &json!({"propagationPolicy": "Background"})).await.expect(200);
    world.merge("configmaps/labelled", &json!({"metadata": {"labels": {"theirs": "x"}}})).await.expect(200);
    let done = modules.deploy(&plan, &|_| ()).await.unwrap();
    assert_eq!((done.unchanged, done.created), (2, 1));
    for name in ["gone", "labelled", "same"] {
        let now = world.get(&format!("configmaps/{name}")).await.expect(200).json;
        assert_eq!((mark(&now).0, &now["data"]), ("d2", &json!({"k": "v"})), "{name}");
    }
    assert_eq!(world.get("configmaps/labelled").await.at("metadata.labels.theirs"), "x");
    collect(&world).await;
    assert_eq!(left(&world).await, ["gone", "labelled", "same"]);
}

/// EXT-2: somebody who took a field over after the plan was made is not overruled, and nothing is swept.
#[tokio::test]
async fn who_took_a_field_over_meanwhile_is_a_conflict() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "old"]).await;
    let modules = modules(&world).await;
    let plan = modules.plan(&shop("d2", maps(&["a"]))).await.unwrap();
    world.merge("configmaps/a?fieldManager=them", &json!({"data": {"k": "theirs"}})).await.expect(200);
    let error = modules.deploy(&plan, &|_| ()).await.unwrap_err().to_string();
    assert!(error.contains("nothing was swept"), "{error}");
    assert_eq!(world.get("configmaps/a").await.at("data.k"), "theirs");
    assert_eq!(accused(&world).await, Vec::<String>::new());
}
