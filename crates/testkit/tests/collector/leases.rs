//! Of several collectors one acts. Whoever was stopped in the middle and wakes up late can do no harm.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sexton_collector::Settings;
use sexton_collector::hooks::Hooks;
use sexton_testkit::collecting::quick;
use sexton_testkit::{Collecting, Gate, Scripted, World};

use crate::common::{class, delete, left, make, record, records};

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sexton-collector";

/// Somebody who asks for the lease often and inherits from nobody.
fn named(holder: &str) -> Settings {
    let mut settings = quick(holder);
    settings.lease.inherits = false;
    settings.lease.duration = Duration::from_secs(1);
    settings
}

async fn family(world: &World) {
    let root = make(world, "root", &[]).await;
    for name in ["a", "b"] {
        make(world, name, &[("root", &root)]).await;
    }
}

/// Two are there, one acts; the other sees everything and does nothing.
#[tokio::test]
async fn one_of_two_acts() {
    let world = World::new().await;
    family(&world).await;
    let mut one = Collecting::with(&world, named("one"), Arc::new(Hooks::new()));
    one.until(|summary| summary.acts && summary.synced).await;
    let gate = Gate::to(&world);
    let mut two = Collecting::through(&world, named("two"), Arc::new(Hooks::new()), gate.clone());
    let waiting = two.until(|summary| summary.other.is_some() && summary.synced).await;
    assert_eq!((waiting.acts, waiting.other.as_deref()), (false, Some("one")));
    delete(&world, "configmaps/root", "").await;
    let done = one.until(|summary| summary.removed == 3 && summary.idle).await;
    two.until(|summary| summary.revision >= done.revision).await;
    assert_eq!((left(&world).await, gate.written().len()), (Vec::new(), 0));
    let lease = world.get(LEASE).await.document(200);
    assert_eq!(
        (&lease["spec"]["holderIdentity"], &lease["spec"]["leaseTransitions"]),
        (&json!("one"), &json!(1))
    );
}

/// EXT-16: the holder is stopped in the middle of a write, somebody else takes over and does all of it. The late write is
/// refused, and nothing is done twice.
#[tokio::test]
async fn a_late_write_is_refused() {
    let world = World::new().await;
    class(&world, json!({})).await;
    family(&world).await;
    let (first, second) = (Arc::new(Scripted::default()), Arc::new(Scripted::default()));
    let gate = Gate::to(&world);
    let mut one = Collecting::through(&world, named("one"), first.clone(), gate.clone());
    one.until(|summary| summary.acts && summary.idle).await;
    gate.writes(false);
    delete(&world, "configmaps/root", "").await;
    gate.arrived(1).await;
    let mut two = Collecting::with(&world, named("two"), second.clone());
    two.until(|summary| summary.other.as_deref() == Some("one")).await;
    world.nature().pass(5);
    two.until(|summary| summary.acts).await;
    two.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let before = (world.head().await, records(&world, "tombstones").await);
    gate.writes(true);
    let beaten = one.until(|summary| !summary.acts).await;
    assert_eq!((beaten.removed, gate.written().len()), (0, 0));
    assert_eq!(first.heard(), Vec::<String>::new());
    assert_eq!(second.heard().len(), 3);
    // The new holder's turn is the second, and its calls say so.
    assert!(second.calls().iter().all(|call| call.epoch == 2));
    assert_eq!(records(&world, "tombstones").await, before.1);
    one.until(|summary| summary.other.as_deref() == Some("two")).await;
}

/// Calls say in whose turn they are made: the first one's say 1.
#[tokio::test]
async fn calls_carry_the_epoch() {
    let world = World::new().await;
    class(&world, json!({})).await;
    let hooks = Arc::new(Scripted::default());
    for expected in 1..=3 {
        make(&world, "b", &[]).await;
        let mut collecting = Collecting::with(&world, named("one"), hooks.clone());
        collecting.until(|summary| summary.acts).await;
        delete(&world, "configmaps/b", "").await;
        collecting.settled(&world).await;
        assert_eq!(hooks.calls().last().unwrap().epoch, expected);
        collecting.drain().await;
    }
}

/// Who drains gives the lease back: the next one need not wait for any time to pass.
#[tokio::test]
async fn draining_hands_over_at_once() {
    let world = World::new().await;
    class(&world, json!({})).await;
    family(&world).await;
    let (first, second) = (Arc::new(Scripted::default()), Arc::new(Scripted::default()));
    let one = Collecting::with(&world, named("one"), first.clone());
    let mut two = {
        let mut one = one;
        one.until(|summary| summary.acts && summary.idle).await;
        let mut two = Collecting::with(&world, named("two"), second.clone());
        two.until(|summary| summary.other.is_some()).await;
        // A call that is under way is waited for, and nothing new is begun.
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        first.during("destroying destroy a", async move { _ = wait.await });
        delete(&world, "configmaps/root", "").await;
        first.called(1).await;
        let draining = tokio::spawn(one.drain());
        go.send(()).unwrap();
        draining.await.unwrap();
        two
    };
    two.until(|summary| summary.acts).await;
    two.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    let mut all = [first.heard(), second.heard()].concat();
    all.sort();
    assert_eq!(all, ["destroying destroy a", "destroying destroy b", "destroying destroy root"]);
}

