//! A deletion that was approved with a plan: what was not in it does not follow, and is named.

use serde_json::json;
use sexton_testkit::{Collecting, World};

use crate::common::{delete, left, make, make_with, metadata, record};

/// An owner that was approved with its plan.
async fn approved(world: &World, name: &str) -> String {
    let uid = make(world, name, &[]).await;
    world.annotate("configmaps", name, &[("sexton.dev/approved", "d1g35t")]).await;
    uid
}

/// A dependent that came after the approval is not followed but named, and its owner waits. When somebody
/// deletes it, or takes it away, it goes on.
#[tokio::test]
async fn who_was_not_in_the_plan_does_not_follow() {
    for policy in ["", "Foreground"] {
        for by_delete in [true, false] {
            let world = World::new().await;
            let root = approved(&world, "root").await;
            // This one was in the plan: whoever carries it out deletes it by name.
            let known = make(&world, "known", &[("root", &root)]).await;
            let mut collecting = Collecting::on(&world);
            collecting.settled(&world).await;
            delete(&world, "configmaps/known", policy).await;
            make(&world, "new", &[("root", &root)]).await;
            delete(&world, "configmaps/root", policy).await;
            let summary = collecting.settled(&world).await;
            assert_eq!(left(&world).await, ["new", "root"], "{policy} {known}");
            assert!(metadata(&world, "new").await["deletionTimestamp"].is_null());
            let named = &summary.blockers[0];
            assert_eq!(named.object.name, "root");
            assert_eq!(named.waits_for.as_deref(), Some("ConfigMap/default/new"));
            assert_eq!(named.reason, "ConfigMap/default/new was not in the plan d1g35t that was approved");
            let shown = record(&world, |record| record["status"]["phase"] == "blocked").await;
            assert_eq!(shown["spec"]["approved"], true);
            match by_delete {
                true => _ = delete(&world, "configmaps/new", policy).await,
                false => {
                    let free = json!({"metadata": {"ownerReferences": null}});
                    world.merge("configmaps/new", &free).await.expect(200);
                }
            }
            collecting.settled(&world).await;
            let expected: &[&str] = if by_delete { &[] } else { &["new"] };
            assert_eq!(left(&world).await, expected, "{policy}");
        }
    }
}

/// The approval counts for everything below: who is new under a dependent of the approved one does not follow either.
#[tokio::test]
async fn an_approval_counts_all_the_way_down() {
    let world = World::new().await;
    let root = approved(&world, "root").await;
    let hold = json!({"finalizers": ["example.com/mine"]});
    let middle = make_with(&world, "middle", &[("root", &root)], hold).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    delete(&world, "configmaps/root", "").await;
    delete(&world, "configmaps/middle", "").await;
    collecting.settled(&world).await;
    make(&world, "new", &[("middle", &middle)]).await;
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["middle", "new", "root"]);
    assert!(metadata(&world, "new").await["deletionTimestamp"].is_null(), "{summary:#?}");
}

/// Without an approval everything follows.
#[tokio::test]
async fn without_an_approval_all_follow() {
    let world = World::new().await;
    let root = make(&world, "root", &[]).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    make(&world, "new", &[("root", &root)]).await;
    delete(&world, "configmaps/root", "").await;
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}
