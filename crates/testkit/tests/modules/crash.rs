//! A deployment that dies, at each of its writes: nothing is leaked, nothing is swept that was not sealed, and the next
//! one makes it good.

use serde_json::json;
use sexton_collector::modules::{DeployError, LeaseError};
use sexton_model::module::OnFailure;
use sexton_testkit::World;

use crate::common::*;

/// Dies in the n-th write. Gives back whether there was such a write.
async fn dies_at(world: &World, number: usize, fate: Fate, id: &str) -> bool {
    let line = Line::at_write(world, number, fate);
    let modules = over(world, line.client(), "dying").await;
    let plan = modules.plan(&shop(id, maps(&["a", "b", "new"]))).await.unwrap();
    tokio::select! {
        done = modules.deploy(&plan, &|_| ()) => {
            done.unwrap();
            false
        }
        () = line.hangs() => true,
    }
}

/// EXT-3, REQ-CLD-5: whoever dies after any write, has written down before what it was about to put, and has swept
/// nothing unless the deployment is sealed. A stale lease expires, and the next deployment converges.
#[tokio::test]
async fn it_dies_at_each_write() {
    for fate in [Fate::Hangs, Fate::HangsAfter] {
        for number in 1..30 {
            let world = World::new().await;
            apply_maps(&world, "d1", &["a", "b", "old"]).await;
            let died = dies_at(&world, number, fate, "d2").await;
            let status = record(&world, "shop").await["status"].clone();
            let sealed = status["sealed"]["deploymentId"] == "d2";
            let was_put = world.get("configmaps/new").await.code == 200;
            if was_put && !sealed {
                assert_eq!(status["intent"]["deploymentId"], "d2", "{fate:?} {number}: put and not recorded");
            }
            if !sealed {
                assert_eq!(
                    accused(&world).await,
                    Vec::<String>::new(),
                    "{fate:?} {number}: swept without a seal"
                );
            }
            if !died {
                assert!(number > 5, "there are several writes to die in");
                break;
            }
            world.nature().pass(31);
            let next = apply_maps(&world, "d3", &["a", "b", "new"]).await;
            assert!(next.swept.why_not.is_none());
            collect(&world).await;
            assert_eq!(left(&world).await, ["a", "b", "new"], "{fate:?} {number}");
            let status = record(&world, "shop").await["status"].clone();
            assert_eq!((&status["phase"], &status["intent"]), (&json!("Sealed"), &json!(null)));
        }
    }
}

/// Whoever has the store for itself does not wait for one who died with it; others do.
#[tokio::test]
async fn the_lease_of_the_dead_is_no_obstacle_to_who_is_alone() {
    let world = World::new().await;
    assert!(dies_at(&world, 7, Fate::Hangs, "d1").await);
    let deployment = shop("d2", maps(&["a"]));
    let plan = modules(&world).await.plan(&deployment).await.unwrap();
    let refused = modules(&world).await.deploy(&plan, &|_| {}).await.unwrap_err();
    assert!(matches!(refused, DeployError::Lease(LeaseError::Held { .. })), "{refused}");
    alone(&world, "tests-3").await.deploy(&plan, &|_| {}).await.unwrap();
    collect(&world).await;
    assert_eq!(left(&world).await, ["a"]);
}

/// What a deployment that died had put, and the next one does not have, is swept: nothing leaks.
#[tokio::test]
async fn what_a_dead_deployment_put_does_not_leak() {
    let world = World::new().await;
    // The lease, the record and its status, then three puts; it dies before the status of the seal.
    assert!(dies_at(&world, 7, Fate::Hangs, "d1").await);
    assert_eq!(left(&world).await, ["a", "b", "new"]);
    world.nature().pass(31);
    let planned = plan(&world, &shop("d2", maps(&["a"]))).await.unwrap();
    assert_eq!(planned.interrupted.as_ref().unwrap().deployment_id, "d1");
    assert!(planned.first_gc, "no deployment was ever sealed");
    apply_maps(&world, "d2", &["a"]).await;
    collect(&world).await;
    assert_eq!(left(&world).await, ["a"]);
}

/// EXT-2: a failed put ends the deployment before any sweep, and says so.
#[tokio::test]
async fn a_failed_put_sweeps_nothing() {
    for (on_failure, put) in [(OnFailure::Stop, 1), (OnFailure::Continue, 2)] {
        let world = World::new().await;
        apply_maps(&world, "d1", &["old"]).await;
        let refuses_b = Line::new(&world, |request, _| {
            let real = !request.uri().query().unwrap_or("").contains("dryRun");
            let is_b = request.uri().path().ends_with("/secrets/b") && request.method() == "PATCH";
            if is_b && real { Fate::Fails(503) } else { Fate::Passes }
        });
        let modules = over(&world, refuses_b.client(), "tests-2").await;
        let secret = |name: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
        let mut deployment = shop("d2", sources([map("a"), secret("b"), map("c")]));
        deployment.on_failure = on_failure;
        let plan = modules.plan(&deployment).await.unwrap();
        let heard = Heard::default();
        let error = modules.deploy(&plan, &|event| heard.hear(event)).await.unwrap_err();
        let DeployError::Puts { failed, of, done } = &error else { panic!("{error}") };
        assert_eq!((failed[0].object.as_str(), *of, *done), ("Secret/default/b", 3, put));
        assert!(error.to_string().contains("nothing was swept"), "{error}");
        assert!(!heard.words().iter().any(|word| word == "sealed"), "{:?}", heard.words());
        assert_eq!(accused(&world).await, Vec::<String>::new());
        let status = record(&world, "shop").await["status"].clone();
        assert_eq!((&status["phase"], &status["sealed"]["deploymentId"]), (&json!("Failed"), &json!("d1")));
        assert!(status["history"][0]["error"].as_str().unwrap().contains("Secret/default/b"));
        // And the next one makes it good.
        let next = apply(&world, &shop("d3", sources([map("a"), secret("b"), map("c")]))).await;
        assert_eq!(next.swept.accused.len(), 1);
    }
}

/// EXT-2: a put whose mark is not there afterwards is a failed one.
#[tokio::test]
async fn a_failed_mark_sweeps_nothing() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "old"]).await;
    let strips = Line::new(&world, |_, _| Fate::Passes).stripping(DEPLOYMENT);
    let modules = over(&world, strips.client(), "tests-2").await;
    let plan = modules.plan(&shop("d2", maps(&["new"]))).await.unwrap();
    let error = modules.deploy(&plan, &|_| ()).await.unwrap_err();
    let DeployError::Puts { failed, .. } = &error else { panic!("{error}") };
    assert!(failed[0].why.contains("does not carry its marks"), "{failed:?}");
    assert_eq!(accused(&world).await, Vec::<String>::new());
}

/// A sweep whose writes are lost leaves a sealed deployment; the next one sweeps.
#[tokio::test]
async fn a_lost_sweep_is_made_up_for() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "old"]).await;
    let no_bulk = Line::new(&world, |request, _| {
        if request.uri().path().ends_with("/bulk") { Fate::Fails(503) } else { Fate::Passes }
    });
    let modules = over(&world, no_bulk.client(), "tests-2").await;
    let plan = modules.plan(&shop("d2", maps(&["a"]))).await.unwrap();
    let error = modules.deploy(&plan, &|_| ()).await.unwrap_err();
    assert!(matches!(error, DeployError::Sweep(_)), "{error}");
    assert_eq!(record(&world, "shop").await["status"]["sealed"]["deploymentId"], "d2");
    assert_eq!(apply_maps(&world, "d3", &["a"]).await.swept.accused.len(), 1);
}