/// What is in the books is written before the lease is given back: after that it is refused, and a successor that had read the
/// books would never hear of it.
#[tokio::test]
async fn the_books_are_written_before_the_lease_is_given_back() {
    let world = World::new().await;
    class(&world, json!({})).await;
    family(&world).await;
    let hooks = Arc::new(Scripted::default());
    let mut one = Collecting::with(&world, named("one"), hooks.clone());
    one.until(|summary| summary.acts && summary.idle).await;
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    hooks.during("destroying destroy a", async move { _ = wait.await });
    delete(&world, "configmaps/root", "").await;
    hooks.called(1).await;
    // The record of it waits to be written while the collector is told to end.
    let draining = tokio::spawn(one.drain());
    go.send(()).unwrap();
    draining.await.unwrap();
    assert_eq!(world.get(LEASE).await.json["spec"]["holderIdentity"], "");
    let written = records(&world, "collections").await;
    assert_eq!(written.len(), 1, "{written:#?}");
    assert_eq!(
        (&written[0]["status"]["phase"], &written[0]["status"]["doomed"]),
        (&json!("running"), &json!(3))
    );
    let mut two = Collecting::with(&world, named("two"), hooks);
    two.until(|summary| summary.acts && summary.idle).await;
    record(&world, |record| record["status"]["phase"] == "done").await;
}

/// Who dies without a word keeps the lease until its time is over, unless its successor is known to be the only one.
#[tokio::test]
async fn a_dead_holder_is_waited_for() {
    let world = World::new().await;
    family(&world).await;
    let mut one = Collecting::with(&world, named("one"), Arc::new(Hooks::new()));
    one.until(|summary| summary.acts).await;
    one.kill();
    delete(&world, "configmaps/root", "").await;
    let mut two = Collecting::with(&world, named("two"), Arc::new(Hooks::new()));
    two.until(|summary| summary.other.as_deref() == Some("one") && summary.synced).await;
    assert_eq!(left(&world).await.len(), 3);
    world.nature().pass(5);
    two.until(|summary| summary.acts).await;
    two.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
    two.kill();
    // The same name, and it is known that there is no other: at once, and under a new epoch.
    let mut heir = named("two");
    heir.lease.inherits = true;
    let mut three = Collecting::with(&world, heir, Arc::new(Hooks::new()));
    three.until(|summary| summary.acts).await;
    assert_eq!(world.get(LEASE).await.json["spec"]["leaseTransitions"], 3);
}

/// After the server and its collector were killed, a collector of another process takes over within the one duration that
/// leases have, by its own clock and the server's, whatever times the dead one wrote.
#[tokio::test]
async fn another_process_takes_over_after_a_kill() {
    let world = World::embedded().await;
    family(&world).await;
    let mut one = Collecting::with(&world, quick("sexton-serve"), Arc::new(Hooks::new()));
    one.until(|summary| summary.acts && summary.idle).await;
    assert_eq!(world.get(LEASE).await.json["spec"]["leaseDurationSeconds"], 15);
    one.kill();
    delete(&world, "configmaps/root", "").await;
    // Another server on the same store, without a collector of its own.
    let world = world.restart().await;
    let outside = world.outside();
    let mut settings = quick("collect");
    settings.lease.inherits = false;
    let mut two = Collecting::with(&outside, settings, Arc::new(Hooks::new()));
    two.until(|summary| summary.other.as_deref() == Some("sexton-serve") && summary.synced).await;
    world.nature().pass(15);
    two.until(|summary| summary.other.as_deref() == Some("sexton-serve")).await;
    assert_eq!(left(&world).await.len(), 3);
    world.nature().pass(1);
    two.until(|summary| summary.acts).await;
    two.settled(&world).await;
    assert_eq!(left(&world).await, Vec::<String>::new());
}

/// A collector that waits for the lease of another hears by its feed that it was given back, and does not ask again and
/// again meanwhile.
#[tokio::test]
async fn a_lease_that_is_given_back_is_taken_at_once() {
    let long = |holder: &str| {
        let mut settings = named(holder);
        settings.lease.duration = Duration::from_secs(600);
        settings
    };
    let world = World::new().await;
    let mut one = Collecting::with(&world, long("one"), Arc::new(Hooks::new()));
    one.until(|summary| summary.acts && summary.synced).await;
    let mut two = Collecting::with(&world, long("two"), Arc::new(Hooks::new()));
    two.until(|summary| summary.other.is_some() && summary.synced).await;
    one.drain().await;
    two.until(|summary| summary.acts).await;
}
