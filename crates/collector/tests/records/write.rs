//! The record of a collection is written while it runs, and when it is over.

use sexton_client::Resources;
use sexton_collector::records::{Keep, RecordError, Records};
use sexton_model::collection::{Blocker, Collection, KindCount, Phase};
use sexton_model::lease::Proof;
use sexton_testkit::World;
use sexton_testkit::nature::START;

use crate::{collection, records};

#[tokio::test]
async fn a_record_is_created_once_and_then_follows() {
    let world = World::new().await.as_collector().await;
    let records = records(&world, Keep::default());
    assert_eq!(records.find("c-1").await.unwrap(), None);

    let mut first = collection("c-1", Phase::Blocked);
    first.status.message = Some("waits".into());
    first.status.kinds.insert("Vm.example.com".into(), KindCount { doomed: 3, gone: 1 });
    first.status.blockers.push(Blocker { reason: "busy".into(), ..Blocker::default() });
    records.write(&first).await.unwrap();
    assert_eq!(records.find("c-1").await.unwrap(), Some(first.clone()));

    // A field that the new status lacks is removed.
    let second = collection("c-1", Phase::Running);
    records.write(&second).await.unwrap();
    assert_eq!(records.find("c-1").await.unwrap(), Some(second.clone()));

    records.finish(&second, START + 60).await.unwrap();
    let last = records.find("c-1").await.unwrap().unwrap().status;
    assert_eq!((last.phase, last.finished_at.as_deref()), (Phase::Done, Some("2026-11-15T20:01:00Z")));

    let cancelled = collection("c-2", Phase::Cancelled);
    records.finish(&cancelled, START).await.unwrap();
    assert_eq!(records.find("c-2").await.unwrap().unwrap().status.phase, Phase::Cancelled);
}

#[tokio::test]
async fn writing_the_same_again_writes_nothing() {
    let world = World::new().await.as_collector().await;
    let records = records(&world, Keep::default());
    records.write(&collection("c", Phase::Running)).await.unwrap();
    let head = world.head().await;
    records.write(&collection("c", Phase::Running)).await.unwrap();
    assert_eq!(world.head().await, head);
}

#[tokio::test]
async fn many_writers_do_not_get_in_each_others_way() {
    let world = World::new().await.as_collector().await;
    let records = records(&world, Keep::default());
    let write = |number: u64| {
        let records = records.clone();
        async move {
            let mut one = collection("c", Phase::Running);
            one.status.gone = number;
            records.write(&one).await
        }
    };
    for result in futures::future::join_all((1..=20).map(write)).await {
        result.unwrap();
    }
    assert!((1..=20).contains(&records.find("c").await.unwrap().unwrap().status.gone));
}

#[tokio::test]
async fn however_much_there_is_to_say_the_record_is_taken() {
    let world = World::new().await.as_collector().await;
    let records = records(&world, Keep::default());
    let mut huge = collection("c", Phase::Blocked);
    let blocker = Blocker { reason: "x".repeat(10_000), ..Blocker::default() };
    huge.status.blockers = vec![blocker; 5_000];
    huge.status.unknown = vec!["y".repeat(10_000); 5_000];
    records.write(&huge).await.unwrap();
    let Collection { status, .. } = records.find("c").await.unwrap().unwrap();
    assert_eq!((status.blockers.len(), status.blockers_omitted), (50, 4_950));
}

/// The records of a collector that proves its turn with this secret.
fn proving(world: &World, secret: &str) -> Records {
    Records::new(Resources::new(world.kube()).proving(Proof::new(secret)), Keep::default())
}

fn refusal(written: Result<(), RecordError>) -> String {
    let error = written.unwrap_err();
    std::error::Error::source(&error).unwrap().to_string()
}

/// A collector that lost its lease neither overwrites the record that its successor has finished, nor leaves a new
/// one that is never finished.
#[tokio::test]
async fn a_late_record_is_refused() {
    let world = World::new().await;
    let epoch = world.collector_epoch().await;
    let (before, after) =
        (proving(&world, epoch["proof"].as_str().unwrap()), proving(&world, "another secret"));
    before.write(&collection("c", Phase::Running)).await.unwrap();
    let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sexton-collector";
    let digest = Proof::new("another secret").digest();
    let taken = serde_json::json!({"metadata": {"annotations": {"sexton.dev/proof-digest": digest}},
        "spec": {"holderIdentity": "another", "leaseTransitions": 2}});
    world.merge(lease, &taken).await.expect(200);
    after.finish(&collection("c", Phase::Running), START).await.unwrap();
    for late in ["c", "new"] {
        let refused = refusal(before.write(&collection(late, Phase::Running)).await);
        assert!(refused.contains("is written only under the collector's lease"), "{refused}");
    }
    assert_eq!(after.find("c").await.unwrap().unwrap().status.phase, Phase::Done);
    assert_eq!(after.find("new").await.unwrap(), None);
    // Nor does one without any proof, or after the lease was given back.
    let nobody = Records::new(Resources::new(world.kube()), Keep::default());
    refusal(nobody.write(&collection("c", Phase::Running)).await);
    world.merge(lease, &serde_json::json!({"spec": {"holderIdentity": ""}})).await.expect(200);
    refusal(after.write(&collection("c", Phase::Running)).await);
}
