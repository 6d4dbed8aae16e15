//! One deployment of a module at a time.

use sexton_collector::modules::{DeployError, LeaseError};
use sexton_testkit::World;

use crate::common::*;

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases?watch=true";

/// Whatever puts or marks a document hangs.
fn hangs_before_puts(world: &World) -> Line {
    Line::new(world, |request, _| {
        let (method, uri) = (request.method(), request.uri());
        let put = method == "PATCH" && !uri.query().unwrap_or("").contains("dryRun");
        if put || uri.path().ends_with("/bulk") { Fate::Hangs } else { Fate::Passes }
    })
}

/// EXT-4: while one deploys, another is told who it is; what its holder does not renew expires.
#[tokio::test]
async fn two_at_once_are_one_too_many() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "old"]).await;
    // The first one hangs before its first put.
    let line = hangs_before_puts(&world);
    let first = over(&world, line.client(), "first").await;
    let plan = first.plan(&shop("d2", maps(&["a"]))).await.unwrap();
    let first = tokio::spawn(async move { first.deploy(&plan, &|_| ()).await.map(|_| ()) });
    line.hangs().await;

    let error = try_apply(&world, &shop("d3", maps(&["a"]))).await.unwrap_err();
    let DeployError::Lease(LeaseError::Held { view, .. }) = &error else { panic!("{error}") };
    assert_eq!((view.holder.as_str(), view.expired), ("first", false));
    let views = modules(&world).await.list().await.unwrap();
    assert_eq!(views[0].lease.as_ref().unwrap().holder, "first");
    assert_eq!(accused(&world).await, Vec::<String>::new());

    // It dies; nobody renews, and after a while others may.
    first.abort();
    world.nature().pass(15);
    assert!(try_apply(&world, &shop("d4", maps(&["a"]))).await.is_err(), "not before its time");
    world.nature().pass(1);
    assert_eq!(apply_maps(&world, "d5", &["a"]).await.swept.accused.len(), 1);
}

/// EXT-4: who was paused and lost the lease can neither seal nor sweep.
#[tokio::test]
async fn who_wakes_up_late_changes_nothing() {
    let world = World::new().await;
    apply_maps(&world, "d1", &["a", "b"]).await;
    let line =
        Line::new(
            &world,
            |request, _| {
                if request.uri().path().ends_with("/bulk") { Fate::Hangs } else { Fate::Passes }
            },
        );
    let late = over(&world, line.client(), "late").await;
    let plan = late.plan(&shop("d2", maps(&["c"]))).await.unwrap();
    tokio::select! {
        _ = late.deploy(&plan, &|_| ()) => panic!("it hangs before it accuses"),
        () = line.hangs() => {}
    }
    world.nature().pass(31);
    apply_maps(&world, "d3", &["a", "b"]).await;
    // The same plan once more, as if it had been paused all the time: the record is another one now.
    let woken = over(&world, world.kube(), "late").await;
    let error = woken.deploy(&plan, &|_| ()).await.unwrap_err();
    assert!(matches!(error, DeployError::Outdated(_)), "{error}");
    collect(&world).await;
    assert_eq!(left(&world).await, ["a", "b"]);
}

/// Somebody can take the lease away from a holder that will not come back.
#[tokio::test]
async fn a_lease_can_be_broken() {
    let world = World::new().await;
    let line = hangs_before_puts(&world);
    let stuck = over(&world, line.client(), "stuck").await;
    let plan = stuck.plan(&shop("d1", maps(&["a"]))).await.unwrap();
    tokio::select! {
        _ = stuck.deploy(&plan, &|_| ()) => panic!("it hangs"),
        () = line.hangs() => {}
    }
    let modules = modules(&world).await;
    assert!(modules.find("shop").await.unwrap().unwrap().lease.is_some());
    assert_eq!(modules.unlock("shop").await.unwrap().unwrap().holder, "stuck");
    assert_eq!(modules.unlock("shop").await.unwrap(), None);
    apply_maps(&world, "d2", &["a"]).await;
    assert_eq!(modules.find("shop").await.unwrap().unwrap().lease, None, "given back");
}

/// While somebody works the lease is renewed, however long it takes.
#[tokio::test]
async fn a_long_deployment_keeps_its_lease() {
    let world = World::new().await;
    world.nature().follow_time();
    let line = hangs_before_puts(&world);
    let slow = over(&world, line.client(), "slow").await;
    let plan = slow.plan(&shop("d1", maps(&["a"]))).await.unwrap();
    let work = tokio::spawn(async move { slow.deploy(&plan, &|_| ()).await.map(|_| ()) });
    line.hangs().await;
    let mut leases = world.watch(LEASES).await;
    leases.next().await.expect("the lease as it is");
    for _ in 0..4 {
        // Whoever renewed has heard the answer by the end of this, and waits for its next turn.
        modules(&world).await.list().await.unwrap();
        tokio::time::pause();
        tokio::time::advance(std::time::Duration::from_secs(10)).await;
        tokio::time::resume();
        let event = leases.next().await.expect("the lease is renewed");
        assert_eq!(event["object"]["spec"]["holderIdentity"], "slow");
    }
    let view = modules(&world).await.find("shop").await.unwrap().unwrap().lease.unwrap();
    assert_eq!((view.holder.as_str(), view.expired), ("slow", false));
    work.abort();
}
