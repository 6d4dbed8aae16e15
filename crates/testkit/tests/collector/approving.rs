//! Marking exactly what was approved: owners first, with the digest, whatever happens meanwhile.

use std::sync::Arc;

use serde_json::json;
use sexton_client::{Gateway, Resources};
use sexton_collector::approve::{self, Approval, Marked, Order};
use sexton_collector::preview::World as Seen;
use sexton_lifecycle::plan::Plan;
use sexton_lifecycle::{Detection, DetectionSettings, HypotheticalDeletion};
use sexton_model::Policy;
use sexton_testkit::{Collecting, World};

use crate::common::{left, make, metadata};

struct Looked {
    seen: Seen,
    judgement: Detection,
    plan: Plan,
}

fn gateway(world: &World) -> Arc<dyn Gateway> {
    Arc::new(Resources::new(world.kube()))
}

/// Looks at what the deletion of these would come to.
async fn look(world: &World, uids: &[&str], policy: Policy) -> Looked {
    let seen = Seen::look(&*gateway(world), &Resources::new(world.kube())).await.unwrap();
    let lives = uids.iter().map(|uid| seen.life(uid).unwrap());
    let asked: Vec<HypotheticalDeletion> =
        lives.map(|life| HypotheticalDeletion { node: life, policy }).collect();
    let (judgement, plan) = seen.if_deleted(&asked, &DetectionSettings::default()).unwrap();
    Looked { seen, judgement, plan }
}

async fn mark(world: &World, looked: &Looked) -> Marked {
    let approval = Approval { digest: looked.plan.digest.clone(), by: Some("ada".into()) };
    let writes = approve::items(&looked.seen, &looked.judgement, &looked.plan, &approval, Order::OurServer);
    approve::send(gateway(world), writes).await.unwrap()
}

async fn family(world: &World) -> String {
    let root = make(world, "root", &[]).await;
    let a = make(world, "a", &[("root", &root)]).await;
    make(world, "b", &[("root", &root)]).await;
    make(world, "leaf", &[("a", &a)]).await;
    root
}

/// Everybody who would follow a mark is marked in one go, with the digest and who asked; then all of it goes.
#[tokio::test]
async fn all_that_was_approved_is_marked_and_goes() {
    for policy in [Policy::Cascade, Policy::Foreground] {
        let world = World::new().await;
        let root = family(&world).await;
        let looked = look(&world, &[&root], policy).await;
        let marked = mark(&world, &looked).await;
        assert_eq!((marked.taken, marked.refused.len()), (4, 0));
        for name in ["root", "a", "b", "leaf"] {
            let metadata = metadata(&world, name).await;
            assert!(
                metadata["deletionTimestamp"].is_string(),
                "{policy:?} {name}: nobody went before its turn"
            );
            assert_eq!(metadata["annotations"]["sexton.dev/approved"], looked.plan.digest);
            assert_eq!(metadata["annotations"]["sexton.dev/deleted-by"], "ada");
        }
        let mut collecting = Collecting::on(&world);
        collecting.settled(&world).await;
        assert_eq!(left(&world).await, Vec::<String>::new(), "{policy:?}");
    }
}

/// Contents of a namespace are marked with it: whatever comes later was not approved.
#[tokio::test]
async fn contents_are_marked_with_their_namespace() {
    let world = World::new().await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    let made = world.create("/api/v1/namespaces", &namespace).await;
    let uid = made.json["metadata"]["uid"].as_str().unwrap().to_owned();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "in"}});
    assert_eq!(world.create("/api/v1/namespaces/team/configmaps", &map).await.code, 201);
    let looked = look(&world, &[&uid], Policy::Background).await;
    assert_eq!(mark(&world, &looked).await.taken, 2);
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    assert_eq!(world.get("/api/v1/namespaces/team").await.code, 404);
}

/// What follows somebody who goes at once is left to whoever collects: it is not touched before.
#[tokio::test]
async fn who_follows_in_the_background_is_left_to_the_collector() {
    let world = World::new().await;
    let root = family(&world).await;
    let looked = look(&world, &[&root], Policy::Background).await;
    let mut collecting = Collecting::on(&world);
    collecting.settled(&world).await;
    assert_eq!(mark(&world, &looked).await.taken, 1);
    collecting.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// Who got another owner meanwhile is not marked on old evidence, and who is new is not marked at all.
#[tokio::test]
async fn a_world_that_changed_is_noticed() {
    let world = World::new().await;
    let root = family(&world).await;
    let looked = look(&world, &[&root], Policy::Cascade).await;
    let other = make(&world, "other", &[]).await;
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": other}]);
    world.merge("configmaps/leaf", &json!({"metadata": {"ownerReferences": owner}})).await.expect(200);
    make(&world, "late", &[("root", &root)]).await;
    let marked = mark(&world, &looked).await;
    assert_eq!((marked.taken, marked.refused.len()), (3, 1));
    assert_eq!(marked.refused[0].1.code, 409);
    let again = look(&world, &[&root], Policy::Cascade).await;
    assert!(again.plan.contains_only(&looked.plan), "nobody is added to what was approved");
    let held: Vec<&str> =
        again.plan.exclusions.iter().map(|hold| again.seen.snapshot().name(hold.node)).collect();
    assert_eq!(held, ["late"]);
    let mut collecting = Collecting::on(&world);
    let summary = collecting.settled(&world).await;
    assert_eq!(left(&world).await, ["late", "leaf", "other", "root"], "{summary:#?}");
    assert!(summary.blockers[0].reason.contains("late was not in the plan"), "{summary:#?}");
}
