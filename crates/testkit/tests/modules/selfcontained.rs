//! What is needed for the end of resources is captured when they are put: no document is needed any more.

use std::sync::Arc;

use serde_json::json;
use sexton_collector::modules::{Buried, Deployment};
use sexton_testkit::things::{WIDGETS, widget, widgets};
use sexton_testkit::{Collecting, Scripted, World};

use crate::common::*;

async fn factory(world: &World) {
    let class = json!({
        "apiVersion": "sexton.dev/v1", "kind": "Class", "metadata": {"name": "widget"},
        "spec": {
            "for": {"group": "demo.example.com", "kind": "Widget"},
            "destroy": {"exec": {"argv": ["/bin/true"]}},
        },
    });
    let documents = sources([widget("one", 1), widget("two", 2), class, widgets()]);
    assert_eq!(apply(world, &shop("d1", documents)).await.created, 4);
}

/// A module whose files are gone is swept like any other: the methods are called, in reverse order, while the class and
/// the definition are still there.
#[tokio::test]
async fn a_module_without_files_is_swept() {
    let world = World::new().await;
    factory(&world).await;
    let empty = Deployment { allow_empty: true, ..shop("d2", Vec::new()) };
    assert_eq!(apply(&world, &empty).await.swept.accused.len(), 4);
    let hooks = Arc::new(Scripted::default());
    Collecting::scripted(&world, &hooks).settled(&world).await;
    assert_eq!(hooks.heard(), ["destroying destroy two", "destroying destroy one"]);
    world.get(WIDGETS).await.expect(404);
    world.get("/apis/sexton.dev/v1/classes/widget").await.expect(404);
}

/// The same for its end as a whole.
#[tokio::test]
async fn a_module_without_files_is_destroyed() {
    let world = World::new().await;
    factory(&world).await;
    let modules = modules(&world).await;
    let plan = modules.plan_destroy("shop").await.unwrap();
    let kinds: Vec<&str> = plan.victims.iter().map(|victim| victim.member.kind.as_str()).collect();
    assert_eq!(kinds, ["Widget", "Widget", "CustomResourceDefinition", "Class"]);
    modules.destroy(&plan, &|_| ()).await.unwrap();
    let hooks = Arc::new(Scripted::default());
    Collecting::scripted(&world, &hooks).settled(&world).await;
    assert_eq!(hooks.heard(), ["destroying destroy two", "destroying destroy one"]);
    assert_eq!(modules.bury("shop", None).await.unwrap(), Buried::Gone);
}

/// A sweep that takes a part leaves the class in place for the rest.
#[tokio::test]
async fn the_class_stays_while_it_is_used() {
    let world = World::new().await;
    factory(&world).await;
    let rest = apply(&world, &shop("d2", sources([widget("one", 1), widgets()]))).await;
    assert_eq!(rest.swept.accused.len(), 2, "a widget and the class");
    let hooks = Arc::new(Scripted::default());
    let mut collecting = Collecting::scripted(&world, &hooks);
    hooks.called(1).await;
    collecting.settled(&world).await;
    assert_eq!(hooks.heard(), ["destroying destroy two"]);
    world.get(&format!("{WIDGETS}/one")).await.expect(200);
    world.get("/apis/sexton.dev/v1/classes/widget").await.expect(200);
}
