//! Objects as JSON: out and in again, in any order, and nothing half done.

use sexton_runtime::model::{ImportError, Model, ModelError, ModelValue, export};
use sexton_runtime::world::{CallError, CreateError, Handle, NewObject, ObjectId, Value};

use crate::kit::Stage;

fn id(text: &str) -> ObjectId {
    ObjectId::new(text).unwrap()
}

fn text(stage: &Stage, root: &str) -> String {
    export(&stage.world, Some(&stage.get(root))).unwrap()
}

fn import(text: &str) -> (Stage, Option<Handle>) {
    let stage = Stage::new();
    let imported = Model::parse(text).unwrap().import(&stage.world).unwrap();
    assert_eq!(imported.dangling, []);
    if let Some(root) = &imported.root {
        stage.world.set_root(root);
    }
    (stage, imported.root)
}

/// REQ-MUR-6, REQ-MUR-65, REQ-MUR-35, REQ-MUR-36: persistable properties and what they reach, owned objects nested,
/// dependencies at the dependent, destroyed ones flagged.
#[tokio::test]
async fn what_is_written() {
    let mut stage = Stage::new();
    let script = "
        new env
        new app in env
        new net in app
        new vm in app
        new lost
        new gone
        root env
        env.inout = app
        app.in = net vm
        vm.out = net
        env.runtime = lost
        subscribe net vm hear
        subscribe net vm
        subscribe vm lost hear
        subscribe env gone keep
        drop gone";
    stage.play(script).await;
    let expected = concat!(
        r#"{"Objects":{"?":{"type":"Node","id":"env"},"inout":{"?":{"type":"Node","id":"app"},"in":["#,
        r#"{"?":{"type":"Node","id":"net","dependencies":{"onDestruction":[{"target":"vm","handler":"hear","count":2}]}}},"#,
        r#"{"?":{"type":"Node","id":"vm"},"out":{"?":{"ref":"net"}}}]}}}"#
    );
    assert_eq!(text(&stage, "env"), expected);
    stage.play("collect").await;
    assert_eq!(
        text(&stage, "env"),
        r#"{"Objects":{"?":{"type":"Node","id":"env"},"inout":{"?":{"type":"Node","id":"gone","destroyed":true,"owner":null}}}}"#
    );
}

/// REQ-MUR-37, REQ-MUR-72: a destroyed object is so in the next run: nothing can be called, everything read.
#[tokio::test]
async fn destroyed_objects_stay_destroyed() {
    let mut before = Stage::new();
    before
        .play(
            "new root\nnew b : Derived\nnew c\nroot root\nb.in = c\nsubscribe root b keep\ndrop all\ncollect",
        )
        .await;
    let (mut stage, _) = import(&text(&before, "root"));
    let b = stage.get("b");
    assert!(b.is_destroyed());
    assert!(matches!(b.call("plain", Vec::new()).await, Err(CallError::Destroyed { .. })));
    assert_eq!(b.get("in"), Value::Object(stage.get("c")));
    drop(b);
    assert_eq!(stage.play("collect\nroot.inout = null\ncollect\nshow").await, "there: root");
}

/// EXT-27, REQ-MUR-65: dependencies are restored in any order of the model, with their counts; those that lead nowhere
/// are reported.
#[tokio::test]
async fn dependencies_are_restored_in_any_order() {
    let model = r#"{"Objects": {"?": {"type": "Node", "id": "root",
            "dependencies": {"onDestruction": [{"target": "late", "handler": "hear", "count": 2}, {"target": "missing"}]}},
        "in": {"?": {"type": "Node", "id": "a", "dependencies": {"onDestruction": [
            {"target": "root", "handler": "unknown"}, {"target": "late"}]}}},
        "out": {"?": {"type": "Node", "id": "late"}}}}"#;
    let mut stage = Stage::new();
    let imported = Model::parse(model).unwrap().import(&stage.world).unwrap();
    let dangling: Vec<String> =
        imported.dangling.iter().map(|one| format!("{} {}: {}", one.path, one.target, one.why)).collect();
    assert_eq!(
        dangling,
        [
            "$.Objects.?.dependencies missing: there is no such object",
            "$.Objects.in.?.dependencies root: class Node has no method unknown that could hear of it; the order is kept",
        ]
    );
    let kept = stage.gc.subscriptions(&stage.get("a"));
    let kept: Vec<(&str, bool)> =
        kept.iter().map(|one| (one.target.as_str(), one.handler.is_some())).collect();
    assert_eq!(kept, [("root", false), ("late", false)]);
    stage.world.set_root(&imported.root.clone().unwrap());
    drop(imported);
    let told = stage.play("unsubscribe root late\nroot.out = null\ncollect").await;
    let expected = "
        warning: root hears of late
        notifying: root hears of late
        destroy late
        destroyed: root hears of late";
    assert_eq!(told, super::kit::tidy(expected));
}

