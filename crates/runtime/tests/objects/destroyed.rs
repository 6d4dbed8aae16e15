//! Destroyed objects: read-only, ignored by later collections, removed when nothing refers to them.

use sexton_runtime::world::{CallError, SetError, Value};

use crate::kit::{Stage, expect};

/// REQ-MUR-30, REQ-MUR-31, REQ-MUR-32, REQ-MUR-59: a reference that is made in notify does not save the object; it
/// stays as destroyed, and the property that refers to it is not touched.
#[tokio::test]
async fn a_late_reference_does_not_save() {
    let script = "new root\nnew b\nroot root\nsubscribe root b keep\ndrop all\ncollect\nshow";
    let mut stage = Stage::new();
    let told = stage.play(script).await;
    assert!(told.ends_with("there: root b(destroyed)"), "{told}");
    assert_eq!(stage.get("root").get("inout"), Value::Object(stage.get("b")));
}

/// REQ-MUR-30: neither does one that its own destructor makes.
#[tokio::test]
async fn destructors_may_leave_a_reference() {
    let script = "new root\nnew b\nroot root\nb.saves = root\ndrop all\ncollect\nshow\nroot.inout = null\ncollect\nshow";
    expect(script, "destroy b\nthere: root b(destroyed)\nthere: root").await;
}

/// REQ-MUR-33, REQ-MUR-34, REQ-MUR-72, REQ-MUR-53: methods of a destroyed object are refused, properties stay readable
/// and cannot be set.
#[tokio::test]
async fn destroyed_objects_are_only_read() {
    let mut stage = Stage::new();
    stage.play("new root\nnew b : Derived\nnew c\nroot root\nb.in = c\nsubscribe root b keep").await;
    let b = stage.get("b");
    assert_eq!(b.call("plain", Vec::new()).await.unwrap(), Value::from("b"));
    drop(b);
    stage.play("drop all\ncollect").await;
    let b = stage.get("b");
    let refused = b.call("plain", Vec::new()).await.unwrap_err();
    assert!(matches!(refused, CallError::Destroyed { .. }));
    assert_eq!(
        refused.to_string(),
        "Derived b was destroyed: its methods cannot be called, its properties can be read"
    );
    assert_eq!(b.get("in"), Value::Object(stage.get("c")));
    assert!(matches!(b.set("in", Value::Null), Err(SetError::Destroyed { .. })));
    assert!(matches!(b.set_private("x", Value::Null), Err(SetError::Destroyed { .. })));
}

/// REQ-MUR-38: later collections call nothing for it.
#[tokio::test]
async fn destroyed_objects_are_ignored() {
    let mut stage = Stage::new();
    stage.play("new b\ndrop all").await;
    let weak = stage.get("b").key();
    assert_eq!(stage.play("collect").await, "destroy b");
    assert!(stage.world.handle(weak).is_none(), "nothing refers to it, so it is gone");
    assert_eq!(stage.play("collect\nshow").await, "there: ");
    assert_eq!(stage.report.rounds, 0);
}

/// REQ-MUR-38: a handle keeps a destroyed object readable, for as long as it is held.
#[tokio::test]
async fn handles_keep_destroyed_objects_readable() {
    let mut stage = Stage::new();
    stage.play("new root\nnew b\nnew c in b\nb.inout = c\nroot root").await;
    let b = stage.get("b");
    // Handles do not count after a deployment.
    assert_eq!(
        stage.play("drop all\npersistable\nshow").await,
        "destroy c\ndestroy b\nthere: root b(destroyed) c(destroyed)"
    );
    assert_eq!(b.get("inout").as_object().map(|c| c.is_destroyed()), Some(true));
    drop(b);
    assert_eq!(stage.play("collect\nshow").await, "there: root");
}

/// REQ-MUR-38: another object in the same place of the store is another object.
#[tokio::test]
async fn places_are_used_again_by_others() {
    let mut stage = Stage::new();
    stage.play("new a\nnew b in a\nsubscribe b a\nhold b").await;
    let old = stage.get("a").key();
    stage.play("drop a\ncollect\nnew x").await;
    assert!(stage.world.handle(old).is_none());
    assert_eq!(stage.get("b").owner(), None);
    assert_ne!(stage.get("x").key(), old);
}
