//! The end of whole modules.

use serde_json::json;
use sexton_collector::modules::Buried;
use sexton_testkit::World;

use crate::common::*;

/// EXT-6: all of it goes in reverse order, then the record; doing it again is no mistake.
#[tokio::test]
async fn a_module_goes_in_reverse_and_only_once() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b", "c"]).await;
    stray(&world, "bystander", json!({})).await;
    let modules = modules(&world).await;
    let plan = modules.plan_destroy("shop").await.unwrap();
    let names: Vec<&str> = plan.victims.iter().map(|victim| victim.member.name.as_str()).collect();
    assert_eq!(names, ["c", "b", "a"]);
    let destroyed = modules.destroy(&plan, &|_| ()).await.unwrap();
    assert_eq!((destroyed.swept.accused.len(), destroyed.buried), (3, false));
    assert_eq!(record(&world, "shop").await["status"]["phase"], "Destroying");
    let Buried::Left(members) = modules.bury("shop", None).await.unwrap() else {
        panic!("they are still there")
    };
    assert_eq!(members.len(), 3);
    collect(&world).await;
    assert_eq!(left(&world).await, ["bystander"]);
    assert_eq!(modules.bury("shop", None).await.unwrap(), Buried::Gone);
    assert!(modules.list().await.unwrap().is_empty());
    let head = world.head().await;
    let again = modules.plan_destroy("shop").await.unwrap();
    assert!(!again.recorded && again.victims.is_empty());
    let again = modules.destroy(&again, &|_| ()).await.unwrap();
    assert_eq!((again.swept.accused.len(), again.buried), (0, false));
    assert_eq!((modules.bury("shop", None).await.unwrap(), world.head().await), (Buried::Gone, head));
}

/// A destroy that was interrupted after all were gone finds the record alone, and removes it.
#[tokio::test]
async fn a_record_alone_is_removed() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a"]).await;
    world.delete("configmaps/a", &json!({"propagationPolicy": "Background"})).await.expect(200);
    let modules = modules(&world).await;
    let plan = modules.plan_destroy("shop").await.unwrap();
    assert!(modules.destroy(&plan, &|_| ()).await.unwrap().buried);
    assert!(modules.find("shop").await.unwrap().is_none());
    // And it can be deployed again.
    assert_eq!(apply_maps(&world, "d1", &["a"]).await.created, 1);
}

/// Who is protected stays, and with it the record.
#[tokio::test]
async fn the_protected_stay_and_are_named() {
    let world = World::new().await;
    let mut safe = map("safe");
    safe["metadata"]["annotations"] = json!({"sexton.dev/protect": "paid for"});
    apply(&world, &shop("d1", sources([map("a"), safe]))).await;
    let modules = modules(&world).await;
    let plan = modules.plan_destroy("shop").await.unwrap();
    assert_eq!(plan.kept[0].why, "it is protected: paid for");
    modules.destroy(&plan, &|_| ()).await.unwrap();
    collect(&world).await;
    assert_eq!(left(&world).await, ["safe"]);
    assert!(matches!(modules.bury("shop", None).await.unwrap(), Buried::Left(members) if members.len() == 1));
}

/// Who is put again while the module goes is not taken.
#[tokio::test]
async fn a_deployment_meanwhile_saves_what_it_puts() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b"]).await;
    let modules = modules(&world).await;
    let plan = modules.plan_destroy("shop").await.unwrap();
    modules.destroy(&plan, &|_| ()).await.unwrap();
    apply_maps(&world, "d2", &["a", "b"]).await;
    collect(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
}

/// EXT-6: a namespace that no server lets anybody delete stays, and so does all that is in it.
#[tokio::test]
async fn permanent_namespaces_stay_with_what_is_in_them() {
    let world = World::new().await;
    let space = |name: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    stray(&world, "bystander", json!({})).await;
    apply(&world, &shop("d1", sources([space("default"), space("web")]))).await;
    let planned = plan(&world, &shop("d2", sources([space("web")]))).await.unwrap();
    assert!(planned.victims.is_empty());
    assert_eq!(planned.kept[0].why, "this namespace may not be deleted");
    let modules = modules(&world).await;
    let end = modules.plan_destroy("shop").await.unwrap();
    assert_eq!((end.victims.len(), end.kept.len()), (1, 1));
    modules.destroy(&end, &|_| ()).await.unwrap();
    collect(&world).await;
    assert_eq!(left(&world).await, ["bystander"]);
    world.get("/api/v1/namespaces/web").await.expect(404);
}