/// REQ-MUR-3, REQ-MUR-4, REQ-MUR-5, REQ-MUR-39, REQ-MUR-20: what an incoming model does not hold any more is found by
/// its ids, brought back from the model before, and destroyed.
#[tokio::test]
async fn removed_objects_come_from_the_model_before() {
    let mut before = Stage::new();
    before.play("new root\nnew app in root\nnew vm in app\nnew net in root\nroot root\nroot.in = app net\napp.in = vm net").await;
    let before = Model::parse(&text(&before, "root")).unwrap();
    let now =
        Model::parse(r#"{"?": {"type": "Node", "id": "root"}, "out": {"?": {"type": "Node", "id": "net"}}}"#)
            .unwrap();
    let (all, removed) = now.with_removed(&before);
    assert_eq!(removed, [id("app"), id("vm")]);
    let mut stage = Stage::new();
    let imported = all.import(&stage.world).unwrap();
    assert_eq!(imported.dangling, []);
    assert_eq!(imported.objects[2].owner(), Some(stage.get("root")));
    stage.world.set_root(&imported.root.clone().unwrap());
    drop(imported);
    assert_eq!(stage.play("removed app vm\nshow").await, "destroy vm\ndestroy app\nthere: root net");
}

/// REQ-MUR-50, REQ-MUR-19: what handlers change of survivors while removed objects are destroyed is kept: it is in the
/// next model.
#[tokio::test]
async fn changes_to_survivors_are_kept() {
    let model = |vm: &str| {
        let depends = r#""dependencies": {"onDestruction": [{"target": "vm", "handler": "keep"}]}"#;
        Model::parse(&format!(r#"{{"?": {{"type": "Node", "id": "root", {depends}}}{vm}}}"#)).unwrap()
    };
    let before = model(r#", "in": {"?": {"type": "Node", "id": "vm"}}"#);
    let mut stage = Stage::new();
    let (all, removed) = model("").with_removed(&before);
    assert_eq!(removed, [id("vm")]);
    let imported = all.import(&stage.world).unwrap();
    assert_eq!(imported.dangling, []);
    stage.world.set_root(&imported.root.clone().unwrap());
    drop(imported);
    stage.play("removed vm").await;
    let written = text(&stage, "root");
    assert!(written.contains(r#""inout":{"?":{"type":"Node","id":"vm","destroyed":true"#), "{written}");
}

/// EXT-27: an object that its owner does not reach is not lost, nor is one that hangs on a circle.
#[tokio::test]
async fn nothing_that_is_reached_is_lost() {
    let mut stage = Stage::new();
    let script = "
        new root
        new owner
        new a in owner
        new x
        new y in x
        root root
        root.in = owner y
        root.out = a
        y.in = x
        x.in = y";
    stage.play(script).await;
    let first = text(&stage, "root");
    let (again, root) = import(&first);
    assert_eq!(export(&again.world, root.as_ref()).unwrap(), first);
    assert_eq!(again.get("a").owner(), Some(again.get("owner")));
    assert_eq!(again.get("y").owner(), Some(again.get("x")));
    assert_eq!(again.world.len(), 5);
}

/// REQ-MUR-35: values of all kinds come back as they were.
#[tokio::test]
async fn values_come_back() {
    let stage = Stage::new();
    let root = stage
        .world
        .create("Node", NewObject { name: Some("the root".into()), ..NewObject::default() })
        .unwrap();
    let inner =
        Value::Map([("?".to_owned(), Value::from("x")), ("n".to_owned(), Value::Number(-1.5))].into());
    let value =
        Value::List(vec![Value::Bool(true), Value::Null, Value::Number(3.0), inner, Value::from(&root)]);
    root.set("in", value).unwrap();
    let first = export(&stage.world, Some(&root)).unwrap();
    let (again, back) = import(&first);
    let back = back.unwrap();
    assert_eq!(back.name().as_deref(), Some("the root"));
    let Value::List(items) = back.get("in") else { panic!() };
    assert_eq!(items[2], Value::Number(3.0));
    assert!(matches!(&items[3], Value::Map(map) if map["?"] == Value::from("x")));
    assert_eq!(items[4], Value::Object(back.clone()));
    assert_eq!(export(&again.world, Some(&back)).unwrap(), first);
    assert_eq!(export(&again.world, None).unwrap(), r#"{"Objects":null}"#);
}

/// REQ-MUR-35: chains of owners are as long as they like: what would be too deep stands beside.
#[tokio::test]
async fn long_chains_are_written_and_read() {
    let stage = Stage::new();
    let root = stage.world.create("Silent", NewObject::default()).unwrap();
    let mut last = root.clone();
    for _ in 0..5_000 {
        let owner = Some(last.clone());
        let next = stage.world.create("Silent", NewObject { owner, ..NewObject::default() }).unwrap();
        last.set("out", Value::from(&next)).unwrap();
        last = next;
    }
    let first = export(&stage.world, Some(&root)).unwrap();
    let (again, back) = import(&first);
    assert_eq!(again.world.len(), 5_001);
    assert_eq!(export(&again.world, back.as_ref()).unwrap(), first);
}

/// REQ-MUR-31, EXT-27: errors in a model name the place, and none of its objects is in the world then.
#[tokio::test]
async fn bad_models_change_nothing() {
    let stage = Stage::new();
    let object = |header: &str, rest: &str| format!(r#"{{"Objects": {{"?": {{{header}}}{rest}}}}}"#);
    for (text, expected) in [
        ("[]".to_owned(), "$: a model is an object"),
        (object(r#""type": "Node""#, ""), "$.Objects.?: id is missing"),
        (
            object(r#""type": "Node", "id": "a b""#, ""),
            "$.Objects.?: \"a b\" is not an id: 1 to 128 bytes without control characters and spaces",
        ),
        (object(r#""type": "Node", "id": "a", "x": 1"#, ""), "$.Objects.?: x is not known"),
        (object(r#""type": "Node", "id": "a", "owner": "a""#, ""), "$.Objects: a is its own owner"),
        (
            object(r#""type": "Node", "id": "a""#, r#", "in": [{"?": {"type": "Node", "id": "a"}}]"#),
            "$.Objects.in[0]: id a is taken by the object at $.Objects",
        ),
        (
            object(r#""type": "Node", "id": "a""#, r#", "in": {"?": {"ref": 1}}"#),
            "$.Objects.in: a reference is written as {\"?\": {\"ref\": id}}",
        ),
    ] {
        let error = Model::parse(&text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    assert!(matches!(Model::parse("{"), Err(ModelError::Json(_))));
    for (text, expected) in [
        (object(r#""type": "Nothing", "id": "a""#, ""), "$.Objects: there is no class Nothing"),
        (
            object(r#""type": "Node", "id": "a""#, r#", "runtime": 1"#),
            "$.Objects.runtime: class Node declares no persistable property runtime",
        ),
        (
            object(r#""type": "Node", "id": "a""#, r#", "in": {"?": {"type": "Node", "id": "b"}, "x": 1}"#),
            "$.Objects.in.x: class Node declares no persistable property x",
        ),
    ] {
        let error = Model::parse(&text).unwrap().import(&stage.world).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(stage.world.is_empty(), "{text}");
    }
    let taken = Model::parse(&object(r#""type": "Node", "id": "a""#, "")).unwrap();
    let kept = taken.import(&stage.world).unwrap();
    let error = taken.import(&stage.world).unwrap_err();
    assert!(matches!(error, ImportError::Create { error: CreateError::DuplicateId(_), .. }));
    assert_eq!((stage.world.len(), kept.objects.len()), (1, 1));
}

/// EXT-27: a reference to a missing object becomes null, is reported, and is left out of lists and maps; a model knows
/// ids without any class.
#[tokio::test]
async fn references_to_missing_are_reported() {
    let missing = r#"{"?": {"ref": "missing"}}"#;
    let text =
        format!(r#"{{"?": {{"type": "Node", "id": "a"}}, "in": [{missing}, null], "out": {missing}}}"#);
    let model = Model::parse(&text).unwrap();
    assert_eq!(
        model.objects[0].properties["in"],
        ModelValue::List(vec![ModelValue::Ref(id("missing")), ModelValue::Null])
    );
    let stage = Stage::new();
    let imported = model.import(&stage.world).unwrap();
    assert_eq!((imported.dangling.len(), imported.dangling[0].path.as_str()), (2, "$.in[0]"));
    assert_eq!(imported.objects[0].get("in"), Value::List(vec![Value::Null]));
    assert_eq!(imported.objects[0].get("out"), Value::Null);
}
