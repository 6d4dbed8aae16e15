//! Reachability: what roots, statics and handles reach, over any property, is alive.

use sexton_runtime::world::Value;

use crate::kit::{Stage, expect};

/// REQ-MUR-77, REQ-MUR-41, REQ-MUR-44: persistent properties, declared by the class itself or inherited, keep objects.
#[tokio::test]
async fn persistent_properties_keep() {
    let script = "
        new root : Derived
        new a
        new b
        new c
        new d
        new e
        root root
        root.in = a
        root.out = b
        root.inout = c
        root.more = d
        d.in = e
        drop all
        collect
        show";
    expect(script, "there: root a b c d e").await;
}

/// REQ-MUR-78: transient properties, Runtime or undeclared, declared by the class itself or inherited, keep objects.
#[tokio::test]
async fn transient_properties_keep() {
    let script = "
        new root : Derived
        new plain
        new a
        new b
        new c
        new d
        root root
        root.inout = plain
        root.runtime = a
        root.hidden = b
        plain.runtime = c
        plain._own = d
        drop all
        collect
        show";
    expect(script, "there: root plain a b c d").await;
}

/// REQ-MUR-79: static properties of several classes keep objects, until they are set to something else.
#[tokio::test]
async fn statics_keep() {
    let script = "
        new a
        new b
        new c
        static Node shared = a
        static Other own = b
        a.in = c
        drop all
        collect
        show
        static Other own = null
        collect
        show";
    expect(script, "there: a b c\ndestroy b\nthere: a c").await;
}

/// REQ-MUR-80, REQ-MUR-46, REQ-MUR-47, REQ-MUR-48, REQ-MUR-84: what native code has a handle to is not collected, and
/// is collected once that handle is let go on both sides.
#[tokio::test]
async fn native_handles_keep() {
    let mut stage = Stage::new();
    stage.play("new a\nnew b\na.in = b").await;
    let native = stage.get("a");
    assert_eq!(stage.play("drop all\ncollect\nshow").await, "there: a b");
    let another = native.clone();
    drop(native);
    assert_eq!(stage.play("collect\nshow").await, "there: a b");
    drop(another);
    assert_eq!(stage.play("collect\nshow").await, "destroy a\ndestroy b\nthere: ");
}

/// REQ-MUR-80: a value that native code keeps holds the objects in it, however deep.
#[tokio::test]
async fn native_values_keep() {
    let mut stage = Stage::new();
    stage.play("new a\nnew b\na.in = b b").await;
    let value = stage.get("a").get("in");
    assert_eq!(stage.play("drop all\ncollect\nshow").await, "destroy a\nthere: b");
    assert!(matches!(&value, Value::List(items) if items.len() == 2));
    drop(value);
    assert_eq!(stage.play("collect\nshow").await, "destroy b\nthere: ");
}

/// REQ-MUR-81, REQ-MUR-85, REQ-MUR-42, REQ-MUR-43, REQ-MUR-73: what a waiting task has in a variable is alive,
/// whichever task collects; when it ends, it is garbage.
#[tokio::test]
async fn waiting_tasks_keep() {
    let mut stage = Stage::new();
    stage.play("new a\nnew b\na.in = b").await;
    let local = tokio::task::LocalSet::new();
    let (send, wait) = tokio::sync::oneshot::channel::<()>();
    let argument = stage.get("a");
    stage.held.clear();
    let task = local.spawn_local(async move {
        let variable = argument;
        let _ = wait.await;
        variable.id()
    });
    local.run_until(tokio::task::yield_now()).await;
    assert_eq!(stage.play("collect\nshow").await, "there: a b");
    send.send(()).unwrap();
    local.run_until(task).await.unwrap();
    assert_eq!(stage.play("collect").await, "destroy a\ndestroy b");
}

/// REQ-MUR-82, REQ-MUR-1, REQ-MUR-2, REQ-MUR-45, REQ-MUR-49, REQ-MUR-52, REQ-MUR-74: a single unreferenced object is
/// collected, and its `destroy` runs.
#[tokio::test]
async fn single_objects_go() {
    expect("new root\nnew a\nroot root\ndrop all\ncollect\nshow", "destroy a\nthere: root").await;
}

/// REQ-MUR-83: circles and graphs without a reference from outside go; what they refer to and others keep stays.
#[tokio::test]
async fn unreferenced_graphs_go() {
    let script = "
        new root
        new kept
        new a
        new b
        new c
        root root
        root.in = kept
        a.in = b
        b.in = c
        c.in = a
        c.out = kept
        a._self = a
        drop all
        collect
        show";
    expect(script, "destroy a\ndestroy b\ndestroy c\nthere: root kept").await;
}

/// REQ-MUR-38, REQ-MUR-30: what only a destroyed object refers to is alive as long as that is reachable; then all goes,
/// without anything being called for the destroyed one.
#[tokio::test]
async fn destroyed_objects_keep_what_they_refer_to() {
    let script = "
        new root
        new a
        new b
        root root
        a.in = b
        subscribe root a keep
        drop all
        collect
        show
        collect
        show
        root.inout = null
        collect
        show";
    let expected = "
        warning: root hears of a
        notifying: root hears of a
        destroy a
        destroyed: root hears of a
        destroy b
        there: root a(destroyed) b(destroyed)
        there: root a(destroyed) b(destroyed)
        there: root";
    expect(script, expected).await;
}
