//! From one module to another.

use serde_json::json;
use sexton_client::{Place, ServedKind};
use sexton_collector::modules::{Transfer, TransferError};
use sexton_model::module::ModuleSpec;
use sexton_testkit::World;

use crate::common::*;

/// A ConfigMap is given to a module.
pub(crate) fn give(name: &str, to: &str) -> Transfer {
    let kind = ServedKind::well_known("", "configmaps", "ConfigMap", true);
    let place = Place::new(&kind, Some("default"));
    Transfer { place, name: name.into(), from: None, to: to.into(), dry_run: false }
}

/// A resource that moves is taken by no sweep: not by one of the former module that had it on its list, and not by
/// the next one; the new module takes it over with its document.
#[tokio::test]
async fn no_sweep_takes_what_moves() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "moves"]).await;
    let mut other = shop("e1", maps(&["b"]));
    other.spec = ModuleSpec::new("other");
    apply(&world, &other).await;
    let modules = modules(&world).await;
    // A sweep is planned and would take it.
    let planned = modules.plan(&shop("d2", maps(&["a"]))).await.unwrap();
    assert_eq!(planned.victims.len(), 1);
    let moved = modules.transfer(&give("moves", "other")).await.unwrap();
    assert_eq!((moved.from.as_deref(), moved.unchanged), (Some("shop"), false));
    assert!(moved.next.contains("move its document"), "{}", moved.next);
    let deployed = modules.deploy(&planned, &|_| ()).await.unwrap();
    assert_eq!((deployed.swept.accused.len(), deployed.swept.spared.len()), (0, 1));
    assert_eq!(annotation(&world, "moves", DEPLOYMENT).await, "e1", "as if its last deployment had put it");
    // The next one of the former module does not see it at all; the new one puts it.
    assert_eq!(apply_maps(&world, "d3", &["a"]).await.swept.accused.len(), 0);
    let mut changed = map("moves");
    changed["data"] = json!({"k": "changed"});
    let mut next = shop("e2", sources([map("b"), changed]));
    next.spec = ModuleSpec::new("other");
    let deployed = apply(&world, &next).await;
    assert_eq!((deployed.changed, deployed.swept.accused.len()), (1, 0));
    collect(&world).await;
    assert_eq!(left(&world).await, ["a", "b", "moves"]);
    assert_eq!(world.get("configmaps/moves").await.text_at("data.k"), "changed");
}

/// All that the former module had put goes over: the document of the new module is the whole truth then.
#[tokio::test]
async fn the_fields_go_over_as_well() {
    let world = World::new().await;
    let mut rich = map("a");
    rich["data"] = json!({"k": "v", "old": "1"});
    apply(&world, &shop("d1", sources([rich]))).await;
    world.merge("configmaps/a", &json!({"data": {"theirs": "1"}})).await.expect(200);
    let modules = modules(&world).await;
    modules.transfer(&give("a", "other")).await.unwrap();
    let data = json!({"k": "v", "old": "1", "theirs": "1"});
    assert_eq!(world.get("configmaps/a").await.json["data"], data, "nothing is lost on the way");
    let mut next = shop("e1", maps(&["a"]));
    next.spec = ModuleSpec::new("other");
    let planned = modules.plan(&next).await.unwrap();
    let changes: Vec<&str> = planned.puts[0].changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(changes, ["data.old"]);
    apply(&world, &next).await;
    assert_eq!(world.get("configmaps/a").await.json["data"], json!({"k": "v", "theirs": "1"}));
    let managers = world.get("configmaps/a").await.json["metadata"]["managedFields"].to_string();
    assert!(
        managers.contains("sexton-module-other") && !managers.contains("sexton-module-shop"),
        "{managers}"
    );
}

/// A put of the former module that was planned before does not take it back.
#[tokio::test]
async fn the_former_module_does_not_take_it_back() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a"]).await;
    let modules = modules(&world).await;
    let planned = modules.plan(&shop("d2", maps(&["a"]))).await.unwrap();
    modules.transfer(&give("a", "other")).await.unwrap();
    let error = modules.deploy(&planned, &|_| ()).await.unwrap_err();
    assert!(error.to_string().contains("could not be put"), "{error}");
    let object = world.get("configmaps/a").await.document(200);
    assert_eq!(object["metadata"]["labels"][MANAGER], "other");
}

/// What makes no sense is refused, and a second transfer changes nothing.
#[tokio::test]
async fn only_what_is_theirs_is_given() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a"]).await;
    let modules = modules(&world).await;
    assert!(matches!(modules.transfer(&give("nothing", "other")).await, Err(TransferError::Missing)));
    assert!(matches!(modules.transfer(&give("a", "Not So")).await, Err(TransferError::Name { .. })));
    let mut wrong = give("a", "other");
    wrong.from = Some("third".into());
    let error = modules.transfer(&wrong).await.unwrap_err();
    assert_eq!(error.to_string(), "it belongs to shop, not to third");
    let head = world.head().await;
    let preview = Transfer { dry_run: true, ..give("a", "other") };
    assert!(!modules.transfer(&preview).await.unwrap().unchanged);
    assert!(modules.transfer(&give("a", "shop")).await.unwrap().unchanged);
    assert_eq!(world.head().await, head, "nothing was written");
    // What belongs to nobody can be given as well.
    stray(&world, "wild", json!({})).await;
    assert_eq!(modules.transfer(&give("wild", "shop")).await.unwrap().from, None);
}
